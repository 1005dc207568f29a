//! Figures that several formats compute from the results: percentages, and the total bandwidth of a direction.
//!
//! Must not know: how figures are printed. Start reading at [`DirectionBlock`].

use crate::compat;
use crate::view::{FioView, GroupDirection, JobReport, TotalReport};
use ferrio_stats::{DirectionStats, LatencyStat, SampleStat};
use ferrio_units::scale::FigureStyle;
use ferrio_units::{DataDirection, KbBase, UnitBase};
use std::borrow::Cow;

/// One direction as a report shows it: `read`, `write`, `trim`, or `mixed` for the sum.
pub(crate) struct DirectionBlock<'a> {
    /// `read`, `write`, `trim`, `mixed`.
    pub(crate) name: &'static str,
    pub(crate) stats: Cow<'a, DirectionStats>,
    /// The same direction of the whole group.
    pub(crate) group: GroupDirection,
    /// The block is a sum beside the directions (`unified_rw_reporting=both`).
    pub(crate) is_extra: bool,
}

impl<'a> DirectionBlock<'a> {
    /// The blocks of a job in the order of every report. The sum, if any, comes last.
    pub(crate) fn all(result: &FioView<'_>, job: &'a JobReport<'a>) -> Vec<Self> {
        let group = result.groups.get(job.group_index as usize).copied().unwrap_or_default();
        let of = |direction: DataDirection, name| Self {
            name,
            stats: Cow::Borrowed(&job.stats.directions[direction]),
            group: group.directions[direction],
            is_extra: false,
        };
        if job.settings.unified_mixed {
            return vec![of(DataDirection::Read, "mixed")];
        }
        let mut blocks: Vec<Self> =
            DataDirection::ALL.into_iter().map(|direction| of(direction, direction.name())).collect();
        if job.settings.unified_both {
            let stats = Cow::Owned(job.stats.unified());
            blocks.push(Self { name: "mixed", stats, group: group.unified(), is_extra: true });
        }
        blocks
    }

    /// The blocks of the sum over all groups.
    pub(crate) fn of_total(result: &FioView<'_>, total: &'a TotalReport<'a>) -> Vec<Self> {
        let mut blocks = Self::all(result, &total.job);
        if let (Some(block), Some(mixed)) = (blocks.last_mut(), &total.mixed) {
            // Here its time is not that of one direction.
            (block.stats, block.is_extra) = (Cow::Borrowed(mixed), false);
        }
        blocks
    }

    /// Mean of the bandwidth samples in percent of the group's bandwidth, at most 100; 0 without samples.
    pub(crate) fn percent_of_group(&self) -> f64 {
        if self.stats.bw.n_samples == 0 {
            return 0.0;
        }
        compat::percent_of_group(self.stats.bw.mean, self.group.bw_bytes_per_sec)
    }
}

/// Style of numbers, from the job's options.
pub(crate) fn style(kb_base: u32, unit_bits: bool, significant_figures: u32) -> FigureStyle {
    FigureStyle {
        kb_base: if kb_base == 1000 { KbBase::Decimal } else { KbBase::Binary },
        unit_base: if unit_bits { UnitBase::Bits } else { UnitBase::Bytes },
        n_digits: significant_figures,
    }
}

/// `part` in percent of `whole`; a share above 0 but below `floor` is shown as `floor`.
pub(crate) fn percent(part: u64, whole: u64, floor: f64) -> f64 {
    if part == 0 || whole == 0 {
        return 0.0;
    }
    compat::percent_by_reciprocal(part, whole).max(floor)
}

/// CPU time in percent of the runtime, both rounded down to milliseconds, the old precision of the kernel.
pub(crate) fn cpu_percent(cpu_ns: u64, total_runtime_ns: u64) -> f64 {
    match whole_ms(total_runtime_ns) {
        0 => 0.0,
        runtime_ms => whole_ms(cpu_ns) as f64 * 100.0 / runtime_ms as f64,
    }
}

/// Nanoseconds as whole milliseconds, rounded down.
pub(crate) fn whole_ms(duration_ns: u64) -> u64 {
    duration_ns / 1_000_000
}

/// Smallest latency for a report: 0 when there is none.
pub(crate) fn min_ns(stat: &LatencyStat) -> u64 {
    if stat.n_samples == 0 { 0 } else { stat.min_ns }
}

/// Smallest sample for a report: 0 when there is none.
pub(crate) fn min_sample(stat: &SampleStat) -> u64 {
    if stat.n_samples == 0 { 0 } else { stat.min }
}

/// Upper labels of the coarse latency buckets; nanoseconds and microseconds have the first ten.
pub(crate) const LATENCY_LABELS: [&str; 12] =
    ["2", "4", "10", "20", "50", "100", "250", "500", "750", "1000", "2000", ">=2000"];
pub(crate) const DEPTH_LABELS: [&str; 7] = ["1", "2", "4", "8", "16", "32", ">=64"];
/// Labels of the I/Os per call.
pub(crate) const BATCH_LABELS: [&str; 7] = ["0", "4", "8", "16", "32", "64", ">=64"];

/// Share of a coarse latency bucket, as every format shows it.
pub(crate) fn latency_percent(count: u64, n_issued: u64) -> f64 {
    percent(count, n_issued, 0.01)
}

/// Shares of a list of depths or batches, as every format shows them.
pub(crate) fn depth_percents(counts: &[u64; 7], whole: u64) -> [f64; 7] {
    counts.map(|count| percent(count, whole, 0.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected: percentages on a tie of the rounding, as fio 3.41 prints them.
    #[test]
    fn ties_fall_as_in_the_peer() {
        let table = [
            (1, 4_000, "0.03"),
            (9, 4_000, "0.23"),
            (1_003, 4_000, "25.08"),
            (1_005, 4_000, "25.13"),
            (1_045, 4_000, "26.12"),
            (2_017, 4_000, "50.42"),
            (2_151, 4_000, "53.78"),
            (2_679, 4_000, "66.98"),
            (2_917, 4_000, "72.93"),
            (2_002, 8_000, "25.03"),
            (5_374, 8_000, "67.18"),
            (4_000, 4_000, "100.00"),
        ];
        for (part, whole, text) in table {
            assert_eq!(format!("{:.2}", percent(part, whole, 0.01)), text, "{part} of {whole}");
        }
    }

    #[test]
    fn small_shares_have_a_floor() {
        let shares = [percent(1, 1_000_000, 0.01), percent(0, 5, 0.01), percent(5, 0, 0.01)];
        assert_eq!(shares.map(|share| format!("{share:.2}")), ["0.01", "0.00", "0.00"]);
    }
}
