//! Jobs on simulated devices, on virtual time: a run of minutes takes a moment, and two runs have the same figures.
//!
//! `simulate RECORD OPTIONS...` takes fio's options or a job file, and saves the record, which `ferrio report`, `plot` and `compare` read.
//! The pictures of the book are made by it.

use ferrio::Runner;
use std::io::Write;

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let record = arguments.next().ok_or("usage: simulate RECORD OPTIONS...")?;
    let mut runner = Runner::from_arguments(arguments)?;
    runner.virtual_time(true);
    let measured = runner.run()?;
    for message in measured.messages() {
        writeln!(std::io::stderr(), "{message}")?;
    }
    measured.save(record)?;
    Ok(())
}
