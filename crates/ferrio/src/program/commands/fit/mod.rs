//! `ferrio fit`: whether storage is good enough for a program, by the load of the program and limits that have sources.
//!
//! Must not know: how loads are run, how a verdict is reached. Start reading at [`run`].

mod page;
mod text;
mod words;

use crate::shared::own_directory::OwnDirectory;
use crate::shared::repeat_options::whole_time;
use crate::shared::user_config::user_config;
use crate::ui::arguments;
use crate::ui::console::Console;
use crate::ui::exit::{self, Exit};
use crate::ui::runs_on_terminal::RunsOnTerminal;
use crate::ui::signals::Signals;
use anyhow::anyhow;
use clap::{CommandFactory, Parser};
use ferrio::fit::{Catalogue, FitError, FitOutcome, FitVerdict, Fitting, Recipe};
use ferrio::session::VERSION;
use ferrio_job::SystemEnvironment;
use ferrio_sys::file_space::file_system_space;
use ferrio_sys::output::{AtomicFile, ProtectedPaths};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

const PROGRAM: &str = "ferrio fit";

/// Part of the free space that the files of a recipe may take.
const MOST_OF_SPACE: f64 = 0.9;

const ABOUT: &str = "\
Say whether storage is good enough for a program: run the load of the program, and compare the figures with limits that the program's vendor has published.

  ferrio fit                              all recipes
  ferrio fit etcd                         what the recipe does, and its limits
  ferrio fit etcd /var/lib                the verdict
  ferrio fit etcd /var/lib -o fit.html    the same as a page with pictures

The load runs in a directory of its own below PATH, which is removed at the end. The verdict is fits, does not fit, or can't tell: each load runs at least 4 \
times, at most 8, and a limit is decided where the runs are certain to 99 %. A percentile is that of the I/Os of all runs together: it fits after 12 runs at the earliest, and takes \
24 at most. A load whose jobs do not reach their rates does not fit. A finding that contradicts a figure, and a machine that was busy with something else, make it can't tell; the text then \
says what would tell.";

/// What is wanted.
#[derive(Debug, Clone, PartialEq, Eq, Parser)]
#[command(
    name = "ferrio fit",
    bin_name = "ferrio fit",
    about = "Say whether storage is good enough for a program",
    long_about = ABOUT,
    after_help = "Recipes of your own are files NAME.toml in $XDG_CONFIG_HOME/ferrio/fit (~/.config/ferrio/fit), or are given by their path.\n\nExit code: 0: it fits; 1: it does not fit; 2 after an error; 3: can't tell, or the recipe has no limits; 128 + n after signal n (130 after Ctrl-C)."
)]
struct Request {
    /// The recipe: its name, or the path of its file
    #[arg(value_name = "NAME")]
    recipe: Option<String>,
    /// A directory on the storage
    #[arg(value_name = "PATH", value_hint = clap::ValueHint::DirPath, requires = "recipe")]
    path: Option<PathBuf>,
    /// Find out, too, how many times the load the storage carries
    #[arg(long, requires = "path")]
    headroom: bool,
    /// How long all runs may take, such as 5m: the verdict is then that of the runs that were made
    #[arg(long, value_name = "TIME", value_parser = whole_time, requires = "path")]
    time: Option<Duration>,
    /// Most runs of each load where fewer do not decide (4 to 1000)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(4..=1000), requires = "path")]
    runs: Option<u32>,
    /// Write a page: limits, runs and load as pictures
    #[arg(short = 'o', long, value_name = "PAGE", value_hint = clap::ValueHint::FilePath, requires = "path")]
    output: Option<PathBuf>,
    /// Print the outcome as JSON
    #[arg(long)]
    json: bool,
}

/// The command, for help, manual page and completions.
pub(crate) fn describe() -> clap::Command {
    Request::command()
}

/// Runs the command with its arguments (the command's name first).
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    let catalogue = Catalogue { directory: own_recipes() };
    arguments::answer(PROGRAM, arguments, |request: &Request, console| match (&request.recipe, &request.path) {
        (None, _) => list(&catalogue, request.json, console),
        (Some(word), None) => describe_recipe(&catalogue, word, request.json, console),
        (Some(word), Some(path)) => judge(&catalogue, word, path, request, console),
    })
}

/// The directory of the user's recipes.
fn own_recipes() -> Option<PathBuf> {
    user_config("fit")
}

fn list(catalogue: &Catalogue, is_json: bool, console: &mut Console) -> anyhow::Result<ExitCode> {
    let names = catalogue.names()?;
    let recipes: Vec<(String, Result<Recipe, FitError>)> =
        names.into_iter().map(|name| (name.clone(), catalogue.find(&name))).collect();
    if is_json {
        let known: Vec<&Recipe> = recipes.iter().filter_map(|(_, recipe)| recipe.as_ref().ok()).collect();
        console.report(&format!("{:#}\n", serde_json::json!({ "version": VERSION, "recipes": known })));
    } else {
        console.report(&text::list(&recipes));
    }
    Ok(ExitCode::SUCCESS)
}

fn describe_recipe(
    catalogue: &Catalogue,
    word: &str,
    is_json: bool,
    console: &mut Console,
) -> anyhow::Result<ExitCode> {
    let recipe = catalogue.find(word)?;
    if is_json {
        console.report(&format!("{:#}\n", serde_json::json!({ "version": VERSION, "recipe": recipe })));
    } else {
        console.report(&text::recipe(&recipe));
    }
    Ok(ExitCode::SUCCESS)
}

fn judge(
    catalogue: &Catalogue,
    word: &str,
    path: &Path,
    request: &Request,
    console: &mut Console,
) -> anyhow::Result<ExitCode> {
    let recipe = catalogue.find(word)?;
    let path = std::path::absolute(path).map_err(|error| anyhow!(ferrio_units::error_text(&error)))?;
    let no_page = |error: std::io::Error| anyhow!("the page cannot be written: {}", ferrio_units::error_text(&error));
    // A place that takes no page is known before the runs. The file of the recipe takes none.
    let kept = Arc::new(ProtectedPaths::inputs(catalogue.place(word)));
    let page = request.output.as_deref().map(|page| AtomicFile::create(page, &kept)).transpose().map_err(no_page)?;
    // Before anything is made: from now on a signal ends in its removal.
    let signals = Signals::listen(true)?;
    let own = OwnDirectory::make(&path, &format!("fit-{}", recipe.name))?;
    let judged = judge_in(&recipe, &own.0, request, &signals, console);
    own.remove(PROGRAM, console);
    let outcome = match judged {
        Err(FitError::Stopped) => {
            let number = signals.first().unwrap_or_default();
            console.error(&format!("{PROGRAM}: ended by signal {number}\n"));
            return Ok(exit::by_signal(Some(number)));
        }
        judged => judged?,
    };
    if request.json {
        let document = serde_json::json!({ "version": VERSION, "path": path, "outcome": outcome, "recipe": recipe });
        console.report(&format!("{document:#}\n"));
    } else {
        console.report(&text::outcome(&recipe, &outcome, &path));
    }
    if let Some(page) = page {
        page.write(page::page(&recipe, &outcome, &path).as_bytes()).map_err(no_page)?;
    }
    if console.has_failed {
        return Ok(Exit::Failed.into());
    }
    Ok(match outcome.verdict {
        Some(FitVerdict::Fits) => ExitCode::SUCCESS,
        Some(FitVerdict::DoesNotFit) => Exit::Found.into(),
        None | Some(FitVerdict::CantTell) => Exit::Undecided.into(),
    })
}

fn judge_in(
    recipe: &Recipe,
    directory: &Path,
    request: &Request,
    signals: &Signals,
    console: &mut Console,
) -> Result<FitOutcome, FitError> {
    let environment = SystemEnvironment::new(VERSION);
    let fitting = Fitting::new(recipe, directory, &environment)?.with_most_runs(request.runs);
    let laid_out = fitting.laid_out_bytes();
    // Where it cannot be asked for, a file that has no room says so.
    let available = file_system_space(directory).map_or(u64::MAX, |space| space.available_bytes);
    if laid_out as f64 > available as f64 * MOST_OF_SPACE {
        return Err(FitError::NoRoom { needed_bytes: laid_out, available_bytes: available });
    }
    if !request.json {
        console.report(&text::before(recipe, laid_out));
    }
    let n_runs = recipe.loads.len() * 4;
    let mut driver = RunsOnTerminal::start(signals, n_runs).within(request.time);
    let outcome = fitting.run(request.headroom, &mut driver);
    driver.end();
    outcome
}
