//! The check after a crash: a job keeps a journal of issued and acknowledged writes and of completed syncs (`verify_crash_log`), and
//! after a power cut its blocks are judged by it.
//!
//! A run writes the journal ([`header`], [`record`]); the check reads it without a run. Must not know: runs, words. Start reading at
//! [`record::JournalRecord`], then [`check::after_crash`], [`history::History`] and [`judge::judge`].

pub mod check;
pub mod error;
pub mod header;
pub mod history;
pub mod judge;
pub mod record;

#[cfg(test)]
mod device_tests;
#[cfg(test)]
mod tests;
