//! `verify_only`: the I/Os of an earlier run are not repeated, and its writes are remembered as if they were done now.
//!
//! Must not know: loops. Start reading at [`Verifier::remember_step`].

use super::Verifier;
use super::memory::pending;
use crate::error::Failure;
use crate::work::lane::Lane;
use ferrio_engine::WriteContent;
use ferrio_units::Direction;
use ferrio_workload::verify::pending::TooMany;
use ferrio_workload::verify::state::WriteFate;
use ferrio_workload::{Next, NextIo};

impl Verifier {
    /// Remembers the next step of an earlier run as if it was done now. False: that run ended before it.
    ///
    /// # Errors
    /// There are more writes than can be remembered.
    pub(crate) fn remember_step(&mut self, lane: &mut Lane<'_>, next: &Next) -> Result<bool, Failure> {
        match next {
            Next::Io(io) => match io.direction {
                Direction::Write => return self.remember_unwritten(lane, io),
                Direction::Trim => {
                    self.trims.note(true);
                    self.memory.trim_unwritten(io.file_index, io.offset_bytes, io.length_bytes);
                }
                Direction::Read => {
                    self.trims.note(false);
                    self.reads.unread_mix_bytes += io.length_bytes;
                }
                // Syncs are not repeated.
                _ => {}
            },
            Next::Wait => self.trims.remember_due(&mut self.memory),
            _ => {}
        }
        Ok(true)
    }

    fn remember_unwritten(&mut self, lane: &mut Lane<'_>, io: &NextIo) -> Result<bool, Failure> {
        let number = self.stamping.n_writes();
        if let Some(loaded) = self.loaded.as_mut().filter(|loaded| loaded.ended_before(number, io)) {
            loaded.say_stop(lane.context, number, WriteFate::NotIssued);
            return Ok(false);
        }
        let write = self.stamping.next(io.offset_bytes, 0);
        let write = pending(io.file_index, &write, io.length_bytes);
        let content = self.commands.content(&mut *lane.engine, 0);
        if content == WriteContent::Unchanged {
            return Ok(true);
        }
        self.memory.forget_above(write.file_index, write.offset_bytes);
        // If the write was in flight or failed, the contents of its place are unknown.
        let is_known = self.loaded.as_ref().is_none_or(|loaded| loaded.told(&write) == WriteFate::Done);
        if !is_known && self.memory.is_by_place() {
            self.memory.forget_range(write.file_index, write.offset_bytes, write.length_bytes.into());
            return Ok(true);
        }
        self.memory.push_unwritten(write).map_err(|TooMany| self.too_many())?;
        self.memory.left_by_earlier_run(&write, content);
        self.trims.wrote(write);
        Ok(true)
    }
}
