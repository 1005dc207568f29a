//! The plan and the outcome as text.
//!
//! Must not know: how the work is done. Start reading at [`outcome`].

use crate::ui::step_bar::time_text;
use ferrio::precondition::{
    OpenPrecondition, PreconditionEnding, PreconditionPlan, PreconditionRound, PreconditionWay, SteadyWindow, WINDOW,
};
use ferrio_formats::native::{aligned, findings, text_width, wrap};
use ferrio_stats::Metric;
use ferrio_units::humanize::{bytes_text, counted};
use std::fmt::Write as _;
use std::time::Duration;

fn width() -> usize {
    text_width(ferrio_sys::terminal::columns(std::io::stdout()))
}

/// What is going to be done.
pub(super) fn plan(plan: &PreconditionPlan) -> String {
    let width = width();
    let mut text = wrap(&format!("{}; it holds {}", plan.target, plan.target.contents), "target  ", width);
    if plan.n_passes > 0 {
        let verb = if plan.way == PreconditionWay::Write { "written" } else { "read" };
        let passes = match plan.n_passes {
            1 => "once".to_owned(),
            2 => "twice".to_owned(),
            n_passes => format!("{n_passes} times"),
        };
        text += &wrap(&format!("all of it is {verb} {passes}: {}", bytes_text(plan.pass_bytes())), "passes  ", width);
    }
    if plan.most_rounds > 0 {
        let load = if plan.load.is_empty() { String::new() } else { format!(" ({})", plan.load.join(" ")) };
        let round = Duration::from_millis(plan.round_ms);
        let all = time_text(round * plan.most_rounds);
        let line = format!(
            "at most {} rounds of {} ({all} in all){load}, until {WINDOW} of them are steady",
            plan.most_rounds,
            round_text(round)
        );
        text += &wrap(&line, "rounds  ", width);
    }
    text
}

fn round_text(round: Duration) -> String {
    if round.subsec_millis() == 0 { time_text(round) } else { format!("{} ms", round.as_millis()) }
}

/// What was done, and whether it is steady.
pub(super) fn outcome(open: &OpenPrecondition, ending: PreconditionEnding) -> String {
    let (progress, width) = (&open.progress, width());
    let mut text = String::new();
    if !progress.rounds.is_empty() {
        text += &rounds(&progress.rounds, progress.n_before);
        text += &wrap(LEGEND, "", width);
        text.push('\n');
    }
    let said = match (ending, progress.steady()) {
        (PreconditionEnding::Steady, Some(window)) => steady(&window, progress.rounds.len()),
        (PreconditionEnding::NotSteady, _) => format!(
            "Not steady after {}: the figures still change, or the device goes up and down by itself. More rounds: --resume.",
            counted((progress.rounds.len() - progress.n_before) as u64, "round", "rounds")
        ),
        (PreconditionEnding::Passed, _) => format!(
            "Done: {} were moved. Whether the figures stay the same was not looked at.",
            bytes_text(progress.pass_bytes)
        ),
        _ => format!(
            "{} of {} were moved, and {} made.",
            bytes_text(progress.pass_bytes),
            bytes_text(open.plan.pass_bytes()),
            counted(progress.rounds.len() as u64, "round was", "rounds were")
        ),
    };
    text += &wrap(&said, "", width);
    if let Some(last) = progress.rounds.last().filter(|round| !round.findings.is_empty()) {
        let has_colour = crate::ui::console::has_colour();
        // Writing to a text cannot fail.
        let _ = write!(text, "\nThe last round:\n{}", findings(&last.findings, width, has_colour));
    }
    text + "\n" + &wrap(&format!("Folder: {}", open.path().display()), "", width)
}

const LEGEND: &str = "range: distance between the lowest and the highest IOPS of the last five rounds, percent of their mean (at most 20 where steady). slope: rise of the line \
                      through them (at most 10, up or down). -: rounds before a pause do not count.";

fn steady(window: &SteadyWindow, n_rounds: usize) -> String {
    format!(
        "Steady in rounds {} to {n_rounds}: {} IOPS on average, range {:.1} %, slope {:.1} %.",
        n_rounds + 1 - WINDOW,
        Metric::Iops.cell(window.mean),
        window.range_percent,
        window.slope_percent
    )
}

fn rounds(rounds: &[PreconditionRound], n_before: usize) -> String {
    let heads = ["round", Metric::Iops.heading(), Metric::Bandwidth.heading(), "mean latency", "range", "slope"];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    for (index, round) in rounds.iter().enumerate() {
        let percent = |figure: fn(&SteadyWindow) -> f64| match &round.window {
            Some(window) => format!("{:.1} %", figure(window)),
            None if index < n_before => "-".to_owned(),
            None => String::new(),
        };
        rows.push(vec![
            (index + 1).to_string(),
            Metric::Iops.cell(round.ios_per_sec),
            Metric::Bandwidth.cell(round.bytes_per_sec),
            Metric::MeanLatency.cell_or(round.mean_latency_ns, "?"),
            percent(|window| window.range_percent),
            percent(|window| window.slope_percent),
        ]);
    }
    aligned(&rows, 0)
}
