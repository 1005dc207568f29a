//! A worker: runs what a coordinator asks for, on this host, as native sessions whose observer is the connection.
//!
//! Must not know: how it was launched. Start reading at [`attend`].
//!
//! The connection has a thread of its own, in which orders are heard while the jobs run. When the coordinator has gone, the run ends in
//! order, and [`ORPHAN_LIMIT`] later at once: no job goes on without a coordinator.

mod fleet_rank;
mod link;
mod logs;
mod names;
mod places;
mod refusal;

use super::interval_sums::LongerIntervals;
use super::wire::secrets::RunKey;
use super::wire::service::AttendError;
use super::wire::stream::FleetConnection;
use super::wire::{FleetReport, Hello, HostJobs, HostWork, MeasuredHost, PROTOCOL};
use crate::session::{PreparedSession, Session, VERSION, start_jobs};
use ferrio_formats::start;
use ferrio_run::{Handle, LogOpener, RunError, RunEvent, Start};
use ferrio_stats::{HostPlaces, IntervalStats, MessageStream, Note};
use ferrio_sys::scheduling::UrgentThread;
use ferrio_sys::system_info;
pub use fleet_rank::{FleetRank, NoFleetRank};
use link::{CoordinatorLink, Ordered};
use logs::SentLogs;
pub use refusal::WorkRefusal;
use std::io;
use std::time::Duration;

/// Time for a run to end in order when its coordinator has gone.
const ORPHAN_LIMIT: Duration = Duration::from_secs(3);

/// A worker cannot do its work.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// The coordinator cannot be reached, or has gone.
    #[error(transparent)]
    Attend(#[from] AttendError),
    /// The system lacks something.
    #[error("{}", ferrio_units::error_text(.0))]
    System(#[from] io::Error),
    /// The coordinator orders what nobody asked it for.
    #[error("the coordinator gives more orders than can be followed")]
    TooMany,
    /// The coordinator wants no such worker.
    #[error("the coordinator refuses this worker: {0}")]
    Refused(String),
}

/// Attends a coordinator as the worker of this rank, until it is dismissed.
///
/// # Errors
/// The coordinator is not that of this run, refuses the worker, or has gone.
pub fn attend(connection: FleetConnection, key: &RunKey, rank: FleetRank) -> Result<(), WorkerError> {
    attend_with(connection, key, rank, &mut JobsOfFleet)
}

/// As [`attend`], with sessions from another source.
///
/// # Errors
/// As of [`attend`].
pub fn attend_with(
    connection: FleetConnection,
    key: &RunKey,
    FleetRank { rank, n_hosts }: FleetRank,
    source: &mut dyn SessionSource,
) -> Result<(), WorkerError> {
    let host = system_info::host_name();
    let hello = Hello { protocol: PROTOCOL, version: VERSION.to_owned(), token: key.token(rank), rank, host };
    let link = CoordinatorLink::open(connection, (key.clone(), n_hosts), FleetReport::Hello(hello))?;
    loop {
        match link.next_order() {
            Ordered::Prepare(work) => work_once(*work, rank, source, &link),
            Ordered::Begin(_) | Ordered::LayOut | Ordered::Stop => {}
            Ordered::Over(ending) => return ending,
        }
    }
}

/// One run: tells its places, prepares, begins when it is told to, and reports its outcome.
fn work_once(work: HostWork, rank: u32, source: &mut dyn SessionSource, link: &CoordinatorLink) {
    let outcome = match prepared(work, rank, source, link) {
        Ok(Some(outcome)) => FleetReport::Over(Box::new(outcome)),
        // The run was given up before its start, and nobody waits for an outcome.
        Ok(None) => return,
        Err(refusal) => FleetReport::Refused(refusal.to_string()),
    };
    link.send(outcome);
}

fn prepared(
    work: HostWork,
    rank: u32,
    source: &mut dyn SessionSource,
    link: &CoordinatorLink,
) -> Result<Option<MeasuredHost>, WorkRefusal> {
    let is_audited = work.is_audited;
    let mut intervals = SentIntervals {
        longer: LongerIntervals::new(work.interval_ms.saturating_mul(1_000_000)),
        n_lost: 0,
        tells_start: source.tells_start(),
        tells_course: work.tells_course,
    };
    // Servers of fio's clients leave it to these which files they share.
    let (looks, n_parts) = (work.jobs.spec().is_some(), work.n_parts);
    let mut session = source.session(work, rank, &mut |stream, note| link.send(FleetReport::Message(stream, note)))?;
    let handle = session.handle();
    link.steer(&handle);
    let mut places = HostPlaces::default();
    if looks {
        let found = places::found(std::mem::take(&mut session.spec), rank, n_parts, &handle, link)?;
        let Some(found) = found else { return Ok(None) };
        session.settings.grows_shared_files = found.makes_parts;
        (session.spec, places) = (found.jobs, found.places);
    } else {
        // Logs of clients are written where these are.
        let reports = link.reports();
        session.settings.open_logs = LogOpener::new(move |_| Box::new(SentLogs::new(reports.clone())));
    }
    link.send(FleetReport::Places(Box::new(places)));
    if !link.wait_for_layout() {
        return Ok(None);
    }
    let prepared = {
        let mut observer = |event: &RunEvent| tell(event, link, &mut intervals);
        session.prepare(&mut [&mut observer])?
    };
    link.send(FleetReport::Ready);
    let Some(at_ns) = link.wait_for_begin() else {
        // Dropping it ends its jobs.
        drop(prepared);
        return Ok(None);
    };
    Ok(Some(gone(prepared, at_ns, is_audited, link, intervals)))
}

fn gone(
    prepared: PreparedSession,
    at_ns: u64,
    is_audited: bool,
    link: &CoordinatorLink,
    mut intervals: SentIntervals,
) -> MeasuredHost {
    // Jobs of workers on the same host that have begun leave the others no CPU.
    let mut urgent = UrgentThread::new();
    let mut observer = |event: &RunEvent| {
        if matches!(event, RunEvent::Began { .. }) {
            urgent = None;
        }
        tell(event, link, &mut intervals);
    };
    let start = Start::AtMonotonic(Duration::from_nanos(at_ns));
    let outcome = prepared.go(start, &mut [&mut observer]).run;
    debug_assert!(outcome.record.audit.is_some() == is_audited, "what is audited is audited on its host");
    MeasuredHost {
        record: outcome.record,
        n_failed: outcome.n_failed,
        is_stopped: outcome.is_stopped,
        n_logs_lost: outcome.n_logs_lost,
        n_intervals_lost: intervals.n_lost,
    }
}

/// Intervals on their way to the coordinator.
#[derive(Debug)]
struct SentIntervals {
    longer: LongerIntervals,
    /// Number of those that found no room.
    n_lost: u64,
    /// The lines of fio before a run are messages.
    tells_start: bool,
    /// Facts and ends of clones are sent too.
    tells_course: bool,
}

impl SentIntervals {
    fn offer(&mut self, interval: Option<IntervalStats>, link: &CoordinatorLink) {
        let Some(interval) = interval else { return };
        self.n_lost += u64::from(!link.offer(FleetReport::Interval(Box::new(interval))));
    }
}

/// Makes the sessions of a worker.
pub trait SessionSource {
    /// The session of this work. Messages beside it go to `tell`.
    ///
    /// # Errors
    /// The work is not done on this host, for this reason.
    fn session(
        &mut self,
        work: HostWork,
        rank: u32,
        tell: &mut dyn FnMut(MessageStream, Note),
    ) -> Result<Session, WorkRefusal>;

    /// The lines of fio before a run are passed on as messages.
    fn tells_start(&self) -> bool;
}

/// Jobs that the coordinator has read.
struct JobsOfFleet;

impl SessionSource for JobsOfFleet {
    fn session(
        &mut self,
        work: HostWork,
        rank: u32,
        _: &mut dyn FnMut(MessageStream, Note),
    ) -> Result<Session, WorkRefusal> {
        session_of(work, rank, Handle::new().map_err(RunError::System)?)
    }

    fn tells_start(&self) -> bool {
        false
    }
}

/// The session of a run on this host.
fn session_of(work: HostWork, rank: u32, handle: Handle) -> Result<Session, WorkRefusal> {
    let HostJobs::Spec(jobs) = work.jobs else { return Err(WorkRefusal::NoServer) };
    let jobs = names::resolved(jobs, rank, &work.host, work.n_hosts)?;
    let mut session = Session::native_with_handle(jobs, handle);
    session.is_audited = work.is_audited;
    let settings = &mut session.settings;
    settings.readonly = work.is_readonly;
    settings.command_line = work.words;
    // The course has the intervals that a run on one host has; longer ones are sent.
    settings.tells_series = true;
    settings.waits_at_stonewalls = true;
    Ok(session)
}

/// Passes an event on. Messages and steps wait for room on the connection; figures do not, and are lost where there is none.
fn tell(event: &RunEvent, link: &CoordinatorLink, intervals: &mut SentIntervals) {
    match event {
        RunEvent::Began { at_ns } => link.send(FleetReport::Began { at_ns: *at_ns }),
        RunEvent::AtStonewall(number) => link.send(FleetReport::AtStage(*number)),
        RunEvent::Starting { jobs, n_threads, n_processes } if intervals.tells_start => {
            let lines = start_jobs(jobs).iter().map(start::job_line).collect::<String>();
            let text = lines + &start::starting(*n_threads, *n_processes);
            link.send(FleetReport::Message(MessageStream::Info, Note::text(text.trim_end())));
        }
        RunEvent::LayingOut { job_name, n_files, total_bytes } if intervals.tells_start => {
            let text = start::layout(job_name, *n_files, *total_bytes);
            link.send(FleetReport::Message(MessageStream::Info, Note::text(text.trim_end())));
        }
        RunEvent::Eta(snapshot) => {
            // The next one replaces it.
            link.offer(FleetReport::Eta(Box::new(snapshot.clone())));
        }
        RunEvent::Status(record) => link.send(FleetReport::Status(Box::new((**record).clone()))),
        RunEvent::Message(stream, note) => link.send(FleetReport::Message(*stream, note.clone())),
        RunEvent::Interval(interval) => {
            let interval = intervals.longer.add(interval);
            intervals.offer(interval, link);
        }
        RunEvent::Recording { provenance, .. } if intervals.tells_course => {
            link.send(FleetReport::Facts(provenance.clone()));
        }
        RunEvent::JobEnded(end) => {
            let rest = intervals.longer.rest(end.stretch.job_number);
            intervals.offer(rest, link);
            if intervals.tells_course {
                link.send(FleetReport::JobEnded(end.clone()));
            }
        }
        _ => {}
    }
}
