//! The stream of a job whose I/Os are turns of work that move no data: a number of equal reads of no bytes.
//!
//! Must not know: the work. Start reading at [`TurnStream`].

use crate::io_stream::{IoStream, JobStream};
use crate::next::{IssuedTotals, Next, NextIo};
use crate::pace::Pace;
use ferrio_units::Direction;

/// Turns of work, up to a number of them.
#[derive(Debug, Clone)]
pub(crate) struct TurnStream {
    limit: u64,
    n_issued: u64,
    has_pauses: bool,
    /// The time was told since the last turn.
    is_told: bool,
}

impl TurnStream {
    pub(crate) fn new(limit: u64, has_pauses: bool) -> Self {
        Self { limit, n_issued: 0, has_pauses, is_told: false }
    }
}

impl IoStream for TurnStream {
    fn next(&mut self) -> Next {
        if self.n_issued >= self.limit {
            return Next::PassEnd;
        }
        if self.has_pauses && !std::mem::take(&mut self.is_told) {
            return Next::Wait;
        }
        self.n_issued += 1;
        Next::Io(NextIo { direction: Direction::Read, file_index: 0, offset_bytes: 0, length_bytes: 0 })
    }

    fn job(&self) -> Option<&dyn JobStream> {
        Some(self)
    }

    fn job_mut(&mut self) -> Option<&mut dyn JobStream> {
        Some(self)
    }

    fn pace(&mut self) -> Option<&mut dyn Pace> {
        Some(self)
    }
}

impl JobStream for TurnStream {
    fn start_pass(&mut self) {}

    fn progress(&self) -> IssuedTotals {
        IssuedTotals {
            last_was_sync: false,
            issued_bytes: 0,
            n_issued: self.n_issued,
            n_writes_issued: 0,
            is_spent: self.n_issued >= self.limit,
        }
    }

    fn copy(&self) -> Option<Box<dyn IoStream>> {
        Some(Box::new(Self { has_pauses: false, ..self.clone() }))
    }
}

/// There is no rate: a turn is due as soon as nothing else is waited for.
impl Pace for TurnStream {
    fn turn(&mut self, _now_ns: u64) -> Option<u64> {
        self.is_told = true;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_turn(next: Next) -> bool {
        matches!(next, Next::Io(NextIo { direction: Direction::Read, length_bytes: 0, .. }))
    }

    #[test]
    fn turns_come_up_to_their_number() {
        let mut stream = TurnStream::new(2, false);
        assert!(is_turn(stream.next()) && !stream.progress().is_spent);
        assert!(is_turn(stream.next()) && stream.progress().is_spent);
        assert_eq!((stream.next(), stream.progress().n_issued), (Next::PassEnd, 2));
    }

    #[test]
    fn a_job_with_pauses_is_asked_before_each_turn() {
        let mut stream = TurnStream::new(u64::MAX, true);
        for _ in 0..3 {
            assert_eq!(stream.next(), Next::Wait);
            assert_eq!(stream.turn(0), None);
            assert!(is_turn(stream.next()));
        }
    }
}
