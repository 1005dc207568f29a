//! The engine around a client library: I/Os in flight, their results, connections and ends that may block.
//!
//! What a library still uses when the job ends (the buffers, the tickets, the connection) is left to it and never freed.
//! Must not know: which library. Start reading at [`ClientLink`], then [`ClientEngine`].

use super::mailbox::{ClientEnd, ClientMail, Ticket};
use crate::contract::parts::{Complaint, Connection, Server};
use crate::contract::{
    Cancellation, Completion, Engine, EngineError, EngineFile, EngineSetup, IoResult, IoUnit, JobFacts, OpenTarget,
    Queued, push_in_room, time_left,
};
use crate::files::control::error_result;
use crate::servers::remote::aside;
use crate::servers::remote::silence::Silence;
use ferrio_stats::ServerSteps;
use ferrio_sys::Errno;
use ferrio_sys::arena::{Arena, Region};
use ferrio_sys::clock::Clock;
use ferrio_units::Direction;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time that the end of a connection may take before it is left behind: caches are written then.
const MOST_GOODBYE: Duration = Duration::from_secs(30);

/// Requests that are kept after their end. The library's thread that has told of the end of a request may still have its lock, on
/// which the job would wait if it gave the request back at once.
const N_SPENT: usize = 32;

/// A connection by a client library. Dropping it ends the connection, and may block.
pub(crate) trait ClientLink: Send + Sized + 'static {
    /// The library's part of an I/O. Dropping it gives back what the library holds of it.
    type Request;

    /// Starts an I/O. Its end is sent to the ticket, from any thread.
    fn begin(&mut self, unit: &IoUnit, block: Region, ticket: *const Ticket) -> Result<Self::Request, Errno>;

    fn end(&mut self, unit: &IoUnit, block: Region, result: i64) -> IoResult;

    /// Opens a target. May not block.
    fn open_file(&mut self, _index: u32, _name: &Path) -> Result<(), EngineError> {
        Ok(())
    }

    /// True if all that has ended is durable.
    fn is_durable(&self) -> bool {
        false
    }

    /// What there is to say about an I/O that could not be started.
    fn complaint(&self, _unit: &IoUnit, _errno: Errno) -> Option<Complaint> {
        None
    }

    /// A possible reason for the error of an I/O.
    fn hint(&self, _unit: &IoUnit, _errno: Errno) -> Option<&'static str> {
        None
    }
}

/// What the making of a connection waits for, in words; empty: it is not known.
#[derive(Debug, Clone, Default)]
pub(crate) struct AwaitedStep(Arc<Mutex<&'static str>>);

impl AwaitedStep {
    /// The next step waits for this.
    pub(crate) fn set(&self, words: &'static str) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = words;
    }

    fn get(&self) -> &'static str {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes a connection. May block.
pub(crate) type ConnectClient<L> = dyn Fn(&JobFacts) -> Result<L, EngineError> + Send + Sync;

/// How a job uses its client library.
pub(crate) struct ClientPlan<L> {
    pub(crate) engine: &'static str,
    pub(crate) connect: Arc<ConnectClient<L>>,
    /// What the connection waits for.
    pub(crate) awaited: AwaitedStep,
    /// The thread of the job does not sleep while it waits for results.
    pub(crate) spins: bool,
    /// An I/O is waited for where it is queued.
    pub(crate) waits: bool,
    /// Longest time without the end of an I/O that is waited for.
    pub(crate) most_silence: Duration,
}

/// An I/O that the library has not ended.
struct ClientFlight<R> {
    unit: IoUnit,
    request: R,
}

/// A job's connection by its client library.
pub(crate) struct ClientEngine<L: ClientLink> {
    plan: ClientPlan<L>,
    job: JobFacts,
    arena: Rc<RefCell<Arena>>,
    link: Option<L>,
    mailbox: Arc<ClientMail>,
    /// One for each slot, and one more for syncs beside the queue.
    tickets: Box<[Ticket]>,
    flights: Vec<Option<ClientFlight<L::Request>>>,
    /// Requests that have ended, at most [`N_SPENT`].
    spent: VecDeque<L::Request>,
    /// Results that the loop has not asked for yet.
    held: VecDeque<ClientEnd>,
    n_uncommitted: u32,
    n_in_flight: u32,
    silence: Silence,
    /// Result of all I/Os, because they are given up.
    ended: Option<IoResult>,
    complaint: Option<Complaint>,
    steps: ServerSteps,
}

impl<L: ClientLink> ClientEngine<L> {
    pub(crate) fn new(plan: ClientPlan<L>, setup: EngineSetup) -> Self {
        let EngineSetup { iodepth, arena, job, .. } = setup;
        let (n_slots, most_silence) = (iodepth + 1, plan.most_silence);
        let mailbox = Arc::new(ClientMail::new(n_slots as usize));
        Self {
            plan,
            job,
            arena,
            link: None,
            tickets: (0..n_slots).map(|slot| Ticket::new(&mailbox, slot)).collect(),
            mailbox,
            flights: (0..n_slots).map(|_| None).collect(),
            spent: VecDeque::with_capacity(N_SPENT + 1),
            held: VecDeque::with_capacity(n_slots as usize),
            n_uncommitted: 0,
            n_in_flight: 0,
            silence: Silence::new(most_silence),
            ended: None,
            complaint: None,
            steps: ServerSteps::default(),
        }
    }

    fn block(&self, unit: &IoUnit) -> Region {
        let n_bytes =
            if unit.direction.data().is_some() && unit.direction != Direction::Trim { unit.length_bytes } else { 0 };
        self.arena.borrow().region(unit.buffer_offset, n_bytes)
    }

    /// Starts an I/O; the error is its result.
    fn begin(&mut self, slot: u32, unit: &IoUnit) -> Result<(), IoResult> {
        if let Some(result) = self.ended {
            return Err(result);
        }
        let block = self.block(unit);
        let Some(link) = &mut self.link else { return Err(error_result(Errno::NOTCONN)) };
        match link.begin(unit, block, &raw const self.tickets[slot as usize]) {
            Ok(request) => {
                self.flights[slot as usize] = Some(ClientFlight { unit: *unit, request });
                self.n_in_flight += 1;
                Ok(())
            }
            Err(errno) => {
                self.complaint = link.complaint(unit, errno);
                Err(error_result(errno))
            }
        }
    }

    /// Takes the end of an I/O; `None`: it was given up.
    fn end(&mut self, ended: ClientEnd) -> Option<IoResult> {
        let ClientFlight { unit, request } = self.flights[ended.slot as usize].take()?;
        let block = self.block(&unit);
        self.n_in_flight -= 1;
        self.spent.push_back(request);
        if self.spent.len() > N_SPENT {
            self.spent.pop_front();
        }
        Some(self.link.as_mut()?.end(&unit, block, ended.result))
    }

    /// Gets results, after a wait for as many; notes how long there was none.
    fn look(&mut self, n_wanted: usize, limit: Duration) {
        let n_before = self.held.len();
        self.mailbox.take(n_wanted.saturating_sub(n_before), limit, self.plan.spins, &mut self.held);
        if self.held.len() > n_before || n_wanted == 0 {
            self.silence.end();
            return;
        }
        self.silence.add(limit);
        if self.silence.is_too_long() {
            self.ended.get_or_insert(error_result(Errno::TIMEDOUT));
        }
    }

    fn reap_within(&mut self, (min, max): (u32, u32), limit: Duration, completions: &mut Vec<Completion>) {
        if self.held.len() < max as usize {
            let n_wanted = min.min(self.n_in_flight) as usize;
            self.look(n_wanted, limit.min(Cancellation::LOOK));
        }
        for _ in 0..max {
            let Some(ended) = self.held.pop_front() else { break };
            let unit_index = ended.slot;
            if let Some(result) = self.end(ended) {
                push_in_room(completions, Completion { unit_index, result });
            }
        }
        if let Some(result) = self.ended.filter(|_| self.held.is_empty()) {
            self.abandon(result, completions);
        }
    }

    /// Ends all I/Os in flight for the loop. What the library has of them is left to it.
    fn abandon(&mut self, result: IoResult, completions: &mut Vec<Completion>) {
        let n_slots = self.flights.len() - 1;
        for (slot, flight) in self.flights.iter_mut().enumerate() {
            let Some(flight) = flight.take() else { continue };
            std::mem::forget(flight);
            std::mem::forget(self.link.take());
            if slot < n_slots {
                push_in_room(completions, Completion { unit_index: slot as u32, result });
            }
        }
        if self.n_in_flight > 0 {
            self.leave_memory();
        }
        self.n_in_flight = 0;
    }

    /// Memory that the library may still use is never freed.
    fn leave_memory(&mut self) {
        std::mem::forget(std::mem::take(&mut self.tickets));
        std::mem::forget(Rc::clone(&self.arena));
    }

    /// Does an I/O beside the queue, and waits for it.
    fn apart(&mut self, unit: &IoUnit) -> IoResult {
        let slot = self.flights.len() as u32 - 1;
        if let Err(result) = self.begin(slot, unit) {
            return result;
        }
        let mut others = VecDeque::new();
        loop {
            self.look(1, Cancellation::LOOK);
            while let Some(ended) = self.held.pop_front() {
                if ended.slot == slot {
                    others.append(&mut self.held);
                    self.held = others;
                    return self.end(ended).unwrap_or(IoResult::END_OF_DATA);
                }
                others.push_back(ended);
            }
            if let Some(result) = self.ended {
                self.held = others;
                return result;
            }
        }
    }
}

/// What tests look at.
#[cfg(test)]
impl<L: ClientLink> ClientEngine<L> {
    pub(crate) fn mailbox_of_test(&self) -> Arc<ClientMail> {
        Arc::clone(&self.mailbox)
    }

    pub(crate) fn arena_of_test(&self) -> Rc<RefCell<Arena>> {
        Rc::clone(&self.arena)
    }

    pub(crate) fn silence_of_test(&mut self, silence: Duration) {
        self.silence.add(silence);
    }
}

impl<L: ClientLink> Engine for ClientEngine<L> {
    fn open_file(&mut self, file: &EngineFile<'_>) -> Result<(), EngineError> {
        match (&mut self.link, file.target) {
            (Some(link), OpenTarget::Name(name)) => link.open_file(file.index, name),
            _ => Ok(()),
        }
    }

    fn queue(&mut self, unit_index: u32, unit: &IoUnit) -> Queued {
        if let Err(result) = self.begin(unit_index, unit) {
            return Queued::Completed(result);
        }
        if self.plan.waits {
            self.look(1, Cancellation::LOOK);
            if let Some(ended) = self.held.pop_front() {
                return Queued::Completed(self.end(ended).unwrap_or(IoResult::END_OF_DATA));
            }
        }
        self.n_uncommitted += 1;
        Queued::Queued
    }

    fn commit(&mut self) -> io::Result<u32> {
        Ok(std::mem::take(&mut self.n_uncommitted))
    }

    fn hint(&self, unit: &IoUnit, errno: i32) -> Option<&'static str> {
        let errno = Errno::from_raw_os_error(errno);
        if errno == Errno::TIMEDOUT && self.silence.is_too_long() {
            return Some("the servers have ended no I/O for as long as server_timeout allows");
        }
        self.link.as_ref().and_then(|link| link.hint(unit, errno))
    }

    fn sync_apart(&mut self, file_index: u32) -> Option<i32> {
        // A sync that the job has not asked for.
        if !self.job.syncs.at_end && self.link.as_ref().is_some_and(ClientLink::is_durable) {
            return Some(0);
        }
        let unit = IoUnit {
            direction: Direction::Sync,
            file_index,
            offset_bytes: 0,
            length_bytes: 0,
            buffer_offset: 0,
            sync_flags: 0,
            ioprio: 0,
        };
        Some(match self.apart(&unit).outcome() {
            crate::contract::Outcome::Failed(errno) => errno,
            _ => 0,
        })
    }

    fn reap(&mut self, min: u32, max: u32, completions: &mut Vec<Completion>) -> io::Result<()> {
        self.reap_within((min, max), Cancellation::LOOK, completions);
        Ok(())
    }

    fn reap_until(
        &mut self,
        max: u32,
        until_ns: u64,
        clock: &Clock,
        completions: &mut Vec<Completion>,
    ) -> io::Result<()> {
        self.reap_within((1, max), time_left(clock, until_ns), completions);
        Ok(())
    }

    fn server(&mut self) -> Option<&mut dyn Server> {
        Some(self)
    }
}

impl<L: ClientLink> Server for ClientEngine<L> {
    fn connect(&mut self, cancellation: Cancellation<'_>) -> Result<Connection, EngineError> {
        if self.link.is_some() || self.ended.is_some() {
            return Ok(Connection::Made);
        }
        let (connect, job, start) = (Arc::clone(&self.plan.connect), self.job.clone(), Instant::now());
        let made = aside::call(cancellation, move |_| connect(&job));
        let failed = |source| EngineError::Failed {
            engine: self.plan.engine,
            step: "connect",
            what: "a thread that connects".to_owned(),
            source,
        };
        let Some(link) = made.map_err(failed)? else {
            let words = self.plan.awaited.get();
            let why = (!words.is_empty()).then(|| words.to_owned());
            self.complaint = why.map(|why| Complaint { step: "connect", line: None, why: Some(why) });
            return Ok(Connection::Awaited);
        };
        self.complaint = None;
        self.link = Some(link?);
        self.steps.n_connections += 1;
        self.steps.connect.record(u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX));
        Ok(Connection::Made)
    }

    fn disconnect(&mut self, cancellation: Cancellation<'_>) {
        if self.n_in_flight > 0 {
            return;
        }
        if let Some(link) = self.link.take() {
            let is_over = aside::until(cancellation, MOST_GOODBYE);
            // Without a thread the connection stays until the process ends.
            let _ = aside::call(Cancellation::new(&is_over), move |_| drop(link));
        }
    }

    fn give_up(&mut self) {
        self.ended.get_or_insert(IoResult::END_OF_DATA);
    }

    fn take_complaint(&mut self) -> Option<Complaint> {
        self.complaint.take()
    }

    fn server_steps(&self) -> Option<ServerSteps> {
        Some(self.steps.clone())
    }
}

impl<L: ClientLink> Drop for ClientEngine<L> {
    fn drop(&mut self) {
        self.spent.clear();
        if self.n_in_flight > 0 {
            self.flights.drain(..).flatten().for_each(std::mem::forget);
            std::mem::forget(self.link.take());
            self.leave_memory();
        }
        self.disconnect(Cancellation::ENDLESS);
    }
}
