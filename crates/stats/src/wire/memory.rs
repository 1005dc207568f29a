//! The memory that values may take which are read from bytes that are not trusted: a list of a few bytes may stand for many large values.
//!
//! Each value is counted by its size before it is made. A value that stands inside of another one is counted with both, so the count
//! is above what is taken. Must not know: the form of the bytes. Start reading at [`within`].

use super::WireError;
use serde::de::Error;
use std::cell::Cell;

thread_local! {
    /// Memory that the values may still take which this thread reads, bytes.
    static MEMORY: Cell<u64> = const { Cell::new(NOT_COUNTED) };
}

/// No reader is at work that counts.
const NOT_COUNTED: u64 = u64::MAX;

/// Most memory that the values of a saved record may take, bytes: far more than 10,000 jobs need.
pub const MOST_MEMORY_BYTES: u64 = 4 << 30;

/// Counts the memory that a value takes, before it is made. For types whose values take more than their size.
pub(crate) fn take_memory<E: Error>(n_bytes: usize) -> Result<(), E> {
    if is_left(n_bytes) { Ok(()) } else { Err(E::custom(TOO_MUCH)) }
}

/// The same for the reader.
pub(super) fn take(n_bytes: usize) -> Result<(), WireError> {
    take_memory(n_bytes)
}

const TOO_MUCH: &str = "it takes more memory than a record may";

/// Counts the memory, and is false if there is no such memory left.
fn is_left(n_bytes: usize) -> bool {
    let left = MEMORY.get();
    if left == NOT_COUNTED {
        return true;
    }
    MEMORY.set(left.saturating_sub(n_bytes as u64));
    left >= n_bytes as u64
}

/// Calls a reader whose values may take so much memory, bytes. Inside of another reader its values count as parts of the other one's.
pub(super) fn within<R>(most_bytes: u64, read: impl FnOnce() -> R) -> R {
    /// Also after a panic, the thread reads as before.
    struct Counting;
    impl Drop for Counting {
        fn drop(&mut self) {
            MEMORY.set(NOT_COUNTED);
        }
    }
    if MEMORY.get() != NOT_COUNTED {
        return read();
    }
    MEMORY.set(most_bytes);
    let _counting = Counting;
    read()
}
