//! The file of `--record`.
//!
//! Must not know: the contents of a record. Start reading at [`read`].

use crate::shared::inputs;
use anyhow::anyhow;
use ferrio_formats::record_file;
use ferrio_stats::RunRecord;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Reads the record of a file or of a kept run; the error describes the reason of a failure.
pub(crate) fn read(path: &Path) -> anyhow::Result<RunRecord> {
    if let Some((_, content)) = inputs::kept(path)? {
        return record_file::decode(&content).map_err(anyhow::Error::from);
    }
    let mut bytes = Vec::new();
    // A pipe that nobody writes to would be waited for without an end.
    if std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return Err(ferrio_formats::ReadErrorKind::NoFile.into());
    }
    let file =
        File::open(path).map_err(|error| anyhow!("it cannot be opened: {}", ferrio_units::error_text(&error)))?;
    let limited = file.take(record_file::MAX_BYTES + 1).read_to_end(&mut bytes);
    limited.map_err(|error| anyhow!("it cannot be read: {}", ferrio_units::error_text(&error)))?;
    record_file::decode(&bytes).map_err(anyhow::Error::from)
}

/// Whether a regular file begins as records do; false where that cannot be seen.
pub(crate) fn is_record(path: &Path) -> bool {
    let mut start = [0; record_file::MAGIC.len()];
    let is_regular = std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    is_regular
        && File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok()
        && start == *record_file::MAGIC.as_bytes()
}
