//! A window that moves through each file (`zonemode=strided`).
//!
//! Must not know: block sizes, order. Start reading at [`Strided::enter`]. All as seen on fio 3.41: the files share one
//! count of bytes, and each moves its own window.

use crate::compat;
use crate::cursor::FileCursor;
use crate::zoning::Zoning;
use ferrio_spec::{Compatibility, StridedSpec};
use ferrio_units::DataDirection;

/// Progress of a job in its present zone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Strided {
    spec: StridedSpec,
    time_based: bool,
    compatibility: Compatibility,
    /// Bytes of I/O in the present zone, over all files.
    moved_bytes: u64,
}

impl Strided {
    pub(crate) fn new(spec: StridedSpec, time_based: bool, compatibility: Compatibility) -> Self {
        let at_least_1 = |bytes: u64| bytes.max(1);
        let spec = StridedSpec {
            zone_bytes: at_least_1(spec.zone_bytes),
            range_bytes: at_least_1(spec.range_bytes),
            skip_bytes: spec.skip_bytes,
        };
        Self { spec, time_based, compatibility, moved_bytes: 0 }
    }

    /// Moves to the next window of a file; after the last comes the first.
    fn advance(&mut self, file: &mut FileCursor) {
        self.moved_bytes = 0;
        let step_bytes = self.spec.range_bytes.saturating_add(self.spec.skip_bytes);
        let next_bytes = file.base_bytes.saturating_add(step_bytes);
        // No offset in the window may exceed 64 bits.
        let is_inside =
            next_bytes < file.range.block_end_bytes() && next_bytes.checked_add(file.range.length_bytes).is_some();
        file.go_to(if is_inside { next_bytes } else { file.range.start_bytes });
    }
}

impl Zoning for Strided {
    /// Sequential blocks may run to the end of the file, even where the range of the job ends before it.
    fn open(&self, file: &mut FileCursor) {
        file.end_bytes = file.range.block_end_bytes();
        if compat::draws_past_window(self.compatibility, &file.choice) {
            return;
        }
        for direction in DataDirection::ALL {
            if file.n_drawn[direction] == 0 {
                // Not even one block fits into the window.
                file.n_starts[direction] = 0;
            }
        }
    }

    fn enter(&mut self, file: &mut FileCursor, direction: DataDirection) {
        if self.moved_bytes >= self.spec.zone_bytes {
            self.advance(file);
        } else if self.moved_bytes.is_multiple_of(self.spec.range_bytes) {
            // The end of the window was reached, but `zonesize` is larger than the window, so the window starts again.
            file.go_to(file.base_bytes);
        }
        let next_bytes = file.next_bytes[direction];
        let is_past_window = next_bytes >= file.base_bytes.saturating_add(self.spec.range_bytes);
        if is_past_window || (self.time_based && next_bytes >= file.range.end_bytes()) {
            file.next_bytes[direction] = file.base_bytes;
            file.fresh[direction] = true;
        }
    }

    #[inline]
    fn issued(&mut self, length_bytes: u64) {
        self.moved_bytes = self.moved_bytes.saturating_add(length_bytes);
    }

    fn restart(&mut self) {
        self.moved_bytes = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::Stream;
    use crate::stream::tests::{BLOCK_BYTES, blocks, pass, plan};
    use ferrio_spec::DirectionMix;

    /// Blocks of passes over 16 blocks with these windows.
    fn passes(random: bool, [zone, range, skip]: [u64; 3], n_passes: usize) -> Vec<Vec<u64>> {
        let spec = StridedSpec {
            zone_bytes: zone * BLOCK_BYTES,
            range_bytes: range * BLOCK_BYTES,
            skip_bytes: skip * BLOCK_BYTES,
        };
        let mut plan = plan(DirectionMix::Read, random);
        (plan.strided, plan.limits.pass_bytes) = (Some(spec), 16 * BLOCK_BYTES);
        let mut stream =
            Stream::new(plan, Strided::new(spec, false, Compatibility::Fio)).expect("the plan is possible");
        (0..n_passes).map(|_| blocks(&pass(&mut stream))).collect()
    }

    /// Expected values: traces of fio 3.41 with `randrepeat=0 randseed=137`.
    #[test]
    fn windows_are_those_of_the_peer() {
        type Row = (bool, [u64; 3], [u64; 16]);
        let table: [Row; 6] = [
            (false, [2, 2, 2], [0, 1, 4, 5, 8, 9, 12, 13, 0, 1, 4, 5, 8, 9, 12, 13]),
            (false, [4, 2, 0], [0, 1, 0, 1, 2, 3, 2, 3, 4, 5, 4, 5, 6, 7, 6, 7]),
            (true, [2, 2, 2], [1, 0, 5, 4, 9, 8, 12, 13, 0, 1, 5, 4, 9, 8, 12, 13]),
            (true, [2, 4, 0], [3, 0, 6, 7, 10, 11, 12, 13, 1, 3, 6, 7, 11, 9, 12, 14]),
            (true, [4, 2, 0], [1, 0, 1, 0, 3, 2, 2, 3, 4, 5, 5, 4, 7, 6, 6, 7]),
            (true, [4, 4, 0], [3, 0, 2, 1, 6, 7, 4, 5, 9, 11, 10, 8, 15, 13, 12, 14]),
        ];
        for (random, sizes, expected) in table {
            assert_eq!(passes(random, sizes, 1), [expected], "{random} {sizes:?}");
        }
    }

    /// As in traces of fio 3.41: the last window reaches past the end, and the next pass begins with the first window.
    #[test]
    fn a_pass_ends_where_no_block_is_left() {
        let sequential = vec![0, 1, 3, 4, 6, 7, 9, 10, 12, 13, 15];
        assert_eq!(passes(false, [2, 2, 1], 2), [sequential.clone(), sequential]);
        let first = vec![1, 0, 4, 3, 7, 6, 9, 10, 12, 13];
        let second = vec![1, 0, 3, 4, 7, 6, 9, 10, 13, 12, 15];
        assert_eq!(passes(true, [2, 2, 1], 2), [first, second]);
    }

    #[test]
    fn windows_that_hold_no_block_give_none() {
        let spec = StridedSpec { zone_bytes: 1, range_bytes: 1, skip_bytes: u64::MAX };
        let mut plan = plan(DirectionMix::Read, true);
        plan.strided = Some(spec);
        let mut stream = Stream::new(plan, Strided::new(spec, true, Compatibility::Fio)).expect("the plan is possible");
        assert!(pass(&mut stream).is_empty());
    }
}
