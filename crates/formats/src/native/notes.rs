//! Messages as ferrio's own reports show them: without the marks that only fio has (`fio:`, places in the source), and with a cure
//! where one is known.
//!
//! Must not know: where messages go. Start reading at [`note_text`].

use crate::words;
use ferrio_stats::{FailedStep, Failure, Note};
use ferrio_sys::Errno;
use ferrio_sys::errno::{EDQUOT, EINVAL, ENOSPC};
use ferrio_units::{Wording, errno_text};

const EACCES: i32 = Errno::ACCESS.raw_os_error();
const EPERM: i32 = Errno::PERM.raw_os_error();
const EROFS: i32 = Errno::ROFS.raw_os_error();

/// Lines about a note, without the newline at the end.
pub fn note_text(note: &Note) -> String {
    match note {
        Note::Failed { failure, .. } => {
            let cure = cure(failure).map_or_else(String::new, |cure| format!("\nTo do: {cure}"));
            format!("{}: {}{cure}", failure.step.name(), errno_text(failure.errno))
        }
        Note::Killed { signal, .. } => format!("a job was ended by signal {signal}"),
        note => words::note_in(note, Wording::Own),
    }
}

/// What a user can do about a failure.
fn cure(failure: &Failure) -> Option<&'static str> {
    let has_no_size = failure.step == FailedStep::NoTarget || failure.step.name() == "total_file_size";
    match failure.errno {
        ENOSPC | EDQUOT => Some("free some space, or choose another directory= or a smaller size="),
        EACCES | EPERM => {
            Some("choose a file or device that you may open, or run as a user who may: devices need root")
        }
        EROFS => Some("choose a file system that can be written to"),
        EINVAL if has_no_size => {
            Some("say how much each job reads or writes, such as size=1g, or name a file that has data: filename=")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_stats::note::{RunNote, StateFault, VerifyNote};

    fn failed(errno: i32, step: &'static str) -> String {
        note_text(&Note::Failed { pid: 7, failure: Box::new(Failure::new(errno, "io.rs:7", step)) })
    }

    #[test]
    fn failures_have_no_place_in_the_source_and_a_cure() {
        assert!(failed(ENOSPC, "write").starts_with("write: No space left on device\nTo do: free some space"));
        assert!(failed(EACCES, "open").contains("\nTo do: choose a file"));
        assert!(failed(EINVAL, "total_file_size").ends_with("filename="));
        assert_eq!(failed(EINVAL, "open"), "open: Invalid argument");
    }

    #[test]
    fn no_line_has_the_name_of_fio() {
        assert_eq!(note_text(&RunNote::NoResults.into()), "job ended without results");
        let state = VerifyNote::StateBroken { path: "s".to_owned(), fault: StateFault::Corrupt };
        assert_eq!(note_text(&state.into()), "verify state is corrupt\nstate file: s (for_write=0)");
        assert_eq!(note_text(&Note::named("no log")), "no log");
    }
}
