//! Tests of what all client libraries share, with a library that ends I/Os when it is told to.
#![expect(unsafe_code, reason = "sends results to addresses, as a library does")]

use super::driver::{AwaitedStep, ClientEngine, ClientLink, ClientPlan};
use super::mailbox::{ClientEnd, ClientMail, Ticket};
use crate::contract::parts::{Connection, Server};
use crate::contract::{
    Cancellation, Completion, Engine, EngineError, EngineSetup, IoResult, IoUnit, JobFacts, Outcome, Queued,
};
use crate::servers::remote::silence::MOST_SILENCE;
use ferrio_sys::Errno;
use ferrio_sys::arena::{Arena, ArenaKind, ArenaRequest, Region};
use ferrio_sys::clock::Clock;
use ferrio_units::Direction;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Addresses of I/Os in flight, as the library has them, and what has become of its connections.
#[derive(Default)]
struct Calls {
    tickets: Vec<usize>,
    n_dropped: usize,
}

struct Link(Arc<Mutex<Calls>>);

impl ClientLink for Link {
    type Request = u64;

    fn begin(&mut self, unit: &IoUnit, _block: Region, ticket: *const Ticket) -> Result<u64, Errno> {
        if unit.direction == Direction::Datasync {
            return Err(Errno::INVAL);
        }
        self.0.lock().unwrap().tickets.push(ticket.expose_provenance());
        Ok(unit.offset_bytes)
    }

    fn end(&mut self, _unit: &IoUnit, _block: Region, result: i64) -> IoResult {
        IoResult::of_call(result)
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.0.lock().unwrap().n_dropped += 1;
    }
}

fn setup(iodepth: u32) -> EngineSetup {
    let request = ArenaRequest {
        kind: ArenaKind::Malloc,
        size_bytes: 4096 * iodepth as usize,
        offset_bytes: 0,
        hugepage_bytes: 2 << 20,
    };
    EngineSetup {
        iodepth,
        max_block_bytes: 4096,
        arena: Rc::new(RefCell::new(Arena::new(&request).unwrap())),
        n_files: 1,
        direct: false,
        atomic: false,
        clock: Clock::new_virtual(),
        seed: 1,
        job: JobFacts::default(),
    }
}

fn unit(direction: Direction, index: u32) -> IoUnit {
    IoUnit {
        direction,
        file_index: 0,
        offset_bytes: u64::from(index) * 4096,
        length_bytes: 4096,
        buffer_offset: index as usize * 4096,
        sync_flags: 0,
        ioprio: 0,
    }
}

fn engine(iodepth: u32, calls: &Arc<Mutex<Calls>>) -> ClientEngine<Link> {
    let of_link = Arc::clone(calls);
    let connect = move |_: &JobFacts| Ok::<_, EngineError>(Link(Arc::clone(&of_link)));
    let plan = ClientPlan {
        engine: "test",
        connect: Arc::new(connect),
        awaited: AwaitedStep::default(),
        spins: false,
        waits: false,
        most_silence: MOST_SILENCE,
    };
    let mut engine = ClientEngine::new(plan, setup(iodepth));
    assert_eq!(engine.connect(Cancellation::ENDLESS).unwrap(), Connection::Made);
    engine
}

fn send(mailbox: &Arc<ClientMail>, slot: u32, result: i64) {
    Ticket::new(mailbox, slot).send(result);
}

#[test]
fn results_of_other_threads_arrive_once_each() {
    const N_THREADS: u32 = 4;
    const N_EACH: u32 = 10_000;
    for spins in [false, true] {
        let mailbox = Arc::new(ClientMail::new(8));
        std::thread::scope(|scope| {
            for thread in 0..N_THREADS {
                let mailbox = &mailbox;
                scope.spawn(move || (0..N_EACH).for_each(|index| send(mailbox, thread * N_EACH + index, 7)));
            }
            let mut all = VecDeque::new();
            while all.len() < (N_THREADS * N_EACH) as usize {
                mailbox.take(3, Duration::from_millis(10), spins, &mut all);
            }
            let mut slots: Vec<u32> = all.iter().map(|ended| ended.slot).collect();
            slots.sort_unstable();
            assert!(slots.into_iter().eq(0..N_THREADS * N_EACH));
            assert!(all.iter().all(|ended| *ended == ClientEnd { slot: ended.slot, result: 7 }));
        });
    }
}

#[test]
fn as_many_results_are_taken_as_the_loop_asks_for() {
    let calls = Arc::default();
    let mut engine = engine(4, &calls);
    let mailbox = engine.mailbox_of_test();
    for index in 0..4 {
        assert_eq!(engine.queue(index, &unit(Direction::Write, index)), Queued::Queued);
    }
    assert_eq!(engine.commit().unwrap(), 4);
    for slot in [2, 0, 3] {
        send(&mailbox, slot, 4096 - i64::from(slot));
    }
    let mut completions = Vec::with_capacity(4);
    engine.reap(1, 2, &mut completions).unwrap();
    let done = |unit_index, n_bytes| Completion { unit_index, result: IoResult::done(n_bytes) };
    assert_eq!(completions, [done(2, 4094), done(0, 4096)]);
    completions.clear();
    send(&mailbox, 1, -5);
    engine.reap(2, 4, &mut completions).unwrap();
    assert_eq!(completions, [done(3, 4093), Completion { unit_index: 1, result: IoResult::failed(5) }]);
    drop(engine);
    assert_eq!(calls.lock().unwrap().n_dropped, 1);
}

#[test]
fn what_cannot_be_started_fails_where_it_is_queued() {
    let mut engine = engine(1, &Arc::default());
    let queued = engine.queue(0, &unit(Direction::Datasync, 0));
    assert_eq!(queued, Queued::Completed(IoResult::failed(Errno::INVAL.raw_os_error())));
}

#[test]
fn what_is_in_flight_at_the_end_is_left_to_the_library() {
    let calls: Arc<Mutex<Calls>> = Arc::default();
    let mut engine = engine(2, &calls);
    let arena = engine.arena_of_test();
    for index in 0..2 {
        engine.queue(index, &unit(Direction::Read, index));
    }
    engine.commit().unwrap();
    engine.give_up();
    let mut completions = Vec::with_capacity(2);
    engine.reap(1, 2, &mut completions).unwrap();
    assert!(completions.len() == 2 && completions.iter().all(|done| done.result == IoResult::END_OF_DATA));
    assert_eq!(engine.queue(0, &unit(Direction::Read, 0)), Queued::Completed(IoResult::END_OF_DATA));
    drop(engine);
    // The connection is not ended, and the buffers have an owner still.
    assert_eq!(calls.lock().unwrap().n_dropped, 0);
    assert_eq!(Rc::strong_count(&arena), 2);
    // The library can send results at any later time.
    for ticket in calls.lock().unwrap().tickets.drain(..) {
        // SAFETY: the engine has left its tickets to the library.
        unsafe { &*std::ptr::with_exposed_provenance::<Ticket>(ticket) }.send(4096);
    }
}

#[test]
fn servers_that_end_nothing_for_too_long_are_gone() {
    let mut engine = engine(1, &Arc::default());
    engine.queue(0, &unit(Direction::Read, 0));
    engine.commit().unwrap();
    engine.silence_of_test(MOST_SILENCE);
    let mut completions = Vec::with_capacity(1);
    engine.reap(1, 1, &mut completions).unwrap();
    assert_eq!(completions[0].result.outcome(), Outcome::Failed(Errno::TIMEDOUT.raw_os_error()));
    assert!(engine.hint(&unit(Direction::Read, 0), Errno::TIMEDOUT.raw_os_error()).is_some());
}

#[test]
fn a_connection_that_does_not_end_is_left_behind() {
    let calls: Arc<Mutex<Calls>> = Arc::default();
    let mut engine = engine(1, &calls);
    // The end of the link waits for this.
    let held = calls.lock().unwrap();
    engine.disconnect(Cancellation::new(&|| true));
    assert_eq!(held.n_dropped, 0);
    drop(held);
    engine.disconnect(Cancellation::ENDLESS);
    drop(engine);
}
