//! Recipes and their outcomes as text.
//!
//! Must not know: how loads are run. Start reading at [`outcome`].

use crate::sweep::table::{aligned, time_text};
use ferrio_fit::{CheckOutcome, FitBound, FitError, FitLimit, FitOutcome, FitVerdict, LoadOutcome, Recipe};
use ferrio_insight::compare::ComparedMetric;
use ferrio_report::native::{findings, text_width, wrap};
use ferrio_stats::{Finding, Severity};
use ferrio_units::glance::{bytes_text, duration_text, thousands, three_digits};
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

fn width() -> usize {
    text_width(ferrio_sys::terminal::columns(std::io::stdout()))
}

/// All recipes, a line each.
pub(super) fn list(recipes: &[(String, Result<Recipe, FitError>)]) -> String {
    let row = |(name, recipe): &(String, Result<Recipe, FitError>)| match recipe {
        Ok(recipe) => {
            vec![name.clone(), time_text(Duration::from_secs(u64::from(recipe.seconds()))), recipe.title.clone()]
        }
        Err(error) => {
            vec![name.clone(), String::new(), error.to_string().lines().next().unwrap_or_default().to_owned()]
        }
    };
    let rows: Vec<Vec<String>> = recipes.iter().map(row).collect();
    aligned(&rows, 3)
        + "\nferrio fit NAME tells what a recipe does, and ferrio fit NAME PATH judges the storage under PATH.\n"
}

/// What a recipe does.
pub(super) fn recipe(recipe: &Recipe) -> String {
    let width = width();
    let mut text = format!(
        "{}\n\n{}\n",
        recipe.title,
        wrap(&recipe.about.split_whitespace().collect::<Vec<_>>().join(" "), "", width)
    );
    for load in &recipe.loads {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "Load {} ({}):", load.name, time_text(Duration::from_secs(u64::from(load.seconds))));
        text.push_str(&wrap(&load.about, "  ", width));
        for line in load.jobs.trim().lines() {
            let _ = writeln!(text, "{}", format!("    {line}").trim_end());
        }
        text.push('\n');
    }
    for limit in &recipe.limits {
        let _ = writeln!(text, "Limit: {}", limit_text(limit));
        text.push_str(&wrap(&limit.means, "  ", width));
        text.push_str(&wrap(&source(limit), "  ", width));
        text.push('\n');
    }
    if recipe.limits.is_empty() {
        text.push_str(&wrap(
            "No source with limits is known: the recipe describes the storage, and gives no verdict.",
            "",
            width,
        ));
    }
    for trace in &recipe.traces {
        let _ = writeln!(text, "Compared with a trace of {} (load {}):", trace.program, trace.load);
        text.push_str(&wrap(&trace.how, "  ", width));
        let row = |figure: &ferrio_fit::TracedFigure| {
            vec![
                format!("  {}", figure.name),
                format!("traced {}", number(figure.traced)),
                format!("here {}", number(figure.recipe)),
            ]
        };
        text.push_str(&aligned(&trace.figures.iter().map(row).collect::<Vec<_>>(), 1));
        for difference in &trace.differences {
            text.push_str(&wrap(&format!("Different: {}", difference.text), "  ", width));
        }
        text.push('\n');
    }
    text
}

fn number(value: f64) -> String {
    if value.fract() == 0.0 && value >= 0.0 { thousands(value as u64) } else { three_digits(value) }
}

fn source(limit: &FitLimit) -> String {
    let from = &limit.source;
    format!("Source: {}, {} ({}): {}", from.title, from.year, from.url, from.says)
}

fn limit_text(limit: &FitLimit) -> String {
    let bound = match (&limit.most, &limit.least) {
        (Some(most), _) => format!("at most {most}"),
        (_, Some(least)) => format!("at least {least}"),
        _ => String::new(),
    };
    format!("{} of {} (load {}) {bound}", limit.figure, limit.job, limit.load)
}

/// What is going to happen.
pub(super) fn before(recipe: &Recipe, laid_out_bytes: u64) -> String {
    let time = time_text(Duration::from_secs(u64::from(recipe.seconds())));
    let text = format!(
        "{}. About {time}, up to twice as long where the runs do not decide; files of up to {}.",
        recipe.title,
        bytes_text(laid_out_bytes)
    );
    wrap(&text, "", width())
}

/// The verdict with its reasons.
pub(super) fn outcome(recipe: &Recipe, outcome: &FitOutcome, path: &Path) -> String {
    let width = width();
    let mut text = String::from("\n");
    text.push_str(&wrap(&headline(recipe, outcome, path), "", width));
    text.push('\n');
    let mut rows = vec![["load", "job", "figure", "limit", "measured", "", ""].map(str::to_owned).to_vec()];
    for (load, check) in outcome.loads.iter().flat_map(|load| load.checks.iter().map(move |check| (load, check))) {
        rows.extend(recipe.limits.get(check.limit_index).map(|limit| row(load, limit, check)));
    }
    if rows.len() > 1 {
        text.push_str(&aligned(&rows, 3));
        text.push('\n');
    }
    for (load, check) in outcome.loads.iter().flat_map(|load| load.checks.iter().map(move |check| (load, check))) {
        if let Some(limit) = recipe.limits.get(check.limit_index).filter(|_| check.verdict != FitVerdict::Fits) {
            text.push_str(&wrap(&reason(load, limit, check), "", width));
            text.push_str(&wrap(&source(limit), "  ", width));
        }
    }
    for load in &outcome.loads {
        text.push_str(&of_load(recipe, load, width));
    }
    let has_colour = crate::console::has_colour();
    let told: Vec<Finding> = outcome
        .loads
        .iter()
        .flat_map(|load| &load.findings)
        .filter(|one| one.severity == Severity::Wrong)
        .cloned()
        .collect();
    if !told.is_empty() {
        let _ = write!(text, "\n{}", findings(&told, width, has_colour));
    }
    text
}

fn headline(recipe: &Recipe, outcome: &FitOutcome, path: &Path) -> String {
    let (name, path) = (&recipe.name, path.display());
    match outcome.verdict {
        Some(FitVerdict::Fits) => format!("FITS: {path} is good enough for {name}."),
        Some(FitVerdict::DoesNotFit) => format!("DOES NOT FIT: {path} is not good enough for {name}."),
        Some(FitVerdict::CantTell) => format!("CAN'T TELL whether {path} is good enough for {name}."),
        None => format!("{path} under the load of {name}. No source has limits for it, so there is no verdict."),
    }
}

fn value_text(limit: &FitLimit, value: f64) -> String {
    match limit.subject() {
        Ok((_, ComparedMetric::Iops)) => format!("{}/s", thousands(value.round() as u64)),
        Ok((_, ComparedMetric::Bandwidth)) => format!("{} MB/s", three_digits(value / 1e6)),
        _ => duration_text(value),
    }
}

fn row(load: &LoadOutcome, limit: &FitLimit, check: &CheckOutcome) -> Vec<String> {
    let bound = match check.bound {
        Some(FitBound::Most(most)) => format!("<= {}", value_text(limit, most)),
        Some(FitBound::Least(least)) => format!(">= {}", value_text(limit, least)),
        None => String::new(),
    };
    let measured = if check.values.is_empty() { "-".to_owned() } else { value_text(limit, check.value) };
    let margin = if check.margin > 0.0 { format!("{} x", three_digits(check.margin)) } else { String::new() };
    vec![
        load.name.clone(),
        limit.job.clone(),
        limit.figure.clone(),
        bound,
        measured,
        margin,
        check.verdict.words().to_owned(),
    ]
}

fn reason(load: &LoadOutcome, limit: &FitLimit, check: &CheckOutcome) -> String {
    let of = format!("{} of {} (load {})", limit.figure, limit.job, load.name);
    match (check.verdict, &check.contradicted_by) {
        (FitVerdict::CantTell, Some(finding)) => {
            format!("{of}: can't tell, because {finding} contradicts the figure (ferrio help {finding}).")
        }
        (FitVerdict::CantTell, None) if check.values.is_empty() => {
            format!("{of}: can't tell, because the runs have no such figure.")
        }
        (FitVerdict::CantTell, None) => format!("{of}: can't tell: {} runs are too different to decide.", load.n_runs),
        _ => format!("{of}: {}", limit.means),
    }
}

fn of_load(recipe: &Recipe, load: &LoadOutcome, width: usize) -> String {
    let mut text = String::new();
    if let Some(headroom) = &load.headroom {
        let mut words = format!("Headroom of {}: {}.", load.name, headroom.words());
        if let Some(limit) = headroom.first_limit.and_then(|index| recipe.limits.get(index)) {
            let _ = write!(words, " The first limit to break is {} of {}.", limit.figure, limit.job);
        }
        if let Some(by) = headroom.limited_by {
            let _ = write!(words, " {}", by.sentence());
        }
        text.push_str(&wrap(&words, "", width));
    }
    if load.checks.is_empty() {
        let mut rows = vec![["load", "job", "", "MB/s", "IOPS", "mean", "p99", "p99.9"].map(str::to_owned).to_vec()];
        let mut subjects: Vec<(usize, ferrio_stats::FiguresOf)> = Vec::new();
        for figure in &load.figures.figures {
            if !subjects.contains(&(figure.job_index, figure.kind)) {
                subjects.push((figure.job_index, figure.kind));
            }
        }
        for (job_index, kind) in subjects {
            let of = |metric| {
                load.figures
                    .figures
                    .iter()
                    .find(|one| (one.job_index, one.kind, one.metric) == (job_index, kind, metric))
            };
            let cell = |metric, show: fn(f64) -> String| of(metric).map_or("-".to_owned(), |one| show(one.mean));
            let job = of(ComparedMetric::Iops).map_or(String::new(), |one| one.job.clone());
            rows.push(vec![
                load.name.clone(),
                job,
                kind.name().to_owned(),
                cell(ComparedMetric::Bandwidth, |value| three_digits(value / 1e6)),
                cell(ComparedMetric::Iops, |value| thousands(value.round() as u64)),
                cell(ComparedMetric::MeanLatency, duration_text),
                cell(ComparedMetric::P99, duration_text),
                cell(ComparedMetric::P999, duration_text),
            ]);
        }
        text.push_str(&aligned(&rows, 3));
    }
    text
}
