//! The read cache of the device: `sim_read_cache=SIZE/HIT_TIME`.
//!
//! The cache holds pages of 4 KiB and evicts the least recently used. A read hits if all its pages are in the cache,
//! and a miss loads them; a write renews pages that are in the cache and loads none; a trim removes pages. Must not
//! know: times. Start reading at [`ReadCache`].

use std::collections::HashMap;

pub(crate) const PAGE_BYTES: u64 = 4096;

/// Largest cache: its 2^22 pages take about 200 MiB of memory.
pub(crate) const MAX_BYTES: u64 = 16 << 30;

/// End of the list of pages.
const NONE: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
struct CacheSlot {
    page: u64,
    newer: u32,
    older: u32,
}

/// The pages in the cache, in the order of their last use. Never allocates after it was made.
#[derive(Debug)]
pub(crate) struct ReadCache {
    n_max: usize,
    slots: Vec<CacheSlot>,
    free: Vec<u32>,
    by_page: HashMap<u64, u32>,
    newest: u32,
    oldest: u32,
}

impl ReadCache {
    /// An empty cache of whole pages, at least one.
    pub(crate) fn new(size_bytes: u64) -> Self {
        let n_max = (size_bytes.min(MAX_BYTES) / PAGE_BYTES).max(1) as usize;
        Self {
            n_max,
            slots: Vec::with_capacity(n_max),
            free: Vec::with_capacity(n_max),
            // Twice the room: a table that is at most half full cleans itself up in place.
            by_page: HashMap::with_capacity(n_max * 2),
            newest: NONE,
            oldest: NONE,
        }
    }

    /// Reads a range: true if the cache had all of it. Afterwards the cache has it, as far as it fits.
    pub(crate) fn read(&mut self, address: u64, length_bytes: u64) -> bool {
        let mut is_hit = true;
        for page in pages(address, length_bytes) {
            is_hit &= self.touch(page);
        }
        is_hit
    }

    /// Removes the pages of a range.
    pub(crate) fn remove(&mut self, address: u64, length_bytes: u64) {
        let range = pages(address, length_bytes);
        // A range can be far larger than the cache.
        if range.end - range.start <= self.n_max as u64 {
            for page in range {
                self.remove_page(page);
            }
            return;
        }
        for index in 0..self.slots.len() {
            let page = self.slots[index].page;
            if range.contains(&page) && self.by_page.get(&page) == Some(&(index as u32)) {
                self.remove_page(page);
            }
        }
    }

    /// Makes a page the newest; true if the cache had it.
    fn touch(&mut self, page: u64) -> bool {
        if let Some(&index) = self.by_page.get(&page) {
            self.unlink(index);
            self.link(index);
            return true;
        }
        let index = self.vacant();
        self.slots[index as usize].page = page;
        self.by_page.insert(page, index);
        self.link(index);
        false
    }

    /// A slot that is not in the list: a new one, a freed one, or that of the oldest page.
    fn vacant(&mut self) -> u32 {
        if let Some(index) = self.free.pop() {
            return index;
        }
        if self.slots.len() < self.n_max {
            self.slots.push(CacheSlot { page: 0, newer: NONE, older: NONE });
            return (self.slots.len() - 1) as u32;
        }
        let index = self.oldest;
        self.unlink(index);
        self.by_page.remove(&self.slots[index as usize].page);
        index
    }

    fn remove_page(&mut self, page: u64) {
        if let Some(index) = self.by_page.remove(&page) {
            self.unlink(index);
            self.free.push(index);
        }
    }

    fn link(&mut self, index: u32) {
        self.slots[index as usize].newer = NONE;
        self.slots[index as usize].older = self.newest;
        match self.newest {
            NONE => self.oldest = index,
            newest => self.slots[newest as usize].newer = index,
        }
        self.newest = index;
    }

    fn unlink(&mut self, index: u32) {
        let CacheSlot { newer, older, .. } = self.slots[index as usize];
        match newer {
            NONE => self.newest = older,
            newer => self.slots[newer as usize].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => self.slots[older as usize].newer = newer,
        }
    }
}

/// Page numbers that a range touches.
fn pages(address: u64, length_bytes: u64) -> std::ops::Range<u64> {
    let end = address.saturating_add(length_bytes);
    address / PAGE_BYTES..end.div_ceil(PAGE_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::rng::SimRandom;
    use std::collections::VecDeque;

    #[test]
    fn the_least_recently_used_page_goes_first() {
        let mut cache = ReadCache::new(3 * PAGE_BYTES);
        let at = |page: u64| page * PAGE_BYTES;
        assert!(!cache.read(at(0), 3 * PAGE_BYTES));
        assert!(cache.read(at(0), 1));
        assert!(!cache.read(at(9), 4096), "goes in for page 1, the oldest");
        assert!(cache.read(at(0), 4096) && cache.read(at(2), 4096) && !cache.read(at(1), 4096));
        cache.remove(at(0), 2 * PAGE_BYTES);
        assert!(!cache.read(at(0), 4096));
        cache.remove(0, u64::MAX);
        assert!(!cache.read(at(2), 4096));
    }

    #[test]
    fn it_agrees_with_a_plain_list() {
        let mut cache = ReadCache::new(16 * PAGE_BYTES);
        let mut list: VecDeque<u64> = VecDeque::new();
        let mut stream = SimRandom::new(3, 0);
        for _ in 0..20_000 {
            let page = stream.below(40);
            if stream.below(10) == 0 {
                cache.remove(page * PAGE_BYTES, PAGE_BYTES);
                list.retain(|other| *other != page);
                continue;
            }
            let was_in = list.contains(&page);
            list.retain(|other| *other != page);
            list.push_back(page);
            if list.len() > 16 {
                list.pop_front();
            }
            assert_eq!(cache.read(page * PAGE_BYTES, PAGE_BYTES), was_in);
        }
    }
}
