//! The engine around a link that a test leads.

use super::super::silence::MOST_SILENCE;
use super::*;
use crate::contract::Outcome;
use crate::testing::nowhere;
use ferrio_units::Direction;
use std::collections::VecDeque;

/// Answers, and what was asked.
struct Link {
    /// Answers of each turn: slot, bytes.
    turns: VecDeque<Vec<(u32, usize)>>,
    answers: VecDeque<(u32, usize)>,
    state: LineState,
    /// Slots and bytes that were moved before, of all requests.
    sent: Vec<(u32, usize)>,
    answers_closings: bool,
    n_closings: u32,
    is_given_up: bool,
}

impl Default for Link {
    fn default() -> Self {
        Self {
            turns: VecDeque::new(),
            answers: VecDeque::new(),
            state: LineState::Alive,
            sent: Vec::new(),
            answers_closings: true,
            n_closings: 0,
            is_given_up: false,
        }
    }
}

impl DrivenLink for Link {
    type Status = usize;
    const GONE: &'static str = "gone";
    const SILENT: &'static str = "silent";

    fn connect(&mut self, _cancellation: Cancellation<'_>) -> Result<Connection, EngineError> {
        Ok(Connection::Made)
    }

    fn close_file(&mut self, _file_index: u32, asks: bool) -> bool {
        self.n_closings += u32::from(asks);
        !asks || self.answers_closings
    }

    fn send(&mut self, slot: u32, flight: &DrivenFlight) -> Result<(), Refusal> {
        if flight.unit.direction == Direction::Trim {
            let complaint = Complaint { step: "test", line: None, why: None };
            return Err(Refusal { result: error_result(Errno::INVAL), complaint: Some(complaint) });
        }
        self.sent.push((slot, flight.n_moved));
        Ok(())
    }

    fn push(&mut self) -> LineState {
        self.state
    }

    fn turn(&mut self, _limit: Duration) -> LineState {
        self.answers.extend(self.turns.pop_front().unwrap_or_default());
        self.state
    }

    fn take_answer(&mut self) -> Option<(u32, usize)> {
        self.answers.pop_front()
    }

    fn judge(&mut self, flight: &DrivenFlight, n_bytes: usize) -> Judgement {
        let n_moved = flight.n_moved + n_bytes;
        match (n_bytes, n_moved >= flight.unit.length_bytes) {
            (0, _) => Judgement::Failed(Refusal {
                result: error_result(Errno::PERM),
                complaint: Some(Complaint { step: "test", line: None, why: None }),
            }),
            (_, true) => Judgement::Done(IoResult::done(n_moved)),
            (_, false) => Judgement::Missing(DrivenFlight { n_moved, ..*flight }),
        }
    }

    fn server_steps(&self) -> ServerSteps {
        ServerSteps::default()
    }

    fn give_up(&mut self) {
        self.is_given_up = true;
    }
}

/// An engine with as many reads in flight as its depth.
fn engine(depth: u32, link: Link) -> DrivenEngine<Link> {
    let mut engine = DrivenEngine::new(link, depth as usize, MOST_SILENCE);
    for slot in 0..depth {
        assert_eq!(engine.queue(slot, &nowhere(Direction::Read)), Queued::Queued);
    }
    assert_eq!(engine.commit().unwrap(), depth);
    engine
}

fn reap(engine: &mut DrivenEngine<Link>, min: u32, max: u32) -> Vec<(u32, Outcome)> {
    let mut completions = Vec::with_capacity(8);
    engine.reap(min, max, &mut completions).unwrap();
    completions.into_iter().map(|done| (done.unit_index, done.result.outcome())).collect()
}

const LENGTH: usize = crate::testing::BLOCK;

#[test]
fn answers_that_are_held_need_no_look_at_the_connection() {
    let turns = [vec![(0, LENGTH), (1, LENGTH)], vec![(2, LENGTH)]].into();
    let mut engine = engine(3, Link { turns, ..Link::default() });
    assert_eq!(reap(&mut engine, 1, 1), [(0, Outcome::Done(LENGTH as u64))]);
    assert_eq!(reap(&mut engine, 1, 1), [(1, Outcome::Done(LENGTH as u64))]);
    assert_eq!(engine.link.turns.len(), 1);
    assert_eq!(reap(&mut engine, 1, 1), [(2, Outcome::Done(LENGTH as u64))]);
}

#[test]
fn what_is_missing_is_asked_for_before_an_io_is_done() {
    let turns = [vec![(1, LENGTH)], vec![(0, LENGTH / 4)], vec![(0, LENGTH - LENGTH / 4)]].into();
    let mut engine = engine(2, Link { turns, ..Link::default() });
    assert_eq!(reap(&mut engine, 2, 2), [(1, Outcome::Done(LENGTH as u64)), (0, Outcome::Done(LENGTH as u64))]);
    assert_eq!(engine.link.sent, [(0, 0), (1, 0), (0, LENGTH / 4)]);
    assert_eq!(reap(&mut engine, 0, 2), []);
}

#[test]
fn each_complaint_is_taken_before_the_next_result() {
    let turns = [vec![(0, 0), (1, LENGTH), (2, 0)]].into();
    let mut engine = engine(3, Link { turns, ..Link::default() });
    let refused = Outcome::Failed(Errno::PERM.raw_os_error());
    assert_eq!(reap(&mut engine, 1, 3), [(0, refused)]);
    assert!(engine.take_complaint().is_some());
    assert_eq!(reap(&mut engine, 1, 3), [(1, Outcome::Done(LENGTH as u64)), (2, refused)]);
    assert!(engine.take_complaint().is_some() && engine.take_complaint().is_none());
    let queued = engine.queue(0, &nowhere(Direction::Trim));
    assert_eq!(queued, Queued::Completed(IoResult::failed(Errno::INVAL.raw_os_error())));
}

#[test]
fn a_lost_connection_ends_all_after_the_answers_that_came() {
    let mut engine = engine(3, Link { turns: [vec![(2, LENGTH)]].into(), ..Link::default() });
    assert_eq!(reap(&mut engine, 1, 1), [(2, Outcome::Done(LENGTH as u64))]);
    engine.link.state = LineState::Lost;
    let lost = Outcome::Failed(Errno::CONNRESET.raw_os_error());
    assert_eq!(reap(&mut engine, 1, 3), [(0, lost), (1, lost)]);
    assert_eq!(engine.hint(&nowhere(Direction::Read), Errno::CONNRESET.raw_os_error()), Some("gone"));
    assert_eq!(
        engine.queue(0, &nowhere(Direction::Read)),
        Queued::Completed(IoResult::failed(Errno::CONNRESET.raw_os_error()))
    );
    // A server that is gone is not asked to close files.
    engine.close_file(0);
    assert_eq!(engine.link.n_closings, 0);
}

#[test]
fn a_server_that_answers_nothing_for_too_long_is_gone() {
    let mut engine = engine(2, Link::default());
    let (read, timed_out) = (nowhere(Direction::Read), Errno::TIMEDOUT.raw_os_error());
    assert_eq!(engine.hint(&read, timed_out), None);
    // The wait after which it is reported is one of milliseconds.
    engine.silence.add(MOST_SILENCE);
    let mut completions = Vec::with_capacity(2);
    engine.reap_until(2, 0, &Clock::new_virtual(), &mut completions).unwrap();
    let results: Vec<Outcome> = completions.iter().map(|done| done.result.outcome()).collect();
    assert_eq!(results, [Outcome::Failed(timed_out); 2]);
    assert!(engine.link.is_given_up);
    assert_eq!(engine.hint(&read, timed_out), Some("silent"));
}

#[test]
fn ios_that_are_given_up_end_at_once() {
    let mut engine = engine(2, Link::default());
    engine.give_up();
    assert!(engine.link.is_given_up);
    assert_eq!(reap(&mut engine, 1, 2), [(0, Outcome::EndOfData), (1, Outcome::EndOfData)]);
    assert_eq!(engine.queue(0, &nowhere(Direction::Read)), Queued::Completed(IoResult::END_OF_DATA));
}

#[test]
fn a_server_that_does_not_answer_a_closing_is_asked_once() {
    let mut engine = engine(1, Link { answers_closings: false, ..Link::default() });
    (0..3).for_each(|file| engine.close_file(file));
    assert_eq!(engine.link.n_closings, 1);
    // Until it has answered something.
    engine.link.turns.push_back(vec![(0, LENGTH)]);
    assert_eq!(reap(&mut engine, 1, 1), [(0, Outcome::Done(LENGTH as u64))]);
    engine.close_file(0);
    assert_eq!(engine.link.n_closings, 2);
}
