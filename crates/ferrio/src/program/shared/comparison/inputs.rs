//! The results that are compared, from the files and folders that are named.
//!
//! Must not know: how results are compared. Start reading at [`read_sides`].

use crate::shared::inputs;
use crate::shared::records;
use anyhow::anyhow;
use ferrio::sweep::SweepFolder;
use ferrio_formats::{ReadErrorKind, RunResult, of_record};
use std::path::{Path, PathBuf};

/// Results that are repeats of each other, at each point of a sweep.
pub(super) struct ResultSide {
    /// Points with their results; a result without a sweep is the only point, which has no name.
    pub(super) points: Vec<(String, Vec<RunResult>)>,
}

/// Reads results: each folder of runs (`ferrio run --repeat --record`, `ferrio sweep`) is a side, and so is each other result.
pub(super) fn read_sides(paths: &[PathBuf]) -> anyhow::Result<Vec<ResultSide>> {
    let mut sides = Vec::new();
    for group in paths.chunk_by(|one, other| one.is_dir() == other.is_dir()) {
        if group[0].is_dir() {
            for path in group {
                sides.push(of_folder(path)?);
            }
        } else {
            let of_result = |result| ResultSide { points: vec![(String::new(), vec![result])] };
            sides.extend(read(group)?.into_iter().map(of_result));
        }
    }
    Ok(sides)
}

fn of_folder(path: &Path) -> anyhow::Result<ResultSide> {
    let folder = SweepFolder::open(path)?;
    let mut points = Vec::new();
    for (index, point) in folder.plan.points.iter().enumerate() {
        let mut results = Vec::new();
        for (number, record) in (1..).zip(folder.records(index)) {
            let record = record?;
            let place = if point.settings.is_empty() { String::new() } else { format!("{point}, ") };
            results.push(RunResult { name: format!("{} ({place}run {number})", path.display()), ..of_record(&record) });
        }
        if !results.is_empty() {
            points.push((point.to_string(), results));
        }
    }
    if points.is_empty() {
        Err(anyhow!("{}: none of its runs was made", path.display()))
    } else {
        Ok(ResultSide { points })
    }
}

/// Reads results: each report and record is one, and the logs behind it belong to it. Logs without a report before them are a result
/// for each prefix of their names.
fn read(paths: &[PathBuf]) -> anyhow::Result<Vec<RunResult>> {
    let mut groups: Vec<Vec<PathBuf>> = Vec::new();
    for path in paths {
        match groups.last_mut() {
            Some(group) if belongs(path, group) => group.push(path.clone()),
            _ => groups.push(vec![path.clone()]),
        }
    }
    let mut results = Vec::new();
    for group in groups {
        let mut read = inputs::read(&group)?;
        if let ([result], [path, ..]) = (&mut read[..], &group[..]) {
            audit(result, path);
        }
        if let ([result], true) = (&mut read[..], group.iter().all(|path| is_log(path))) {
            group.first().and_then(|path| prefix(path)).unwrap_or_default().clone_into(&mut result.name);
        }
        results.extend(read);
    }
    for result in &results {
        if result.jobs.is_empty() {
            return Err(anyhow!("{}: {}", result.name, ReadErrorKind::NoReport));
        }
    }
    Ok(results)
}

/// A record holds the evidence of its run, also where the run itself did not look at it.
fn audit(result: &mut RunResult, path: &Path) {
    if result.audit.is_none()
        && result.provenance.is_some()
        && let Ok(record) = records::read(path)
    {
        result.audit = Some(ferrio_insight::audit(&record));
    }
}

fn is_log(path: &Path) -> bool {
    prefix(path).is_some()
}

/// True if a file is a log of the last result.
fn belongs(path: &Path, group: &[PathBuf]) -> bool {
    let is_of_report = group.first().is_some_and(|first| !is_log(first));
    is_log(path) && (is_of_report || group.iter().all(|other| is_like(other, path)))
}

/// Logs of the same run: in one folder, with one prefix.
fn is_like(one: &Path, other: &Path) -> bool {
    one.parent() == other.parent() && prefix(one) == prefix(other)
}

/// The name of a log without what it holds: `run` of `run_bw.1.log`.
fn prefix(path: &Path) -> Option<&str> {
    let name = path.file_name()?.to_str()?.strip_suffix(".log")?;
    let name = name.rsplit_once('.').filter(|(_, number)| number.parse::<u32>().is_ok()).map_or(name, |(name, _)| name);
    ["_clat_hist", "_slat", "_clat", "_iops", "_lat", "_bw"].iter().find_map(|ending| name.strip_suffix(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_belong_to_the_report_before_them() {
        let path = |text: &str| PathBuf::from(text);
        assert!(belongs(&path("a_bw.1.log"), &[path("a.json"), path("x_iops.2.log")]));
        assert!(!belongs(&path("b.json"), &[path("a.json")]));
        // Without a report, those of one prefix are of one run.
        assert!(belongs(&path("d/a_clat_hist.12.log"), &[path("d/a_bw.log")]));
        assert!(!belongs(&path("d/b_bw.1.log"), &[path("d/a_bw.1.log")]));
        assert!(!belongs(&path("e/a_bw.1.log"), &[path("d/a_bw.1.log")]));
        assert_eq!(prefix(Path::new("run.log")), None);
    }
}
