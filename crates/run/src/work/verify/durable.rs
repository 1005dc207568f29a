//! Which writes an fsync has made durable (`verify_policy=fsynced`).
//!
//! Must not know: blocks, loops. Start reading at [`DurableWrites`].

use super::memory::WriteMemory;
use ferrio_workload::verify::pending::PendingWrite;
use std::collections::BTreeMap;

/// Up to where writes are durable: of the writes in order those before these are, by file.
#[derive(Debug, Default)]
pub(crate) struct DurableWrites {
    /// By file: the writes with smaller numbers are.
    before: BTreeMap<u32, u64>,
    /// By slot of a sync in flight: its file, and what it makes durable.
    syncing: BTreeMap<u32, (u32, u64)>,
    /// A sync has landed since somebody looked for all that is durable.
    has_news: bool,
}

impl DurableWrites {
    /// The writes with smaller numbers are durable in all of so many files.
    pub(crate) fn before_all(&self, n_files: usize) -> u64 {
        let are_all_synced = self.before.len() >= n_files;
        self.before.values().copied().min().filter(|_| are_all_synced).unwrap_or(0)
    }

    fn has(&self, write: &PendingWrite) -> bool {
        self.before.get(&write.file_index).is_some_and(|before| write.number.sequence() < *before)
    }

    /// Leaves what is durable.
    pub(crate) fn retain(&self, writes: &mut Vec<PendingWrite>) {
        writes.retain(|write| self.has(write));
    }

    /// A sync is about to be issued from a slot: what has landed before it will be durable. `n_writes`: all so far.
    pub(crate) fn sync_issued(&mut self, slot_index: u32, file_index: u32, n_writes: u64, memory: &WriteMemory) {
        self.syncing.insert(slot_index, (file_index, memory.first_in_flight(file_index).unwrap_or(n_writes)));
    }

    /// A sync has landed.
    pub(crate) fn sync_landed(&mut self, slot_index: u32, has_failed: bool) {
        if let Some((file_index, end)) = self.syncing.remove(&slot_index).filter(|_| !has_failed) {
            let before = self.before.entry(file_index).or_default();
            *before = end.max(*before);
            self.has_news = true;
        }
    }

    /// The first `n` writes that are durable, or fewer.
    pub(crate) fn take_some(&mut self, n: usize, memory: &mut WriteMemory) -> Vec<PendingWrite> {
        // Without it nothing is there that was not there when fewer than wanted were found.
        if !self.has_news {
            return Vec::new();
        }
        let taken = memory.pending_mut().take_some_of(n, |write| self.has(write));
        self.has_news = taken.len() == n;
        taken
    }
}
