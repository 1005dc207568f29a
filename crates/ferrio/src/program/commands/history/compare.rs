//! `ferrio history compare`: two kept runs, compared as `ferrio compare` does.
//!
//! Must not know: how runs are compared. Start reading at [`compare()`].

use crate::shared::comparison::{self, CompareOptions, ComparedResults};
use crate::shared::inputs;
use crate::shared::keeping::{found, opened};
use crate::ui::console::Console;
use crate::ui::exit::Exit;
use anyhow::anyhow;
use clap::Args;
use ferrio::history::{RunSelector, StoredRun};
use std::process::ExitCode;

/// What is wanted.
#[derive(Debug, Clone, PartialEq, Args)]
pub(super) struct CompareRequest {
    /// The base: a run, or baseline for that of the new run
    #[arg(value_name = "BASE")]
    base: String,
    /// The new run
    #[arg(value_name = "NEW", default_value = "last")]
    new: String,
    #[command(flatten)]
    options: CompareOptions,
}

/// Compares two runs; returns the exit code.
pub(super) fn compare(request: &CompareRequest, console: &mut Console) -> ExitCode {
    match both(request) {
        Ok((base, new)) => {
            let results = [base, new].map(|run| inputs::name_of(run.number)).to_vec();
            let compared = ComparedResults { results, against: Vec::new() };
            comparison::answer(&compared, &request.options, &mut Console::of_command(comparison::PROGRAM))
        }
        Err(reason) => {
            console.error(&format!("{}: {reason}\n", super::PROGRAM));
            Exit::Failed.into()
        }
    }
}

fn both(request: &CompareRequest) -> anyhow::Result<(StoredRun, StoredRun)> {
    let history = opened()?;
    let new = found(&history, &request.new)?;
    if RunSelector::of(&request.base) != RunSelector::Baseline {
        return Ok((found(&history, &request.base)?, new));
    }
    let base = history.baseline_of(&new)?;
    let without = || {
        anyhow!(
            "run {} has no baseline: 'ferrio history baseline set RUN' makes a run that of its name and its work",
            new.number
        )
    };
    base.ok_or_else(without).map(|base| (base, new))
}
