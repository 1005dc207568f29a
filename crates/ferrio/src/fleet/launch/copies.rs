//! Copies of ferrio that are on their way to hosts, so that a program can show how far they are, and older copies that hosts have.
//!
//! Must not know: how they are made, terminals. Start reading at [`Copies`].

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// What is copied at present. Threads of all hosts write it.
#[derive(Debug, Default)]
pub struct Copies {
    under_way: Mutex<BTreeMap<String, CopyState>>,
    older: Mutex<Vec<OlderCopies>>,
}

/// How far copies are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CopyState {
    /// Number of hosts that get one.
    pub n_hosts: u32,
    /// Bytes that are sent.
    pub sent_bytes: u64,
    /// Bytes of all of them.
    pub all_bytes: u64,
}

/// Copies of other versions or builds in the directory of a host. They are left there: a run that is under way, also on
/// another host with the same home directory, may use them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OlderCopies {
    /// The host.
    pub host: String,
    /// How many.
    pub n_copies: u32,
    /// The directory in which each has its own.
    pub directory: String,
}

impl Copies {
    /// The copies that have begun; `None`: none has, or all are there.
    pub fn state(&self) -> Option<CopyState> {
        let under_way = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        under_way.values().copied().reduce(|sum, one| CopyState {
            n_hosts: sum.n_hosts + one.n_hosts,
            sent_bytes: sum.sent_bytes.saturating_add(one.sent_bytes),
            all_bytes: sum.all_bytes.saturating_add(one.all_bytes),
        })
    }

    /// Older copies that were found beside new ones.
    pub fn older(&self) -> Vec<OlderCopies> {
        self.older.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn reach(&self, host: &str, sent_bytes: u64, all_bytes: u64) {
        let state = CopyState { n_hosts: 1, sent_bytes: sent_bytes.min(all_bytes), all_bytes };
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner).insert(host.to_owned(), state);
    }

    /// The copy of a host is made, or has failed.
    pub(super) fn end(&self, host: &str) {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner).remove(host);
    }

    pub(super) fn has_older(&self, older: OlderCopies) {
        self.older.lock().unwrap_or_else(PoisonError::into_inner).push(older);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_under_way_add_up() {
        let copies = Copies::default();
        assert_eq!(copies.state(), None);
        copies.reach("a", 0, 100);
        copies.reach("b", 30, 100);
        copies.reach("a", 500, 100);
        assert_eq!(copies.state(), Some(CopyState { n_hosts: 2, sent_bytes: 130, all_bytes: 200 }));
        copies.end("a");
        assert_eq!(copies.state(), Some(CopyState { n_hosts: 1, sent_bytes: 30, all_bytes: 100 }));
        copies.end("b");
        assert_eq!(copies.state(), None);
    }
}
