//! Older forms of a saved record, which is positional: a field that an older form does not have takes no bytes there.
//!
//! A new field of any type in a record says since which form there is one:
//! `#[serde(default, deserialize_with = "crate::form::since::<5, _, _>")]`. New variants of enums stand at the end.
//! Must not know: files, types. Start reading at [`reading`] and [`since`].

use crate::RECORD_FORMAT;
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use std::cell::Cell;

thread_local! {
    /// The form that this thread reads.
    static FORM: Cell<u32> = const { Cell::new(RECORD_FORMAT) };
    /// Memory that the record may still take, bytes.
    static MEMORY: Cell<u64> = const { Cell::new(u64::MAX) };
}

/// Most memory that the values of a saved record may take, bytes: far more than 10,000 jobs need.
pub const MOST_MEMORY_BYTES: u64 = 4 << 30;

/// Counts the memory that a value of the record takes, before it is made.
///
/// # Errors
/// The record takes more than it may.
pub fn take_memory<E: Error>(n_bytes: usize) -> Result<(), E> {
    let left = MEMORY.get().checked_sub(n_bytes as u64);
    MEMORY.set(left.ok_or_else(|| E::custom("it takes more memory than a record may"))?);
    Ok(())
}

/// Calls a reader of records that are in a form, such as 4.
pub fn reading<R>(form: u32, read: impl FnOnce() -> R) -> R {
    reading_within(form, MOST_MEMORY_BYTES, read)
}

/// The same with another bound of the memory, bytes.
pub fn reading_within<R>(form: u32, most_bytes: u64, read: impl FnOnce() -> R) -> R {
    /// Also after a panic, the thread reads as before.
    struct Restored(u32, u64);
    impl Drop for Restored {
        fn drop(&mut self) {
            FORM.set(self.0);
            MEMORY.set(self.1);
        }
    }
    let _restored = Restored(FORM.replace(form), MEMORY.replace(most_bytes));
    read()
}

/// True if a record of a form, or a later one, is read now. Readable formats are always of the latest.
pub(crate) fn is_at_least<'de, D: Deserializer<'de>>(deserializer: &D, first: u32) -> bool {
    deserializer.is_human_readable() || FORM.get() >= first
}

/// Reads a field that records have since a form; its default from an older record. Readable formats name their fields, and need no form.
///
/// # Errors
/// The value is none of its type.
pub(crate) fn since<'de, const FIRST: u32, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    if !is_at_least(&deserializer, FIRST) {
        return Ok(T::default());
    }
    T::deserialize(deserializer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Inner {
        old: u32,
        #[serde(default, deserialize_with = "since::<1000, _, _>")]
        new: Option<String>,
    }

    #[test]
    fn fields_of_later_forms_take_no_bytes_of_older_records() {
        let old = postcard::to_stdvec(&((1_u32,), (2_u32,))).expect("it serialises");
        let new = postcard::to_stdvec(&((1_u32, Some("a")), (2_u32, None::<String>))).expect("it serialises");
        let read = |form, bytes| reading(form, || postcard::from_bytes::<(Inner, Inner)>(bytes)).expect("it reads");
        assert_eq!(read(999, &old), (Inner { old: 1, new: None }, Inner { old: 2, new: None }));
        assert_eq!(read(1000, &new), (Inner { old: 1, new: Some("a".to_owned()) }, Inner { old: 2, new: None }));
        assert_eq!(FORM.get(), RECORD_FORMAT);
        let document: Inner = serde_json::from_str(r#"{"old":3}"#).expect("it reads");
        assert_eq!(document, Inner { old: 3, new: None });
    }
}
