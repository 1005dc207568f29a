//! `ioengine=libiscsi`: disks of iSCSI targets, without a device of the kernel, by libiscsi.
//!
//! The library is opened when a job needs it. Each file of a job is a LUN, named by its address, with a session of its own; commands go
//! out when they are committed, and the library's own event functions drive them, so that no thread stands between.
//! Must not know: functions of the library. Start reading at `Initiator`, then `session`.

mod library;
mod session;

use crate::contract::{
    Complaint, Completion, Connection, Engine, EngineError, EngineSetup, IoResult, IoUnit, Patience, Prepare, Prepared,
    Queued, push_in_room, time_left,
};
use crate::control::error_result;
use crate::options::EngineOptions;
use crate::remote::aside::{self, until};
use ferrio_spec::engines::options::libiscsi::{FUA, INITIATOR, UNMAP};
use ferrio_stats::ServerSteps;
use ferrio_sys::Errno;
use ferrio_sys::arena::Arena;
use ferrio_sys::clock::Clock;
use ferrio_sys::poll::MOST_AT_ONCE;
use ferrio_sys::signals;
use ferrio_units::Direction;
use library::Libiscsi;
use session::{Lun, LunCommand, LunFault, LunState, Order};
use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Name of the engine in messages.
const NAME: &str = "libiscsi";

/// Time in which a target has to answer before the first I/O.
const LIMIT: Duration = Duration::from_secs(30);

pub(crate) const PREPARE: Prepare = |options| prepare(options);

/// Opens the library.
pub(crate) fn open_library() -> ferrio_sys::Result<()> {
    Libiscsi::get().map(|_| ())
}

fn prepare(options: &EngineOptions) -> Result<Box<dyn Prepared>, EngineError> {
    let api = Libiscsi::get().map_err(|error| EngineError::no_library(NAME, &error))?;
    let manner = Manner { unmaps: options.get(&UNMAP), forces_unit_access: options.get(&FUA) };
    Ok(Box::new(Idle { api, initiator: options.get(&INITIATOR).to_owned(), manner }))
}

/// Commands of a job that fio does not have.
#[derive(Debug, Clone, Copy)]
struct Manner {
    /// Trims are UNMAP.
    unmaps: bool,
    /// Reads and writes go to the medium.
    forces_unit_access: bool,
}

/// The engine before it is started.
struct Idle {
    api: &'static Libiscsi,
    initiator: String,
    manner: Manner,
}

impl Prepared for Idle {
    fn target_bytes(&self, name: &Path, patience: Patience<'_>) -> Result<Option<u64>, EngineError> {
        let lun = reach(self.api, name, &self.initiator, patience)?;
        Ok(lun.map(|lun| lun.size_bytes()))
    }

    fn start(self: Box<Self>, setup: EngineSetup) -> Result<Box<dyn Engine>, EngineError> {
        // The library writes to a connection that the other end has closed.
        signals::block_broken_pipes()
            .map_err(|error| EngineError::Target { step: "init".to_owned(), source: error })?;
        Ok(Box::new(Initiator {
            luns: Vec::new(),
            names: setup.job.targets.into_iter().map(|target| target.path).collect(),
            api: self.api,
            own_name: self.initiator,
            manner: self.manner,
            arena: setup.arena,
            flights: (0..setup.iodepth).map(|_| None).collect(),
            n_in_flight: 0,
            n_uncommitted: 0,
            ended: None,
            complaint: None,
            steps: ServerSteps::default(),
        }))
    }
}

/// Logs in to the target of a LUN; `None`: the patience was over.
fn reach(
    api: &'static Libiscsi,
    name: &Path,
    initiator: &str,
    patience: Patience<'_>,
) -> Result<Option<Lun>, EngineError> {
    let (url, initiator) = (name.to_string_lossy().into_owned(), initiator.to_owned());
    let is_over = until(patience, LIMIT);
    let reached = aside::call(Patience::new(&is_over), move |caller| Lun::reach(api, &url, &initiator, caller));
    let unfit = |what: String| EngineError::Unfit {
        step: "setup",
        what: format!("iscsi: {what}"),
        is_named: false,
        errno: Errno::IO.raw_os_error(),
    };
    match reached {
        Ok(Some(Ok(lun))) => Ok(Some(lun)),
        Ok(Some(Err(text))) => Err(unfit(text)),
        Ok(None) if patience.is_over() => Ok(None),
        Ok(None) => Err(unfit("failed to connect to LUN : the target does not answer".to_owned())),
        Err(error) => Err(unfit(format!("no thread for the login: {error}"))),
    }
}

/// A job's sessions.
struct Initiator {
    /// A session for each file.
    luns: Vec<Lun>,
    names: Vec<PathBuf>,
    api: &'static Libiscsi,
    own_name: String,
    manner: Manner,
    arena: Rc<RefCell<Arena>>,
    /// I/Os in flight, by the slot of their unit.
    flights: Vec<Option<IoUnit>>,
    n_in_flight: u32,
    n_uncommitted: u32,
    /// Result of all I/Os, because a connection is lost or the I/Os are given up.
    ended: Option<IoResult>,
    complaint: Option<Complaint>,
    steps: ServerSteps,
}

impl Initiator {
    /// The command for a unit. The error is fio's line, and the reason.
    fn command(&self, unit: &IoUnit) -> Result<LunCommand, (String, &'static str)> {
        let block_bytes = self.luns.get(unit.file_index as usize).map_or(512, Lun::block_bytes);
        let Manner { unmaps, forces_unit_access } = self.manner;
        let order = match unit.direction {
            Direction::Read => Order::Read,
            Direction::Write => Order::Write,
            Direction::Trim if unmaps => Order::Unmap,
            Direction::Trim => {
                return Err(("iscsi: invalid I/O operation: 2".to_owned(), "trims need libiscsi_unmap=1"));
            }
            _ => return Ok(LunCommand { order: Order::Flush, block: 0, n_bytes: 0, forces_unit_access: false }),
        };
        let is_whole = |n_bytes: u64| n_bytes.is_multiple_of(u64::from(block_bytes));
        if !is_whole(unit.offset_bytes) || !is_whole(unit.length_bytes as u64) {
            let line = "iscsi: buflen is not align to block size.".to_owned();
            return Err((line, "offsets and lengths have to be multiples of the block of the LUN"));
        }
        let n_bytes = u32::try_from(unit.length_bytes);
        let n_bytes = n_bytes.map_err(|_| ("iscsi: block too large".to_owned(), "a command moves less than 4 GiB"))?;
        Ok(LunCommand { order, block: unit.offset_bytes / u64::from(block_bytes), n_bytes, forces_unit_access })
    }

    fn refuse(&mut self, line: String, why: Option<String>, errno: Errno) -> IoResult {
        self.complaint = Some(Complaint { step: "td_io_queue", line: Some(line), why });
        error_result(errno)
    }

    fn begin(&mut self, slot: u32, unit: &IoUnit) -> Result<(), IoResult> {
        let command = match self.command(unit) {
            Ok(command) => command,
            Err((line, why)) => return Err(self.refuse(line, Some(why.to_owned()), Errno::INVAL)),
        };
        let Some(lun) = self.luns.get_mut(unit.file_index as usize) else { return Err(IoResult::END_OF_DATA) };
        let region = self.arena.borrow().region(unit.buffer_offset, command.n_bytes as usize);
        match lun.send(slot, command, region) {
            Ok(()) => {
                self.flights[slot as usize] = Some(*unit);
                self.n_in_flight += 1;
                self.n_uncommitted += 1;
                Ok(())
            }
            Err(text) => Err(self.refuse(format!("iscsi: {text}"), None, Errno::IO)),
        }
    }

    /// Takes the results of commands that are done.
    fn take_done(&mut self, n_most: usize, completions: &mut Vec<Completion>) {
        for lun in &mut self.luns {
            while completions.len() < n_most {
                let Some((slot, done)) = lun.take_done() else { break };
                let Some(unit) = self.flights.get_mut(slot as usize).and_then(Option::take) else { continue };
                self.n_in_flight -= 1;
                let result = match (self.ended, done) {
                    (Some(result), _) => result,
                    (None, Ok(n_left)) if matches!(unit.direction, Direction::Read | Direction::Write) => {
                        IoResult::done(unit.length_bytes.saturating_sub(n_left))
                    }
                    (None, Ok(_)) => IoResult::done(unit.length_bytes),
                    (None, Err(LunFault::Lost)) => error_result(Errno::CONNRESET),
                    (None, Err(LunFault::Refused(text))) => {
                        let line = Some(format!("iscsi: request failed with error {text}."));
                        let why = format!(
                            "{} of {} bytes at {} of {}",
                            unit.direction.name(),
                            unit.length_bytes,
                            unit.offset_bytes,
                            self.names
                                .get(unit.file_index as usize)
                                .map_or_else(String::new, |name| name.display().to_string())
                        );
                        self.complaint = Some(Complaint { step: "io_u error", line, why: Some(why) });
                        // fio's, whatever the target has said.
                        error_result(Errno::PERM)
                    }
                };
                push_in_room(completions, Completion { unit_index: slot, result });
                if self.complaint.is_some() {
                    // The loop takes the complaint before the next one.
                    return;
                }
            }
        }
    }

    fn end_all(&mut self, result: IoResult, completions: &mut Vec<Completion>) {
        for (slot, flight) in self.flights.iter_mut().enumerate() {
            if flight.take().is_some() {
                push_in_room(completions, Completion { unit_index: slot as u32, result });
            }
        }
        self.n_in_flight = 0;
    }

    /// Lets the library handle what has come on all connections, after a wait for that.
    fn turn(&mut self, limit: Duration) {
        if let [lun] = &mut self.luns[..] {
            return note(lun.turn(limit), &mut self.ended);
        }
        // Several: a look at each, then a wait for any.
        session::wait_for_any(&self.luns[..self.luns.len().min(MOST_AT_ONCE)], limit);
        for lun in &mut self.luns {
            note(lun.turn(Duration::ZERO), &mut self.ended);
        }
    }

    /// Takes between `min` and `max` results; waits for them up to `limit`.
    fn reap_within(&mut self, (min, max): (u32, u32), limit: Duration, completions: &mut Vec<Completion>) {
        let n_before = completions.len();
        let n_most = n_before.saturating_add(max as usize);
        let end = Instant::now() + limit;
        let mut is_first = true;
        loop {
            self.take_done(n_most, completions);
            if let Some(result) = self.ended {
                return self.end_all(result, completions);
            }
            let is_enough = completions.len() - n_before >= min as usize;
            let left = end.saturating_duration_since(Instant::now());
            let is_over = is_enough || left.is_zero();
            if self.complaint.is_some() || self.n_in_flight == 0 || (!is_first && is_over) {
                return;
            }
            is_first = false;
            self.turn(if is_enough { Duration::ZERO } else { left });
        }
    }
}

/// Remembers that a connection is lost.
fn note(state: LunState, ended: &mut Option<IoResult>) {
    if state == LunState::Lost {
        ended.get_or_insert(error_result(Errno::CONNRESET));
    }
}

impl Engine for Initiator {
    fn connect(&mut self, patience: Patience<'_>) -> Result<Connection, EngineError> {
        while let Some(name) = self.names.get(self.luns.len()) {
            let start = Instant::now();
            let Some(mut lun) = reach(self.api, name, &self.own_name, patience)? else {
                return Ok(Connection::Awaited);
            };
            self.steps.n_connections += 1;
            self.steps.agree.record(u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX));
            lun.make_room(self.flights.len());
            self.luns.push(lun);
        }
        Ok(Connection::Made)
    }

    fn queue(&mut self, unit_index: u32, unit: &IoUnit) -> Queued {
        if let Some(result) = self.ended {
            return Queued::Completed(result);
        }
        match self.begin(unit_index, unit) {
            Ok(()) => Queued::Queued,
            Err(result) => Queued::Completed(result),
        }
    }

    fn commit(&mut self) -> io::Result<u32> {
        for lun in &mut self.luns {
            note(lun.push(), &mut self.ended);
        }
        Ok(std::mem::take(&mut self.n_uncommitted))
    }

    fn hint(&self, _unit: &IoUnit, errno: i32) -> Option<&'static str> {
        (errno == Errno::CONNRESET.raw_os_error()).then_some("the target has closed the connection, or is gone")
    }

    fn take_complaint(&mut self) -> Option<Complaint> {
        self.complaint.take()
    }

    fn reap(&mut self, min: u32, max: u32, completions: &mut Vec<Completion>) -> io::Result<()> {
        self.reap_within((min, max), Patience::LOOK, completions);
        Ok(())
    }

    fn reap_until(
        &mut self,
        max: u32,
        until_ns: u64,
        clock: &Clock,
        completions: &mut Vec<Completion>,
    ) -> io::Result<()> {
        self.reap_within((1, max), time_left(clock, until_ns).min(Patience::LOOK), completions);
        Ok(())
    }

    fn server_steps(&self) -> Option<ServerSteps> {
        let mut steps = self.steps.clone();
        self.luns.iter().filter_map(Lun::tcp_counts).for_each(|counts| steps.network.add(counts));
        Some(steps)
    }

    fn give_up(&mut self) {
        self.ended.get_or_insert(IoResult::END_OF_DATA);
        self.luns.iter_mut().for_each(Lun::give_up);
    }
}
