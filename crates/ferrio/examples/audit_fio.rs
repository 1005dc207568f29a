//! What a report of fio in JSON says against its own figures: `audit_fio FILE...`

use std::error::Error;
use std::io::Write;
use std::path::PathBuf;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let paths: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    audit(&paths, &mut std::io::stdout())
}

pub(crate) fn audit(paths: &[PathBuf], out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    for report in ferrio::read(paths)? {
        writeln!(out, "{}, measured by {}", report.name(), report.program())?;
        for finding in report.findings() {
            writeln!(out, "  {finding}\n    {}", finding.cure())?;
        }
        for unexamined in report.unexamined() {
            writeln!(out, "  not examined: {unexamined}")?;
        }
    }
    Ok(())
}
