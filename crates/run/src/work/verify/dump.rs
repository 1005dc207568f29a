//! Writes blocks with a fault to files (`verify_dump`).
//!
//! Must not know: jobs, headers. Start reading at [`dump`].

use ferrio_spec::VerifySpec;
use ferrio_stats::note::{BlockDump, Fault};

/// Writes an interval to two files (received and expected), or to one if its header is at fault; returns these files.
pub(crate) fn dump(
    spec: &VerifySpec,
    file: &str,
    fault: &Fault,
    received: &[u8],
    expected: Option<&[u8]>,
) -> Vec<BlockDump> {
    let base = file.rsplit('/').next().unwrap_or(file);
    let base = spec.dump_directory.as_ref().map_or_else(|| base.to_owned(), |directory| format!("{directory}/{base}"));
    let kept = if fault.is_of_header() {
        [("hdr_fail", Some(received)), ("", None)]
    } else {
        [("received", Some(received)), ("expected", expected)]
    };
    let kept = kept.into_iter().filter_map(|(kind, bytes)| Some((kind, bytes?)));
    kept.map(|(kind, bytes)| {
        let path = format!("{base}.{}.{kind}", fault.offset_bytes);
        let error = std::fs::write(&path, bytes).err().map(|error| (&error).into());
        BlockDump { kind: kind.into(), path, error }
    })
    .collect()
}
