//! I/O directions, and values for each data direction.
//!
//! Must not know: jobs, engines.

use serde::{Deserialize, Serialize};
use std::ops::{Index, IndexMut};

/// A direction that moves or discards data and is counted in statistics of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum DataDirection {
    Read,
    Write,
    /// A range of the target is discarded.
    Trim,
}

impl DataDirection {
    /// All of them, in the order of every report: read, write, trim.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Trim];

    /// Position in [`PerDirection`] and in the columns of reports and logs: 0 read, 1 write, 2 trim.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The word of reports and trace logs: `read`, `write`, `trim`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Trim => "trim",
        }
    }
}

/// Kind of a single I/O.
///
/// A whole word: if a byte is written together with its neighbours and then read back as a word, the CPU stalls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[repr(u32)]
pub enum Direction {
    Read,
    Write,
    /// Discard a range.
    Trim,
    /// `fsync(2)`.
    Sync,
    /// `fdatasync(2)`.
    Datasync,
    SyncFileRange,
    Syncfs,
}

impl Direction {
    /// The data direction, or `None` for the kinds of sync.
    #[inline]
    pub const fn data(self) -> Option<DataDirection> {
        match self {
            Self::Read => Some(DataDirection::Read),
            Self::Write => Some(DataDirection::Write),
            Self::Trim => Some(DataDirection::Trim),
            _ => None,
        }
    }

    /// True for every kind of sync.
    #[inline]
    pub const fn is_sync(self) -> bool {
        self.data().is_none()
    }

    /// The word of trace logs and error messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Trim => "trim",
            Self::Sync => "sync",
            Self::Datasync => "datasync",
            Self::SyncFileRange => "sync_file_range",
            Self::Syncfs => "syncfs",
        }
    }
}

impl From<DataDirection> for Direction {
    #[inline]
    fn from(direction: DataDirection) -> Self {
        match direction {
            DataDirection::Read => Self::Read,
            DataDirection::Write => Self::Write,
            DataDirection::Trim => Self::Trim,
        }
    }
}

/// One value for each [`DataDirection`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PerDirection<T>(pub [T; 3]);

impl<T> PerDirection<T> {
    /// The same value for all directions.
    pub fn all(value: T) -> Self
    where
        T: Clone,
    {
        Self([value.clone(), value.clone(), value])
    }

    /// Values with their directions, in report order.
    pub fn iter(&self) -> impl Iterator<Item = (DataDirection, &T)> {
        DataDirection::ALL.into_iter().zip(self.0.iter())
    }
}

impl<T> Index<DataDirection> for PerDirection<T> {
    type Output = T;
    #[inline]
    fn index(&self, direction: DataDirection) -> &T {
        &self.0[direction.index()]
    }
}

impl<T> IndexMut<DataDirection> for PerDirection<T> {
    #[inline]
    fn index_mut(&mut self, direction: DataDirection) -> &mut T {
        &mut self.0[direction.index()]
    }
}
