//! Differences of the options of jobs.
//!
//! Must not know: figures. Start reading at [`differences`].

use super::ComparedOption;
use super::sample::JobOfResult;
use ferrio_formats::{JobResult, RunResult};

/// Options that decide what I/O is done, the most important ones first. The others are told behind them.
const OF_WORK: [&str; 22] = [
    "rw",
    "bs",
    "iodepth",
    "numjobs",
    "ioengine",
    "direct",
    "buffered",
    "sync",
    "fsync",
    "fdatasync",
    "rwmixread",
    "rwmixwrite",
    "bsrange",
    "bssplit",
    "size",
    "io_size",
    "rate",
    "rate_iops",
    "thinktime",
    "zonemode",
    "verify",
    "random_distribution",
];
/// Other names of options.
const ALIASES: [(&str, &str); 6] = [
    ("readwrite", "rw"),
    ("blocksize", "bs"),
    ("iodepth_batch_submit", "iodepth_batch"),
    ("blocksize_range", "bsrange"),
    ("io_limit", "io_size"),
    ("sync_io", "sync"),
];
/// Options that say where output goes, and no more.
const OF_OUTPUT: [&str; 3] = ["name", "description", "output"];
/// Options that ask for a log and name its files: that a log is written may cost time, its name does not.
const OF_LOGS: [&str; 4] = ["write_bw_log", "write_iops_log", "write_lat_log", "write_hist_log"];
/// The option that says which random numbers are drawn, and not what is done: repeats of a run have their own.
const SEED: &str = "randseed";

/// Switches that are off where they are not given.
const OFF_BY_DEFAULT: [&str; 10] = [
    "time_based",
    "direct",
    "group_reporting",
    "end_fsync",
    "fsync_on_close",
    "thread",
    "stonewall",
    "norandommap",
    "overwrite",
    "unlink",
];

/// The options that differ between the results of both sides, or among those of one: as given for the job, or for all jobs. fio writes
/// those for all jobs apart.
pub(super) fn differences(base: &[JobOfResult<'_>], new: &[JobOfResult<'_>]) -> Vec<ComparedOption> {
    let of_side = |side: &[JobOfResult<'_>]| -> Vec<_> {
        // Logs alone have no options.
        side.iter().map(|job| in_force(job.result, job.job)).filter(|options| !options.is_empty()).collect()
    };
    let (first, second) = (of_side(base), of_side(new));
    if first.is_empty() || second.is_empty() {
        return Vec::new();
    }
    let mut names: Vec<&String> = first.iter().chain(&second).flatten().map(|(name, _)| name).collect();
    names.sort_by_key(|name| (OF_WORK.iter().position(|known| known == name).unwrap_or(OF_WORK.len()), *name));
    names.dedup();
    // A report in text has few of its options: of the others nobody knows whether they differ.
    if base.iter().chain(new).any(|job| job.result.gaps.lacks_options) {
        let has = |options: &[(String, String)], name: &str| options.iter().any(|(known, _)| known == name);
        names.retain(|name| first.iter().chain(&second).all(|options| has(options, name)));
    }
    let option = |name: &String| {
        let (of_base, of_new) = (values(&first, name), values(&second, name));
        let is_same =
            matches!((&of_base[..], &of_new[..]), ([one], [other]) if is_same(name, one.as_ref(), other.as_ref()));
        (!is_same).then(|| ComparedOption {
            jobs: base.first().map(|job| job.job.name.clone()).into_iter().collect(),
            option: name.clone(),
            differs_in_base: of_base.len() > 1,
            differs_in_new: of_new.len() > 1,
            base: together(&of_base),
            new: together(&of_new),
            changes_work: OF_WORK.contains(&name.as_str()),
        })
    };
    names.into_iter().filter_map(option).collect()
}

/// The different values of an option among the results of a side.
fn values(side: &[Vec<(String, String)>], name: &str) -> Vec<Option<String>> {
    let mut all: Vec<Option<String>> = Vec::new();
    for options in side {
        let value = options.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        if !all.iter().any(|known| is_same(name, known.as_ref(), value.as_ref())) {
            all.push(value);
        }
    }
    all
}

/// The values as one text; `None`: no result has the option.
fn together(values: &[Option<String>]) -> Option<String> {
    let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "not given".to_owned());
    match values {
        [one] => one.clone(),
        _ => Some(values.iter().map(text).collect::<Vec<_>>().join("; ")),
    }
}

/// The options of a job, with their usual names; of one that is given twice the last.
fn in_force(result: &RunResult, job: &JobResult) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    for (name, value) in result.global_options.iter().chain(&job.options) {
        let name = ALIASES.iter().find(|(alias, _)| alias == name).map_or(name.as_str(), |(_, name)| name);
        if OF_OUTPUT.contains(&name) {
            continue;
        }
        match all.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => known.clone_from(value),
            None => all.push((name.to_owned(), value.clone())),
        }
    }
    all
}

/// The same text, or the same amount: `4k` and `4096`; an option alone is `1`, and a switch that is not given may be `0`. Logs of two runs
/// have names of their own, and repeats have seeds of their own.
fn is_same(name: &str, first: Option<&String>, second: Option<&String>) -> bool {
    let (first, second) = match (first, second) {
        (None, None) => return true,
        _ if name == SEED => return true,
        (Some(first), Some(second)) => (first.as_str(), second.as_str()),
        (None, Some(given)) | (Some(given), None) => return given == "0" && OFF_BY_DEFAULT.contains(&name),
    };
    first == second
        || OF_LOGS.contains(&name)
        || matches!((first, second), ("", "1") | ("1", ""))
        || matches!((amount(first), amount(second)), (Some(first), Some(second)) if first == second)
}

/// An amount with a unit of 1024.
fn amount(text: &str) -> Option<u64> {
    let text = text.to_ascii_lowercase();
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let factor = match &text[digits.len()..] {
        "" | "b" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        "t" | "tb" | "tib" => 1 << 40,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

/// Options that differ in the same way in several jobs are told once.
pub(super) fn join(all: Vec<ComparedOption>) -> Vec<ComparedOption> {
    let mut joined: Vec<ComparedOption> = Vec::new();
    for option in all {
        let is_like = |known: &&mut ComparedOption| {
            (&known.option, &known.base, &known.new) == (&option.option, &option.base, &option.new)
        };
        match joined.iter_mut().find(is_like) {
            Some(known) => known.jobs.extend(option.jobs),
            None => joined.push(option),
        }
    }
    joined.sort_by_key(|option| !option.changes_work);
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(first: &[(&str, &str)], second: &[(&str, &str)]) -> Vec<(String, Option<String>, Option<String>, bool)> {
        let job = |options: &[(&str, &str)]| JobResult {
            options: options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            ..JobResult::default()
        };
        let result = RunResult { global_options: vec![("direct".into(), "1".into())], ..RunResult::default() };
        let (first, second) = (job(first), job(second));
        let of = |job| [JobOfResult { result: &result, job }];
        let all = differences(&of(&first), &of(&second));
        all.into_iter().map(|option| (option.option, option.base, option.new, option.changes_work)).collect()
    }

    #[test]
    fn values_are_compared_and_not_their_spelling() {
        let same = found(
            &[("bs", "4k"), ("rw", "read"), ("time_based", ""), ("write_bw_log", "a.1")],
            &[
                ("blocksize", "4096"),
                ("readwrite", "read"),
                ("time_based", "1"),
                ("direct", "1"),
                ("write_bw_log", "a.2"),
            ],
        );
        assert_eq!(same, []);
        assert_eq!(found(&[("write_bw_log", "a")], &[]).len(), 1);
    }

    #[test]
    fn other_random_numbers_are_no_difference() {
        assert_eq!(found(&[("randseed", "7")], &[]), []);
        assert_eq!(found(&[("randseed", "7")], &[("randseed", "8")]), []);
        assert_eq!(found(&[("randseed", "7")], &[("randrepeat", "0")]).len(), 1);
    }

    #[test]
    fn what_changes_the_work_comes_first() {
        let all = found(
            &[("filename", "/dev/a"), ("iodepth", "1")],
            &[("filename", "/dev/b"), ("iodepth", "8"), ("bs", "8k")],
        );
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            all,
            [
                ("bs".to_owned(), None, some("8k"), true),
                ("iodepth".to_owned(), some("1"), some("8"), true),
                ("filename".to_owned(), some("/dev/a"), some("/dev/b"), false),
            ]
        );
        assert_eq!(found(&[("numjobs", "99999999999999999999g")], &[("numjobs", "17179869184g")]).len(), 1);
    }

    #[test]
    fn options_that_differ_among_repeats_are_told() {
        let job = |bs: &str| JobResult { options: vec![("bs".into(), bs.into())], ..JobResult::default() };
        let (four, also_four, eight) = (job("4k"), job("4096"), job("8k"));
        let result = RunResult::default();
        let of = |job| JobOfResult { result: &result, job };
        let found = differences(&[of(&four), of(&also_four)], &[of(&four), of(&eight)]);
        let [option] = &found[..] else { panic!("{found:?}") };
        assert_eq!((option.base.as_deref(), option.new.as_deref()), (Some("4k"), Some("4k; 8k")));
        assert_eq!((option.differs_in_base, option.differs_in_new), (false, true));
        // The same two values on both sides are no repeats either.
        let found = differences(&[of(&four), of(&eight)], &[of(&four), of(&eight)]);
        assert_eq!(found.len(), 1);
    }

    #[test]
    fn a_switch_that_is_off_is_as_one_that_is_not_given() {
        assert_eq!(found(&[("rw", "read")], &[("rw", "read"), ("time_based", "0")]), []);
        assert_eq!(found(&[("rw", "read")], &[("rw", "read"), ("time_based", "")]).len(), 1);
        assert_eq!(found(&[("rw", "read")], &[("rw", "read"), ("invalidate", "0")]).len(), 1);
    }
}
