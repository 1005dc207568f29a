//! `ferrio fleet --scale`: the same load on more and more hosts, which is a sweep over their number.
//!
//! Must not know: how runs are made. Start reading at [`run`].

use super::answer;
use super::request::SweepRequest;
use crate::shared::hosts::{DOUBLED, HostsOptions, MeetingOptions, RunPlace};
use crate::ui::console::Console;
use crate::ui::exit::Exit;
use crate::ui::own_options;
use crate::ui::permits::Permits;
use anyhow::anyhow;
use clap::Args;
use ferrio::fleet::launch::Ranks;
use ferrio::sweep::outcome::SweptScaling;
use ferrio_insight::scaling::ScaleStep;
use ferrio_stats::{Confidence, Metric};
use ferrio_units::humanize::{counted, three_digits};
use std::ffi::OsString;
use std::process::ExitCode;

const PROGRAM: &str = "ferrio fleet";

// The numbers of hosts; `ferrio fleet` describes it.
#[derive(Debug, Args)]
struct ScaleOptions {
    #[arg(long, value_name = "NUMBERS", num_args = 0..=1, require_equals = true, default_missing_value = DOUBLED)]
    scale: Option<String>,
}

/// True if the arguments ask for it.
pub(crate) fn is_wanted(arguments: &[OsString]) -> bool {
    let has =
        |name: &str| arguments.iter().filter_map(|word| word.to_str()).any(|word| word.split('=').next() == Some(name));
    // Pods are asked for it by the manifest; they make the runs.
    has("--scale") && !has("--manifest") && !has("--help")
}

/// Runs the command with its arguments (the command's name first).
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    let mut console = Console::of_command(PROGRAM);
    make(arguments, &mut console).unwrap_or_else(|reason| {
        console.error(&format!("{PROGRAM}: {reason:#}\n"));
        Exit::Failed.into()
    })
}

fn make(arguments: &[OsString], console: &mut Console) -> anyhow::Result<ExitCode> {
    let mut words = arguments.to_vec();
    let permits = Permits::take(&mut words)?;
    let ScaleOptions { scale } = own_options::take(&mut words)?;
    let meeting: MeetingOptions = own_options::take(&mut words)?;
    let hosts: HostsOptions = own_options::take(&mut words.clone())?;
    let ranks = if hosts.has_hosts() { None } else { Ranks::from_environment()? };
    let place = match ranks {
        Some(ranks) if ranks.rank > 0 => return meeting.attend(&ranks, &hosts),
        Some(ranks) => RunPlace::of_ranks(hosts, meeting.at(&ranks.step), ranks),
        None => RunPlace::of_options(hosts),
    };
    let n_hosts = place.n_hosts()?;
    let is_of_old = |word: &str| matches!(word.split('=').next(), Some("--resume" | "--show"));
    let goes_on = words.iter().filter_map(|word| word.to_str()).any(is_of_old);
    if !goes_on {
        let numbers = scale.unwrap_or_default();
        let numbers = if numbers == DOUBLED { format!("{DOUBLED}{n_hosts}") } else { numbers };
        words.push(format!("--over=hosts={numbers}").into());
    }
    if place.is_of_ranks() {
        // A sweep refuses them without names of hosts; these are here by other means.
        own_options::take::<HostsOptions>(&mut words)?;
    }
    let mut request = SweepRequest::take(&words).map_err(|error| anyhow!("--scale: {error}"))?;
    request.making.place = place;
    answer(request, &permits, console)
}

/// How throughput grows with the hosts, a sentence or two for each.
pub(super) fn scaling_texts(scalings: &[SweptScaling]) -> Vec<String> {
    scalings.iter().map(scaling_text).collect()
}

fn scaling_text(swept: &SweptScaling) -> String {
    let SweptScaling { job, kind, others, scaling } = swept;
    let others = if others.is_empty() { String::new() } else { format!(" ({others})") };
    let rate = |step: &ScaleStep| Metric::Iops.cell(step.throughput.value);
    let first = &scaling.steps[0];
    let later: Vec<String> = scaling.steps[1..]
        .iter()
        .map(|step| format!("{} hosts {} ({})", step.n_hosts, rate(step), percent_text(step.efficiency)))
        .collect();
    let last = scaling.steps.last().map_or(0, |step| step.n_hosts);
    let ending = match (scaling.saturates_at, scaling.beyond) {
        (Some(n_hosts), Some(beyond)) => format!(
            "Beyond {} it hardly grows: with {last} it is {} times that.",
            hosts_text(n_hosts),
            range_text(beyond, 1.0, "")
        ),
        _ => format!("It still grows with {last} hosts: more of them may bring more."),
    };
    format!(
        "Scale of {} of {job}{others}: {} {} IOPS, {}. In parentheses: the share of throughput that grows with the number of hosts. {ending}",
        kind.name(),
        hosts_text(first.n_hosts),
        rate(first),
        later.join(", ")
    )
}

fn hosts_text(n_hosts: u32) -> String {
    counted(u64::from(n_hosts), "host", "hosts")
}

/// `97 %`, with the ends of the interval where they are known.
fn percent_text(share: Confidence) -> String {
    range_text(share, 100.0, " %")
}

fn range_text(figure: Confidence, factor: f64, unit: &str) -> String {
    let text = |value: f64| format!("{}{unit}", three_digits(factor * value));
    let is_known = figure.low < figure.high && figure.high.is_finite();
    let range = is_known.then(|| format!(" ({} to {})", text(figure.low), text(figure.high)));
    text(figure.value) + &range.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_insight::scaling::Scaling;
    use ferrio_stats::IoKind;

    fn text(rates: &[(u32, f64, f64)]) -> String {
        let around = |(n_hosts, value, half): &(u32, f64, f64)| {
            (*n_hosts, Confidence { value: *value, low: value - half, high: value + half })
        };
        let scaling = Scaling::of(&rates.iter().map(around).collect::<Vec<_>>()).expect("a growth");
        scaling_text(&SweptScaling { job: "r".to_owned(), kind: IoKind::Read, others: String::new(), scaling })
    }

    #[test]
    fn the_number_at_which_storage_saturates_is_told() {
        let saturated = text(&[(1, 1000.0, 0.0), (2, 1900.0, 100.0), (4, 2000.0, 100.0)]);
        assert!(saturated.starts_with("Scale of read of r: 1 host 1,000 IOPS, 2 hosts 1,900 (95.0 % (90.0 % to 100 %)), 4 hosts 2,000 (50.0 % (47.5 % to 52.5 %))."), "{saturated}");
        assert!(
            saturated.ends_with("Beyond 2 hosts it hardly grows: with 4 it is 1.05 (0.95 to 1.17) times that."),
            "{saturated}"
        );
        let growing = text(&[(1, 1000.0, 0.0), (2, 2000.0, 0.0)]);
        assert!(growing.ends_with("It still grows with 2 hosts: more of them may bring more."), "{growing}");
    }
}
