//! Writes blocks with a fault to files (`verify_dump`).
//!
//! Must not know: jobs, headers. Start reading at [`dump`].

use ferrio_spec::VerifySpec;
use ferrio_workload::verify::fault::Fault;
use std::path::PathBuf;

/// Writes an interval to two files (received and expected), or to one if its header is at fault; returns lines that say
/// so.
pub(crate) fn dump(spec: &VerifySpec, file: &str, fault: &Fault, received: &[u8], expected: Option<&[u8]>) -> String {
    let base = file.rsplit('/').next().unwrap_or(file);
    let base = spec.dump_directory.as_ref().map_or_else(|| base.to_owned(), |directory| format!("{directory}/{base}"));
    let mut lines = String::new();
    let kept = if fault.is_of_header() {
        [("hdr_fail", Some(received)), ("", None)]
    } else {
        [("received", Some(received)), ("expected", expected)]
    };
    for (kind, bytes) in kept {
        let Some(bytes) = bytes else { continue };
        let name = PathBuf::from(format!("{base}.{}.{kind}", fault.offset_bytes));
        let line = match std::fs::write(&name, bytes) {
            Ok(()) => format!("\n       {kind} data dumped as {}", name.display()),
            Err(error) => format!("\n       {kind} data not dumped as {}: {error}", name.display()),
        };
        lines.push_str(&line);
    }
    lines
}
