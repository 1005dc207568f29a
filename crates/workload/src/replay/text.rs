//! The text formats of traces: lines of version 2 and 3.
//!
//! Must not know: files, times of the replay. Start reading at [`parse`].
//! Facts: reference, text format of `write_iolog` and `read_iolog`.

use super::record::Verb;
use ferrio_units::Direction;

/// The first line of a trace, by version.
const HEADINGS: [(&[u8], Version); 2] =
    [(b"fio version 2 iolog", Version::Two), (b"fio version 3 iolog", Version::Three)];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    /// Without times.
    Two,
    /// Each line begins with microseconds.
    Three,
}

impl Version {
    /// The version that the first line names.
    pub(super) fn of_heading(line: &[u8]) -> Option<Self> {
        let found = HEADINGS.iter().find(|(heading, _)| line.starts_with(heading));
        found.map(|(_, version)| *version)
    }
}

/// A valid line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ParsedLine<'a> {
    pub(super) time_us: Option<u64>,
    pub(super) name: &'a str,
    pub(super) verb: Verb,
    pub(super) offset: u64,
    pub(super) length: u64,
}

/// Why a line is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bad<'a> {
    /// It has the wrong number or kind of words.
    Form,
    /// It has an unknown action.
    Action(&'a str),
    /// It has a `wait`, in the version whose lines have times.
    Wait(&'a str),
}

/// Parses a line. A name may contain spaces: it is everything before the action and that action's words at the end of
/// the line.
pub(super) fn parse(version: Version, line: &str) -> Result<ParsedLine<'_>, Bad<'_>> {
    let line = line.trim_end_matches('\r');
    let (time_us, rest) = match version {
        Version::Two => (None, line.trim_start()),
        Version::Three => {
            let (time, rest) = line.trim_start().split_once(' ').ok_or(Bad::Form)?;
            (Some(time.parse().map_err(|_| Bad::Form)?), rest.trim_start())
        }
    };
    let fault = match of_words(rest) {
        Ok(entry) => return of_version(version, ParsedLine { time_us, ..entry }),
        Err(fault) => fault,
    };
    match of_last_words(rest) {
        Some(entry) => of_version(version, ParsedLine { time_us, ..entry }),
        None => Err(fault),
    }
}

fn of_version(version: Version, entry: ParsedLine<'_>) -> Result<ParsedLine<'_>, Bad<'_>> {
    let waits = entry.verb == Verb::Wait && version == Version::Three;
    if waits { Err(Bad::Wait(entry.name)) } else { Ok(entry) }
}

fn of_words(rest: &str) -> Result<ParsedLine<'_>, Bad<'_>> {
    let mut words = rest.split_ascii_whitespace();
    let (Some(name), Some(action)) = (words.next(), words.next()) else { return Err(Bad::Form) };
    let numbers = [words.next(), words.next()];
    let entry = |verb, offset, length| ParsedLine { time_us: None, name, verb, offset, length };
    match (file_action(action), io_action(action), numbers) {
        (Some(verb), _, [None, _]) => Ok(entry(verb, 0, 0)),
        (_, Some(verb), [Some(offset), Some(length)]) => {
            // As in fio: an action without a number after it is a file action.
            let offset = offset.parse().map_err(|_| Bad::Action(action))?;
            Ok(entry(verb, offset, length.parse().map_err(|_| Bad::Form)?))
        }
        (_, _, [Some(_), None]) => Err(Bad::Form),
        _ => Err(Bad::Action(action)),
    }
}

fn of_last_words(rest: &str) -> Option<ParsedLine<'_>> {
    let (head, last) = rest.trim_end().rsplit_once(' ')?;
    if let Some(verb) = file_action(last) {
        return Some(ParsedLine { time_us: None, name: head, verb, offset: 0, length: 0 });
    }
    let (head, offset) = head.rsplit_once(' ')?;
    let (name, action) = head.rsplit_once(' ')?;
    let (offset, length) = (offset.parse().ok()?, last.parse().ok()?);
    Some(ParsedLine { time_us: None, name, verb: io_action(action)?, offset, length })
}

fn file_action(word: &str) -> Option<Verb> {
    match word {
        "add" => Some(Verb::Add),
        "open" => Some(Verb::Open),
        "close" => Some(Verb::Close),
        _ => None,
    }
}

fn io_action(word: &str) -> Option<Verb> {
    match word {
        "wait" => Some(Verb::Wait),
        "read" => Some(Verb::Io(Direction::Read)),
        "write" => Some(Verb::Io(Direction::Write)),
        "trim" => Some(Verb::Io(Direction::Trim)),
        "sync" => Some(Verb::Io(Direction::Sync)),
        "datasync" => Some(Verb::Io(Direction::Datasync)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(time_us: Option<u64>, name: &str, verb: Verb, offset: u64, length: u64) -> ParsedLine<'_> {
        ParsedLine { time_us, name, verb, offset, length }
    }

    // Lines as in the reference, which the peer accepts.
    #[test]
    fn lines_say_what_they_say() {
        let io = Verb::Io(Direction::Read);
        assert_eq!(parse(Version::Two, "f add"), Ok(entry(None, "f", Verb::Add, 0, 0)));
        assert_eq!(parse(Version::Two, "f wait 100 0"), Ok(entry(None, "f", Verb::Wait, 100, 0)));
        assert_eq!(parse(Version::Two, "f read 4096 512 77"), Ok(entry(None, "f", io, 4096, 512)));
        assert_eq!(parse(Version::Three, "32 f1 open"), Ok(entry(Some(32), "f1", Verb::Open, 0, 0)));
        let sync = Verb::Io(Direction::Sync);
        assert_eq!(parse(Version::Three, "878 f2 sync 8192 0\r"), Ok(entry(Some(878), "f2", sync, 8192, 0)));
        let trim = Verb::Io(Direction::Trim);
        assert_eq!(parse(Version::Three, "9 my own file trim 1 2"), Ok(entry(Some(9), "my own file", trim, 1, 2)));
        assert_eq!(parse(Version::Two, "my own file close"), Ok(entry(None, "my own file", Verb::Close, 0, 0)));
    }

    // The lines that fio 3.41 calls bad lines, and those that it calls bad actions.
    #[test]
    fn bad_lines_are_bad_in_the_same_way() {
        for line in ["", "read", "f read 1", "f read 1 x", "f read 1 18446744073709551616"] {
            assert_eq!(parse(Version::Two, line), Err(Bad::Form), "{line}");
        }
        for (line, action) in [
            ("f foo 0 4096", "foo"),
            ("f bar", "bar"),
            ("f read x y", "read"),
            ("f sync_file_range 0 1", "sync_file_range"),
        ] {
            assert_eq!(parse(Version::Two, line), Err(Bad::Action(action)));
        }
        assert_eq!(parse(Version::Three, "f read 0 4096"), Err(Bad::Form));
        assert_eq!(parse(Version::Three, "5 f wait 4 5"), Err(Bad::Wait("f")));
    }
}
