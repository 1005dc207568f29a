//! Oddities of fio's reports: figures that lose digits, names and units that are slips. Scripts read them as they are.
//!
//! Each is a function here, so that no writer has to mention one. Its comment describes fio's output, and in which
//! formats it appears. A layout that is only unusual belongs to the writer of its format. Native tables, records and
//! JSON lines do not use these functions. All oddities were seen on fio 3.41; recorded reports test them.
//! Must not know: formats. Start reading anywhere.

use ferrio_units::KbBase;
use ferrio_units::scale::{FigurePair, FigureStyle, PrefixSystem, ScaleUnit, Scaler};

/// The share of a direction in the bandwidth of its group, percent. The mean of the samples is cut to whole KiB/s first:
/// 50066.67 of 51086.68 are 98.002061 %. A group of at most 1 KiB/s counts as the direction's own. Normal, terse, JSON.
pub(crate) fn percent_of_group(mean_kib_per_sec: f64, group_bytes_per_sec: u64) -> f64 {
    if group_bytes_per_sec <= 1024 {
        return 100.0;
    }
    (mean_kib_per_sec.trunc() * 100.0 / (group_bytes_per_sec as f64 / 1024.0)).min(100.0)
}

/// `part` in percent of `whole`, neither of them 0. fio multiplies by the reciprocal, which decides ties of the rounding:
/// 1,005 of 4,000 are 25.13 %, 1,045 of them 26.12 %. Normal, terse, JSON.
pub(crate) fn percent_by_reciprocal(part: u64, whole: u64) -> f64 {
    part as f64 * (1.0 / whole as f64) * 100.0
}

/// The bandwidth of the sum beside the directions (`unified_rw_reporting=both`) has no unit. Normal.
pub(crate) fn without_unit(rate: &mut FigurePair, bytes_per_sec: u64, style: FigureStyle) {
    let unitless = |base| Scaler::new(PrefixSystem::primary(base), ScaleUnit::None).with_digits(style.n_digits);
    rate.primary = unitless(style.kb_base).scale(bytes_per_sec);
    rate.alternate = unitless(style.kb_base.other()).scale(bytes_per_sec);
}

/// Divisor and label of bandwidth samples, which are KiB/s: with `kb_base=1000` the label of small ones changes and the number
/// does not, and large ones are divided by 1000 and called MiB. Normal.
pub(crate) fn sample_unit(mean_kib_per_sec: f64, kb_base: u32) -> (u64, &'static str) {
    let base = u64::from(kb_base.max(1));
    match (mean_kib_per_sec > (base * base) as f64, kb_base) {
        (true, _) => (base, "MiB"),
        (false, 1000) => (1, "kB"),
        (false, _) => (1, "KiB"),
    }
}

/// A rate of the ETA line in KiB/s: with `kb_base=1000` its label changes, and the number does not.
pub(crate) fn eta_kilo_per_sec(bytes_per_sec: u64) -> u64 {
    bytes_per_sec / KbBase::Binary.factor()
}

/// A bandwidth of the search for a steady state in whole KiB/s (or kB/s). Both prefixes show this one number: it is not
/// converted for the second. Normal.
pub(crate) fn steady_kilo_per_sec(bytes_per_sec: u64, kb_base: u32) -> u64 {
    bytes_per_sec / u64::from(kb_base.max(1))
}

/// The name of the counter of merged writes: `write_merges` of a device, but `aggr_write_merge` of those below it. JSON.
pub(crate) fn write_merges(prefix: &str) -> &'static str {
    if prefix.is_empty() { "write_merges" } else { "write_merge" }
}

/// The least share that is shown of I/Os of less than 1 us, percent. There are no fields for nanoseconds: they add to the
/// first one, and small shares of them are not rounded up, while those of the other fields are. Terse.
pub(crate) const LEAST_SHARE_OF_NS: f64 = 0.0;

#[cfg(test)]
mod tests {
    use super::*;

    // Expected values: figures of fio 3.41.
    #[test]
    fn shares_are_those_of_fio() {
        assert_eq!(format!("{:.4}", percent_of_group(50_066.67, 52_312_760)), "98.0021");
        assert_eq!((percent_of_group(3.5, 1_024), percent_of_group(0.0, 1_025)), (100.0, 0.0));
        assert_eq!(format!("{:.2}", percent_by_reciprocal(1_005, 4_000)), "25.13");
        assert_eq!(format!("{:.2}", percent_by_reciprocal(1_045, 4_000)), "26.12");
    }

    #[test]
    fn samples_keep_their_number_under_another_label() {
        assert_eq!((sample_unit(999.0, 1000), sample_unit(999.0, 1024)), ((1, "kB"), (1, "KiB")));
        assert_eq!((sample_unit(1e9, 1000), sample_unit(1e9, 1024)), ((1000, "MiB"), (1024, "MiB")));
    }
}
