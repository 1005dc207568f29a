//! The check after a crash: a journal of acknowledged writes and completed syncs, and the judgement of the blocks by
//! it.
//!
//! Must not know: files, system calls. Start reading at [`record::JournalRecord`], then [`history::History`] and [`judge::judge`].

pub mod history;
pub mod judge;
pub mod record;

#[cfg(test)]
mod device_tests;
#[cfg(test)]
mod tests;
