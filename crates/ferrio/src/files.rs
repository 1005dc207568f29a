//! Results from files.
//!
//! Must not know: the forms of results. Start reading at [`read`].

use crate::{Error, Measurement};
use std::path::Path;

/// Reads files as measurements: reports of fio and of ferrio in JSON (`json`, `json+`, `ferrio run --json`), lines of JSON (`jsonl`), saved
/// records, and performance logs. Logs that belong to a report which is read with them become its course; others are measurements by
/// themselves. A report that nobody has audited is audited, as far as its evidence goes.
///
/// # Errors
/// A file cannot be read, is of no known kind, or is damaged.
///
/// ```
/// # use ferrio::{Job, Runner};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let mut runner = Runner::new();
/// # runner.add(&Job::new("a").option("ioengine", "null").option("size", "1m"))?;
/// # let folder = std::env::temp_dir().join(format!("ferrio-doc-read-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("fio.json");
/// # std::fs::write(&path, runner.run()?.fio_json()?)?;
/// for measured in ferrio::read(&[&path])? {
///     for job in measured.jobs() {
///         println!("{} of {}, measured by {}", job.name(), measured.name(), measured.program());
///     }
///     for what in measured.unexamined() {
///         println!("not examined: {what}");
///     }
/// }
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok(())
/// # }
/// ```
pub fn read(paths: &[impl AsRef<Path>]) -> Result<Vec<Measurement>, Error> {
    let paths: Vec<_> = paths.iter().map(|path| path.as_ref().to_path_buf()).collect();
    Ok(ferrio_formats::read(&paths)?.into_iter().map(Measurement::of_file).collect())
}
