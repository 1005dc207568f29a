//! Reports in JSON: `json` and `json+` of fio and ferrio, and ferrio's own.
//!
//! Must not know: files. Start reading at [`read`].

pub(crate) mod model;
mod no_number;

use super::form::{Document, Limited};
use crate::results::error::{ReadError, ReadErrorKind};
use crate::results::{ResultFile, RunResult};

/// Reads a report. Messages above it are left out; of several reports (`--status-interval`) the last counts.
pub(crate) fn read(file: &ResultFile, bytes: &[u8]) -> Result<RunResult, ReadError> {
    let path = file.path();
    let (start, line) = start_of_document(bytes);
    let (bytes, n_no_numbers) = no_number::with_zeroes(bytes);
    let mut documents = serde_json::Deserializer::from_slice(&bytes[start..]).into_iter::<Document>();
    let mut last = None;
    let mut n_documents = 0;
    let failed = |error: &serde_json::Error| ReadError {
        path: path.to_owned(),
        line: Some(line + error.line() as u64),
        kind: ReadErrorKind::Json(reason(error)),
    };
    loop {
        match documents.next() {
            Some(Ok(document)) => last = Some(document),
            // Messages of fio may stand below a report too.
            Some(Err(_))
                if last.is_some() && !bytes[start + documents.byte_offset()..].trim_ascii().starts_with(b"{") =>
            {
                break;
            }
            Some(Err(error)) => return Err(failed(&error)),
            None => break,
        }
        n_documents += 1;
    }
    let document = last.ok_or_else(|| ReadErrorKind::Empty.of(path))?;
    let found = document.jobs.found + document.client_stats.found;
    let (most, n_disks) = (Limited::<()>::MOST, document.disk_util.found);
    match () {
        () if found > most => return Err(ReadErrorKind::TooMany { what: "jobs", found, most }.of(path)),
        () if n_disks > most => return Err(ReadErrorKind::TooMany { what: "disks", found: n_disks, most }.of(path)),
        () if found == 0 && document.version.is_empty() => return Err(ReadErrorKind::NoReport.of(path)),
        () => {}
    }
    let result = if document.version.is_empty() && document.elapsed_ns.is_some() {
        let native = serde_json::from_slice(&bytes[start..]).map_err(|error| failed(&error))?;
        crate::native::reader::result(native)
    } else {
        model::result(document)
    };
    let mut result = result.map_err(|kind| kind.of(path))?;
    result.name = file.name();
    crate::results::text::tell_no_numbers(&mut result, n_no_numbers);
    if n_documents > 1 {
        result.remarks.push(format!("The file has {n_documents} reports; the figures are those of the last one."));
    }
    Ok(result)
}

/// The first line that begins with a brace: its position and the number of lines above it.
fn start_of_document(bytes: &[u8]) -> (usize, u64) {
    let mut start = 0;
    for (line, text) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        if text.trim_ascii_start().starts_with(b"{") {
            return (start, line as u64);
        }
        start += text.len();
    }
    (0, 0)
}

/// The reason without the place, which stands before it.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    format!("{} in column {}", text.strip_suffix(&place).unwrap_or(&text), error.column())
}

#[cfg(test)]
mod tests;
