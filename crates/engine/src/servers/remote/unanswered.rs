//! The I/Os that a server has not answered yet: by the slot of their unit, with their number, and the result that ends them all.
//!
//! Must not know: protocols, waits. Start reading at [`Unanswered`].

use crate::contract::{Completion, IoResult, push_in_room};

/// I/Os without an answer. `F` is what an engine keeps of each.
#[derive(Debug)]
pub(crate) struct Unanswered<F> {
    flights: Vec<Option<F>>,
    n_in_flight: u32,
    n_uncommitted: u32,
    /// Result of all I/Os, because the connection is lost, the server is gone, or the I/Os are given up.
    ended: Option<IoResult>,
}

impl<F> Unanswered<F> {
    /// None yet.
    pub(crate) fn new(n_slots: usize) -> Self {
        Self { flights: (0..n_slots).map(|_| None).collect(), n_in_flight: 0, n_uncommitted: 0, ended: None }
    }

    /// Adds the I/O of a free slot.
    pub(crate) fn begin(&mut self, slot: u32, flight: F) {
        let before = self.flights[slot as usize].replace(flight);
        debug_assert!(before.is_none(), "slot {slot} has an I/O already");
        self.n_in_flight += 1;
    }

    /// Takes out the I/O of a slot; `None`: it has none, because it was ended or because the server answers what nobody has asked.
    pub(crate) fn take(&mut self, slot: u32) -> Option<F> {
        let flight = self.flights.get_mut(slot as usize)?.take()?;
        debug_assert!(self.n_in_flight > 0, "the number in flight is that of the slots with an I/O");
        self.n_in_flight -= 1;
        Some(flight)
    }

    /// The I/O of a slot.
    pub(crate) fn get(&self, slot: u32) -> Option<&F> {
        self.flights.get(slot as usize)?.as_ref()
    }

    /// The same, mutable.
    pub(crate) fn get_mut(&mut self, slot: u32) -> Option<&mut F> {
        self.flights.get_mut(slot as usize)?.as_mut()
    }

    /// The number of I/Os.
    pub(crate) fn n_in_flight(&self) -> u32 {
        self.n_in_flight
    }

    /// Counts an I/O that the next commit takes.
    pub(crate) fn note_queued(&mut self) {
        self.n_uncommitted += 1;
    }

    /// The number of I/Os that a commit takes: all since the last one.
    pub(crate) fn commit(&mut self) -> u32 {
        std::mem::take(&mut self.n_uncommitted)
    }

    /// Result of all I/Os, once there is one.
    pub(crate) fn ended(&self) -> Option<IoResult> {
        self.ended
    }

    /// Ends all I/Os, also later ones, with the result that the first such call gives. Returns that result.
    pub(crate) fn end(&mut self, result: IoResult) -> IoResult {
        *self.ended.get_or_insert(result)
    }

    /// Gives up: no answer is waited for any more.
    pub(crate) fn give_up(&mut self) {
        self.end(IoResult::END_OF_DATA);
    }

    /// Takes out all I/Os, with their slots.
    pub(crate) fn take_all(&mut self) -> impl Iterator<Item = (u32, F)> {
        self.n_in_flight = 0;
        self.flights
            .iter_mut()
            .enumerate()
            .filter_map(|(slot, flight)| flight.take().map(|flight| (slot as u32, flight)))
    }

    /// Hands over all I/Os with this result.
    pub(crate) fn hand_over(&mut self, result: IoResult, completions: &mut Vec<Completion>) {
        for (unit_index, _) in self.take_all() {
            push_in_room(completions, Completion { unit_index, result });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::control::error_result;
    use ferrio_sys::Errno;

    #[test]
    fn the_number_is_that_of_the_slots_with_an_io() {
        let mut unanswered = Unanswered::new(3);
        (0..3).for_each(|slot| unanswered.begin(slot, 'a'));
        unanswered.note_queued();
        assert_eq!((unanswered.commit(), unanswered.commit()), (1, 0));
        assert_eq!((unanswered.take(1), unanswered.take(1), unanswered.take(9)), (Some('a'), None, None));
        assert_eq!(unanswered.n_in_flight(), 2);
        let mut completions = Vec::with_capacity(3);
        unanswered.hand_over(IoResult::END_OF_DATA, &mut completions);
        assert_eq!(completions.iter().map(|done| done.unit_index).collect::<Vec<_>>(), [0, 2]);
        assert_eq!(unanswered.n_in_flight(), 0);
    }

    #[test]
    fn the_first_end_is_the_result() {
        let mut unanswered = Unanswered::<()>::new(1);
        let lost = error_result(Errno::CONNRESET);
        assert_eq!(unanswered.end(lost), lost);
        unanswered.give_up();
        assert_eq!(unanswered.ended(), Some(lost));
    }
}
