//! Jobs that are put together and run.
//!
//! Must not know: what jobs do, how figures are read. Start reading at [`Runner`].

use crate::session::{Session, VERSION};
use crate::{Error, IntervalOfJob, Job, Measurement};
use ferrio_engine::own::{Storage, Storages};
use ferrio_job::{DiagnosticKind, Mode, SystemEnvironment, Template};
use ferrio_run::{Handle, RunEvent, RunSettings};
use ferrio_spec::{Compatibility, ControlSettings, RunSpec};
use ferrio_stats::ClonesTogether;
use ferrio_units::Wording;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Jobs, and how they are run.
///
/// ```
/// use ferrio::{Io, Job, Runner};
/// use std::time::Duration;
///
/// # fn main() -> Result<(), ferrio::Error> {
/// let mut runner = Runner::new();
/// runner.add(&Job::new("a").option("ioengine", "sim").option("filename", "device").option("size", "1g"))?;
/// runner.set_all("rw", "randread")?;
/// runner.set_all("runtime", "3")?;
/// runner.set_all("time_based", "1")?;
/// # runner.virtual_time(true);
/// let mut n_intervals = 0;
/// let measured = runner.follow(Duration::from_secs(1), |interval| {
///     let reads = interval.figures(Io::Read).and_then(|reads| reads.latency());
///     if let Some(p99) = reads.and_then(|latency| latency.percentile(99.0)) {
///         println!("{:?}: {} p99 {:?}", interval.end(), interval.job(), p99.latency);
///     }
///     n_intervals += 1;
/// })?;
/// assert!(n_intervals >= 3);
/// for finding in measured.findings() {
///     println!("{finding}");
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct Runner {
    template: Template,
    handle: Option<Handle>,
    are_processes: bool,
    is_virtual: bool,
    storages: Storages,
    source: JobSource,
}

/// Where the jobs come from, as far as they were not added one by one.
#[derive(Debug, Clone, Default)]
struct JobSource {
    /// Events that end jobs early.
    control: ControlSettings,
    /// `--readonly`.
    is_readonly: bool,
    /// Job files, which no output of a job replaces.
    inputs: Vec<PathBuf>,
    /// The words of the command line.
    words: Vec<String>,
    remarks: Vec<String>,
}

/// Ends a run from another thread. Its clones end the same run.
///
/// ```
/// use ferrio::{Job, Runner};
///
/// # fn main() -> Result<(), ferrio::Error> {
/// let mut runner = Runner::new();
/// runner.add(&Job::new("a").option("ioengine", "null").option("size", "1m").option("runtime", "1h").flag("time_based"))?;
/// let stopper = runner.stopper()?;
/// let run = std::thread::spawn(move || runner.run());
/// stopper.stop();
/// assert!(run.join().expect("no panic").is_ok());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Stopper(Handle);

impl Stopper {
    /// Ends the run in order: the jobs finish the I/Os that are in flight, and the measurement has all that was done.
    pub fn stop(&self) {
        self.0.stop();
    }
}

impl Runner {
    /// No job.
    pub fn new() -> Self {
        Self::default()
    }

    /// The jobs of a job file of fio.
    ///
    /// # Errors
    /// The file cannot be read, or one of its options is refused.
    pub fn from_job_file(path: impl AsRef<Path>) -> Result<Self, Error> {
        // A name that begins with a dash is that of a file all the same.
        let path = path.as_ref();
        let path = if path.is_relative() { Path::new(".").join(path) } else { path.to_path_buf() };
        Self::from_arguments([path.into_os_string()])
    }

    /// The jobs of a command line of fio: arguments without the name of a program, such as `--name=a`, `--rw=read`, or the path of a job
    /// file. Arguments about reports (`--output-format` and the like) are refused, because a program makes its own of the measurement.
    ///
    /// # Errors
    /// An option is refused ([`Error::Option`], the first one), or an argument asks for something else than a run (`--help`).
    ///
    /// ```
    /// let runner = ferrio::Runner::from_arguments(["--name=a", "--ioengine=null", "--size=1m", "--rw=randwrite"])?;
    /// assert_eq!(runner.job_names().collect::<Vec<_>>(), ["a"]);
    /// # Ok::<(), ferrio::Error>(())
    /// ```
    pub fn from_arguments(arguments: impl IntoIterator<Item = impl Into<OsString>>) -> Result<Self, Error> {
        let words: Vec<OsString> =
            std::iter::once("ferrio".into()).chain(arguments.into_iter().map(Into::into)).collect();
        let environment = SystemEnvironment::new(VERSION);
        let parsed = ferrio_job::parse_template(&words, &environment);
        let (invocation, template) = parsed.map_err(|error| match error.diagnostics.first() {
            Some(refused) if refused.kind != DiagnosticKind::JobFile => Error::Option(refused.clone()),
            _ => Error::Usage(error.to_string().trim_end().to_owned()),
        })?;
        let remarks: String = invocation.messages.iter().map(|(_, text)| text.text(Wording::Own)).collect();
        let remarks = remarks.trim_end().to_owned();
        if invocation.mode != Mode::Run || template.job_names().next().is_none() {
            return Err(if remarks.is_empty() { Error::NoJob } else { Error::Usage(remarks) });
        }
        if let Some(name) = invocation.options_of_reports().next() {
            return Err(Error::Usage(format!("{name} is about reports, which a program makes of the measurement")));
        }
        let source = JobSource {
            control: invocation.control,
            is_readonly: invocation.readonly,
            inputs: environment.opened_files(),
            words: words.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
            remarks: remarks.lines().map(str::to_owned).collect(),
        };
        Ok(Self { template, source, ..Self::default() })
    }

    /// What the parser has to say of the arguments or the job file: lines for people, such as an option that has no effect.
    pub fn remarks(&self) -> &[String] {
        &self.source.remarks
    }

    /// Adds a job.
    ///
    /// # Errors
    /// An option of the job is unknown, does not take its value, or is not supported. The job is not added then. A value whose form only
    /// its engine knows (`sim_service`) is looked at when the run begins: the job then fails ([`Measurement::n_failed`]), and
    /// [`Measurement::messages`] says why.
    pub fn add(&mut self, job: &Job) -> Result<(), Error> {
        let mut template = self.template.clone();
        let environment = SystemEnvironment::new(VERSION);
        template.add_job(job.name());
        for (name, value) in job.options() {
            template.set_on_last(name, value, &environment)?;
        }
        self.template = template;
        Ok(())
    }

    /// Sets an option on the jobs of a name, as if it had been written behind their other options.
    ///
    /// # Errors
    /// No job has this name, no option has this name, or it does not take this value.
    pub fn set(&mut self, job: &str, option: &str, value: &str) -> Result<(), Error> {
        Ok(self.template.set(Some(job), option, Some(value), &SystemEnvironment::new(VERSION))?)
    }

    /// Sets an option on all jobs.
    ///
    /// # Errors
    /// No option has this name, or it does not take this value.
    pub fn set_all(&mut self, option: &str, value: &str) -> Result<(), Error> {
        Ok(self.template.set(None, option, Some(value), &SystemEnvironment::new(VERSION))?)
    }

    /// Names of the jobs, in their order.
    pub fn job_names(&self) -> impl Iterator<Item = &str> {
        self.template.job_names()
    }

    /// Whether jobs without the option `thread` are processes, as in fio, or threads of this program (the default). Processes are forked
    /// from the thread that runs; a program that has other threads at that moment does without.
    pub fn processes(&mut self, are_processes: bool) {
        self.are_processes = are_processes;
    }

    /// Whether the run is on virtual time, which only simulated devices (`ioengine=sim`) and waits advance: the figures are exact and
    /// repeatable, and a run of minutes takes milliseconds.
    pub fn virtual_time(&mut self, is_virtual: bool) {
        self.is_virtual = is_virtual;
    }

    /// Adds a storage of this program, which jobs use with `ioengine=own` and `storage=NAME`; one of the same name is replaced.
    ///
    /// [`own`](crate::own) has an example.
    pub fn storage(&mut self, name: impl Into<String>, storage: impl Storage + 'static) {
        self.storages.add(name, Arc::new(storage));
    }

    /// What ends the run from another thread, before it has begun or while it goes on. Once it was used, each further run of this runner
    /// ends at its start.
    ///
    /// # Errors
    /// The system has no descriptor left.
    pub fn stopper(&mut self) -> Result<Stopper, Error> {
        Ok(Stopper(self.handle()?))
    }

    /// Looks at the jobs and does nothing: the findings are about what would make their figures wrong.
    ///
    /// # Errors
    /// The jobs cannot be run.
    ///
    /// ```
    /// # use ferrio::{Job, Runner};
    /// # fn main() -> Result<(), ferrio::Error> {
    /// let mut runner = Runner::new();
    /// runner.add(&Job::new("a").option("ioengine", "psync").option("iodepth", "32").option("filename", "/no/file").option("size", "1m"))?;
    /// let expected = runner.check()?;
    /// assert!(expected.findings().any(|finding| finding.id() == "depth-of-synchronous-engine"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn check(&self) -> Result<Measurement, Error> {
        Ok(Measurement::of_run(crate::session::survey(self.spec()?, &self.source.words, false)?))
    }

    /// Runs the jobs, and returns when they have ended.
    ///
    /// # Errors
    /// The run cannot be started or supervised. A job that fails is no error: see [`Measurement::n_failed`].
    pub fn run(&self) -> Result<Measurement, Error> {
        let outcome = self.session()?.run(&mut [])?;
        Ok(Measurement::of_run(outcome.run.record))
    }

    /// Runs the jobs, and calls `each` with the figures of each job for each interval of this length. It is called in the thread that
    /// runs, beside the jobs: the jobs go on while it works, and intervals that end meanwhile are told afterwards.
    ///
    /// The first interval of a job begins with its I/O, and the last one ends with it: that may be a moment with a few I/Os, whose percentiles are
    /// doubtful ([`LatencyPercentile::is_doubtful`](crate::LatencyPercentile)). An interval without I/O is told too. The shortest interval is 1 ms.
    ///
    /// # Errors
    /// As [`Runner::run`].
    pub fn follow(&self, interval: Duration, mut each: impl FnMut(&IntervalOfJob)) -> Result<Measurement, Error> {
        let mut session = self.session()?;
        session.settings.record_interval = Some(interval);
        let mut together = ClonesTogether::default();
        let mut observer = |event: &RunEvent| {
            let sums = match event {
                RunEvent::Recording { provenance, interval, .. } => {
                    let interval_ns = u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX);
                    together = ClonesTogether::of_all_jobs(&provenance.jobs, interval_ns);
                    return;
                }
                RunEvent::Interval(stretch) => together.interval(stretch),
                RunEvent::JobEnded(end) => together.ended(end).0,
                _ => return,
            };
            for sum in sums {
                each(&IntervalOfJob::new(sum));
            }
        };
        let outcome = session.run(&mut [&mut observer])?;
        Ok(Measurement::of_run(outcome.run.record))
    }

    fn handle(&mut self) -> Result<Handle, Error> {
        if let Some(handle) = &self.handle {
            return Ok(handle.clone());
        }
        let handle = Handle::new().map_err(ferrio_run::RunError::from)?;
        Ok(self.handle.insert(handle).clone())
    }

    fn spec(&self) -> Result<RunSpec, Error> {
        let mut template = self.template.clone();
        let environment = SystemEnvironment::new(VERSION);
        if !self.are_processes {
            template.set(None, "thread", Some("1"), &environment)?;
        }
        let mut spec = template.run_spec(&environment)?;
        if spec.jobs.is_empty() {
            return Err(Error::NoJob);
        }
        spec.compatibility = Compatibility::Native;
        Ok(spec)
    }

    fn session(&self) -> Result<Session, Error> {
        let spec = self.spec()?;
        let mut session = match &self.handle {
            Some(handle) => Session::with_handle(spec, handle.clone()),
            None => Session::new(spec)?,
        };
        let source = self.source.clone();
        session.settings = RunSettings {
            readonly: source.is_readonly,
            control: ControlSettings { looks_into_files: true, ..source.control },
            inputs: source.inputs,
            command_line: source.words,
            keeps_series: true,
            is_virtual: self.is_virtual,
            storages: self.storages.clone(),
            ..session.settings
        };
        Ok(session)
    }
}
