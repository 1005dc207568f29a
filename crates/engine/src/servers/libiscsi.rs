//! `ioengine=libiscsi`: disks of iSCSI targets, without a device of the kernel, by libiscsi.
//!
//! The library is opened when a job needs it. Each file of a job is a LUN, named by its address, with a session of its own; commands go
//! out when they are committed, and the library's own event functions drive them, so that no thread stands between.
//! Must not know: functions of the library. Start reading at `Initiator`, then `session`.

mod library;
mod session;

use crate::contract::options::EngineOptions;
use crate::contract::parts::{Complaint, Connection};
use crate::contract::{Cancellation, Engine, EngineError, EngineSetup, IoResult, IoUnit, Prepare, Prepared};
use crate::files::control::error_result;
use crate::servers::remote::aside::{self, until};
use crate::servers::remote::driven::{DrivenEngine, DrivenFlight, DrivenLink, Judgement, LineState, Refusal};
use crate::servers::remote::silence::limit_of;
use crate::servers::server_facts::IscsiFacts;
use ferrio_spec::engines::options::libiscsi::{FUA, INITIATOR, SERVER_TIMEOUT, UNMAP};
use ferrio_spec::secret::{Secret, without_passwords};
use ferrio_stats::ServerSteps;
use ferrio_sys::Errno;
use ferrio_sys::arena::Arena;
use ferrio_sys::poll::MOST_AT_ONCE;
use ferrio_sys::signals;
use ferrio_units::Direction;
use library::Libiscsi;
use session::{IscsiError, Lun, LunCommand, LunDone, LunFault, Order};
use std::cell::RefCell;
use std::io;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

const NAME: &str = "libiscsi";

/// Time in which a target has to answer before the first I/O.
const LIMIT: Duration = Duration::from_secs(30);

/// fio's name of the step that fails where a command cannot be queued.
const QUEUE: &str = "td_io_queue";

pub(crate) const PREPARE: Prepare = |options| prepare(options);

pub(crate) fn open_library() -> ferrio_sys::Result<()> {
    Libiscsi::get().map(|_| ())
}

/// What a target says of a LUN, or, where the address names none, a portal of its targets; `None`: the call was cancelled.
pub(crate) fn inquire(url: &str, cancellation: Cancellation<'_>) -> Result<Option<IscsiFacts>, EngineError> {
    let api = Libiscsi::get().map_err(|error| EngineError::no_library(NAME, &error))?;
    let initiator = EngineOptions::default().get(&INITIATOR).to_owned();
    let names_target = url.split_once("://").is_some_and(|(_, rest)| rest.trim_end_matches('/').contains('/'));
    if names_target {
        let of_thread = url.to_owned();
        let asked = aside::call(cancellation, move |caller| {
            Lun::reach(api, &of_thread, &initiator, caller).map(|mut lun| lun.facts(caller))
        });
        let lun = answer(asked)?;
        return Ok(lun.map(|lun| IscsiFacts { lun: Some(lun), ..IscsiFacts::default() }));
    }
    let of_thread = url.trim_end_matches('/').to_owned();
    let asked = aside::call(cancellation, move |caller| session::targets(api, &of_thread, &initiator, caller));
    Ok(answer(asked)?.map(|targets| IscsiFacts { targets, lun: None }))
}

fn answer<T>(asked: io::Result<Option<Result<T, IscsiError>>>) -> Result<Option<T>, EngineError> {
    let unfit = |what: String| EngineError::Unfit {
        step: "setup",
        what: format!("iscsi: {what}"),
        is_named: false,
        errno: Errno::IO.raw_os_error(),
    };
    match asked {
        Ok(asked) => asked.transpose().map_err(|error| unfit(error.to_string())),
        Err(error) => Err(unfit(format!("no thread for the login: {error}"))),
    }
}

fn prepare(options: &EngineOptions) -> Result<Box<dyn Prepared>, EngineError> {
    let api = Libiscsi::get().map_err(|error| EngineError::no_library(NAME, &error))?;
    let manner = Manner { unmaps: options.get(&UNMAP), forces_unit_access: options.get(&FUA) };
    Ok(Box::new(Idle {
        api,
        initiator: options.get(&INITIATOR).to_owned(),
        manner,
        most_silence: limit_of(options.get(&SERVER_TIMEOUT)),
        secret_names: options.secret_names().to_vec(),
    }))
}

/// Commands of a job that fio does not have.
#[derive(Debug, Clone, Copy)]
struct Manner {
    unmaps: bool,
    /// Reads and writes go to the medium.
    forces_unit_access: bool,
}

/// The engine before it is started.
struct Idle {
    api: &'static Libiscsi,
    initiator: String,
    manner: Manner,
    most_silence: Duration,
    /// Names of targets with passwords.
    secret_names: Vec<Secret>,
}

impl Prepared for Idle {
    fn target_bytes(&self, name: &Path, cancellation: Cancellation<'_>) -> Result<Option<u64>, EngineError> {
        let lun = reach(self.api, &whole_name(name, &self.secret_names), &self.initiator, cancellation)?;
        Ok(lun.map(|lun| lun.size_bytes()))
    }

    fn start(self: Box<Self>, setup: EngineSetup) -> Result<Box<dyn Engine>, EngineError> {
        // The library writes to a connection that the other end has closed.
        signals::block_broken_pipes()
            .map_err(|error| EngineError::Target { step: "init".to_owned(), source: error })?;
        let depth = setup.iodepth as usize;
        let link = Initiator {
            luns: Vec::new(),
            names: setup.job.targets.iter().map(|target| whole_name(&target.path, &self.secret_names)).collect(),
            api: self.api,
            own_name: self.initiator,
            manner: self.manner,
            arena: setup.arena,
            depth,
            steps: ServerSteps::default(),
        };
        Ok(Box::new(DrivenEngine::new(link, depth, self.most_silence)))
    }
}

/// The name of a target with its password, if it has one.
fn whole_name(name: &Path, secret_names: &[Secret]) -> String {
    let shown = name.to_string_lossy();
    let secret = secret_names.iter().find(|secret| secret.shown() == shown);
    secret.and_then(Secret::value).map_or_else(|| shown.clone().into_owned(), str::to_owned)
}

/// Logs in to the target of a LUN; `None`: the call was cancelled.
fn reach(
    api: &'static Libiscsi,
    name: &str,
    initiator: &str,
    cancellation: Cancellation<'_>,
) -> Result<Option<Lun>, EngineError> {
    let (url, initiator) = (name.to_owned(), initiator.to_owned());
    let is_over = until(cancellation, LIMIT);
    let reached = aside::call(Cancellation::new(&is_over), move |caller| Lun::reach(api, &url, &initiator, caller));
    let silent = || IscsiError::NoConnection { is_lun: true, why: "the target does not answer".to_owned() };
    let late = || Some(Err(silent()));
    answer(reached.map(|reached| if reached.is_none() && !cancellation.is_over() { late() } else { reached }))
}

/// A job's sessions.
struct Initiator {
    /// A session for each file.
    luns: Vec<Lun>,
    /// The whole names of the targets.
    names: Vec<String>,
    api: &'static Libiscsi,
    own_name: String,
    manner: Manner,
    arena: Rc<RefCell<Arena>>,
    /// Commands in flight, at most.
    depth: usize,
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

    /// A command that the target has refused, or could not do.
    fn refused(&self, unit: &IoUnit, text: &str) -> Refusal {
        let name = self.names.get(unit.file_index as usize);
        let mut why = format!(
            "{} of {} bytes at {} of {}",
            unit.direction.name(),
            unit.length_bytes,
            unit.offset_bytes,
            name.map_or_else(String::new, |name| without_passwords(name).into_owned())
        );
        if let Some(meaning) = meaning(text) {
            why = format!("{why}: {meaning}");
        }
        // fio's errno, whatever the target has said.
        refuse("io_u error", format!("iscsi: request failed with error {text}."), Some(why), Errno::PERM)
    }
}

/// What a target means by its sense data, which the library shows as `SENSE KEY:NAME(3) ASCQ:NAME(0x1100)`: some versions have no name
/// for most of them.
fn meaning(text: &str) -> Option<&'static str> {
    let (_, sense) = text.split_once("SENSE KEY:")?;
    let (key, code) = sense.split_once(" ASCQ:").unwrap_or((sense, ""));
    // The name may be in brackets itself.
    let last_brackets = |text: &str| {
        text.rsplit_once('(').and_then(|(_, rest)| rest.split_once(')')).map(|(in_it, _)| in_it.to_owned())
    };
    let key: u32 = last_brackets(key)?.parse().ok()?;
    let code = last_brackets(code).and_then(|code| u32::from_str_radix(code.trim_start_matches("0x"), 16).ok());
    match (key, code.unwrap_or_default()) {
        (_, 0x2707) => Some("the target has no space left for it"),
        (3, _) => Some("the storage behind the LUN has failed, or is full; the target's log says more"),
        (4, _) => Some("hardware of the target has failed"),
        (5, 0x2000) => Some("the target does not have this command"),
        (5, 0x2100) => Some("it is beyond the end of the LUN"),
        (6, _) => Some("the LUN was reset or changed"),
        (7, _) => Some("the LUN is write-protected"),
        _ => None,
    }
}

fn refuse(step: &'static str, line: String, why: Option<String>, errno: Errno) -> Refusal {
    Refusal { result: error_result(errno), complaint: Some(Complaint { step, line: Some(line), why }) }
}

/// Lost, if one of two is.
fn either(one: LineState, other: LineState) -> LineState {
    if one == LineState::Lost { one } else { other }
}

impl DrivenLink for Initiator {
    type Status = LunDone;

    const GONE: &'static str = "the target has closed the connection, or is gone";

    const SILENT: &'static str = "the target has answered nothing for as long as server_timeout allows";

    fn connect(&mut self, cancellation: Cancellation<'_>) -> Result<Connection, EngineError> {
        while let Some(name) = self.names.get(self.luns.len()) {
            let start = Instant::now();
            let Some(mut lun) = reach(self.api, name, &self.own_name, cancellation)? else {
                return Ok(Connection::Awaited);
            };
            self.steps.n_connections += 1;
            self.steps.agree.record(u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX));
            lun.make_room(self.depth);
            self.luns.push(lun);
        }
        Ok(Connection::Made)
    }

    fn send(&mut self, slot: u32, flight: &DrivenFlight) -> Result<(), Refusal> {
        let unit = &flight.unit;
        let command = self.command(unit);
        let command = command.map_err(|(line, why)| refuse(QUEUE, line, Some(why.to_owned()), Errno::INVAL))?;
        let Some(lun) = self.luns.get_mut(unit.file_index as usize) else { return Err(IoResult::END_OF_DATA.into()) };
        let region = self.arena.borrow().region(unit.buffer_offset, command.n_bytes as usize);
        lun.send(slot, command, region).map_err(|text| refuse(QUEUE, format!("iscsi: {text}"), None, Errno::IO))
    }

    fn push(&mut self) -> LineState {
        self.luns.iter_mut().map(Lun::push).fold(LineState::Alive, either)
    }

    fn turn(&mut self, limit: Duration) -> LineState {
        if let [lun] = &mut self.luns[..] {
            return lun.turn(limit);
        }
        // Several: a look at each, then a wait for any.
        session::wait_for_any(&self.luns[..self.luns.len().min(MOST_AT_ONCE)], limit);
        self.luns.iter_mut().map(|lun| lun.turn(Duration::ZERO)).fold(LineState::Alive, either)
    }

    fn take_answer(&mut self) -> Option<(u32, LunDone)> {
        self.luns.iter_mut().find_map(Lun::take_done)
    }

    fn judge(&mut self, flight: &DrivenFlight, status: LunDone) -> Judgement {
        let unit = &flight.unit;
        match status {
            Ok(n_left) if matches!(unit.direction, Direction::Read | Direction::Write) => {
                Judgement::Done(IoResult::done(unit.length_bytes.saturating_sub(n_left)))
            }
            Ok(_) => Judgement::Done(IoResult::done(unit.length_bytes)),
            Err(LunFault::Lost) => Judgement::Done(error_result(Errno::CONNRESET)),
            Err(LunFault::Refused(text)) => Judgement::Failed(self.refused(unit, &text)),
        }
    }

    fn server_steps(&self) -> ServerSteps {
        let mut steps = self.steps.clone();
        self.luns.iter().filter_map(Lun::tcp_counts).for_each(|counts| steps.network.add(counts));
        steps
    }

    fn give_up(&mut self) {
        self.luns.iter_mut().for_each(Lun::give_up);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sense_data_have_a_meaning() {
        for (text, word) in [
            ("SENSE KEY:(null)(3) ASCQ:(null)(0x1100)", "full"),
            ("SENSE KEY:DATA PROTECTION(7) ASCQ:WRITE_PROTECTED(0x2700)", "write-protected"),
            ("SENSE KEY:DATA PROTECTION(7) ASCQ:(null)(0x2707)", "no space"),
            ("SENSE KEY:ILLEGAL_REQUEST(5) ASCQ:LBA_OUT_OF_RANGE(0x2100)", "beyond the end"),
        ] {
            assert!(meaning(text).is_some_and(|meaning| meaning.contains(word)), "{text}");
        }
        for text in [
            "",
            "SENSE KEY:",
            "SENSE KEY:NO SENSE(0) ASCQ:NONE(0x0000)",
            "SENSE KEY:(null)(x) ASCQ",
            "Failed to log in",
        ] {
            assert_eq!(meaning(text), None, "{text}");
        }
    }
}
