//! Chooses the size of the file.
//!
//! Must not know: where it is, how it is written. Start reading at [`choose`].

use anyhow::{Result, bail};
use ferrio_units::humanize::bytes_text;

const MIB: u64 = 1 << 20;

/// The smallest file that is measured: 16 blocks of the large tests.
pub(super) const MIN_BYTES: u64 = 16 * MIB;

/// The largest file that is taken without being asked for.
pub(super) const DEFAULT_MAX_BYTES: u64 = 4 << 30;

/// The share of the free space that is used at most: one part in ten.
const FREE_PARTS: u64 = 10;

/// A decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileSize {
    /// Whole MiB, at least [`MIN_BYTES`].
    pub(super) bytes: u64,
    /// Asked for: not to be cut when writing it takes long.
    pub(super) is_fixed: bool,
}

/// The size of the file, from the wanted size (at least [`MIN_BYTES`]), if any, and the free space of the file system.
///
/// # Errors
/// More than a tenth of the free space would be needed.
pub(super) fn choose(wanted_bytes: Option<u64>, available_bytes: u64) -> Result<FileSize> {
    let allowed_bytes = whole_mib(available_bytes / FREE_PARTS);
    let free = bytes_text(available_bytes);
    if allowed_bytes < MIN_BYTES {
        bail!(
            "{free} are free, of which a tenth may be used, and that is less than the {} that are needed",
            bytes_text(MIN_BYTES)
        );
    }
    match wanted_bytes.map(whole_mib) {
        Some(bytes) if bytes > allowed_bytes => bail!(
            "--size={} is more than a tenth of the {free} that are free; at most {} can be taken",
            bytes_text(bytes),
            bytes_text(allowed_bytes)
        ),
        Some(bytes) => Ok(FileSize { bytes, is_fixed: true }),
        None => Ok(FileSize { bytes: allowed_bytes.min(DEFAULT_MAX_BYTES), is_fixed: false }),
    }
}

/// Rounded down to the block size of the large tests.
pub(super) fn whole_mib(bytes: u64) -> u64 {
    bytes / MIB * MIB
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    #[test]
    fn a_tenth_of_the_free_space_and_no_more_than_the_cap() {
        let table = [
            (160 * MIB, Some(16 * MIB)),
            (160 * MIB - 1, None),
            (0, None),
            (GIB, Some(102 * MIB)),
            (40 * GIB, Some(4 * GIB)),
            (u64::MAX, Some(4 * GIB)),
        ];
        for (available_bytes, expected) in table {
            let expected = expected.map(|bytes| FileSize { bytes, is_fixed: false });
            assert_eq!(choose(None, available_bytes).ok(), expected, "{available_bytes}");
        }
    }

    #[test]
    fn a_wish_may_pass_the_cap_but_not_the_tenth() {
        let table = [
            (16 * MIB, 160 * MIB, Some(16 * MIB)),
            (17 * MIB, 160 * MIB, None),
            (16 * MIB + 5, 160 * MIB, Some(16 * MIB)),
            (20 * GIB, 200 * GIB, Some(20 * GIB)),
            (u64::MAX, u64::MAX, None),
        ];
        for (wanted_bytes, available_bytes, expected) in table {
            let expected = expected.map(|bytes| FileSize { bytes, is_fixed: true });
            assert_eq!(choose(Some(wanted_bytes), available_bytes).ok(), expected, "{wanted_bytes} {available_bytes}");
        }
    }

    #[test]
    fn refusals_name_the_figures() {
        let error = choose(Some(200 * MIB), 1_000 * MIB).unwrap_err().to_string();
        assert_eq!(
            error,
            "--size=200 MiB is more than a tenth of the 1000 MiB that are free; at most 100 MiB can be taken"
        );
        let error = choose(None, 100 * MIB).unwrap_err().to_string();
        assert!(error.starts_with("100 MiB are free, ") && error.contains("16 MiB"), "{error}");
    }
}
