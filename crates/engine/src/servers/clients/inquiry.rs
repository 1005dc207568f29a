//! A question to a client library before the jobs, asked in a process of its own, which is ended when the caller cancels.
//!
//! Threads of such a library do not survive a fork, and the process that asks will fork the jobs: so it opens no library.
//! Must not know: questions. Start reading at [`ask`].

use crate::contract::{Cancellation, EngineError};
use ferrio_sys::process::{self, fork};
use std::io::{self, PipeReader, Read, Write};
use std::os::fd::AsFd;

const MOST_BYTES: u64 = 64 << 10;

/// The number that answers a question; `None`: the call was cancelled. `step`: the name of the step in errors.
pub(super) fn ask(
    engine: &'static str,
    step: &'static str,
    cancellation: Cancellation<'_>,
    question: impl FnOnce() -> Result<u64, EngineError>,
) -> Result<Option<u64>, EngineError> {
    let failed = |what: String, source: io::Error| EngineError::Failed { engine, step, what, source };
    let no_answer = |source| failed("no process that asks for the size".to_owned(), source);
    let alone = process::fork_alone();
    let (reader, mut writer) = io::pipe().map_err(no_answer)?;
    let child = fork(|| {
        let _ = process::signal_on_parent_death(process::Signal::KILL);
        i32::from(writer.write_all(&to_bytes(question())).is_err())
    });
    let child = child.map_err(|error| no_answer(io::Error::other(error.to_string())))?;
    drop(writer);
    drop(alone);
    let answer = receive(reader, cancellation);
    if answer.is_none() {
        // It is gone already, or is ended now.
        let _ = process::kill(child, process::Signal::KILL);
    }
    // The supervisor may have taken its end.
    let _ = process::wait(child);
    match answer {
        None => Ok(None),
        Some(bytes) => from_bytes(&bytes)
            .ok_or_else(|| {
                failed("the process that asks for the size has died".to_owned(), io::ErrorKind::BrokenPipe.into())
            })?
            .map(Some)
            .map_err(|(errno, what)| failed(what, io::Error::from_raw_os_error(errno))),
    }
}

/// All bytes of the answer; `None`: the call was cancelled.
fn receive(mut reader: PipeReader, cancellation: Cancellation<'_>) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut part = [0; 512];
    loop {
        if ferrio_sys::poll::wait_readable(&[reader.as_fd()], Cancellation::LOOK).is_empty() {
            if cancellation.is_over() {
                return None;
            }
            continue;
        }
        match reader.read(&mut part) {
            Ok(0) => return Some(bytes),
            Ok(n_bytes) if bytes.len() as u64 + (n_bytes as u64) < MOST_BYTES => bytes.extend(&part[..n_bytes]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(_) | Err(_) => return Some(Vec::new()),
        }
    }
}

fn to_bytes(answer: Result<u64, EngineError>) -> Vec<u8> {
    match answer {
        Ok(number) => format!("={number}").into_bytes(),
        Err(EngineError::Failed { what, source, .. }) => {
            format!("{} {what}", source.raw_os_error().unwrap_or(0)).into_bytes()
        }
        Err(error) => format!("{} {error}", error.errno()).into_bytes(),
    }
}

/// The number, or an errno and a text; `None`: this is no answer.
fn from_bytes(bytes: &[u8]) -> Option<Result<u64, (i32, String)>> {
    let text = str::from_utf8(bytes).ok()?;
    if let Some(number) = text.strip_prefix('=') {
        return number.parse().ok().map(Ok);
    }
    let (errno, what) = text.split_once(' ')?;
    Some(Err((errno.parse().ok()?, what.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_and_an_error_come_back() {
        let answer = ask("rbd", "size", Cancellation::ENDLESS, || Ok(1 << 40)).expect("an answer");
        assert_eq!(answer, Some(1 << 40));
        let refused = || EngineError::Failed {
            engine: "rbd",
            step: "rbd_open",
            what: "rbd_open failed.: no image".to_owned(),
            source: io::Error::from_raw_os_error(2),
        };
        let error = ask("rbd", "size", Cancellation::ENDLESS, || Err(refused())).expect_err("an error");
        assert_eq!((error.errno(), error.to_string()), (2, refused().to_string()));
    }

    #[test]
    fn a_question_that_hangs_or_dies_is_no_hang() {
        let over = || true;
        let hangs = || loop {
            std::thread::sleep(Cancellation::LOOK);
        };
        assert_eq!(ask("rbd", "size", Cancellation::new(&over), hangs).expect("no error"), None);
        let error = ask("rbd", "size", Cancellation::ENDLESS, || process::exit_at_once(1)).expect_err("an error");
        assert!(error.to_string().contains("has died"), "{error}");
    }
}
