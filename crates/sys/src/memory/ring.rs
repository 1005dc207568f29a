//! A ring of 64-bit words in shared memory: one process or thread writes records, another reads them.
//!
//! Published records stay readable when the writer dies, and a record is published as a whole or not at all.
//! Must not know: the meaning of the words. Start reading at [`Ring`].

use crate::error::Result;
use crate::memory::shared_memory::SharedMemory;
use crate::processes::futex::{futex_wait, futex_wake};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// A position on cache lines of its own (two of them: processors fetch lines in pairs).
type Position = [AtomicU64; 16];

/// A ring. It is shared by reference; each end must have a single user at a time, or records mix (nothing worse).
#[derive(Debug)]
pub struct Ring {
    words: SharedMemory<AtomicU64>,
    /// Words ever written, words ever read.
    ends: SharedMemory<Position>,
}

impl Ring {
    /// A ring with room for at least `n_words`. Memory that is never reached costs nothing.
    pub fn new(n_words: usize) -> Result<Self> {
        // A power of two, so that a position is a mask away.
        let n_words = n_words.checked_next_power_of_two().unwrap_or(n_words);
        Ok(Self { words: SharedMemory::new(n_words)?, ends: SharedMemory::new(2)? })
    }

    /// Words that fit.
    pub fn capacity(&self) -> usize {
        self.words.len()
    }

    pub fn writer(&self) -> RingWriter<'_> {
        let head = self.head().load(Ordering::Acquire);
        RingWriter { ring: self, head, tail: self.tail().load(Ordering::Acquire) }
    }

    pub fn reader(&self) -> RingReader<'_> {
        RingReader { ring: self, tail: self.tail().load(Ordering::Acquire) }
    }

    #[inline]
    fn head(&self) -> &AtomicU64 {
        &self.ends[0][0]
    }

    #[inline]
    fn tail(&self) -> &AtomicU64 {
        &self.ends[1][0]
    }

    #[inline]
    fn word(&self, position: u64) -> &AtomicU64 {
        // The length is a power of two; the mask also keeps a position that was overwritten by a broken process inside.
        debug_assert!(self.words.len().is_power_of_two(), "a position is a mask away");
        &self.words[(position as usize) & (self.words.len() - 1)]
    }
}

/// The end that writes.
#[derive(Debug)]
pub struct RingWriter<'a> {
    ring: &'a Ring,
    head: u64,
    /// Tail at the last look: the true one is here or further on.
    tail: u64,
}

impl RingWriter<'_> {
    /// Publishes a record, or nothing when there is no room for it.
    #[inline]
    pub fn push(&mut self, record: &[u64]) -> bool {
        if self.room() < record.len() && self.fresh_room() < record.len() {
            return false;
        }
        for (offset, word) in record.iter().enumerate() {
            self.ring.word(self.head + offset as u64).store(*word, Ordering::Relaxed);
        }
        self.head += record.len() as u64;
        self.ring.head().store(self.head, Ordering::Release);
        true
    }

    /// True if more than half of the ring waits to be read, as far as this end knows without a look at the other.
    #[inline]
    pub fn seems_half_full(&self) -> bool {
        self.room() < self.ring.capacity() / 2
    }

    /// True when more than half of the ring waits to be read.
    pub fn is_half_full(&mut self) -> bool {
        self.fresh_room() < self.ring.capacity() / 2
    }

    #[inline]
    fn room(&self) -> usize {
        // A tail beyond the head means a broken reader: then there is no room.
        let used = usize::try_from(self.head.wrapping_sub(self.tail)).unwrap_or(usize::MAX);
        self.ring.capacity().saturating_sub(used)
    }

    fn fresh_room(&mut self) -> usize {
        self.tail = self.ring.tail().load(Ordering::Acquire);
        self.room()
    }
}

/// The end that reads.
#[derive(Debug)]
pub struct RingReader<'a> {
    ring: &'a Ring,
    tail: u64,
}

impl RingReader<'_> {
    /// Words that wait, at most the capacity.
    pub fn n_waiting(&self) -> usize {
        let n = self.ring.head().load(Ordering::Acquire).wrapping_sub(self.tail);
        usize::try_from(n).unwrap_or(usize::MAX).min(self.ring.capacity())
    }

    /// The word `offset` behind the oldest.
    #[inline]
    pub fn word(&self, offset: usize) -> u64 {
        debug_assert!(offset < self.ring.capacity(), "a word beyond the ring would be an older one");
        self.ring.word(self.tail.wrapping_add(offset as u64)).load(Ordering::Relaxed)
    }

    /// Frees the oldest `n_words`.
    pub fn consume(&mut self, n_words: usize) {
        debug_assert!(n_words <= self.ring.capacity(), "no more is read than fits");
        self.tail = self.tail.wrapping_add(n_words as u64);
        self.ring.tail().store(self.tail, Ordering::Release);
    }
}

/// Wakes a reader of rings that sleeps. In shared memory: any process may ring it.
#[derive(Debug)]
pub struct Bell {
    /// Index 0: number of rings; index 1: whether a thread sleeps.
    numbers: SharedMemory<AtomicU32>,
}

impl Bell {
    /// A bell that has not been rung.
    pub fn new() -> Result<Self> {
        Ok(Self { numbers: SharedMemory::new(2)? })
    }

    /// Wakes the sleeper, if there is one: no system call otherwise.
    pub fn ring(&self) {
        self.numbers[0].fetch_add(1, Ordering::SeqCst);
        if self.numbers[1].load(Ordering::SeqCst) != 0 {
            futex_wake(&self.numbers[0], u32::MAX);
        }
    }

    /// Number of rings so far; to be read before looking for work.
    pub fn count(&self) -> u32 {
        self.numbers[0].load(Ordering::SeqCst)
    }

    /// Sleeps until it is rung after `count` was read, at most `limit`.
    pub fn sleep(&self, count: u32, limit: Duration) {
        self.numbers[1].store(1, Ordering::SeqCst);
        futex_wait(&self.numbers[0], count, Some(limit));
        self.numbers[1].store(0, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_record_that_does_not_fit_is_not_written() {
        let ring = Ring::new(8).unwrap();
        let (mut writer, mut reader) = (ring.writer(), ring.reader());
        assert!(writer.push(&[1, 2, 3, 4, 5]));
        assert!(writer.seems_half_full() && writer.is_half_full());
        assert!(!writer.push(&[6, 7, 8, 9]));
        assert!(writer.push(&[6, 7, 8]));
        assert!(!writer.push(&[9]));
        assert_eq!((reader.n_waiting(), reader.word(0), reader.word(7)), (8, 1, 8));
        reader.consume(5);
        assert!(writer.push(&[9]));
        assert_eq!((reader.n_waiting(), reader.word(3)), (4, 9));
        assert!(!writer.push(&[0; 9]), "it will never fit");
    }

    #[test]
    fn what_was_published_outlives_its_writer() {
        let ring = Ring::new(64).unwrap();
        let child = crate::processes::process::fork(|| {
            let _ = ring.writer().push(&[7, 8]);
            0
        });
        crate::processes::process::wait(child.unwrap()).unwrap();
        let reader = ring.reader();
        assert_eq!((reader.n_waiting(), reader.word(0), reader.word(1)), (2, 7, 8));
    }

    #[test]
    fn a_bell_that_was_rung_lets_nobody_sleep() {
        let bell = Bell::new().unwrap();
        let count = bell.count();
        bell.ring();
        bell.sleep(count, Duration::from_secs(3600));
    }

    proptest! {
        #[test]
        fn all_words_come_out_in_order(lengths in prop::collection::vec(1usize..6, 1..200), eager in any::<bool>()) {
            let ring = Ring::new(16).unwrap();
            let (mut writer, mut reader) = (ring.writer(), ring.reader());
            let (mut next, mut expected) = (0u64, 0u64);
            for length in lengths {
                let record: Vec<u64> = (next..next + length as u64).collect();
                while !writer.push(&record) {
                    let n = if eager { reader.n_waiting() } else { 1 };
                    for offset in 0..n {
                        prop_assert_eq!(reader.word(offset), expected + offset as u64);
                    }
                    expected += n as u64;
                    reader.consume(n);
                }
                next += length as u64;
            }
            prop_assert_eq!(reader.n_waiting() as u64, next - expected);
        }
    }
}
