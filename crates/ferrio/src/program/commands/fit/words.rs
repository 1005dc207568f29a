//! Verdicts, limits and figures in words, for the text and the page.
//!
//! Must not know: terminals, pages. Start reading at [`headline`].

use crate::ui::step_bar::time_text;
use ferrio::fit::{
    CheckOutcome, DisturbedRuns, FitBound, FitLimit, FitLoad, FitOutcome, FitTrace, FitVerdict, Headroom, LoadOutcome,
    RateShortfall, Recipe,
};
use ferrio::sweep::limit::LimitedBy;
use ferrio_formats::native::NOTHING;
use ferrio_stats::{IoKind, Metric};
use ferrio_units::humanize::{bytes_text, counted, duration_text, thousands, three_digits};
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

pub(super) const NO_LIMITS: &str = "No limit is known that the vendor itself has published: the recipe describes the storage under this load, and gives no verdict (exit code 3).";

/// Headings of the figures of a load.
pub(super) fn figure_columns() -> Vec<&'static str> {
    ["job", "kind"].into_iter().chain(SHOWN.map(Metric::heading)).collect()
}

/// The figures of a load.
const SHOWN: [Metric; 5] = [Metric::Bandwidth, Metric::Iops, Metric::MeanLatency, Metric::P99, Metric::P999];

pub(super) fn headline(recipe: &Recipe, outcome: &FitOutcome, path: &Path) -> String {
    let (name, path) = (&recipe.name, path.display());
    match outcome.verdict {
        Some(FitVerdict::Fits) => format!("FITS: {path} is good enough for {name}."),
        Some(FitVerdict::DoesNotFit) => format!("DOES NOT FIT: {path} is not good enough for {name}."),
        Some(FitVerdict::CantTell) => format!("CAN'T TELL whether {path} is good enough for {name}."),
        None => {
            format!("NO VERDICT: {path} under the load of {name}. Its vendor publishes no limit that could decide.")
        }
    }
}

/// What the program does to storage, in a line.
pub(super) fn about(recipe: &Recipe) -> String {
    recipe.about.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A value of a figure with its unit.
pub(super) fn value(limit: &FitLimit, value: f64) -> String {
    match limit.subject() {
        Ok((_, Metric::Iops)) => rate(value),
        Ok((_, metric)) => metric.text(value),
        Err(_) => duration_text(value),
    }
}

/// A rate: whole where it is, as most limits are, else with three digits.
fn rate(per_second: f64) -> String {
    if per_second.fract() == 0.0 {
        format!("{}/s", thousands(per_second as u64))
    } else {
        format!("{}/s", three_digits(per_second))
    }
}

/// A limit as a value with its unit: `at most 10.0 ms`.
pub(super) fn bound(limit: &FitLimit, bound: FitBound) -> String {
    match bound {
        FitBound::Most(most) => format!("at most {}", value(limit, most)),
        FitBound::Least(least) => format!("at least {}", value(limit, least)),
    }
}

pub(super) fn measured(limit: &FitLimit, check: &CheckOutcome) -> String {
    if check.values.is_empty() { NOTHING.to_owned() } else { value(limit, check.value) }
}

/// What was measured of a limit besides: the share of I/Os beyond it, or nothing.
pub(super) fn distance_and_share(limit: &FitLimit, check: &CheckOutcome) -> String {
    match beyond(limit, check) {
        Some(beyond) => format!("{}. {beyond}", distance(check)),
        None => distance(check),
    }
}

/// How far a figure is from its limit; empty: there is no figure.
fn distance(check: &CheckOutcome) -> String {
    let times = |times: f64| format!("{} times", three_digits(times));
    match check.margin {
        margin if margin >= 1.0 => format!("{} better than the limit", times(margin)),
        margin if margin > 0.0 => format!("{} worse than the limit", times(1.0 / margin)),
        _ => String::new(),
    }
}

pub(super) fn subject(limit: &FitLimit) -> String {
    format!("{} of {}{} (load {})", limit.figure, limit.job, together(limit), limit.load)
}

/// The I/Os that a limit takes together: `, 2 syncs and 14 writes together`; empty: it is about single ones.
fn together(limit: &FitLimit) -> String {
    let Some(ios) = limit.together else { return String::new() };
    let syncs = counted(u64::from(ios.syncs), "sync", "syncs");
    let writes = counted(u64::from(ios.writes), "write", "writes");
    if ios.writes == 0 { format!(", {syncs} together") } else { format!(", {syncs} and {writes} together") }
}

/// The figure of a limit in a table: `sync.p99 of 2 + 14 writes`.
pub(super) fn figure(limit: &FitLimit) -> String {
    limit
        .together
        .map_or(limit.figure.clone(), |ios| format!("{} of {} + {} writes", limit.figure, ios.syncs, ios.writes))
}

/// The share of the I/Os that took longer than the limit of a percentile; `None`: the limit is about another figure, or nothing was measured.
pub(super) fn beyond(limit: &FitLimit, check: &CheckOutcome) -> Option<String> {
    let (beyond, bound) = (check.beyond?, check.bound?);
    let ios = if limit.together.is_some() { "sums" } else { "I/Os" };
    let percent = |share: f64| format!("{} %", three_digits(share));
    let [low, high] = beyond.interval;
    Some(format!(
        "{} of the {ios} of all {} took longer than {} (certainly {} to {}); {} may",
        percent(beyond.percent),
        counted(check.n_runs as u64, "run", "runs"),
        value(limit, bound.value()),
        percent(low),
        percent(high),
        percent((beyond.allowed * 1e6).round() / 1e6)
    ))
}

/// What it means that a limit does not hold, or why the runs do not decide.
pub(super) fn reason(limit: &FitLimit, check: &CheckOutcome) -> String {
    let of = subject(limit);
    match (check.verdict, &check.contradicted_by) {
        (FitVerdict::CantTell, Some(finding)) => {
            format!("{of}: can't tell, because {finding} speaks against the figure (ferrio help {finding}).")
        }
        (FitVerdict::CantTell, None) if check.n_runs == 0 => {
            format!("{of}: can't tell, because no time was left for this load.")
        }
        (FitVerdict::CantTell, None) if check.values.is_empty() => {
            format!("{of}: can't tell, because the runs have no such figure.")
        }
        (FitVerdict::CantTell, None) => match &check.disturbed {
            Some(disturbed) => format!("{of}: can't tell. {}", quiet_and_disturbed(disturbed)),
            None => format!("{of}: can't tell. {} {}", undecided(limit, check), more_runs(check)),
        },
        _ => format!("{of}: {}", limit.means),
    }
}

/// What quiet runs tell, and what disturbed the others.
fn quiet_and_disturbed(disturbed: &DisturbedRuns) -> String {
    let n_quiet = counted(disturbed.n_quiet as u64, "quiet run", "quiet runs");
    let of_quiet = match disturbed.n_quiet_held {
        _ if disturbed.n_quiet == 0 => "No run was quiet.".to_owned(),
        n_held if n_held == disturbed.n_quiet => format!("The limit holds in the {n_quiet}."),
        n_held => format!("The limit holds in {n_held} of the {n_quiet}."),
    };
    let others = match disturbed.others_bytes {
        0 => String::new(),
        bytes => format!("; others moved up to {}", bytes_text(bytes)),
    };
    let findings = disturbed.findings.join(", ");
    let n_disturbed = counted(disturbed.n_disturbed as u64, "run", "runs");
    format!(
        "{of_quiet} In {n_disturbed} it breaks, while something else kept the machine busy ({findings}{others}). Runs on a quieter machine would tell (ferrio help {}).",
        disturbed.findings.first().map_or("findings", String::as_str)
    )
}

/// How many more runs would tell.
fn more_runs(check: &CheckOutcome) -> String {
    match check.more_runs {
        Some(more) => format!("About {more} more runs like these would tell (--runs {}).", check.n_runs + more),
        None => "The figure is so near to the limit that many times as many runs like these would not tell.".to_owned(),
    }
}

/// That the time was over, and what more of it would bring; `None`: it was not.
pub(super) fn time_over(recipe: &Recipe, outcome: &FitOutcome) -> Option<String> {
    let n_runs: usize = outcome.loads.iter().map(|load| load.n_runs).sum();
    let missing = |(load, found): (&FitLoad, &LoadOutcome)| {
        let is_open = found.checks.iter().any(|check| check.verdict == FitVerdict::CantTell) || found.n_runs == 0;
        let fewest = (recipe.fewest_runs(load) as usize).saturating_sub(found.n_runs);
        let more = found.checks.iter().filter_map(|check| check.more_runs).max().unwrap_or_default();
        is_open.then(|| fewest.max(more).max(1) as f64 * f64::from(load.seconds) / 4.0)
    };
    let seconds: f64 = recipe.loads.iter().zip(&outcome.loads).filter_map(missing).sum();
    let more = match seconds {
        seconds if seconds > 0.0 => {
            format!("about {} more would decide the rest", time_text(Duration::from_secs_f64(seconds.ceil())))
        }
        _ => "more of it would only make the figures more certain".to_owned(),
    };
    let runs = counted(n_runs as u64, "run", "runs");
    outcome.is_out_of_time.then(|| format!("The time was over after {runs}: {more}."))
}

/// How runs that do not decide differ.
fn undecided(limit: &FitLimit, check: &CheckOutcome) -> String {
    let n_runs = check.values.len();
    let held = match check.values.iter().filter(|one| check.bound.is_some_and(|bound| bound.holds(**one))).count() {
        0 => format!("None of {n_runs} runs holds the limit"),
        n_held if n_held == n_runs => format!("All {n_runs} runs hold the limit"),
        1 => format!("1 of {n_runs} runs holds the limit"),
        n_held => format!("{n_held} of {n_runs} runs hold the limit"),
    };
    let least = check.values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = check.values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let held = format!(
        "{held}, and they differ too much or are too few to be sure: from {} to {}.",
        value(limit, least),
        value(limit, most)
    );
    beyond(limit, check).map_or(held.clone(), |beyond| format!("{held} {beyond}."))
}

/// That a job did not reach its rate, and what it means.
pub(super) fn missed(load: &LoadOutcome, missed: &RateShortfall) -> String {
    let verdict = match missed.verdict {
        FitVerdict::DoesNotFit => "the storage does not carry this load",
        _ => "can't tell whether the storage carries this load",
    };
    let why = match missed.limited_by {
        Some(by @ (LimitedBy::Syncs | LimitedBy::Cpu)) => format!(" {}", by.sentence()),
        _ => String::new(),
    };
    format!(
        "Load {}: {verdict}. In {} of {} runs a job did not reach its rate ({} at worst: {}).{why}",
        load.name,
        missed.n_missed,
        load.n_runs,
        missed.job,
        missed_rates(missed)
    )
}

/// The verdict on the rates of a load, which may have no limits.
pub(super) const fn missed_verdict(missed: &RateShortfall) -> &'static str {
    match missed.verdict {
        FitVerdict::DoesNotFit => "not carried",
        verdict => verdict.words(),
    }
}

/// What a job did of its rate: `71.4 of 100 I/Os a second`.
fn missed_rates(missed: &RateShortfall) -> String {
    let shown = |rate: f64| if missed.is_of_bytes { three_digits(rate / 1e6) } else { three_digits(rate) };
    let unit = if missed.is_of_bytes { "MB" } else { "I/Os" };
    format!("{} of {} {unit} a second", shown(missed.least_per_sec), shown(missed.wanted_per_sec))
}

pub(super) fn source(limit: &FitLimit) -> String {
    let from = &limit.source;
    format!("Source: {}, {} ({}): {}", from.title, from.year, from.url, from.says)
}

/// How much more load there may be, and what ends it.
pub(super) fn headroom(recipe: &Recipe, load: &LoadOutcome, headroom: &Headroom) -> String {
    let mut words = format!("Headroom of {}: {}.", load.name, headroom.words());
    if let Some(limit) = headroom.first_limit.and_then(|index| recipe.limits.get(index)) {
        // Writing to a text cannot fail.
        let _ = write!(words, " The first limit to break is {} of {}.", limit.figure, limit.job);
    }
    if let Some(missed) = &headroom.missed {
        let _ = write!(words, " Then {} does not reach its rate ({}).", missed.job, missed_rates(missed));
    }
    if let Some(by) = headroom.limited_by {
        let _ = write!(words, " {}", by.sentence());
    }
    if !headroom.contradicted_by.is_empty() {
        let names = headroom.contradicted_by.join(", ");
        let _ =
            write!(words, " It may be less in the long run: {names} (ferrio help {}).", headroom.contradicted_by[0]);
    }
    words
}

/// The figures of a load, a row for each job and kind of I/O, with the columns [`figure_columns`].
pub(super) fn figures(load: &LoadOutcome) -> Vec<Vec<String>> {
    let figures = &load.figures.figures;
    let mut subjects: Vec<(usize, IoKind)> = figures.iter().map(|one| (one.job_index, one.kind)).collect();
    subjects.dedup();
    let row = |(job_index, kind): (usize, IoKind)| {
        let of = |metric| figures.iter().find(|one| (one.job_index, one.kind, one.metric) == (job_index, kind, metric));
        let mut row = vec![of(Metric::Iops).map_or(String::new(), |one| one.job.clone()), kind.name().to_owned()];
        row.extend(SHOWN.map(|metric| metric.cell_or(of(metric).map(|one| one.mean), NOTHING)));
        row
    };
    subjects.into_iter().map(row).collect()
}

/// The program whose trace stands beside a load.
pub(super) fn compared_with(trace: &FitTrace) -> String {
    format!("Compared with a trace of {} (load {})", trace.program, trace.load)
}

/// A figure of a trace.
pub(super) fn number(value: f64) -> String {
    if value.fract() == 0.0 && value >= 0.0 { thousands(value as u64) } else { three_digits(value) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio::fit::Catalogue;

    fn check(bound: FitBound, values: &[f64]) -> CheckOutcome {
        let mut check = CheckOutcome::unmeasured(0, Some(bound));
        check.values = values.to_vec();
        check
    }

    /// The values of the first case were measured on a busy machine, one of them in a slow moment.
    #[test]
    fn a_limit_that_is_not_decided_tells_how_the_runs_differ() {
        let recipe = Catalogue::default().find("etcd").expect("a recipe");
        let limit = recipe.limits.iter().find(|limit| limit.figure == "sync.p99").expect("a limit of syncs");
        for (bound, values, text) in [
            (
                FitBound::Most(25e6),
                &[0.4e6, 3.5e6, 87.6e6][..],
                "2 of 3 runs hold the limit, and they differ too much or are too few to be sure: from 400 us to 87.6 ms.",
            ),
            (
                FitBound::Most(25e6),
                &[20e6, 24e6],
                "All 2 runs hold the limit, and they differ too much or are too few to be sure: from 20.0 ms to 24.0 ms.",
            ),
            (
                FitBound::Least(30e6),
                &[20e6, 24e6],
                "None of 2 runs holds the limit, and they differ too much or are too few to be sure: from 20.0 ms to 24.0 ms.",
            ),
            (
                FitBound::Least(24e6),
                &[20e6, 24e6],
                "1 of 2 runs holds the limit, and they differ too much or are too few to be sure: from 20.0 ms to 24.0 ms.",
            ),
        ] {
            assert_eq!(undecided(limit, &check(bound, values)), text);
        }
    }

    #[test]
    fn rates_are_whole_or_have_three_digits() {
        for (per_second, text) in
            [(0.0, "0/s"), (0.01, "0.01/s"), (50.0, "50/s"), (50.26, "50.3/s"), (5888.4, "5,888/s")]
        {
            assert_eq!(rate(per_second), text);
        }
    }
}
