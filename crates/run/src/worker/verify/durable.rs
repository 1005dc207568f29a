//! Writes that an fsync has made durable (`verify_policy=fsynced`).
//!
//! Must not know: blocks, loops. Start reading at [`DurableWrites`].

use super::memory::WriteMemory;
use ferrio_workload::verify::pending::PendingWrite;
use std::collections::BTreeMap;

/// For each file, the point in the order of writes up to which they are durable.
#[derive(Debug, Default)]
pub(crate) struct DurableWrites {
    /// By file: writes with smaller numbers are durable.
    before: BTreeMap<u32, u64>,
    /// By slot of a sync in flight: its file, and the point up to which it makes writes durable.
    syncing: BTreeMap<u32, (u32, u64)>,
    /// A sync has landed since the last search for durable writes.
    has_news: bool,
}

impl DurableWrites {
    /// Writes with smaller numbers are durable in all of these files.
    pub(crate) fn before_all(&self, n_files: usize) -> u64 {
        let are_all_synced = self.before.len() >= n_files;
        self.before.values().copied().min().filter(|_| are_all_synced).unwrap_or(0)
    }

    fn has(&self, write: &PendingWrite) -> bool {
        self.before.get(&write.file_index).is_some_and(|before| write.number.sequence() < *before)
    }

    /// Keeps only durable writes.
    pub(crate) fn retain(&self, writes: &mut Vec<PendingWrite>) {
        writes.retain(|write| self.has(write));
    }

    /// Called before a sync is issued from a slot: writes that have landed before it will be durable. `n_writes`: all
    /// so far.
    pub(crate) fn sync_issued(&mut self, slot_index: u32, file_index: u32, n_writes: u64, memory: &WriteMemory) {
        self.syncing.insert(slot_index, (file_index, memory.first_in_flight(file_index).unwrap_or(n_writes)));
    }

    /// Called after a sync has landed.
    pub(crate) fn sync_landed(&mut self, slot_index: u32, has_failed: bool) {
        if let Some((file_index, end)) = self.syncing.remove(&slot_index).filter(|_| !has_failed) {
            let before = self.before.entry(file_index).or_default();
            *before = end.max(*before);
            self.has_news = true;
        }
    }

    /// The first `n` durable writes, or fewer.
    pub(crate) fn take_some(&mut self, n: usize, memory: &mut WriteMemory) -> Vec<PendingWrite> {
        // Without a new sync there are no more durable writes than at the last search, which found too few.
        if !self.has_news {
            return Vec::new();
        }
        let taken = memory.pending_mut().take_some_of(n, |write| self.has(write));
        self.has_news = taken.len() == n;
        taken
    }
}
