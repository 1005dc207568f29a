//! Writes blocks with a fault to files (`verify_dump`).
//!
//! Must not know: jobs, headers. Start reading at [`dump`].

use ferrio_stats::note::{BlockDump, Fault};
use ferrio_sys::output::{self, OutputStart, ProtectedPaths};
use std::io::Write;
use std::path::Path;

/// Writes an interval to two files (received and expected), or to one if its header is at fault; returns these files.
pub(crate) fn dump(
    directory: Option<&str>,
    file: &str,
    fault: &Fault,
    received: &[u8],
    expected: Option<&[u8]>,
    protected_files: &ProtectedPaths,
) -> Vec<BlockDump> {
    let base = file.rsplit('/').next().unwrap_or(file);
    let base = directory.map_or_else(|| base.to_owned(), |directory| format!("{directory}/{base}"));
    let kept = if fault.is_of_header() {
        [("hdr_fail", Some(received)), ("", None)]
    } else {
        [("received", Some(received)), ("expected", expected)]
    };
    let kept = kept.into_iter().filter_map(|(kind, bytes)| Some((kind, bytes?)));
    kept.map(|(kind, bytes)| {
        let path = format!("{base}.{}.{kind}", fault.offset_bytes);
        let opened = output::open(Path::new(&path), OutputStart::Empty, protected_files);
        let error = opened.and_then(|mut output| output.write_all(bytes)).err().map(|error| (&error).into());
        BlockDump { kind: kind.into(), path, error }
    })
    .collect()
}
