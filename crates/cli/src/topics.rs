//! Topics of `ferrio help`: words of the field, and of ferrio's reports, in a few lines each.
//!
//! Must not know: options, commands. Start reading at [`TOPICS`].

use std::fmt::Write as _;

/// A topic.
pub(crate) struct Topic {
    /// Its name, in small letters.
    pub(crate) name: &'static str,
    /// Other names that lead to it.
    pub(crate) aliases: &'static [&'static str],
    /// The explanation, in lines of at most 80 columns.
    pub(crate) text: &'static str,
}

const fn topic(name: &'static str, aliases: &'static [&'static str], text: &'static str) -> Topic {
    Topic { name, aliases, text }
}

/// All topics, in the order of the page.
pub(crate) const TOPICS: &[Topic] = &[
    topic(
        "slat",
        &["submission-latency", "submission"],
        "\
slat: submission latency. The time from the moment at which an I/O is ready
until the kernel has taken it. Only engines that keep several I/Os in flight
(libaio, io_uring, posixaio, ...) have it; with a synchronous engine the whole
I/O happens in the call, and its time is clat. A long slat means that the
submission itself waited: for a full queue, or for a file system that does
buffered I/O in the call. lat = slat + clat.",
    ),
    topic(
        "clat",
        &["completion-latency", "completion"],
        "\
clat: completion latency. The time from the moment at which the kernel has taken
an I/O until it is known to be complete. With a synchronous engine (psync, sync,
mmap, ...) it is the time of the system call. Percentiles are those of clat,
unless lat_percentiles=1 or slat_percentiles=1 says otherwise. With iodepth=32
the waiting behind 31 other I/Os is a part of it. A buffered write is complete
when its data are in the page cache: see sync.",
    ),
    topic(
        "lat",
        &["latency", "total-latency"],
        "\
lat: total latency of an I/O. The time from the moment at which it is ready
until it is known to be complete: lat = slat + clat, so that the mean of lat is
the sum of the means. With a rate (rate_iops=, rate=) it counts from the issue;
with rate_latency=response it counts from the time at which the I/O was due, so
that a device that stalls can't hide the I/Os that it held up.",
    ),
    topic(
        "sync",
        &["fsync", "fdatasync", "sync-latency"],
        "\
sync: latency of fsync, fdatasync and sync_file_range calls, of jobs with
fsync=, fdatasync= or sync_file_range=. They have statistics of their own and
are no I/Os: neither iops nor clat counts them. A buffered write is done when it
is in the page cache; when its data are on the device is what the sync tells.",
    ),
    topic(
        "iops",
        &["io-per-second"],
        "\
iops: I/Os that were completed, divided by the runtime of their direction in
seconds. An I/O is one block (bs=), whatever the file system or the kernel makes
of it. The min, max, avg and stdev on the line iops of fio's report are those of
samples (iopsavgtime=, 500 ms by default) and need not agree with the first.",
    ),
    topic(
        "bandwidth",
        &["bw", "throughput"],
        "\
bandwidth: bytes that were moved, divided by the runtime of their direction.
1 MB is 1,000,000 bytes and 1 MiB is 1,048,576; fio's report has both, as in
BW=1000MiB/s (1049MB/s), ferrio's own reports have MB. Bandwidth = IOPS x block
size. min, max, avg and stdev on the line bw are of samples (bwavgtime=).",
    ),
    topic(
        "percentile",
        &["percentiles", "p50", "p95", "p99", "p99.9", "p99.99", "median", "tail"],
        "\
percentile: the latency that a share of the I/Os did not exceed. Of 1,000 I/Os
990 took at most p99, and ten took longer. p50 is the median. A latency is kept
in a bucket that is at most 1.6 % wide, so a percentile is exact to that; it is
never shown above the maximum. p99.9 of 2,000 I/Os rests on two of them: ferrio
marks a percentile with * where fewer than 10 I/Os lie beyond it.
percentile_list= chooses which are shown.",
    ),
    topic(
        "precision",
        &["uncertainty", "confidence", "interval"],
        "\
precision: the +/- behind a figure of ferrio run. If the same run were repeated
under the same conditions, 95 of 100 such intervals would hold the long-term
value. It comes from the course of the run (how the figure varied from interval
to interval, with their dependence), so a run of a second has none, and a run
whose rate falls has none either: its mean is no property of the device. It says
nothing of errors that stay the same in each run: see findings.",
    ),
    topic(
        "findings",
        &["finding", "audit"],
        "\
findings: where what the kernel saw contradicts a figure, or where it is easily
misread. WRONG: the figure is not that of the device or of the job. MISLEADING:
it is easily taken for something else. NOTE: good to know. Each has what was
measured and what to do. ferrio run shows them below its table, ferrio check
before anything runs, and fio's JSON has them in ferrio.findings. docs/findings
has a page for each.",
    ),
    topic(
        "steady-state",
        &["steadystate", "steady", "ss"],
        "\
steady-state: whether the rate has settled. steadystate=iops:2% ends the job
when, over the last ss_dur= seconds, no sample (one a second) lies 2 % or more
from their mean; iops_slope:0.3% looks at the slope of a line through them
instead (also bw:, bw_slope:). ss_ramp_time= is left out at the beginning. The
figures of the report are those of the whole job; steadystate.data in the JSON
has the mean of the window.",
    ),
    topic(
        "depth",
        &["queue-depth", "in-flight", "qd", "queue"],
        "\
depth: the number of I/Os in flight (iodepth=). Only asynchronous engines keep
more than one; a synchronous engine has depth 1 for each job, and numjobs= adds
jobs. The line IO depths shows which depths were reached. By Little's law the
mean depth = IOPS x mean lat in seconds.",
    ),
    topic(
        "runtime",
        &["time", "time-based", "ramp"],
        "\
runtime: a job ends when its size is done, or after runtime= seconds if that is
earlier. With time_based it begins again until the runtime is over. ramp_time=
comes before the runtime, and nothing of it is counted.",
    ),
    topic(
        "csv",
        &["terse"],
        "\
csv: --output-format=csv of fio, and so of ferrio in its place, is another name
of terse: fields between semicolons, without a header. A table with commas and a
header is made by ferrio run --csv, and of results by ferrio report --csv.",
    ),
];

/// The topic of a name, as a user types it: `P99`, `steady state`, `steadystate`.
pub(crate) fn find(name: &str) -> Option<&'static Topic> {
    let wanted = name.to_ascii_lowercase().replace([' ', '_'], "-");
    TOPICS.iter().find(|topic| topic.name == wanted || topic.aliases.contains(&wanted.as_str()))
}

/// The names of all topics, as lines of a page.
pub(crate) fn list() -> String {
    let mut text = String::new();
    for names in TOPICS.chunks(7) {
        let names: Vec<&str> = names.iter().map(|topic| topic.name).collect();
        // A string takes everything.
        let _ = writeln!(text, "  {}", names.join(", "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_are_short_and_have_names_of_their_own() {
        let mut names: Vec<&str> =
            TOPICS.iter().flat_map(|topic| topic.aliases.iter().chain([&topic.name])).copied().collect();
        let n_names = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), n_names, "{names:?}");
        for topic in TOPICS {
            assert!(topic.text.starts_with(&format!("{}: ", topic.name)), "{}", topic.name);
            assert!(
                topic.text.lines().all(|line| line.len() <= 80) && topic.text.lines().count() <= 8,
                "{}",
                topic.name
            );
            assert!(!topic.text.ends_with('\n') && topic.text.is_ascii(), "{}", topic.name);
        }
    }

    #[test]
    fn names_are_taken_as_users_type_them() {
        for (name, expected) in [
            ("clat", "clat"),
            ("P99", "percentile"),
            ("QD", "depth"),
            ("ramp", "runtime"),
            ("steady state", "steady-state"),
            ("steady_state", "steady-state"),
        ] {
            assert_eq!(find(name).map(|topic| topic.name), Some(expected), "{name}");
        }
        assert!(find("nothing").is_none());
    }
}
