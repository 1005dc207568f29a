//! Messages as ferrio's own reports show them: without the marks that only fio has (`fio:`, places in the source, `(opt=1)`), and with a cure
//! where one is known.
//!
//! Must not know: where messages go. Start reading at [`note_text`].

use crate::words;
use ferrio_stats::{FailedStep, Failure, Note};
use ferrio_sys::Errno;
use ferrio_sys::errno::{EDQUOT, EINVAL, ENOSPC};
use ferrio_units::errno_text;

const EACCES: i32 = Errno::ACCESS.raw_os_error();
const EPERM: i32 = Errno::PERM.raw_os_error();
const EROFS: i32 = Errno::ROFS.raw_os_error();

/// Cures of what the parser says.
const TEXTS_WITH_CURES: [(&str, &str); 1] =
    [("time_based requires a runtime", "give the seconds that the job shall take, such as runtime=30")];

/// Lines about a note, without the newline at the end.
pub fn note_text(note: &Note) -> String {
    match note {
        Note::Failed { failure, .. } => {
            let cure = cure(failure).map_or_else(String::new, |cure| format!("\nTo do: {cure}"));
            format!("{}: {}{cure}", failure.step.name(), errno_text(failure.errno))
        }
        Note::Killed { signal, .. } => format!("a job was ended by signal {signal}"),
        note => plain(&words::note(note)),
    }
}

/// A text of fio in the words of native commands.
pub fn plain(text: &str) -> String {
    let mut plain: String = text.split_inclusive('\n').map(plain_line).collect();
    if let Some((_, cure)) = TEXTS_WITH_CURES.iter().find(|(told, _)| text.contains(told)) {
        let ends_line = plain.ends_with('\n');
        plain.truncate(plain.trim_end().len());
        plain.extend(["\nTo do: ", cure]);
        plain.extend(ends_line.then_some('\n'));
    }
    plain
}

fn plain_line(line: &str) -> String {
    let line = line.strip_prefix("fio: ").unwrap_or(line);
    // `file:io.rs:7, func=open, error=reason`
    let of_failure = line.strip_prefix("file:").and_then(|rest| rest.split_once(", func=")?.1.split_once(", error="));
    if let Some((call, reason)) = of_failure {
        return format!("{call}: {reason}");
    }
    // The example of a text says nothing; that of a number tells its form.
    line.replace(" (opt=bla)", "").replace("(opt=", "(such as ")
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
    fn the_marks_of_fio_are_left_out() {
        let text = "fio: failed parsing bs=0\ncommand line: bs takes: integer value (opt=100)\n";
        assert_eq!(plain(text), "failed parsing bs=0\ncommand line: bs takes: integer value (such as 100)\n");
        let told = plain("fio: time_based requires a runtime/timeout setting\n");
        assert!(told.starts_with("time_based requires") && told.ends_with("such as runtime=30\n"), "{told}");
        assert_eq!(plain("a job: fio: x"), "a job: fio: x");
        assert_eq!(plain("fio: file:error.rs:129, func=lstat, error=No such file\n"), "lstat: No such file\n");
        assert_eq!(
            plain("command line: directory takes: string (opt=bla)\n"),
            "command line: directory takes: string\n"
        );
    }
}
