//! The dummies that are commands: one alone, and one with a kind of many runs.
//!
//! Start reading at [`COMMAND`].

use super::{Call, Row, Thing};

/// `ferrio dummy-word`: prints a word.
pub(super) const COMMAND: Thing = Thing {
    section: "Add a native command",
    files: &[(
        "crates/ferrio/src/program/commands/dummy_word.rs",
        "//! `ferrio dummy-word`: a dummy that prints a word.

use crate::ui::arguments;
use crate::ui::exit;
use clap::{CommandFactory, Parser};
use std::ffi::OsString;
use std::process::ExitCode;

const PROGRAM: &str = \"ferrio dummy-word\";

/// The parsed arguments.
#[derive(Debug, Clone, PartialEq, Eq, Parser)]
#[command(name = PROGRAM, bin_name = PROGRAM, about = \"Print a word\", after_help = exit::PLAIN)]
struct Request {
    /// The word
    #[arg(value_name = \"WORD\")]
    word: String,
}

pub(crate) fn describe() -> clap::Command {
    Request::command()
}

pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    arguments::run(PROGRAM, arguments, |request: &Request, console| {
        console.report(&format!(\"the word is {}\\n\", request.word));
        Ok(())
    })
}
",
    )],
    rows: &[
        Row {
            path: "crates/ferrio/src/program/commands/mod.rs",
            before: "pub(crate) mod engines;",
            text: "pub(crate) mod dummy_word;",
        },
        Row {
            path: "crates/ferrio/src/program/main.rs",
            before: "    Command {",
            text: "    Command {
        name: \"dummy-word\",
        usage: \"ferrio dummy-word WORD\",
        summary: \"print a word\",
        describe: commands::dummy_word::describe,
        run: commands::dummy_word::run,
    },",
        },
        Row { path: "README.md", before: "| `ferrio help TOPIC` |", text: "| `ferrio dummy-word WORD` | a word |" },
    ],
    calls: &[
        Call { arguments: &["dummy-word", "abc"], says: "the word is abc" },
        Call { arguments: &["help"], says: "ferrio dummy-word WORD" },
    ],
};

/// `ferrio dummy-pair`: the same jobs twice, and whether both runs did as many I/Os.
pub(super) const MANY_RUNS: Thing = Thing {
    section: "Add a kind of many runs",
    files: &[
        (
            "crates/ferrio/src/dummy_pair.rs",
            "//! A dummy: the same jobs twice, and whether both runs did as many I/Os.

use crate::session::SessionOutcome;
use crate::session::runs::{NextRun, RunDriver, RunNotice, RunSource, Runs, RunsError, WorkUnit};
use ferrio_spec::RunSpec;

/// Both runs, as far as they were made.
pub struct DummyPair {
    jobs: RunSpec,
    n_failed: Vec<u32>,
}

impl DummyPair {
    /// Two runs of these jobs.
    pub fn new(jobs: RunSpec) -> Self {
        Self { jobs, n_failed: Vec::new() }
    }

    /// Makes both; true: no job of either failed.
    pub fn make(&mut self, driver: &mut dyn RunDriver) -> Result<bool, RunsError> {
        Runs::new(driver).all(self)?;
        Ok(self.n_failed == [0, 0])
    }
}

impl RunSource for DummyPair {
    type Error = RunsError;

    fn next(&mut self, n_made: u64) -> Result<Option<NextRun>, RunsError> {
        let name = \"a run of the pair\".to_owned();
        let notice = RunNotice { name, number: n_made as usize + 1, done: n_made, whole: 2, unit: WorkUnit::EqualRuns };
        Ok((n_made < 2).then(|| NextRun::new(self.jobs.clone(), notice)))
    }

    fn take(&mut self, outcome: SessionOutcome) -> Result<(), RunsError> {
        self.n_failed.push(outcome.n_failed);
        Ok(())
    }
}
",
        ),
        (
            "crates/ferrio/src/program/commands/dummy_pair.rs",
            "//! `ferrio dummy-pair`: a dummy that makes two runs.

use crate::ui::arguments;
use crate::ui::exit;
use crate::ui::runs_on_terminal::RunsOnTerminal;
use crate::ui::signals::Signals;
use anyhow::anyhow;
use clap::{CommandFactory, Parser};
use ferrio::dummy_pair::DummyPair;
use ferrio::session::VERSION;
use ferrio_job::SystemEnvironment;
use std::ffi::OsString;
use std::process::ExitCode;

const PROGRAM: &str = \"ferrio dummy-pair\";

/// The parsed arguments.
#[derive(Debug, Clone, PartialEq, Eq, Parser)]
#[command(name = PROGRAM, bin_name = PROGRAM, about = \"Run jobs twice\", after_help = exit::PLAIN)]
struct Request {
    /// The jobs
    #[arg(value_name = \"OPTIONS\", trailing_var_arg = true, allow_hyphen_values = true)]
    options: Vec<OsString>,
}

pub(crate) fn describe() -> clap::Command {
    Request::command()
}

pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    arguments::run(PROGRAM, arguments, |request: &Request, console| {
        let words: Vec<OsString> = [OsString::from(\"ferrio\")].into_iter().chain(request.options.clone()).collect();
        let parsed = ferrio_job::parse(&words, &SystemEnvironment::new(VERSION));
        let jobs = parsed.map_err(|_| anyhow!(\"the job file is refused\"))?.run;
        let signals = Signals::listen(true)?;
        let mut driver = RunsOnTerminal::start(&signals, 2);
        let is_alike = DummyPair::new(jobs).make(&mut driver);
        driver.end();
        console.report(if is_alike? { \"both runs are complete\\n\" } else { \"a job has failed\\n\" });
        Ok(())
    })
}
",
        ),
    ],
    rows: &[
        Row { path: "crates/ferrio/src/lib.rs", before: "mod error;", text: "pub mod dummy_pair;" },
        Row {
            path: "crates/ferrio/src/program/commands/mod.rs",
            before: "pub(crate) mod engines;",
            text: "pub(crate) mod dummy_pair;",
        },
        Row {
            path: "crates/ferrio/src/program/main.rs",
            before: "    Command {",
            text: "    Command {
        name: \"dummy-pair\",
        usage: \"ferrio dummy-pair OPTIONS\",
        summary: \"run jobs twice\",
        describe: commands::dummy_pair::describe,
        run: commands::dummy_pair::run,
    },",
        },
    ],
    calls: &[Call {
        arguments: &["dummy-pair", "--name=a", "--ioengine=null", "--size=1m"],
        says: "both runs are complete",
    }],
};
