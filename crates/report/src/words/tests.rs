//! Words of failures and remarks.

use super::*;
use ferrio_stats::note::{During, IoNote, SystemError};

#[test]
fn brackets_hold_place_step_and_error_in_at_most_127_bytes() {
    let short = Failure::new(28, "io.rs:7", "write");
    assert_eq!(failure(&short), "file:io.rs:7, func=write, error=No space left on device");
    let long = Failure::new(28, "io.rs:7", "\u{e9}".repeat(100));
    assert!((126..=127).contains(&failure(&long).len()), "{}", failure(&long));
    let line = note(&Note::Failed { pid: 5, failure: Box::new(short) });
    assert_eq!(line, "fio: pid=5, err=28/file:io.rs:7, func=write, error=No space left on device");
}

/// The value for an error has the same words as the error itself.
#[test]
fn errors_of_the_system_keep_their_words() {
    let io = std::io::Error::from_raw_os_error(2);
    let call = SystemError::Call { operation: "open".into(), target: "/x".to_owned(), errno: 2 };
    let text = note(&Note::system(During::Job("j".to_owned()), call));
    assert_eq!(text, format!("fio: j: open /x: {io}"));
    assert_eq!(note(&Note::system(During::StartTrigger, &io)), format!("fio: cannot run the trigger command: {io}"));
}

#[test]
fn an_io_that_failed_is_told_with_the_advice_of_its_engine() {
    let failed = |hint: Option<&'static str>| IoNote::Failed {
        file: "f".to_owned(),
        errno: 5,
        action: "read".into(),
        offset: 4096,
        length: 512,
        hint: hint.map(Into::into),
    };
    let line = "fio: io_u error on file f: Input/output error: read offset=4096, buflen=512";
    assert_eq!(note(&failed(None).into()), line);
    assert_eq!(note(&failed(Some("try less")).into()), format!("{line}\nfio: try less"));
}
