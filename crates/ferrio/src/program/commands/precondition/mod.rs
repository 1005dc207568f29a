//! `ferrio precondition`: storage is filled, and carries a load until its figures stay the same.
//!
//! Data are destroyed only after a question that is answered, or with `--yes`. Must not know: passes, rounds, when they are steady. Start reading at [`run`].

mod request;
mod text;

use crate::shared::engine_choice::engine_of_this_kernel;
use crate::ui::arguments;
use crate::ui::console::Console;
use crate::ui::exit::{self, Exit};
use crate::ui::runs_on_terminal::RunsOnTerminal;
use crate::ui::signals::Signals;
use anyhow::anyhow;
use ferrio::precondition::{
    OpenPrecondition, PreconditionEnding, PreconditionPlan, PreconditionTarget, PreconditionWay,
};
use ferrio::session::VERSION;
use ferrio_job::SystemEnvironment;
use request::{NewPrecondition, PreconditionRequest, PreconditionWork};
use std::ffi::OsString;
use std::io::{BufRead, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(crate) use request::describe;

const PROGRAM: &str = "ferrio precondition";

/// Runs the command with its arguments (the command's name first).
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    let mut console = Console::of_command(PROGRAM);
    if arguments.len() == 1 || arguments[1] == "--help" || arguments[1] == "-h" {
        console.report(&arguments::help_text(describe()));
        return exit::at_end(arguments.len() == 1);
    }
    let done = PreconditionRequest::take(arguments).and_then(|request| answer(request, &mut console));
    done.unwrap_or_else(|reason| {
        console.error(&format!("{PROGRAM}: {reason}\n"));
        Exit::Failed.into()
    })
}

fn answer(request: PreconditionRequest, console: &mut Console) -> anyhow::Result<ExitCode> {
    let mut open = match request.work {
        PreconditionWork::Resume(path) => {
            let open = OpenPrecondition::open(&path)?;
            agree(&open.plan, request.is_agreed || open.is_done())?;
            open
        }
        PreconditionWork::New(new) => {
            let (folder, is_plan_only) = (new.folder.clone(), new.is_plan_only);
            let plan = plan_of(new)?;
            plan.check(&SystemEnvironment::new(VERSION))?;
            if is_plan_only || !request.is_json {
                console.report(&text::plan(&plan));
            }
            if is_plan_only {
                return Ok(ExitCode::SUCCESS);
            }
            let path = folder.map_or_else(|| default_folder(&plan.target.path), PathBuf::from);
            agree(&plan, request.is_agreed)?;
            OpenPrecondition::create(&path, plan)?
        }
    };
    work(&mut open, request.is_json, console)
}

fn plan_of(new: NewPrecondition) -> anyhow::Result<PreconditionPlan> {
    let target = PreconditionTarget::examine(&new.target, !new.options.read)?;
    let way = if new.options.read { PreconditionWay::Read } else { PreconditionWay::Write };
    let plan = PreconditionPlan::new(target, way, engine_of_this_kernel());
    Ok(PreconditionPlan {
        n_passes: new.options.passes.unwrap_or(plan.n_passes),
        round_ms: new.options.round_ms.unwrap_or(plan.round_ms),
        most_rounds: new.options.rounds.unwrap_or(plan.most_rounds),
        load: new.load,
        ..plan
    })
}

/// A folder beside the user: the name of the device, with `.precondition` behind it.
fn default_folder(target: &Path) -> PathBuf {
    let name = target.file_name().unwrap_or_default();
    PathBuf::from(format!("{}.precondition", name.to_string_lossy().trim_start_matches('.')))
}

/// Asks before data are destroyed.
///
/// # Errors
/// In words: the answer is another one, or there is nobody to ask.
fn agree(plan: &PreconditionPlan, is_agreed: bool) -> anyhow::Result<()> {
    if is_agreed || plan.way == PreconditionWay::Read {
        return Ok(());
    }
    let target = &plan.target;
    let what = format!("all data of {target} are destroyed; it holds {}", target.contents);
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Err(anyhow!("{what}: give --yes if that is meant"));
    }
    let name = target.path.display().to_string();
    crate::ui::console::show_aside(&format!("{what}.\nType {name} to go on: "));
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    read.map_err(|error| anyhow!(ferrio_units::error_text(&error)))?;
    if line.trim_end_matches(['\n', '\r']) == name { Ok(()) } else { Err(anyhow!("nothing was done")) }
}

fn work(open: &mut OpenPrecondition, is_json: bool, console: &mut Console) -> anyhow::Result<ExitCode> {
    let signals = Signals::listen(true)?;
    let environment = SystemEnvironment::new(VERSION);
    let n_steps = open.plan.n_passes as usize + open.plan.most_rounds as usize;
    let mut driver = RunsOnTerminal::start(&signals, n_steps);
    let ending = open.work(&environment, &mut driver);
    driver.end();
    let ending = ending?;
    if is_json {
        let document = serde_json::json!({
            "version": VERSION, "plan": open.plan, "progress": open.progress, "is_steady": ending == PreconditionEnding::Steady,
        });
        console.report(&format!("{document:#}\n"));
    } else {
        console.report(&text::outcome(open, ending));
    }
    Ok(match ending {
        PreconditionEnding::Steady | PreconditionEnding::Passed => exit::at_end(console.has_failed),
        PreconditionEnding::NotSteady => Exit::Found.into(),
        PreconditionEnding::Stopped => {
            console.error(&format!(
                "{PROGRAM}: ended before it was done; go on: ferrio precondition --resume {}\n",
                open.path().display()
            ));
            exit::by_signal(signals.first())
        }
    })
}
