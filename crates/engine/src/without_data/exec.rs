//! `ioengine=exec`: runs a program beside the other jobs, for the runtime of the job.
//!
//! Its options; defaults are in their declarations (`ferrio_spec::engines::options::exec`):
//!
//! | option | meaning |
//! |---|---|
//! | `program` | what to run; looked up in `PATH` where it has no slash; it has to be given |
//! | `arguments` | its arguments, apart by blanks; `%r` is the runtime in seconds, `%n` the name of the job |
//! | `grace_time` | seconds between `SIGTERM`, when the job is over, and `SIGKILL` |
//! | `std_redirect` | what it prints goes to `JOB.stdout` and `JOB.stderr` |
//!
//! A turn is a wait of 50 ms, with a rest of 50 ms after it; the first turn ends at once, as in fio 3.41. A job with a
//! runtime lasts that long, even if its program ends earlier; a job without one ends with its program. A job that is
//! stopped kills its program without a grace time. Must not know: why the job ends. Start reading at
//! [`ProgramSettings`], then `Running`.

use crate::contract::options::EngineOptions;
use crate::contract::turns::{EndsWith, EngineRemark, NoIoEngine, PrepareTurns, PreparedTurns, Rhythm, TurnsSetup};
use crate::contract::{EngineError, JobFacts};
use ferrio_spec::engines::options::exec::{ARGUMENTS, GRACE_TIME, PROGRAM, STD_REDIRECT};
use ferrio_sys::clock::Clock;
use ferrio_sys::output::{self, OutputStart, ProtectedPaths};
use ferrio_sys::process::{ChildEnd, Signal};
use ferrio_sys::program::Program;
use ferrio_units::byte_text;
use std::io;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

const NAME: &str = "exec";

/// Length of a turn, and of the rest after it, microseconds.
const TURN_US: u64 = 50_000;

/// Between two looks at a program that is about to end.
const LOOK: Duration = Duration::from_millis(5);

pub(crate) const PREPARE: PrepareTurns = |options| Ok(Box::new(ProgramSettings::parse(options)?));

/// The program to run and its settings, before the start.
#[derive(Debug, PartialEq, Eq)]
struct ProgramSettings {
    program: String,
    arguments: Option<String>,
    grace: Duration,
    has_files: bool,
}

impl ProgramSettings {
    fn parse(options: &EngineOptions) -> Result<Self, EngineError> {
        let program = options.get(&PROGRAM).unwrap_or_default();
        if program.is_empty() {
            return Err(EngineError::bad_option(NAME, PROGRAM.name(), "", "the program to run has to be given"));
        }
        let grace = options.get(&GRACE_TIME);
        let grace_secs = u64::try_from(grace)
            .map_err(|_| EngineError::bad_option(NAME, GRACE_TIME.name(), &grace, "seconds, which are not negative"))?;
        Ok(Self {
            program: program.to_owned(),
            arguments: options.get(&ARGUMENTS).map(str::to_owned),
            grace: Duration::from_secs(grace_secs),
            has_files: options.get(&STD_REDIRECT),
        })
    }

    /// The arguments, with placeholders replaced by facts of the job.
    fn arguments_of(&self, job: &JobFacts) -> String {
        let seconds = job.runtime_us.unwrap_or(0) / 1_000_000;
        self.arguments.as_deref().unwrap_or_default().replace("%r", &seconds.to_string()).replace("%n", &job.name)
    }

    /// Files for the program's output. Each clone of a job has files of its own; the first clone's names have no
    /// number.
    fn files_of(&self, job: &JobFacts) -> Option<[String; 2]> {
        let number = if job.clone_index == 0 { String::new() } else { format!(".{}", job.clone_index) };
        self.has_files.then(|| ["stdout", "stderr"].map(|kind| format!("{}{number}.{kind}", job.name)))
    }
}

impl PreparedTurns for ProgramSettings {
    fn rhythm(&self) -> Rhythm {
        Rhythm { pause_us: TURN_US, ends_with: EndsWith::ItsOwn }
    }

    fn introduction(&self, job: &JobFacts) -> Vec<EngineRemark> {
        let program = || self.program.clone();
        let arguments = || self.arguments.as_ref().map(|_| self.arguments_of(job));
        vec![
            EngineRemark::Program { program: program(), arguments: self.arguments.clone() },
            EngineRemark::ProgramStarts { program: program(), arguments: arguments(), files: self.files_of(job) },
        ]
    }

    fn start(self: Box<Self>, setup: TurnsSetup) -> Result<Box<dyn NoIoEngine>, EngineError> {
        let arguments = self.arguments_of(&setup.job);
        let mut command = Command::new(byte_text::to_os_string(&self.program));
        command.args(arguments.split(' ').filter(|argument| !argument.is_empty()).map(byte_text::to_os_string));
        let files = self.files_of(&setup.job);
        Ok(Box::new(Running {
            program: self.program,
            command,
            files,
            kept: setup.kept,
            ends_with_program: setup.job.runtime_us.is_none(),
            grace: self.grace,
            clock: setup.clock,
            at_work: None,
            is_first_turn: true,
            grace_end_ns: None,
        }))
    }
}

/// The started engine. Its program is killed when the engine is dropped.
struct Running {
    program: String,
    command: Command,
    files: Option<[String; 2]>,
    kept: Arc<ProtectedPaths>,
    ends_with_program: bool,
    grace: Duration,
    clock: Clock,
    at_work: Option<Program>,
    is_first_turn: bool,
    /// Time at which a program that was asked to end is killed.
    grace_end_ns: Option<u64>,
}

impl Running {
    /// How the program has ended; `None`: it is running.
    fn program_end(&self) -> io::Result<Option<ChildEnd>> {
        self.at_work.as_ref().map_or(Ok(None), Program::end)
    }

    /// The line for the user on a program that ended by itself.
    fn remark(&self, end: ChildEnd) -> Option<EngineRemark> {
        (end != ChildEnd::Exited(0)).then(|| EngineRemark::ProgramFailed { program: self.program.clone(), end })
    }
}

impl NoIoEngine for Running {
    fn begin(&mut self) -> Result<(), EngineError> {
        let failed = |step: &'static str, what: String| {
            move |source: io::Error| EngineError::Failed { engine: NAME, step, what, source }
        };
        if let Some([output, errors]) = &self.files {
            let create = |name: &String| {
                let opened = output::open(Path::new(&byte_text::to_os_string(name)), OutputStart::Empty, &self.kept);
                opened.map_err(failed("open", format!("cannot make {name}")))
            };
            self.command.stdout(create(output)?).stderr(create(errors)?);
        }
        let started = Program::start(&mut self.command);
        self.at_work = Some(started.map_err(failed("exec", format!("cannot run {}", self.program)))?);
        Ok(())
    }

    fn turn(&mut self) -> Poll<()> {
        if self.is_over() {
            return Poll::Pending;
        }
        if !std::mem::take(&mut self.is_first_turn) {
            self.clock.sleep_until_ns(self.clock.now_ns().saturating_add(TURN_US * 1_000));
        }
        Poll::Ready(())
    }

    fn is_over(&self) -> bool {
        self.ends_with_program && !matches!(self.program_end(), Ok(None))
    }

    fn end(&mut self) -> Poll<Option<EngineRemark>> {
        let Some(program) = &self.at_work else { return Poll::Ready(None) };
        let now_ns = self.clock.now_ns();
        match (self.program_end(), self.grace_end_ns) {
            (Err(_), _) | (Ok(Some(_)), Some(_)) => Poll::Ready(None),
            (Ok(Some(end)), None) => Poll::Ready(self.remark(end)),
            (Ok(None), None) => {
                // The program may end at this moment, so a failure is ignored.
                let _ = program.signal(Signal::TERM);
                self.grace_end_ns = Some(now_ns.saturating_add(self.grace.as_nanos() as u64));
                Poll::Pending
            }
            (Ok(None), Some(grace_end_ns)) if now_ns >= grace_end_ns => Poll::Ready(None),
            (Ok(None), Some(grace_end_ns)) => {
                let look_ns = now_ns.saturating_add(LOOK.as_nanos() as u64);
                self.clock.sleep_until_ns(look_ns.min(grace_end_ns));
                Poll::Pending
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestFile, turns_setup};
    use ferrio_spec::GivenOptions;

    fn running(program: &str) -> GivenOptions {
        GivenOptions::default().with(&PROGRAM, program)
    }

    fn job(runtime_us: Option<u64>) -> JobFacts {
        JobFacts { name: "a job".to_owned(), runtime_us, ..JobFacts::default() }
    }

    /// An engine that runs a script on a virtual clock, after `begin`. The script's output is discarded.
    fn begun(script: &str, grace_secs: i64, runtime_us: Option<u64>) -> (TestFile, Box<dyn NoIoEngine>, Clock) {
        let clock = Clock::new_virtual();
        let (file, engine) = begun_on(&clock, script, grace_secs, runtime_us);
        (file, engine, clock)
    }

    fn begun_on(
        clock: &Clock,
        script: &str,
        grace_secs: i64,
        runtime_us: Option<u64>,
    ) -> (TestFile, Box<dyn NoIoEngine>) {
        let file = TestFile::new("exec");
        std::fs::write(file.path(), script).unwrap();
        let options = running("/bin/sh")
            .with(&ARGUMENTS, file.path().to_str().unwrap())
            .with(&GRACE_TIME, grace_secs)
            .with(&STD_REDIRECT, false);
        let setup = TurnsSetup { job: job(runtime_us), ..turns_setup(clock) };
        let mut engine = PREPARE(&EngineOptions::new(options)).unwrap().start(setup).unwrap();
        engine.begin().unwrap();
        (file, engine)
    }

    fn ended(engine: &mut dyn NoIoEngine) -> Option<EngineRemark> {
        loop {
            if let Poll::Ready(remark) = engine.end() {
                return remark;
            }
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for (options, name) in [
            (GivenOptions::default(), "program"),
            (running(""), "program"),
            (running("ls").with(&GRACE_TIME, -1), "grace_time"),
        ] {
            let error = ProgramSettings::parse(&EngineOptions::new(options)).unwrap_err();
            assert!(matches!(&error, EngineError::BadOption { option, .. } if *option == name), "{error}");
        }
    }

    #[test]
    fn names_and_times_of_the_job_are_filled_in() {
        let settings = |arguments: &str| {
            ProgramSettings::parse(&EngineOptions::new(running("x").with(&ARGUMENTS, arguments))).unwrap()
        };
        // Expected values as seen on fio 3.41: whole seconds, every occurrence is replaced, and other `%` sequences
        // stay.
        for (arguments, runtime_us, expected) in [
            ("%r %n", Some(1_500_000), "1 a job"),
            ("%R %%n %r%n%r", Some(2_000_000), "%R %a job 2a job2"),
            ("%r", None, "0"),
            ("", None, ""),
        ] {
            assert_eq!(settings(arguments).arguments_of(&job(runtime_us)), expected);
        }
        let clone = JobFacts { clone_index: 2, ..job(None) };
        assert_eq!(settings("").files_of(&job(None)), Some(["a job.stdout", "a job.stderr"].map(str::to_owned)));
        assert_eq!(settings("").files_of(&clone), Some(["a job.2.stdout", "a job.2.stderr"].map(str::to_owned)));
    }

    #[test]
    fn turns_take_their_time_whatever_the_program_does() {
        let (_file, mut engine, clock) = begun("exit 0", 1, Some(1));
        assert_eq!((engine.turn(), clock.now_ns()), (Poll::Ready(()), 0));
        for n_turns in 1..=3 {
            assert_eq!((engine.turn(), clock.now_ns()), (Poll::Ready(()), n_turns * 50_000_000));
        }
    }

    #[test]
    fn without_a_runtime_turns_end_with_the_program() {
        let (_file, mut engine, _) = begun("exit 3", 1, None);
        while engine.turn().is_ready() {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(engine.is_over());
        let failed = EngineRemark::ProgramFailed { program: "/bin/sh".to_owned(), end: ChildEnd::Exited(3) };
        assert_eq!(ended(engine.as_mut()), Some(failed));
    }

    #[test]
    fn one_that_runs_is_asked_to_end_and_then_made_to() {
        let (file, mut engine, clock) = begun("trap '' TERM; rm $0; while :; do sleep 1; done", 2, None);
        while file.path().exists() {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(engine.turn().is_ready());
        assert!(!engine.is_over());
        assert_eq!(ended(engine.as_mut()), None);
        // On a virtual clock the program has no time to end by itself, and this one would not.
        assert_eq!(clock.now_ns(), 2_000_000_000);
    }

    #[test]
    fn one_that_hears_of_its_end_can_see_to_things() {
        // The trap makes the file again that the script removes when it listens.
        let script = "trap 'echo bye > $0; exit 4' TERM; rm $0; while :; do sleep 0.01; done";
        let (file, mut engine) = begun_on(&Clock::new_monotonic(), script, 3600, None);
        while file.path().exists() {
            std::thread::sleep(Duration::from_millis(1));
        }
        // Its result is not an error of the job.
        assert_eq!(ended(engine.as_mut()), None);
        assert_eq!(file.contents(), b"bye\n");
    }

    #[test]
    fn one_that_cannot_be_run_is_told() {
        let clock = Clock::new_virtual();
        let options = EngineOptions::new(running("/no/such").with(&STD_REDIRECT, false));
        let setup = TurnsSetup { job: job(None), ..turns_setup(&clock) };
        let mut engine = PREPARE(&options).unwrap().start(setup).unwrap();
        let error = engine.begin().unwrap_err();
        assert_eq!((error.errno(), error.step()), (libc::ENOENT, Some("exec")));
        assert!(error.to_string().starts_with("exec: cannot run /no/such: No such file"), "{error}");
    }
}
