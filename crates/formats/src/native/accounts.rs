//! The accounts of a run as text: how it has ended, what was asked and not done, where the time went.
//!
//! Must not know: how accounts are made. Start reading at [`accounts_lines`].

use ferrio_stats::{
    Accounts, BytesAccount, EndedBy, JobAccount, LevelBytes, OptionAccount, OptionOutcome, RunEnding, TimeAccount,
};
use ferrio_units::humanize::{bytes_text, thousands};
use ferrio_units::terminal_text::escape_name;
use std::collections::BTreeSet;

/// Most jobs whose time has a line.
const MOST_JOBS: usize = 6;
/// Most sentences about what options mean.
const MOST_MEANINGS: usize = 8;
/// Most options that nothing has shown and that are named.
const MOST_UNSEEN: usize = 8;
/// Fewer bytes are not worth a line.
const LEAST_BYTES: u64 = 1 << 20;
/// Share by which bytes of two levels may differ and count as the same.
const SAME: f64 = 0.1;
/// I/Os for each request of a device, from which on both are told.
const GATHERED: u64 = 4;
/// A part of the time below this share is not told.
const LEAST_SHARE: f64 = 0.01;

/// Why a run has ended before it was done, as a sentence; `None`: it has ended as it was asked to.
pub fn ending_text(ending: &RunEnding) -> Option<String> {
    let RunEnding::Early { by, jobs } = ending else { return None };
    let which = match jobs.as_slice() {
        [] => "The run".to_owned(),
        [job] => format!("The job {}", escape_name(job)),
        jobs => format!("The jobs {}", jobs.iter().map(|job| escape_name(job)).collect::<Vec<_>>().join(", ")),
    };
    let why = match by {
        EndedBy::Request { signal: Some(signal) } => format!("by signal {signal}{}", signal_name(*signal)),
        EndedBy::Request { signal: None } => "on request".to_owned(),
        EndedBy::Trigger => "by the trigger".to_owned(),
        EndedBy::ExitAll { job } => format!("when {} ended (exitall)", escape_name(job)),
        EndedBy::LostHost { host } => format!("in part, as host {} was lost", escape_name(host)),
        EndedBy::Error => "with an error".to_owned(),
        EndedBy::Killed { signal } => format!("when signal {signal}{} killed a worker", signal_name(*signal)),
    };
    let verb = if jobs.len() > 1 { "were" } else { "was" };
    let ended = match by {
        EndedBy::Error => "ended".to_owned(),
        EndedBy::LostHost { .. } => format!("{verb} done"),
        _ => format!("{verb} ended"),
    };
    Some(format!("{which} {ended} {why}: the figures are those of a part of what was asked."))
}

/// ` (SIGINT)`, for signals that end runs.
fn signal_name(signal: i32) -> &'static str {
    match signal {
        1 => " (SIGHUP)",
        2 => " (SIGINT)",
        3 => " (SIGQUIT)",
        6 => " (SIGABRT)",
        7 => " (SIGBUS)",
        9 => " (SIGKILL)",
        11 => " (SIGSEGV)",
        15 => " (SIGTERM)",
        25 => " (SIGXFSZ)",
        _ => "",
    }
}

/// What was asked and done, and where the time went, a line each.
pub fn accounts_lines(accounts: &Accounts) -> Vec<String> {
    let mut lines: Vec<String> = asked_line(accounts).into_iter().collect();
    lines.extend(unseen_line(accounts));
    lines.extend(meaning_lines(accounts));
    let timed: Vec<(&JobAccount, &TimeAccount)> = accounts
        .jobs
        .iter()
        .filter_map(|job| Some((job, job.time.as_ref().filter(|time| time.whole_ns > 0)?)))
        .collect();
    let has_names = accounts.jobs.len() > 1;
    for (job, time) in timed.iter().take(MOST_JOBS) {
        let name = if has_names { format!(" of {}", escape_name(&job.job)) } else { String::new() };
        lines.push(format!("Time{name}: {}.", time_text(time)));
    }
    if timed.len() > MOST_JOBS {
        lines.push(format!("Time of {} more jobs: --json has it.", timed.len() - MOST_JOBS));
    }
    lines.extend(bytes_lines(accounts));
    lines
}

/// Levels that have moved other bytes than the job, or what is not seen; `None`: all of them have moved the same.
fn bytes_line(job: &JobAccount, account: &BytesAccount, has_names: bool) -> Option<String> {
    let differs = |bytes: u64| {
        let ratio = bytes as f64 / account.bytes.max(1) as f64;
        !(1.0 - SAME..=1.0 + SAME).contains(&ratio)
    };
    // The page cache read ahead, or a scheduler put I/Os together: the device has not done so many as the job.
    let is_gathered = |level: &LevelBytes| {
        !level.is_shared && level.n_requests.is_some_and(|n| n > 0 && n.saturating_mul(GATHERED) <= account.n_ios)
    };
    let has_gathered = account.levels.iter().any(is_gathered);
    let is_told = account.bytes >= LEAST_BYTES
        && (has_gathered
            || account.kernel_bytes.is_some_and(differs)
            || account.levels.iter().any(|level| !level.is_shared && differs(level.bytes)));
    if !is_told {
        return None;
    }
    let ios =
        if has_gathered { format!(" in {} {}s", thousands(account.n_ios), account.direction) } else { String::new() };
    let mut parts = vec![format!("job {}{ios}", bytes_text(account.bytes))];
    parts.extend(account.kernel_bytes.map(|bytes| format!("kernel {}", bytes_text(bytes))));
    parts.extend(account.levels.iter().map(|level| {
        let requests = level.n_requests.map_or_else(String::new, |n| format!(" in {} requests", thousands(n)));
        let shared = if level.is_shared { " (with other jobs)" } else { "" };
        format!("{} {}{requests}{shared}", level.devices.join(" and "), bytes_text(level.bytes))
    }));
    let of = if has_names { format!(" of {}", escape_name(&job.job)) } else { String::new() };
    // Nothing has moved below the job, and it is known why.
    let why = account.unseen.as_ref().filter(|_| account.kernel_bytes == Some(0) && account.levels.is_empty());
    let why = why.map_or_else(String::new, |why| format!(": {why}"));
    Some(format!("Bytes of {}s{of}: {}{why}.", account.direction, parts.join(", ")))
}

/// What the options tell before the run, a line each: those that can have no effect, and what others mean.
pub fn plan_lines(accounts: &Accounts) -> Vec<String> {
    let missed = missed_texts(accounts);
    let in_vain = (!missed.is_empty()).then(|| format!("Without effect: {}.", missed.join("; ")));
    in_vain.into_iter().chain(meaning_lines(accounts)).collect()
}

/// The parts of a time that matter, the longest first.
pub fn time_text(time: &TimeAccount) -> String {
    let mut parts = time.parts().to_vec();
    parts.sort_by_key(|(_, part_ns)| std::cmp::Reverse(*part_ns));
    let told = parts.into_iter().filter(|(_, part_ns)| time.share(*part_ns) >= LEAST_SHARE);
    told.map(|(part, part_ns)| format!("{} {:.0} %", part.name(), 100.0 * time.share(part_ns)))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Options that were not done as they were asked, each once: the option with its value, the reason, the jobs; empty jobs: all of them.
pub fn not_as_asked(accounts: &Accounts) -> Vec<(&OptionAccount, &str, Vec<&str>)> {
    let mut found: Vec<(&OptionAccount, &str, Vec<&str>)> = Vec::new();
    for job in &accounts.jobs {
        for option in &job.options {
            let OptionOutcome::NotAsAsked(why) = &option.outcome else { continue };
            match found.iter_mut().find(|(known, ..)| *known == option) {
                Some((.., jobs)) => jobs.push(&job.job),
                None => found.push((option, why, vec![&job.job])),
            }
        }
    }
    for (.., jobs) in &mut found {
        if jobs.len() == accounts.jobs.len() {
            jobs.clear();
        }
    }
    found
}

/// What the report of another program tells of what was asked and done, a line each: options that were missed, what others mean, bytes that no
/// storage has moved.
pub fn report_lines(accounts: &Accounts) -> Vec<String> {
    let missed = missed_texts(accounts);
    let missed = (!missed.is_empty()).then(|| format!("Not as asked: {}.", missed.join("; ")));
    missed.into_iter().chain(meaning_lines(accounts)).chain(bytes_lines(accounts)).collect()
}

/// What options mean that are often misread, a line each.
fn meaning_lines(accounts: &Accounts) -> impl Iterator<Item = String> {
    let line = |(sentence, jobs): (&str, Vec<&str>)| {
        let names = jobs.iter().map(|job| escape_name(job)).collect::<Vec<_>>().join(", ");
        if jobs.is_empty() { escape_name(sentence) } else { format!("{names}: {}", escape_name(sentence)) }
    };
    meanings(accounts).into_iter().map(line).take(MOST_MEANINGS)
}

/// What options mean that are often misread, each sentence once, with its jobs; empty jobs: all of them.
pub fn meanings(accounts: &Accounts) -> Vec<(&str, Vec<&str>)> {
    let mut found: Vec<(&str, Vec<&str>)> = Vec::new();
    for job in &accounts.jobs {
        for sentence in &job.meanings {
            match found.iter_mut().find(|(known, _)| known == sentence) {
                Some((_, jobs)) => jobs.push(&job.job),
                None => found.push((sentence, vec![&job.job])),
            }
        }
    }
    for (_, jobs) in &mut found {
        if jobs.len() == accounts.jobs.len() {
            jobs.clear();
        }
    }
    found
}

fn bytes_lines(accounts: &Accounts) -> impl Iterator<Item = String> {
    let has_names = accounts.jobs.len() > 1;
    let of_job = move |job| {
        let job: &JobAccount = job;
        job.bytes.iter().filter_map(move |bytes| bytes_line(job, bytes, has_names))
    };
    accounts.jobs.iter().flat_map(of_job).take(MOST_JOBS)
}

/// How many options were done as asked, and those that were not.
fn asked_line(accounts: &Accounts) -> Option<String> {
    let (n_done, told) = (names(accounts, |outcome| *outcome == OptionOutcome::AsAsked).len(), missed_texts(accounts));
    let done = match n_done {
        0 => String::new(),
        1 => "1 option as asked".to_owned(),
        n => format!("{n} options as asked"),
    };
    match (done.is_empty(), told.is_empty()) {
        (true, true) => None,
        (false, true) => Some(format!("Asked and done: {done}.")),
        (true, false) => Some(format!("Not as asked: {}.", told.join("; "))),
        (false, false) => Some(format!("Asked and done: {done}. Not as asked: {}.", told.join("; "))),
    }
}

/// Options that were missed, with their jobs and reasons.
fn missed_texts(accounts: &Accounts) -> Vec<String> {
    let text = |(option, why, jobs): (&OptionAccount, &str, Vec<&str>)| {
        let names = jobs.iter().map(|job| escape_name(job)).collect::<Vec<_>>().join(", ");
        let of = if jobs.is_empty() { names } else { format!("{names}: ") };
        format!("{of}{} ({why})", escape_name(&option.given()))
    };
    not_as_asked(accounts).into_iter().map(text).collect()
}

/// Names of the options of which this is so in any job, and that were not missed in another one.
fn names(accounts: &Accounts, is_it: impl Fn(&OptionOutcome) -> bool) -> BTreeSet<&str> {
    let all = || accounts.jobs.iter().flat_map(|job| &job.options);
    let missed =
        |name: &str| all().any(|one| one.option == name && matches!(one.outcome, OptionOutcome::NotAsAsked(_)));
    all().filter(|one| is_it(&one.outcome)).map(|one| one.option.as_str()).filter(|name| !missed(name)).collect()
}

/// Options whose effect nothing has shown.
fn unseen_line(accounts: &Accounts) -> Option<String> {
    let done = names(accounts, |outcome| *outcome == OptionOutcome::AsAsked);
    let unseen = names(accounts, |outcome| matches!(outcome, OptionOutcome::NotSeen(_)));
    let unseen: Vec<&str> = unseen.into_iter().filter(|name| !done.contains(name)).collect();
    let told = unseen.iter().take(MOST_UNSEEN).copied().collect::<Vec<_>>().join(", ");
    match unseen.len() {
        0 => None,
        n if n > MOST_UNSEEN => Some(format!("Not seen whether done: {told} and {} more.", n - MOST_UNSEEN)),
        _ => Some(format!("Not seen whether done: {told}.")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn option(name: &str, asked: &str, outcome: OptionOutcome) -> OptionAccount {
        OptionAccount { option: name.to_owned(), asked: asked.to_owned(), outcome }
    }

    fn job(name: &str, options: Vec<OptionAccount>) -> JobAccount {
        JobAccount { job: name.to_owned(), options, ..JobAccount::default() }
    }

    #[test]
    fn options_are_counted_by_name_and_those_that_were_missed_are_named() {
        let missed = || option("rate_iops", "400", OptionOutcome::NotAsAsked("20 of 400/s".to_owned()));
        let done = |name| option(name, "1", OptionOutcome::AsAsked);
        let jobs = vec![
            job("a", vec![done("direct"), missed(), option("name", "a", OptionOutcome::Structure)]),
            job(
                "b",
                vec![
                    done("direct"),
                    done("rate_iops"),
                    done("bs"),
                    option("norandommap", "", OptionOutcome::NotSeen("x".to_owned())),
                ],
            ),
        ];
        let accounts = Accounts { jobs, ..Accounts::default() };
        let lines = accounts_lines(&accounts);
        assert_eq!(
            lines,
            [
                "Asked and done: 2 options as asked. Not as asked: a: rate_iops=400 (20 of 400/s).",
                "Not seen whether done: norandommap."
            ]
        );
        let of_all = Accounts { jobs: vec![job("a", vec![missed()]), job("b", vec![missed()])], ..Accounts::default() };
        assert_eq!(accounts_lines(&of_all), ["Not as asked: rate_iops=400 (20 of 400/s)."]);
        assert!(accounts_lines(&Accounts::default()).is_empty());
    }

    #[test]
    fn parts_of_a_time_are_told_from_one_percent_on() {
        let time =
            TimeAccount { whole_ns: 1000, storage_ns: 700, kernel_ns: 291, computing_ns: 9, ..TimeAccount::default() };
        assert_eq!(time_text(&time), "storage 70 %, kernel 29 %");
        let mut account = job("a", Vec::new());
        account.time = Some(time);
        let accounts = Accounts { jobs: vec![account; 8], ..Accounts::default() };
        let lines = accounts_lines(&accounts);
        assert_eq!((lines.len(), lines[0].as_str()), (7, "Time of a: storage 70 %, kernel 29 %."));
        assert_eq!(lines[6], "Time of 2 more jobs: --json has it.");
    }

    #[test]
    fn a_meaning_is_told_once_with_its_jobs() {
        let mut jobs = vec![job("a", Vec::new()), job("b", Vec::new()), job("c", Vec::new())];
        for (job, meanings) in jobs.iter_mut().zip([&["x.", "y."][..], &["x.", "y."], &["y."]]) {
            job.meanings = meanings.iter().map(|&meaning| meaning.to_owned()).collect();
        }
        let accounts = Accounts { jobs, ..Accounts::default() };
        assert_eq!(accounts_lines(&accounts), ["a, b: x.", "y."]);
        assert_eq!(plan_lines(&accounts), report_lines(&accounts));
    }

    #[test]
    fn requests_of_several_ios_are_told() {
        let line = |n_requests, kernel_bytes, unseen: Option<&str>| {
            let level = LevelBytes {
                devices: vec!["vda".to_owned()],
                bytes: 64 << 20,
                n_requests: Some(n_requests),
                is_shared: false,
            };
            let account = BytesAccount {
                direction: "read".to_owned(),
                n_ios: 16_384,
                bytes: 64 << 20,
                kernel_bytes: Some(kernel_bytes),
                levels: if unseen.is_some() { Vec::new() } else { vec![level] },
                unseen: unseen.map(str::to_owned),
            };
            bytes_line(&job("a", Vec::new()), &account, false)
        };
        assert_eq!(line(4_097, 64 << 20, None), None);
        assert_eq!(
            line(512, 64 << 20, None).as_deref(),
            Some("Bytes of reads: job 64 MiB in 16,384 reads, kernel 64 MiB, vda 64 MiB in 512 requests.")
        );
        assert_eq!(
            line(0, 0, Some("the engine null has no storage")).as_deref(),
            Some("Bytes of reads: job 64 MiB, kernel 0 bytes: the engine null has no storage.")
        );
    }

    #[test]
    fn a_run_that_was_ended_says_by_what() {
        let text = |by, jobs: &[&str]| {
            ending_text(&RunEnding::Early { by, jobs: jobs.iter().map(|&job| job.to_owned()).collect() })
                .expect("a sentence")
        };
        assert_eq!(ending_text(&RunEnding::AsAsked), None);
        let by_signal = text(EndedBy::Request { signal: Some(2) }, &[]);
        assert_eq!(
            by_signal,
            "The run was ended by signal 2 (SIGINT): the figures are those of a part of what was asked."
        );
        assert!(
            text(EndedBy::ExitAll { job: "b".to_owned() }, &["a"])
                .starts_with("The job a was ended when b ended (exitall):")
        );
        assert!(
            text(EndedBy::LostHost { host: "h2".to_owned() }, &[])
                .starts_with("The run was done in part, as host h2 was lost: ")
        );
        assert!(text(EndedBy::Error, &["a", "c"]).starts_with("The jobs a, c ended with an error:"));
    }
}
