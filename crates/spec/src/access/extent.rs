//! How much of its targets a job uses, and how much it moves in blocks of which sizes.
//!
//! Must not know: how large files are. Start reading at [`ExtentSpec`].

use crate::PatternPart;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SizeSpec {
    Bytes(u64),
    /// Percent of the target, 0 to 100; of `io_size` also more.
    Percent(u32),
}

impl SizeSpec {
    /// The bytes, of a whole that has so many; as many as there can be where a multiple of it is more.
    pub fn bytes_of(self, whole_bytes: u64) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes,
            // Fits: 64 and 32 bits.
            Self::Percent(percent) => {
                u64::try_from(u128::from(whole_bytes) * u128::from(percent) / 100).unwrap_or(u64::MAX)
            }
        }
    }
}

/// Amount of I/O on the targets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExtentSpec {
    /// `size` over all files of the job.
    pub size: Option<SizeSpec>,
    pub io_size: Option<SizeSpec>,
    /// `filesize`: low and high bound of each file, bytes.
    pub filesize: Option<(u64, u64)>,
    /// `filesize_split`: sizes of files with their shares; empty: not given. `filesize` has the smallest and the largest then.
    pub filesize_split: Vec<BlockShare>,
    /// `patterns`: the patterns that the job mixes; empty: it has one, by `rw` and `bs`.
    pub patterns: Vec<PatternPart>,
    /// `whole_files`: an I/O is a whole file.
    pub whole_files: bool,
    pub offset: SizeSpec,
    /// `offset_align`, bytes; 0: the smallest block size.
    pub offset_align: u64,
    /// `offset_increment`, times the clone index.
    pub offset_increment: SizeSpec,
    /// `number_ios`; 0: no limit.
    pub number_ios: u64,
    /// `num_range`: most ranges of a trim, at least 1.
    pub ranges_per_trim: u32,
    pub fill_device: bool,
    pub file_append: bool,
}

impl ExtentSpec {
    /// `io_size`, if it is a share of the files: percent, at most 100. More than that are bytes which the size determines.
    pub fn io_share(&self) -> Option<SizeSpec> {
        self.io_size.filter(|size| matches!(size, SizeSpec::Percent(..=100)))
    }

    /// Bytes to move in all passes but those of `loops`, if the options alone determine them.
    pub fn given_io_bytes(&self) -> Option<u64> {
        match (self.io_size, self.size) {
            (Some(SizeSpec::Bytes(bytes)), _) | (None, Some(SizeSpec::Bytes(bytes))) => Some(bytes),
            (Some(share @ SizeSpec::Percent(101..)), Some(SizeSpec::Bytes(bytes))) => Some(share.bytes_of(bytes)),
            _ => None,
        }
    }
}

/// Smallest and largest block of one direction, bytes. Equal for a fixed size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockRange {
    pub min_bytes: u64,
    pub max_bytes: u64,
}

impl BlockRange {
    pub const fn one(block_bytes: u64) -> Self {
        Self { min_bytes: block_bytes, max_bytes: block_bytes }
    }
}

/// A block size and how often it is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockShare {
    /// The size, at least 1.
    pub block_bytes: u64,
    /// Share of the I/Os, 0 to 100. If the shares of a list are less than 100 together, the rest goes to the last.
    pub percent: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_the_whole_is_a_multiple_of_the_size() {
        let bytes = |io_size, size| {
            let extent = ExtentSpec { size, io_size, ..crate::JobSpec::default().extent };
            (extent.io_share().is_some(), extent.given_io_bytes())
        };
        let (percent, size) = (|percent| Some(SizeSpec::Percent(percent)), Some(SizeSpec::Bytes(4_000)));
        assert_eq!(bytes(percent(250), size), (false, Some(10_000)));
        assert_eq!(bytes(percent(101), None), (false, None));
        // A share is one of files whose sizes the options may not say.
        assert_eq!(bytes(percent(100), size), (true, None));
        assert_eq!(bytes(Some(SizeSpec::Bytes(7)), size), (false, Some(7)));
        assert_eq!(bytes(None, size), (false, Some(4_000)));
        assert_eq!(SizeSpec::Percent(u32::MAX).bytes_of(u64::MAX), u64::MAX);
    }
}
