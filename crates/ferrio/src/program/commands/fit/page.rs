//! The page of a fit, from its outcome.
//!
//! Must not know: how a page is laid out. Start reading at [`page`].

use super::words;
use crate::ui::machine_text::machine_sentence;
use ferrio::fit::{
    CheckOutcome, FitBound, FitLimit, FitLoad, FitOutcome, FitTrace, FitVerdict, LoadOutcome, Recipe, TracedFigure,
};
use ferrio::session::VERSION;
use ferrio_pictures::fit::{FitHeadroom, FitLoadView, FitMissed, FitRow, FitSpread, FitTraceView, FitView};
use ferrio_stats::{Finding, IoKind, Metric};
use ferrio_units::humanize::{bytes_text, duration_text, thousands};
use std::path::Path;

pub(super) fn page(recipe: &Recipe, outcome: &FitOutcome, path: &Path) -> String {
    let checks = outcome.loads.iter().flat_map(|load| &load.checks);
    let missed = outcome.loads.iter().filter_map(|load| {
        let missed = load.missed.as_ref()?;
        let verdict = words::missed_verdict(missed);
        Some(FitMissed { mark: missed.verdict, verdict, words: words::missed(load, missed) })
    });
    let limits = checks.filter_map(|check| Some(row(recipe.limits.get(check.limit_index)?, check)));
    ferrio_pictures::fit::page(&FitView {
        headline: words::headline(recipe, outcome, path),
        verdict: outcome.verdict,
        facts: facts(recipe, outcome),
        limits: limits.collect(),
        missed: missed.collect(),
        about: words::about(recipe),
        loads: recipe.loads.iter().zip(&outcome.loads).map(|(load, found)| of_load(recipe, load, found)).collect(),
        traces: recipe.traces.iter().map(of_trace).collect(),
        findings: findings(outcome),
    })
}

/// The program, the runs and the machine, a sentence each.
fn facts(recipe: &Recipe, outcome: &FitOutcome) -> Vec<String> {
    let n_runs: usize = outcome.loads.iter().map(|load| load.n_runs).sum();
    let written = outcome.loads.iter().map(|load| load.written_bytes).fold(0, u64::saturating_add);
    let runs = if n_runs == 1 { "run" } else { "runs" };
    let mut facts = vec![
        format!("Recipe {}: {}.", recipe.name, recipe.title),
        format!("{} {runs}, {} written. {VERSION}.", thousands(n_runs as u64), bytes_text(written)),
    ];
    facts.extend(words::time_over(recipe, outcome));
    facts.extend(outcome.provenance.as_deref().map(machine_sentence));
    facts
}

fn row<'a>(limit: &'a FitLimit, check: &'a CheckOutcome) -> FitRow<'a> {
    FitRow {
        subject: words::subject(limit),
        // Recipes are checked when they are read.
        metric: limit.subject().map_or(Metric::MeanLatency, |(_, metric)| metric),
        verdict: check.verdict,
        bound: check.bound,
        limit_text: check.bound.map(|bound| words::bound(limit, bound)).unwrap_or_default(),
        values: &check.values,
        mean: (check.value, words::measured(limit, check)),
        interval: check.interval,
        distance: words::distance_and_share(limit, check),
        reason: (check.verdict != FitVerdict::Fits).then(|| words::reason(limit, check)),
        source: &limit.source,
    }
}

fn of_load<'a>(recipe: &'a Recipe, load: &'a FitLoad, found: &LoadOutcome) -> FitLoadView<'a> {
    let headroom = found.headroom.as_ref().map(|headroom| FitHeadroom {
        fits_times: headroom.fits_times,
        breaks_times: headroom.breaks_times,
        words: words::headroom(recipe, found, headroom),
    });
    FitLoadView {
        name: &load.name,
        about: &load.about,
        jobs: &load.jobs,
        columns: words::figure_columns(),
        rows: words::figures(found),
        spreads: spreads(recipe, load, found),
        headroom,
    }
}

/// The latencies that limits of a load are about, each once.
fn spreads(recipe: &Recipe, load: &FitLoad, found: &LoadOutcome) -> Vec<FitSpread> {
    let mut all: Vec<FitSpread> = Vec::new();
    for (_, limit) in recipe.limits_of(load) {
        // Recipes are checked when they are read.
        let (Ok((kind, metric)), Ok(bound)) = (limit.subject(), limit.bound()) else { continue };
        if !metric.is_latency() || metric == Metric::MeanLatency || limit.together.is_some() {
            continue;
        }
        let heading = format!("{}: {}", limit.job, kind.name());
        let limit_ns = (metric, bound.value(), matches!(bound, FitBound::Most(_)));
        match all.iter_mut().find(|known| known.heading == heading) {
            Some(known) => known.limits.push(limit_ns),
            None => all.push(FitSpread {
                heading,
                percentiles: percentiles(found, &limit.job, kind),
                limits: vec![limit_ns],
            }),
        }
    }
    all.retain(|spread| !spread.percentiles.is_empty());
    all
}

/// The percentiles of a job's latency, ascending.
fn percentiles(found: &LoadOutcome, job: &str, kind: IoKind) -> Vec<(Metric, f64, String)> {
    let figures = found.figures.figures.iter();
    // Jobs of the same name have the figures of the first.
    let job_index = figures.clone().find(|one| one.job == job).map(|one| one.job_index);
    let of_it = figures.filter(|one| Some(one.job_index) == job_index && one.kind == kind);
    let is_percentile = |metric: Metric| metric.percent().is_some() || metric == Metric::Max;
    let told = of_it.filter(|one| is_percentile(one.metric)).map(|one| {
        let few = if one.is_doubtful { " (few I/Os)" } else { "" };
        (one.metric, one.mean, format!("{}{few}", duration_text(one.mean)))
    });
    told.collect()
}

fn of_trace(trace: &FitTrace) -> FitTraceView<'_> {
    let row = |figure: &TracedFigure| [figure.name.clone(), words::number(figure.traced), words::number(figure.recipe)];
    FitTraceView {
        heading: words::compared_with(trace),
        how: &trace.how,
        rows: trace.figures.iter().map(row).collect(),
        differences: trace.differences.iter().map(|difference| difference.text.as_str()).collect(),
    }
}

/// The findings of all loads, each once with the loads that it is about, the worst first.
fn findings(outcome: &FitOutcome) -> Vec<(String, &Finding)> {
    let mut all: Vec<(Vec<&str>, &Finding)> = Vec::new();
    for (load, finding) in outcome.loads.iter().flat_map(|load| load.findings.iter().map(move |one| (load, one))) {
        match all.iter_mut().find(|(_, known)| known.is_as(finding)) {
            Some((loads, _)) => loads.push(&load.name),
            None => all.push((vec![&load.name], finding)),
        }
    }
    all.sort_by_key(|(_, finding)| finding.severity);
    all.into_iter().map(|(loads, finding)| (format!("Load {}", loads.join(", ")), finding)).collect()
}
