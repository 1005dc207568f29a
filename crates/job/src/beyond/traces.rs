//! The files that traces in text name, as far as a replay may change them.
//!
//! Must not know: how traces are replayed. Start reading at [`changed_files`].

use crate::value::lists::colon_names;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};

/// Longest trace that is looked through.
const MOST_BYTES: u64 = 16 << 20;

/// What stands for files that are not known: a path that is in no directory.
const ANY: &str = "/";

/// The trace that is read from standard input.
const STDIN: &str = "-";

/// The files that replays of these traces may change. A trace that is none of text, or no file, may change any.
pub(super) fn changed_files(traces: &str) -> Vec<String> {
    colon_names(traces).iter().flat_map(|trace| of_trace(trace).unwrap_or_else(|| vec![ANY.to_owned()])).collect()
}

/// The same of one trace; `None`: they are not known.
fn of_trace(trace: &str) -> Option<Vec<String>> {
    if trace == STDIN {
        return None;
    }
    let Ok(found) = fs::metadata(trace) else { return Some(Vec::new()) };
    if !found.is_file() || found.len() > MOST_BYTES {
        return None;
    }
    let mut reader = BufReader::new(File::open(trace).ok()?.take(MOST_BYTES));
    let mut first = Vec::new();
    reader.read_until(b'\n', &mut first).ok()?;
    let is_stamped = match first.trim_ascii() {
        b"fio version 2 iolog" => false,
        b"fio version 3 iolog" => true,
        _ => return None,
    };
    let (mut added, mut changed) = (BTreeSet::new(), BTreeSet::new());
    for line in reader.split(b'\n') {
        let line = String::from_utf8_lossy(&line.ok()?).into_owned();
        let mut words = line.split_whitespace().skip(usize::from(is_stamped));
        let (Some(file), Some(action)) = (words.next(), words.next()) else { continue };
        match action {
            "write" | "trim" => _ = changed.insert(file.to_owned()),
            "add" if is_no_device(file) => _ = added.insert(file.to_owned()),
            _ => {}
        }
    }
    changed.append(&mut added);
    Some(changed.into_iter().collect())
}

/// True of files, which a replay may make or lengthen, and of what is not there.
fn is_no_device(file: &str) -> bool {
    fs::metadata(file).map_or(true, |found| found.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_traces_are_known() {
        let directory = std::env::temp_dir().join(format!("ferrio-traces-{}", std::process::id()));
        fs::create_dir_all(&directory).expect("a directory");
        let path = directory.join("trace");
        let of = |text: &str| {
            fs::write(&path, text).expect("a trace");
            changed_files(&path.display().to_string())
        };
        assert_eq!(of("fio version 2 iolog\n/a add\n/a open\n/a read 0 4096\n/a close\n"), ["/a"]);
        assert_eq!(of("fio version 2 iolog\n/dev/null add\n/dev/null read 0 4096\n"), Vec::<String>::new());
        assert_eq!(of("fio version 2 iolog\n/dev/null add\n/dev/null write 0 4096\n"), ["/dev/null"]);
        assert_eq!(of("fio version 3 iolog\n0 a add\n9 b trim 0 4096\n"), ["a", "b"]);
        assert_eq!(of("\u{7}binary"), ["/"]);
        assert_eq!(changed_files("-"), ["/"]);
        fs::remove_dir_all(&directory).expect("it is there");
    }
}
