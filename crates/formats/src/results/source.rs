//! Files given by a user: which kind each is, and which logs belong to which report.
//!
//! Must not know: the forms themselves. Start reading at [`read`].

use crate::results::error::{ReadError, ReadErrorKind};
use crate::results::{ResultFile, RunResult, SeriesLimits, recorded, text};
use crate::{json, jsonl, logs, normal, terse};
use std::collections::HashMap;
use std::io::{BufRead, Read};
use std::path::PathBuf;

/// Largest report in JSON that is read: with all bins, a job takes about 50 KiB.
const MAX_DOCUMENT_BYTES: u64 = 256 << 20;

/// Largest report in text that is read.
const MAX_TEXT_BYTES: u64 = 64 << 20;

/// Bytes that are looked at to know the kind of a file.
const SNIFFED_BYTES: usize = 64 << 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SourceKind {
    Record,
    Document,
    /// The report for people.
    Text,
    Terse,
    Lines,
    Log,
}

/// Reads files: each report and each record is a result. Performance logs belong to the job of the report that their names and times
/// tell; others are results by themselves, one a folder.
///
/// # Errors
/// A file cannot be read, is of no known kind, or is damaged.
pub fn read(paths: &[PathBuf]) -> Result<Vec<RunResult>, ReadError> {
    let files: Vec<ResultFile> = paths.iter().map(ResultFile::on_disk).collect();
    read_files(&files)
}

/// The same of files that may be in memory.
///
/// # Errors
/// A file cannot be read, is of no known kind, or is damaged.
pub fn read_files(files: &[ResultFile]) -> Result<Vec<RunResult>, ReadError> {
    let mut results = Vec::new();
    let (mut log_files, mut reports) = (Vec::new(), Vec::new());
    for file in files {
        match kind_of(file)? {
            SourceKind::Record => results.push(recorded::read(file, MAX_DOCUMENT_BYTES)?),
            SourceKind::Document => results.push(document(file)?),
            SourceKind::Text => results.push(normal::reader::read(file, &file.whole(MAX_TEXT_BYTES)?)?),
            SourceKind::Terse => results.push(terse::reader::read(file, &file.whole(MAX_TEXT_BYTES)?)?),
            SourceKind::Lines => results.push(jsonl::reader::read(file)?),
            SourceKind::Log => log_files.push(file),
        }
        reports.resize(results.len(), file);
    }
    tell_apart(&mut results, &reports);
    for (number, result) in (0..).zip(&mut results) {
        result.renumber(number);
    }
    if log_files.is_empty() {
        return Ok(results);
    }
    let limits = SeriesLimits::for_series(log_files.len());
    let mut read = Vec::new();
    for file in log_files {
        read.push(logs::reader::read(file, limits)?);
    }
    let folders: Vec<String> = reports.iter().map(|file| file.folder()).collect();
    let left = logs::reader::attach(&mut results, &folders, read);
    results.extend(logs::reader::alone(left, results.len()));
    Ok(results)
}

/// Gives results whose files have the same name the path as their name.
fn tell_apart(results: &mut [RunResult], files: &[&ResultFile]) {
    let mut n_of_name: HashMap<String, usize> = HashMap::new();
    for result in &*results {
        *n_of_name.entry(result.name.clone()).or_default() += 1;
    }
    for (result, file) in results.iter_mut().zip(files) {
        if n_of_name.get(&result.name).is_some_and(|n| *n > 1) {
            result.name = file.path().display().to_string();
        }
    }
}

/// A report in JSON. Where a line begins with a brace and no report in JSON follows, one in text may.
fn document(file: &ResultFile) -> Result<RunResult, ReadError> {
    let bytes = file.whole(MAX_DOCUMENT_BYTES)?;
    json::reader::read(file, &bytes).or_else(|error| match text_kind(&bytes) {
        Some(SourceKind::Text) => normal::reader::read(file, &bytes),
        Some(_) => terse::reader::read(file, &bytes),
        None => Err(error),
    })
}

/// The kind of a text that has lines of a report of fio; the report for people tells more than the terse lines that may follow it.
fn text_kind(bytes: &[u8]) -> Option<SourceKind> {
    let has = |is_one: fn(&str) -> bool| text::lines_of(bytes).any(|(_, line)| is_one(&line));
    if has(normal::reader::is_line_of_report) {
        return Some(SourceKind::Text);
    }
    has(terse::reader::is_line_of_job).then_some(SourceKind::Terse)
}

fn kind_of(file: &ResultFile) -> Result<SourceKind, ReadError> {
    let path = file.path();
    let mut start = Vec::new();
    let sniffed = file.open()?.take(SNIFFED_BYTES as u64).read_to_end(&mut start);
    sniffed.map_err(|error| file.system(&error))?;
    let is_log = logs::reader::has_name_of_log(path);
    match &start[..] {
        // A job without I/O has an empty log.
        [] if is_log => Ok(SourceKind::Log),
        [] => Err(ReadErrorKind::Empty.of(path)),
        start if start.starts_with(b"ferrio record ") => Ok(SourceKind::Record),
        start if start.starts_with(jsonl::reader::START) => Ok(SourceKind::Lines),
        // Compressed logs are no text.
        _ if is_log && path.extension().is_some_and(|ending| ending == "fz") => Ok(SourceKind::Log),
        // Messages of fio may stand above the report.
        start if start.lines().map_while(Result::ok).any(|line| line.trim_start().starts_with('{')) => {
            Ok(SourceKind::Document)
        }
        _ if is_log => Ok(SourceKind::Log),
        start if text_kind(start).is_some() => text_kind(start).ok_or_else(|| ReadErrorKind::Unknown.of(path)),
        start if start[0].is_ascii_digit() && start.contains(&b',') => Err(ReadErrorKind::LogName.of(path)),
        // Much else may stand above a report in text.
        start if start.len() == SNIFFED_BYTES => {
            text_kind(&file.whole(MAX_TEXT_BYTES)?).ok_or_else(|| ReadErrorKind::Unknown.of(path))
        }
        _ => Err(ReadErrorKind::Unknown.of(path)),
    }
}
