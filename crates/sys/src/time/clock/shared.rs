//! Virtual time that several threads share: one of them runs at a time, always the one with the earliest time. So their
//! effects on each other come in the order of their times, equal in every run, and there are no real waits.
//!
//! Each thread has a [`Seat`]. The first seat is that of the leading thread: it has its turn at once when another
//! thread calls it, is ready, or leaves, as if it were infinitely fast. Of threads that wait for the same time, the
//! leader comes last. Must not know: the work of the threads. Start reading at [`Seat::sleep_until`].

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// A time that never comes.
const NEVER: u64 = u64::MAX;

/// Index of the leading thread's seat.
const LEADER: usize = 0;

/// Before all that wait for the same time.
const FIRST: u64 = 0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SeatState {
    Runs(u64),
    /// It waits for this time; of equal ones, the one that has waited longer comes first.
    Waits(u64, u64),
    /// It waits to be let go.
    Parked,
    /// It has left.
    Gone,
}

/// State that all seats share.
struct Shared {
    places: Mutex<Places>,
    /// Before this time only the running thread has anything to do.
    horizon_ns: AtomicU64,
    /// Time is no longer shared: each thread continues by itself.
    is_over: AtomicBool,
    /// Returns true if a request from outside waits for the leader.
    wants_leader: Box<dyn Fn() -> bool + Send + Sync>,
}

struct Places {
    of_seats: Vec<(SeatState, Arc<Condvar>)>,
    n_waits: u64,
    latest_ns: u64,
}

/// A thread's place in the time.
pub struct Seat {
    shared: Arc<Shared>,
    index: usize,
    now_ns: AtomicU64,
}

impl fmt::Debug for Seat {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "seat {} at {} ns", self.index, self.now_ns())
    }
}

impl Seat {
    /// A time that begins at 0, and the seat of the calling thread, which leads. `wants_leader` returns true if a
    /// request from outside waits for the leader; it is called whenever time advances.
    pub fn first(wants_leader: impl Fn() -> bool + Send + Sync + 'static) -> Arc<Self> {
        let places = Places { of_seats: vec![(SeatState::Runs(0), Arc::default())], n_waits: 0, latest_ns: 0 };
        let shared = Shared {
            places: Mutex::new(places),
            horizon_ns: AtomicU64::new(NEVER),
            is_over: AtomicBool::new(false),
            wants_leader: Box::new(wants_leader),
        };
        Arc::new(Self { shared: Arc::new(shared), index: LEADER, now_ns: AtomicU64::new(0) })
    }

    /// A seat for a thread that the leader is about to start. It has its turn after [`Seat::begin`].
    pub fn add(&self) -> Arc<Self> {
        let mut places = self.lock();
        let (index, now_ns) = (places.of_seats.len(), self.now_ns());
        let place = places.waiting(now_ns);
        places.of_seats.push((place, Arc::default()));
        self.bound(now_ns);
        Arc::new(Self { shared: Arc::clone(&self.shared), index, now_ns: AtomicU64::new(now_ns) })
    }

    /// The first step of the thread: it waits for its turn.
    pub fn begin(&self) {
        self.await_turn(self.lock());
    }

    /// Its present time.
    #[inline]
    pub fn now_ns(&self) -> u64 {
        self.now_ns.load(Ordering::Relaxed)
    }

    /// Moves its time there, after all others with earlier times have had their turns. A leader may return earlier: if
    /// it was called, or if no other thread is left.
    pub fn sleep_until(&self, ns: u64) {
        if ns <= self.now_ns() {
            return;
        }
        let is_alone = ns < self.shared.horizon_ns.load(Ordering::Acquire) && !(self.shared.wants_leader)();
        if (is_alone && self.index != LEADER) || self.shared.is_over.load(Ordering::Acquire) {
            if ns != NEVER {
                self.now_ns.store(ns, Ordering::Relaxed);
            }
            return;
        }
        if self.index != LEADER && (self.shared.wants_leader)() {
            self.call_leader();
        }
        let mut places = self.lock();
        places.of_seats[self.index].0 = places.waiting(ns);
        places.pass_on(&self.shared);
        self.await_turn(places);
    }

    /// Gives the leader a turn before this thread or any other continues.
    pub fn call_leader(&self) {
        let mut places = self.lock();
        if places.is_leader_waiting() {
            places.of_seats[self.index].0 = SeatState::Waits(self.now_ns(), FIRST);
            places.hand_to_leader(self.now_ns(), &self.shared);
            self.await_turn(places);
        }
    }

    /// Waits until the leader lets all go that wait so.
    pub fn park(&self) {
        let mut places = self.lock();
        places.of_seats[self.index].0 = SeatState::Parked;
        places.hand_to_leader(self.now_ns(), &self.shared);
        self.await_turn(places);
    }

    /// The leader lets all go that are parked, at its own time.
    pub fn let_go(&self) {
        let (mut places, now_ns) = (self.lock(), self.now_ns());
        for index in 0..places.of_seats.len() {
            if places.of_seats[index].0 == SeatState::Parked {
                places.of_seats[index].0 = places.waiting(now_ns);
            }
        }
        drop(places);
        self.bound(now_ns);
    }

    /// Gives the seat back. When the leader leaves, the shared time is over: each waiting thread continues by itself.
    pub fn leave(&self) {
        let mut places = self.lock();
        if self.index == LEADER {
            self.shared.is_over.store(true, Ordering::Release);
            places.of_seats.iter().for_each(|(_, turn)| turn.notify_all());
        }
        let before = std::mem::replace(&mut places.of_seats[self.index].0, SeatState::Gone);
        // A thread that never began has no turn to pass on.
        if matches!(before, SeatState::Runs(_)) {
            places.hand_to_leader(self.now_ns(), &self.shared);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Places> {
        self.shared.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lowers the horizon, because a thread has something to do at this time.
    fn bound(&self, ns: u64) {
        self.shared.horizon_ns.fetch_min(ns, Ordering::AcqRel);
    }

    fn await_turn(&self, mut places: MutexGuard<'_, Places>) {
        let turn = Arc::clone(&places.of_seats[self.index].1);
        while !self.shared.is_over.load(Ordering::Acquire) {
            if let SeatState::Runs(ns) = places.of_seats[self.index].0 {
                self.now_ns.store(ns, Ordering::Relaxed);
                return;
            }
            places = turn.wait(places).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Places {
    fn waiting(&mut self, ns: u64) -> SeatState {
        self.n_waits += 1;
        SeatState::Waits(ns, self.n_waits)
    }

    fn is_leader_waiting(&self) -> bool {
        matches!(self.of_seats[LEADER].0, SeatState::Waits(..))
    }

    /// The next turn: that of the leader, if it is there.
    fn hand_to_leader(&mut self, ns: u64, shared: &Shared) {
        if self.is_leader_waiting() {
            self.of_seats[LEADER].0 = SeatState::Waits(ns, FIRST);
        }
        self.pass_on(shared);
    }

    /// The next turn: that of the earliest time.
    fn pass_on(&mut self, shared: &Shared) {
        let times = self.of_seats.iter().enumerate().filter_map(|(index, (place, _))| match place {
            SeatState::Waits(ns, FIRST) => Some((*ns, false, FIRST, index)),
            SeatState::Waits(ns, n_waits) => Some((*ns, index == LEADER, *n_waits, index)),
            _ => None,
        });
        let mut times: Vec<_> = times.collect();
        // The two earliest are enough.
        times.sort_unstable();
        let horizon_ns = times.get(1).map_or(NEVER, |next| next.0);
        shared.horizon_ns.store(horizon_ns, Ordering::Release);
        let Some((ns, _, _, index)) = times.first().copied() else { return };
        // A leader that waits for a call although no thread is left that could call.
        let ns = if ns == NEVER { self.latest_ns } else { ns };
        self.latest_ns = self.latest_ns.max(ns);
        self.of_seats[index].0 = SeatState::Runs(ns);
        self.of_seats[index].1.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread::JoinHandle;

    type Notes = Arc<Mutex<Vec<(u64, &'static str)>>>;

    /// A thread that notes its name every so often, so many times.
    fn ticker(leader: &Seat, notes: &Notes, name: &'static str, step_ns: u64, n: u64) -> JoinHandle<()> {
        let (seat, notes) = (leader.add(), Arc::clone(notes));
        std::thread::spawn(move || {
            seat.begin();
            for _ in 0..n {
                seat.sleep_until(seat.now_ns() + step_ns);
                notes.lock().unwrap().push((seat.now_ns(), name));
            }
            seat.leave();
        })
    }

    #[test]
    fn the_earliest_has_its_turn() {
        for _ in 0..50 {
            let (leader, notes) = (Seat::first(|| false), Notes::default());
            let threads = [ticker(&leader, &notes, "a", 3, 4), ticker(&leader, &notes, "b", 4, 3)];
            while leader.now_ns() < 100 {
                leader.sleep_until(leader.now_ns() + 10);
                notes.lock().unwrap().push((leader.now_ns(), "leader"));
                if leader.now_ns() >= 22 {
                    break;
                }
            }
            leader.leave();
            for thread in threads {
                thread.join().unwrap();
            }
            let expected = [(3, "a"), (4, "b"), (6, "a"), (8, "b"), (9, "a"), (10, "leader")];
            assert_eq!(notes.lock().unwrap()[..6], expected);
            // At 12 b has waited longer than a; those that leave call the leader.
            let rest = [(12, "b"), (12, "leader"), (12, "a"), (12, "leader"), (22, "leader")];
            assert_eq!(notes.lock().unwrap()[6..], rest);
        }
    }

    #[test]
    fn who_is_parked_goes_on_when_it_is_let_go() {
        let leader = Seat::first(|| false);
        let seat = leader.add();
        let thread = std::thread::spawn(move || {
            seat.begin();
            seat.sleep_until(5);
            seat.park();
            let after = seat.now_ns();
            seat.leave();
            after
        });
        leader.sleep_until(NEVER);
        assert_eq!(leader.now_ns(), 5, "called");
        leader.sleep_until(30);
        leader.let_go();
        leader.sleep_until(NEVER);
        assert_eq!((thread.join().unwrap(), leader.now_ns()), (30, 30));
        leader.sleep_until(NEVER);
        assert_eq!(leader.now_ns(), 30, "nobody is left");
    }

    #[test]
    fn a_call_from_outside_is_heard() {
        let wish = Arc::new(AtomicBool::new(false));
        let its = Arc::clone(&wish);
        let leader = Seat::first(move || its.load(Ordering::Relaxed));
        let seat = leader.add();
        let ends = Arc::clone(&wish);
        let thread = std::thread::spawn(move || {
            seat.begin();
            while !ends.load(Ordering::Relaxed) {
                seat.sleep_until(seat.now_ns() + 1);
                ends.store(seat.now_ns() == 1_000, Ordering::Relaxed);
            }
            seat.sleep_until(1_000_000);
            seat.leave();
        });
        leader.sleep_until(NEVER);
        assert_eq!(leader.now_ns(), 1_000);
        leader.leave();
        thread.join().unwrap();
    }
}
