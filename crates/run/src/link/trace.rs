//! `--debug`: lines about a run, by group. It costs nothing per I/O while it is off, because engine and stream are
//! wrapped only in a traced job.
//!
//! Must not know: where lines are printed. Start reading at [`TraceSettings`], then [`Tracer`]; lines about I/Os come
//! from `debug_trace` of `worker`.

use super::board::WorkerState;
use super::message::WorkerMessage;
use crate::events::RunEvent;
use crate::plan::WorkerPlan;
use ferrio_spec::RandomGenerator;
use ferrio_spec::debug;
use ferrio_sys::process;
use ferrio_units::random::SeedTable;
use std::cell::{Cell, RefCell};

/// Length of the text that is collected before it is sent, bytes. It is also sent before any step that may wait.
const KEPT_BYTES: usize = 4 << 10;

/// A group of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceGroup {
    /// Workers: start, state, end.
    Process,
    /// Files: layout, opening, closing.
    File,
    /// Every I/O.
    Io,
    Mem,
    /// Blocks to be verified, and their checks.
    Verify,
    /// Seeds and draws of offsets.
    Random,
    /// Block devices behind files.
    DiskUtil,
    Time,
    /// Rates, and the search for a depth by latency.
    Rate,
    SteadyState,
    /// Zones that are written in sequence.
    Zbd,
    /// Regions of a pass of `sprandom`.
    SpRandom,
}

impl TraceGroup {
    /// All groups that have lines.
    pub const ALL: [Self; 12] = [
        Self::Process,
        Self::File,
        Self::Io,
        Self::Mem,
        Self::Verify,
        Self::Random,
        Self::DiskUtil,
        Self::Time,
        Self::Rate,
        Self::SteadyState,
        Self::Zbd,
        Self::SpRandom,
    ];

    /// Name in `--debug`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::File => "file",
            Self::Io => "io",
            Self::Mem => "mem",
            Self::Verify => "verify",
            Self::Random => "random",
            Self::DiskUtil => "diskutil",
            Self::Time => "time",
            Self::Rate => "rate",
            Self::SteadyState => "steadystate",
            Self::Zbd => "zbd",
            Self::SpRandom => "sprandom",
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TraceSettings {
    groups: u32,
    /// Index of a worker (from 0); once it has started, only its lines are sent.
    job_index: Option<usize>,
}

impl TraceSettings {
    /// Groups by name; names of groups without lines are ignored. Once the worker `job_index` (from 0) has started,
    /// only its lines are sent.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>, job_index: Option<usize>) -> Self {
        let bit = |name: &str| TraceGroup::ALL.iter().find(|group| group.name() == name).map_or(0, |g| 1 << *g as u32);
        Self { groups: names.into_iter().fold(0, |groups, name| groups | bit(name)), job_index }
    }

    /// True if the group is traced.
    pub fn has(self, group: TraceGroup) -> bool {
        self.groups & (1 << group as u32) != 0
    }

    /// Index of the worker after whose start only its own lines are sent.
    pub(crate) fn job_index(self) -> Option<usize> {
        self.job_index
    }

    /// Sends a line, if its group is traced.
    pub(crate) fn tell(self, group: TraceGroup, events: &mut dyn FnMut(RunEvent), text: impl FnOnce() -> String) {
        if self.has(group) {
            events(RunEvent::Trace(line(group, &text())));
        }
    }
}

/// One line, without its end: group, thread, text.
pub(crate) fn line(group: TraceGroup, text: &str) -> String {
    debug::line(group.name(), process::thread_id().as_raw_nonzero().get() as u32, text)
}

/// Name of a state in lines.
const fn state_name(state: WorkerState) -> &'static str {
    match state {
        WorkerState::Waiting => "NOT_CREATED",
        WorkerState::Created => "CREATED",
        WorkerState::Initialised => "INITIALIZED",
        WorkerState::PreReading => "PRE_READING",
        WorkerState::Ramping => "RAMP",
        WorkerState::Running => "RUNNING",
        WorkerState::Syncing => "FSYNCING",
        WorkerState::Verifying => "VERIFYING",
        WorkerState::Finishing => "FINISHING",
        WorkerState::Exited => "EXITED",
    }
}

/// The line about a worker's change of state.
pub(crate) fn state_change(pid: u32, from: WorkerState, to: WorkerState) -> String {
    format!("pid={pid}: runstate {} -> {}", state_name(from), state_name(to))
}

/// Lines about a job's seeds and their source, sent when the job is set up.
pub(crate) fn seeds(worker: &WorkerPlan) -> Vec<String> {
    let pattern = &worker.spec.pattern;
    let is_drawn = !pattern.randrepeat && pattern.randseed.is_none();
    let origin = is_drawn.then(|| "using system RNG for random seeds".to_owned());
    let count = format!("FIO_RAND_NR_OFFS={}", SeedTable::N_SEEDS);
    let seeds = worker.seeds.all().iter().enumerate().map(|(index, seed)| format!("rand_seeds[{index}]={seed}"));
    origin.into_iter().chain([count]).chain(seeds).collect()
}

/// True if the generator of the job's offsets has outputs that can be reported.
pub(crate) fn has_outputs(worker: &WorkerPlan) -> bool {
    worker.spec.pattern.random && worker.spec.pattern.random_generator != Some(RandomGenerator::Lfsr)
}

/// Receives the lines of one worker. Lines about I/Os are many: they are collected, and sent together before a step
/// that may wait.
pub struct Tracer<'a> {
    settings: TraceSettings,
    send: &'a dyn Fn(&WorkerMessage),
    kept: RefCell<String>,
    reads_back: Cell<bool>,
}

impl<'a> Tracer<'a> {
    /// Sends lines with `send`.
    pub fn new(settings: TraceSettings, send: &'a dyn Fn(&WorkerMessage)) -> Self {
        Self { settings, send, kept: RefCell::default(), reads_back: Cell::new(false) }
    }

    pub(crate) fn settings(&self) -> TraceSettings {
        self.settings
    }

    /// True if the group is traced.
    pub(crate) fn has(&self, group: TraceGroup) -> bool {
        self.settings.has(group)
    }

    /// Sends a line at once, if its group is traced.
    pub(crate) fn line(&self, group: TraceGroup, text: impl FnOnce() -> String) {
        if self.has(group) {
            self.keep(group, &text());
            self.flush();
        }
    }

    /// Adds a line to those that are sent together later.
    pub(crate) fn keep(&self, group: TraceGroup, text: &str) {
        let n_kept = {
            let mut kept = self.kept.borrow_mut();
            if !kept.is_empty() {
                kept.push('\n');
            }
            kept.push_str(&line(group, text));
            kept.len()
        };
        if n_kept >= KEPT_BYTES {
            self.flush();
        }
    }

    /// Sends the collected lines.
    pub(crate) fn flush(&self) {
        let kept = self.kept.take();
        if !kept.is_empty() {
            (self.send)(&WorkerMessage::Trace(kept));
        }
    }

    /// Records whether the job reads back its writes now.
    pub(crate) fn set_reading_back(&self, reads_back: bool) {
        if self.reads_back.replace(reads_back) == reads_back || !self.has(TraceGroup::Verify) {
            return;
        }
        if reads_back {
            self.line(TraceGroup::Verify, || "starting loop".to_owned());
        } else {
            self.line(TraceGroup::Verify, || "get_next_verify: empty".to_owned());
            self.line(TraceGroup::Verify, || "exiting loop".to_owned());
        }
    }

    /// True if the job reads back its writes now.
    pub(crate) fn reads_back(&self) -> bool {
        self.reads_back.get()
    }
}

impl Drop for Tracer<'_> {
    fn drop(&mut self) {
        self.flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_found_by_their_names() {
        let settings = TraceSettings::new(["io", "nonsense"], Some(2));
        assert!(settings.has(TraceGroup::Io) && !settings.has(TraceGroup::File));
        assert!(TraceGroup::ALL.iter().all(|group| debug::GROUPS.contains(&group.name())));
        assert!(TraceGroup::ALL.iter().all(|group| TraceSettings::new([group.name()], None).has(*group)));
    }

    #[test]
    fn lines_leave_in_their_order_and_whole() {
        let heard = RefCell::new(Vec::new());
        let send = |message: &WorkerMessage| match message {
            WorkerMessage::Trace(text) => heard.borrow_mut().extend(text.lines().map(str::to_owned)),
            other => panic!("{other:?}"),
        };
        let tracer = Tracer::new(TraceSettings::new(["io", "verify"], None), &send);
        for index in 0..1_000 {
            tracer.keep(TraceGroup::Io, &index.to_string());
        }
        assert!((1..1_000).contains(&heard.borrow().len()), "some are kept");
        tracer.line(TraceGroup::File, || panic!("a group that is not traced"));
        tracer.line(TraceGroup::Verify, || "last".to_owned());
        let texts: Vec<String> =
            heard.borrow().iter().map(|line| line.rsplit(' ').next().unwrap().to_owned()).collect();
        let expected = (0..1_000).map(|index| index.to_string()).chain(["last".to_owned()]);
        assert!(texts.into_iter().eq(expected));
    }
}
