//! The number of I/Os in flight while a trace was recorded, as fio computes it.
//!
//! It counts the requests that enter the queue and are not merged, until one completes; reads and writes are counted
//! apart.
//! Must not know: times, offsets. Start reading at [`DepthMeter::see`].
//! Facts: reference, "blktrace input"; fio 3.41 counts per direction and begins at zero after each completion.

use super::blktrace::{BlktraceAction, BlktraceEvent};

/// The depth of a trace, as far as it was read.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct DepthMeter {
    /// Reads and writes that were queued and not merged since the last completion.
    queued: [i64; 2],
    peak: i64,
}

impl DepthMeter {
    /// Takes the next event.
    pub(super) fn see(&mut self, event: &BlktraceEvent) {
        let Some(is_write) = event.is_write_not_read() else { return };
        let queued = &mut self.queued[usize::from(is_write)];
        match event.progress() {
            // Cannot overflow: a record has 48 bytes, and a file less than 2^63.
            BlktraceAction::Queued => *queued += 1,
            BlktraceAction::Merged => *queued -= 1,
            BlktraceAction::Completed => {
                self.peak = self.peak.max(*queued);
                *queued = 0;
            }
            BlktraceAction::Other => {}
        }
    }

    /// The largest depth, at least 1.
    pub(super) fn peak(&self) -> u32 {
        u32::try_from(self.peak.max(1)).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `Q`ueued, merged (`B`), `C`ompleted; small letters are writes.
    fn depth(events: &str) -> u32 {
        let mut meter = DepthMeter::default();
        for letter in events.chars() {
            let kind = match letter.to_ascii_uppercase() {
                'Q' => 1,
                'B' => 2,
                _ => 8,
            };
            let property = if letter.is_ascii_lowercase() { 2 } else { 1 };
            meter.see(&BlktraceEvent::of_action(property << 16 | kind));
        }
        meter.peak()
    }

    // Expected values: depths that fio 3.41 uses.
    #[test]
    fn depths_of_the_peer() {
        for (events, expected) in [
            ("Q", 1),
            ("QQ", 1),
            ("QQQC", 3),
            ("QCQC", 1),
            ("QQCC", 2),
            ("QQQCQQCCCC", 3),
            ("QQBC", 1),
            ("QqQqCcCc", 2),
            ("qqqQcccC", 3),
            ("QQQBBC", 1),
            ("QQQQQQQQCQQQQQQQQ", 8),
            ("CQQQQQ", 1),
            ("QQQQQQQQQqc", 1),
            ("qbbqqqc", 2),
        ] {
            assert_eq!(depth(events), expected, "{events}");
        }
    }
}
