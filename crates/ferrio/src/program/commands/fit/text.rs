//! Recipes and their outcomes as text.
//!
//! Must not know: how loads are run. Start reading at [`outcome`].

use super::words;
use crate::ui::step_bar::time_text;
use ferrio::fit::{CheckOutcome, FitBound, FitError, FitLimit, FitOutcome, FitVerdict, LoadOutcome, Recipe};
use ferrio_formats::native::{aligned, findings, text_width, wrap};
use ferrio_stats::{Finding, Severity};
use ferrio_units::humanize::{bytes_text, three_digits};
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

pub(super) fn recipe(recipe: &Recipe) -> String {
    let width = width();
    let mut text = format!("{}\n\n{}\n", recipe.title, wrap(&words::about(recipe), "", width));
    for load in &recipe.loads {
        // Writing to a text cannot fail.
        let _ = writeln!(
            text,
            "Load {} ({}):",
            load.name,
            time_text(Duration::from_secs(u64::from(recipe.seconds_of(load))))
        );
        text.push_str(&wrap(&load.about, "  ", width));
        for line in load.jobs.trim().lines() {
            let _ = writeln!(text, "{}", format!("    {line}").trim_end());
        }
        text.push('\n');
    }
    for limit in &recipe.limits {
        let _ = writeln!(text, "Limit: {}", limit_text(limit));
        text.push_str(&wrap(&limit.means, "  ", width));
        text.push_str(&wrap(&words::source(limit), "  ", width));
        text.push('\n');
    }
    if recipe.limits.is_empty() {
        text.push_str(&wrap(words::NO_LIMITS, "", width));
    }
    for trace in &recipe.traces {
        let _ = writeln!(text, "{}:", words::compared_with(trace));
        text.push_str(&wrap(&trace.how, "  ", width));
        let row = |figure: &ferrio::fit::TracedFigure| {
            vec![
                format!("  {}", figure.name),
                format!("traced {}", words::number(figure.traced)),
                format!("here {}", words::number(figure.recipe)),
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

fn limit_text(limit: &FitLimit) -> String {
    let bound = match (&limit.most, &limit.least) {
        (Some(most), _) => format!("at most {most}"),
        (_, Some(least)) => format!("at least {least}"),
        _ => String::new(),
    };
    format!("{} {bound}", words::subject(limit))
}

/// What is going to happen.
pub(super) fn before(recipe: &Recipe, laid_out_bytes: u64) -> String {
    let time = time_text(Duration::from_secs(u64::from(recipe.seconds())));
    let text = format!(
        "{}. About {time}, up to twice as long where the runs do not decide; files of up to {}.",
        recipe.title,
        bytes_text(laid_out_bytes)
    );
    let no_limits = if recipe.limits.is_empty() { wrap(words::NO_LIMITS, "", width()) } else { String::new() };
    wrap(&text, "", width()) + &no_limits
}

/// The verdict with its reasons.
pub(super) fn outcome(recipe: &Recipe, outcome: &FitOutcome, path: &Path) -> String {
    let width = width();
    let mut text = String::from("\n");
    text.push_str(&wrap(&words::headline(recipe, outcome, path), "", width));
    if let Some(over) = words::time_over(recipe, outcome) {
        text.push_str(&wrap(&over, "", width));
    }
    text.push('\n');
    let mut rows = vec![["load", "job", "figure", "limit", "measured", "", ""].map(str::to_owned).to_vec()];
    for (load, check) in outcome.loads.iter().flat_map(|load| load.checks.iter().map(move |check| (load, check))) {
        rows.extend(recipe.limits.get(check.limit_index).map(|limit| row(load, limit, check)));
    }
    if rows.len() > 1 {
        text.push_str(&aligned(&rows, 3));
        text.push('\n');
    }
    for (load, missed) in outcome.loads.iter().filter_map(|load| Some((load, load.missed.as_ref()?))) {
        text.push_str(&wrap(&words::missed(load, missed), "", width));
    }
    for check in outcome.loads.iter().flat_map(|load| &load.checks) {
        let limit = recipe.limits.get(check.limit_index);
        if let Some(beyond) = limit.filter(|_| is_told_beside(check)).and_then(|limit| words::beyond(limit, check)) {
            let subject = limit.map(words::subject).unwrap_or_default();
            text.push_str(&wrap(&format!("{subject}: {beyond}."), "", width));
        }
        if let Some(limit) = limit.filter(|_| check.verdict != FitVerdict::Fits) {
            text.push_str(&wrap(&words::reason(limit, check), "", width));
            text.push_str(&wrap(&words::source(limit), "  ", width));
        }
    }
    for load in &outcome.loads {
        text.push_str(&of_load(recipe, load, width));
    }
    let has_colour = crate::ui::console::has_colour();
    let told: Vec<Finding> = outcome
        .loads
        .iter()
        .flat_map(|load| &load.findings)
        .filter(|one| one.severity == Severity::Wrong || is_reason(outcome, one))
        .cloned()
        .collect();
    if !told.is_empty() {
        let _ = write!(text, "\n{}", findings(&told, width, has_colour));
    }
    text
}

/// The share of I/Os beyond a limit stands by itself where the reason of the verdict does not name it.
const fn is_told_beside(check: &CheckOutcome) -> bool {
    !matches!(check.verdict, FitVerdict::CantTell) || check.contradicted_by.is_some() || check.disturbed.is_some()
}

/// A verdict or a headroom rests on the finding.
fn is_reason(outcome: &FitOutcome, finding: &Finding) -> bool {
    let checks = outcome.loads.iter().flat_map(|load| &load.checks).flat_map(|check| &check.contradicted_by);
    let headrooms = outcome.loads.iter().flat_map(|load| &load.headroom).flat_map(|one| &one.contradicted_by);
    checks.chain(headrooms).any(|name| *name == finding.id)
}

fn row(load: &LoadOutcome, limit: &FitLimit, check: &CheckOutcome) -> Vec<String> {
    let bound = match check.bound {
        Some(FitBound::Most(most)) => format!("<= {}", words::value(limit, most)),
        Some(FitBound::Least(least)) => format!(">= {}", words::value(limit, least)),
        None => String::new(),
    };
    let measured = words::measured(limit, check);
    let margin = if check.margin > 0.0 { format!("{} x", three_digits(check.margin)) } else { String::new() };
    vec![
        load.name.clone(),
        limit.job.clone(),
        words::figure(limit),
        bound,
        measured,
        margin,
        check.verdict.words().to_owned(),
    ]
}

/// Headroom and figures of a load: figures only where no limit shows them.
fn of_load(recipe: &Recipe, load: &LoadOutcome, width: usize) -> String {
    let mut text = String::new();
    if let Some(headroom) = &load.headroom {
        text.push_str(&wrap(&words::headroom(recipe, load, headroom), "", width));
    }
    if load.checks.is_empty() {
        let mut rows = vec![std::iter::once("load").chain(words::figure_columns()).map(str::to_owned).collect()];
        let figures = words::figures(load).into_iter();
        rows.extend(figures.map(|cells| std::iter::once(load.name.clone()).chain(cells).collect::<Vec<String>>()));
        text.push_str(&aligned(&rows, 3));
    }
    text
}
