//! The fields of terse output by their numbers, for each version.
//!
//! Must not know: how a line is written. Start reading at [`table()`].

use std::fmt::Write as _;

/// Versions in the order of the columns.
pub const VERSIONS: [u32; 4] = [2, 3, 4, 5];

/// Fields that follow each other.
struct Fields {
    /// What they are, in their order.
    what: &'static str,
    /// How many there are in each of [`VERSIONS`].
    n: [usize; 4],
}

const fn always(n: usize, what: &'static str) -> Fields {
    Fields { what, n: [n; 4] }
}

const fn only(n: [usize; 4], what: &'static str) -> Fields {
    Fields { what, n }
}

const HEAD: &[Fields] = &[
    always(1, "number of the terse version"),
    only([0, 1, 1, 1], "version of the program"),
    always(1, "job"),
    always(1, "groupid"),
    always(1, "error: errno, or 0"),
];

const DIRECTION: &[Fields] = &[
    always(1, "KiB moved"),
    always(1, "bandwidth, KiB/s"),
    always(1, "IOPS"),
    always(1, "runtime, ms"),
    always(4, "slat: min, max, mean, stdev (us)"),
    always(4, "clat: min, max, mean, stdev (us)"),
    always(20, "percentiles (us)"),
    always(4, "lat: min, max, mean, stdev (us)"),
    always(5, "bw: min, max, % of group, mean, stdev"),
    only([0, 0, 0, 1], "bw: number of samples"),
    only([0, 0, 0, 5], "iops: min, max, mean, stdev, samples"),
];

const TAIL: &[Fields] = &[
    always(2, "CPU: usr, sys (%)"),
    always(3, "ctx, majf, minf"),
    always(7, "IO depths: 1 2 4 8 16 32 >=64 (%)"),
    always(10, "latency-buckets, us: 2 4 10 ... 1000 (%)"),
    always(12, "latency-buckets, ms: 2 ... 2000, >=2000 (%)"),
];

/// What may follow the numbered fields.
const END: &str = "\
Then, where there are such: 9 fields for each device (not in version 2): name,
ios, merges and ticks of reads and writes, in_queue, util; for a stacked one the
word slaves and 8 more for those below it; with continue_on_error the number of
errors and the first errno; the description (in version 2 on a line of its own).
With unified_rw_reporting=mixed there is one direction only; with both, one more
follows the others.
";

/// Directions; version 3 has no trims.
const DIRECTIONS: [(&str, [usize; 4]); 3] = [("read", [1; 4]), ("write", [1; 4]), ("trim", [1, 0, 1, 1])];

/// The numbers of the fields in each version, from 1, as lines of a text: `10-13` are fields 10 to 13, `-` none.
pub fn table() -> String {
    let mut text = format!("{}field\n", VERSIONS.map(|version| format!("{:<9}", format!("v{version}"))).concat());
    let mut next = [1; 4];
    let mut push = |fields: &Fields, direction: &str, factors: [usize; 4]| {
        let n: [usize; 4] = std::array::from_fn(|index| fields.n[index] * factors[index]);
        for index in 0..VERSIONS.len() {
            let first = next[index];
            next[index] += n[index];
            let numbers = match n[index] {
                0 => "-".to_owned(),
                1 => first.to_string(),
                _ => format!("{first}-{}", next[index] - 1),
            };
            // Infallible here and below: writing to a String never fails.
            let _ = write!(text, "{numbers:<9}");
        }
        let _ = writeln!(text, "{direction}{}", fields.what);
    };
    for fields in HEAD {
        push(fields, "", [1; 4]);
    }
    for (direction, factors) in DIRECTIONS {
        for fields in DIRECTION {
            push(fields, &format!("{direction} "), factors);
        }
    }
    for fields in TAIL {
        push(fields, "", [1; 4]);
    }
    text + "\n" + END
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected: the reference's description of the format.
    #[test]
    fn numbers_are_those_of_the_reference() {
        let table = table();
        let numbers = |what: &str| -> Vec<String> {
            let line =
                table.lines().find(|line| line.get(36..) == Some(what)).unwrap_or_else(|| panic!("{what}: {table}"));
            line[..36].split_whitespace().map(str::to_owned).collect()
        };
        assert_eq!(numbers("version of the program"), ["-", "2", "2", "2"]);
        assert_eq!(numbers("error: errno, or 0"), ["4", "5", "5", "5"]);
        assert_eq!(numbers("read KiB moved"), ["5", "6", "6", "6"]);
        assert_eq!(numbers("read clat: min, max, mean, stdev (us)"), ["13-16", "14-17", "14-17", "14-17"]);
        assert_eq!(numbers("write KiB moved"), ["46", "47", "47", "53"]);
        assert_eq!(numbers("trim KiB moved"), ["87", "-", "88", "100"]);
        assert_eq!(numbers("CPU: usr, sys (%)"), ["128-129", "88-89", "129-130", "147-148"]);
        let last = "latency-buckets, ms: 2 ... 2000, >=2000 (%)";
        assert_eq!(numbers(last), ["150-161", "110-121", "151-162", "169-180"]);
    }
}
