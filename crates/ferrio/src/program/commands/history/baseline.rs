//! `ferrio history baseline`: which runs others are compared with.
//!
//! Must not know: how runs are compared. Start reading at [`baseline`].

use super::list::table;
use crate::shared::keeping::{existing, found, opened};
use crate::ui::console::Console;
use clap::Subcommand;
use ferrio::history::{HistoryError, RunHistory, RunSelector, StoredRun};
use ferrio_units::terminal_text::escape_name;

/// What is wanted.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(super) enum BaselineCommand {
    /// Make a run the baseline of its name, and of its jobs and targets
    Set {
        /// The run
        #[arg(value_name = "RUN")]
        run: String,
    },
    /// The baseline of a run, or all baselines
    Show {
        /// The run
        #[arg(value_name = "RUN")]
        run: Option<String>,
    },
    /// A run is no baseline any more; it stays kept
    Clear {
        /// The run
        #[arg(value_name = "RUN")]
        run: String,
    },
}

/// Sets, shows or clears.
///
/// # Errors
/// In words: there is no such run, or the history cannot be used.
pub(super) fn baseline(command: &BaselineCommand, console: &mut Console) -> anyhow::Result<()> {
    let text = match command {
        BaselineCommand::Set { run } => {
            let mut history = opened()?;
            let run = found(&history, run)?;
            history.set_baseline(&run)?;
            let name = run.name.as_ref().map(|name| format!("the name {} or ", escape_name(name))).unwrap_or_default();
            format!("Run {} is the baseline of runs with {name}the same jobs and targets.\n", run.number)
        }
        BaselineCommand::Show { run: Some(run) } => {
            let history = opened()?;
            let run = found(&history, run)?;
            let baseline = history.baseline_of(&run)?;
            baseline.map_or_else(|| format!("Run {} has no baseline.\n", run.number), |baseline| table(&[baseline]))
        }
        BaselineCommand::Show { run: None } => {
            let runs = existing()?.map_or_else(|| Ok(Vec::new()), |history| all(&history))?;
            if runs.is_empty() { "No run is a baseline.\n".to_owned() } else { table(&runs) }
        }
        BaselineCommand::Clear { run } => {
            let mut history = opened()?;
            let run = found(&history, run)?;
            let was_baseline = history.clear_baseline(&run)?;
            let word = if was_baseline { "no baseline any more" } else { "no baseline" };
            format!("Run {} is {word}.\n", run.number)
        }
    };
    console.report(&text);
    Ok(())
}

fn all(history: &RunHistory) -> Result<Vec<StoredRun>, HistoryError> {
    history.baselines()?.into_iter().map(|number| history.find(&RunSelector::Number(number))).collect()
}
