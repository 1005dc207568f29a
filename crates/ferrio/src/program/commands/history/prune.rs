//! `ferrio history prune`: runs are removed for good.
//!
//! Must not know: how runs are stored. Start reading at [`prune`].

use super::list::table;
use crate::shared::keeping::{existing, found};
use crate::ui::console::Console;
use anyhow::anyhow;
use clap::{ArgGroup, Args};
use ferrio::history::{RunHistory, StoredRun};
use ferrio_sys::clock::wall_clock_ms;
use std::collections::BTreeSet;

/// What is wanted.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(group = ArgGroup::new("what").required(true).multiple(true))]
pub(super) struct PruneRequest {
    /// Remove these runs
    #[arg(value_name = "RUN", group = "what", conflicts_with_all = ["keep", "older_than", "name"])]
    runs: Vec<String>,
    /// Keep this many of the newest runs
    #[arg(long, value_name = "N", group = "what")]
    keep: Option<usize>,
    /// Remove only runs that began longer ago than this: 12h, 30d, 4w, 1y
    #[arg(long, value_name = "AGE", group = "what", value_parser = parse_ms)]
    older_than: Option<i64>,
    /// Remove only runs of this name; --keep counts these alone
    #[arg(long, value_name = "NAME", group = "what")]
    name: Option<String>,
    /// Show what would be removed, and remove nothing
    #[arg(long)]
    dry_run: bool,
}

/// Removes runs, and shows them. Baselines stay.
///
/// # Errors
/// In words: a run is not there, or the history cannot be changed.
pub(super) fn prune(request: &PruneRequest, console: &mut Console) -> anyhow::Result<()> {
    let Some(mut history) = existing()? else {
        console.report("No run is kept.\n");
        return Ok(());
    };
    let baselines = history.baselines()?;
    let (spared, mut chosen): (Vec<StoredRun>, Vec<StoredRun>) =
        chosen(request, &history)?.into_iter().partition(|run| baselines.contains(&run.number));
    if !request.dry_run {
        let numbers: Vec<i64> = chosen.iter().map(|run| run.number).collect();
        let removed = history.remove(&numbers)?;
        chosen.retain(|run| removed.contains(&run.number));
    }
    let shown = if chosen.is_empty() { String::new() } else { format!("{}\n", table(&chosen)) };
    let (n_chosen, verb) = (chosen.len(), if request.dry_run { "would be removed" } else { "removed" });
    let words = if n_chosen == 1 { "run" } else { "runs" };
    let stays = |run: &StoredRun| {
        format!("Run {0} stays, because it is a baseline: 'ferrio history baseline clear {0}'.\n", run.number)
    };
    let spared: String = spared.iter().map(stays).collect();
    console.report(&format!("{shown}{n_chosen} {words} {verb}.\n{spared}"));
    Ok(())
}

fn chosen(request: &PruneRequest, history: &RunHistory) -> anyhow::Result<Vec<StoredRun>> {
    if !request.runs.is_empty() {
        let mut numbers = BTreeSet::new();
        let runs: Vec<StoredRun> = request.runs.iter().map(|word| found(history, word)).collect::<Result<_, _>>()?;
        return Ok(runs.into_iter().filter(|run| numbers.insert(run.number)).collect());
    }
    let runs = history.list()?;
    let now_ms = i64::try_from(wall_clock_ms()).unwrap_or(i64::MAX);
    Ok(of_rules(request, runs, now_ms))
}

/// The runs that all given rules allow to remove. `runs`: the newest first.
fn of_rules(request: &PruneRequest, runs: Vec<StoredRun>, now_ms: i64) -> Vec<StoredRun> {
    let is_named = |run: &StoredRun| request.name.is_none() || run.name == request.name;
    let is_old = |run: &StoredRun| {
        let began_ms = run.summary.began_ms.unwrap_or(run.kept_ms);
        request.older_than.is_none_or(|age_ms| now_ms.saturating_sub(began_ms) > age_ms)
    };
    runs.into_iter().filter(is_named).skip(request.keep.unwrap_or_default()).filter(is_old).collect()
}

/// Units and their lengths in hours.
const UNITS: [(char, i64); 4] = [('h', 1), ('d', 24), ('w', 7 * 24), ('y', 365 * 24)];
const MS_PER_HOUR: i64 = 3_600_000;

/// Parses an age such as `30d`: a whole number of hours, days, weeks or years. The result is in milliseconds.
pub(super) fn parse_ms(text: &str) -> anyhow::Result<i64> {
    let of_unit = |(unit, hours): &(char, i64)| {
        let digits = text.strip_suffix(*unit).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
        digits.parse::<i64>().ok()?.checked_mul(hours * MS_PER_HOUR)
    };
    UNITS
        .iter()
        .find_map(of_unit)
        .ok_or_else(|| anyhow!("a whole number of hours, days, weeks or years is expected, such as 12h, 30d, 4w or 1y"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use ferrio::history::{RunSummary, StoredForm};

    #[derive(Debug, Parser)]
    struct Words {
        #[command(flatten)]
        request: PruneRequest,
    }

    fn parsed(words: &[&str]) -> Result<PruneRequest, String> {
        let words = ["prune"].iter().chain(words);
        Words::try_parse_from(words).map(|words| words.request).map_err(|error| error.to_string())
    }

    fn run(number: i64, name: Option<&str>, began_ms: i64) -> StoredRun {
        let summary = RunSummary { began_ms: Some(began_ms), ..RunSummary::default() };
        let (form, origin) = (StoredForm::Record, String::new());
        StoredRun { number, name: name.map(str::to_owned), kept_ms: began_ms, summary, form, origin, stored_bytes: 0 }
    }

    #[test]
    fn all_given_rules_have_to_allow_it() {
        let day_ms = 24 * 3_600_000;
        let runs = [
            run(5, Some("a"), 9 * day_ms),
            run(4, None, 8 * day_ms),
            run(3, Some("a"), 2 * day_ms),
            run(2, Some("a"), day_ms),
            run(1, None, 0),
        ];
        let removed = |words: &[&str]| -> Vec<i64> {
            let request = parsed(words).expect("a request");
            of_rules(&request, runs.to_vec(), 10 * day_ms).iter().map(|run| run.number).collect()
        };
        assert_eq!(removed(&["--keep=2"]), [3, 2, 1]);
        assert_eq!(removed(&["--keep=9"]), [0; 0]);
        assert_eq!(removed(&["--older-than=5d"]), [3, 2, 1]);
        assert_eq!(removed(&["--name=a"]), [5, 3, 2]);
        assert_eq!(removed(&["--name=a", "--keep=1"]), [3, 2]);
        assert_eq!(removed(&["--name=a", "--keep=1", "--older-than=8d"]), [2]);
        assert_eq!(removed(&["--keep=1", "--older-than=0h"]), [4, 3, 2, 1]);
    }

    #[test]
    fn something_has_to_say_what_is_removed() {
        for bad in [&[][..], &["--dry-run"], &["3", "--keep=1"], &["--keep=x"], &["--older-than=30"]] {
            assert!(parsed(bad).is_err(), "{bad:?}");
        }
        assert_eq!(parsed(&["3", "last"]).expect("a request").runs, ["3", "last"]);
    }

    #[test]
    fn ages_have_a_unit() {
        for (text, hours) in [("12h", 12), ("30d", 720), ("2w", 336), ("1y", 8_760), ("0d", 0)] {
            assert_eq!(parse_ms(text).expect(text), hours * MS_PER_HOUR, "{text}");
        }
        for text in ["30", "d", "-1d", "+1d", "1.5d", "30m", "", "99999999999999999d", "1 d"] {
            assert!(parse_ms(text).is_err(), "{text}");
        }
    }
}
