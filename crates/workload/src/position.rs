//! A position in a sequence of blocks that several jobs move together.
//!
//! Must not know: where it is kept, what the blocks are. Start reading at [`BlockCounter`].

use std::fmt::Debug;
use std::sync::Arc;

/// A position that several jobs move, whatever processes they are.
pub trait BlockCounter: Debug + Send + Sync {
    /// Takes the next number, from 0. No other job gets it.
    fn take(&self) -> u64;
}

/// The position of a job's stream.
#[derive(Debug, Clone)]
pub struct CommonPosition(pub Arc<dyn BlockCounter>);

impl PartialEq for CommonPosition {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for CommonPosition {}
