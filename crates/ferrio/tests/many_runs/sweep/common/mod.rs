//! Sweeps of jobs on simulated devices, on virtual time.
//!
//! Must not know: what a device is to show. Start reading at [`made`].

use ferrio::session::runs::{RunDriver, RunNotice, RunsEnding};
use ferrio::session::{Session, SessionOutcome};
use ferrio::sweep::limit::{LatencyLimit, LimitSearch};
use ferrio::sweep::space::{Space, SweepAxis};
use ferrio::sweep::{JobsOfPlan, OpenSweep, SweepFolder, SweepPlan, SweptJobs, UntilKnown};
use ferrio_job::{SystemEnvironment, Template};
use ferrio_run::RunError;
use ferrio_spec::JobSpec;
use ferrio_spec::engines::options::sim::SEED;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// Changes the device of a job before a run, by the number of runs that were made before it.
pub(crate) type Device = fn(&mut JobSpec, i64);

/// A sweep.
pub(crate) struct Swept<'a> {
    /// What it is called among those of a test.
    pub(crate) name: &'a str,
    /// Options of the jobs.
    pub(crate) jobs: &'a str,
    /// The parameter; `None`: the runs are repeats.
    pub(crate) over: Option<&'a str>,
    /// A latency to search for.
    pub(crate) limit: Option<&'a str>,
    /// Number of runs at a point, the most of them where `until` is given.
    pub(crate) n_repeats: u32,
    /// How well a figure is to be known.
    pub(crate) until: Option<&'a str>,
    pub(crate) device: Device,
    /// An open loop is run beside the points.
    pub(crate) has_open_loop: bool,
}

impl<'a> Swept<'a> {
    /// A sweep over a parameter on a device that is the same in each run.
    pub(crate) fn new(name: &'a str, jobs: &'a str, over: &'a str) -> Self {
        Self {
            name,
            jobs,
            over: Some(over),
            limit: None,
            n_repeats: 3,
            until: None,
            device: |_, _| (),
            has_open_loop: false,
        }
    }
}

/// Runs sessions on virtual time, each on another device.
struct OnVirtualTime {
    seed: i64,
    n_made: i64,
    device: Device,
}

impl RunDriver for OnVirtualTime {
    fn begin(&mut self, _: &RunNotice) {}

    fn run(&mut self, mut session: Session, _: Option<u32>) -> Result<SessionOutcome, RunError> {
        self.seed += 1;
        for job in &mut session.spec.jobs {
            job.engine.options.set(&SEED, self.seed);
            // Arrivals are random, too.
            job.pattern.randseed = Some(self.seed as u64);
            (self.device)(job, self.n_made);
        }
        self.n_made += 1;
        session.settings.is_virtual = true;
        session.run(&mut [])
    }

    fn rest(&mut self, _: Duration) {}

    fn is_stopped(&self) -> bool {
        false
    }
}

/// A folder that is removed at the end.
pub(crate) struct PassingFolder(PathBuf);

impl Drop for PassingFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn template(words: &str) -> Template {
    let words: Vec<OsString> = std::iter::once("ferrio").chain(words.split(' ')).map(OsString::from).collect();
    ferrio_job::parse_template(&words, &SystemEnvironment::new("ferrio")).expect("jobs").1
}

/// A sweep with its runs made.
pub(crate) fn made(swept: &Swept<'_>, seed: i64) -> (OpenSweep, PassingFolder) {
    let axis = swept.over.map(|over| SweepAxis::parse(over).expect("a parameter"));
    let space = Space::new(axis.iter().cloned().collect(), &[]).expect("a space");
    let plan = SweepPlan::new(JobsOfPlan::default(), &space);
    let until = swept.until.map(|until| UntilKnown::parse(until).expect("a figure"));
    let mut plan = plan.and_then(|plan| plan.with_repeats(swept.n_repeats, until)).expect("a plan");
    if let Some((limit, axis)) = swept.limit.zip(axis.as_ref()) {
        let limits = vec![LatencyLimit::parse(limit).expect("a limit")];
        plan = plan.searching(LimitSearch::new(limits, axis, 0.05, 10).expect("a search"));
    }
    if swept.has_open_loop {
        plan = plan.with_open_loop();
    }
    let name = format!("ferrio-{}-{seed}-{}", swept.name, std::process::id());
    let folder = PassingFolder(std::env::temp_dir().join(name));
    let mut open = SweepFolder::create(&folder.0, plan).expect("a folder");
    make(&mut open, swept, seed);
    (open, folder)
}

/// Makes the runs of a sweep that are missing; their number.
pub(crate) fn make(open: &mut OpenSweep, swept: &Swept<'_>, seed: i64) -> i64 {
    let environment = SystemEnvironment::new("ferrio");
    let jobs = SweptJobs { template: template(swept.jobs), first: None, before_each: None, environment: &environment };
    let mut driver = OnVirtualTime { seed: seed * 100_000, n_made: 0, device: swept.device };
    assert_eq!(open.make(&jobs, &mut driver).expect("runs"), RunsEnding::All);
    if swept.has_open_loop {
        let mut beside = open.begin_open_loop(&jobs).expect("an open loop");
        assert_eq!(beside.make(&jobs, &mut driver).expect("runs"), RunsEnding::All);
    }
    driver.n_made
}
