//! Values that are not UTF-8: paths and commands pass as they are, reports stay UTF-8, all else is refused with its place.
//!
//! Start reading at [`JOB`].

use crate::json_stream::documents;
use crate::support::{Program, Run, Scratch, peer_too};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// `é` in Latin-1.
const JOB: &[u8] = b"[a]\ndescription=caf\xe9\ndirectory=d\xe9\nfilename=f\xff:g\\:\xe9\nsize=16k\nrw=write\n\
    write_bw_log=l\xe9\nexec_prerun=mkdir pre\xe9\nexec_postrun=mkdir post\xe9\n";

const MADE: &[&[u8]] = &[b"d\xe9/f\xff", b"d\xe9/g:\xe9", b"l\xe9_bw.1.log", b"pre\xe9", b"post\xe9"];

fn path(scratch: &Scratch, name: &[u8]) -> PathBuf {
    scratch.path().join(OsStr::from_bytes(name))
}

/// `None`: the file system takes only names that are UTF-8.
fn scratch() -> Option<Scratch> {
    let scratch = Scratch::new("byte-values");
    std::fs::create_dir(path(&scratch, b"d\xe9")).ok()?;
    Some(scratch)
}

/// The created names that are expected; `None`: the file system does not allow such names.
fn made(program: Program) -> Option<Vec<&'static [u8]>> {
    let scratch = scratch()?;
    scratch.write("job", JOB);
    Run::new(program, scratch.path(), "job").finish().succeeded();
    Some(MADE.iter().copied().filter(|name| path(&scratch, name).exists()).collect())
}

#[test]
fn paths_and_commands_pass_as_they_are() {
    let Some(ours) = made(Program::Ferrio) else {
        return crate::support::skip("paths_and_commands_pass_as_they_are", "names of files have to be UTF-8 here");
    };
    assert_eq!(ours, MADE);
    if peer_too("paths_and_commands_pass_as_they_are") {
        assert_eq!(made(Program::Peer).as_deref(), Some(MADE));
    }
}

#[test]
fn a_document_stays_text() {
    let Some(scratch) = scratch() else {
        return crate::support::skip("a_document_stays_text", "names of files have to be UTF-8 here");
    };
    scratch.write("job", JOB);
    let finished = Run::new(Program::Ferrio, scratch.path(), "--output-format=json job").finish().succeeded();
    let document = &documents(&finished.stdout, &finished.stdout)[0];
    assert_eq!(document["jobs"][0]["desc"], "caf\u{fffd}");
    assert_eq!(document["jobs"][0]["job options"]["filename"], "f\u{fffd}:g\\:\u{fffd}");
}

#[test]
fn what_has_to_be_text_is_refused_with_its_place() {
    for (line, place) in [
        (&b"wait_for=b\xe9"[..], "wait_for: byte 2 of the value (0xe9) is not UTF-8"),
        (b"filename_format=\xff", "filename_format: byte 1 of the value (0xff) is not UTF-8"),
        (b"size=4k\xe9", "size: byte 3 of the value (0xe9) is not UTF-8"),
    ] {
        let scratch = Scratch::new("byte-values-refused");
        scratch.write("job", [b"[a]\nsize=4k\n", line, b"\n"].concat());
        let done = Run::new(Program::Ferrio, scratch.path(), "job").finish();
        assert_eq!(done.code, Some(1), "{place}");
        assert!(done.stderr.contains(place) && done.stderr.contains("job:3:1"), "{place}: {}", done.stderr);
    }
    let scratch = Scratch::new("byte-values-names");
    scratch.write("job", &b"[a\xe9]\nsize=4k\n"[..]);
    let done = Run::new(Program::Ferrio, scratch.path(), "job").finish();
    let expected = "fio: job:1:1: name of a section: byte 2 (0xe9) is not UTF-8, and a name is text\n";
    assert_eq!((done.code, done.stderr.as_str()), (Some(1), expected));
}

/// The lines of a trace of a file whose name is no text, without their times.
const TRACE: &[u8] = b"f\xff add\nf\xff open\nf\xff write 0 4096\nf\xff write 4096 4096\nf\xff close\n";

/// The trace that a program writes of such a file; then both the trace and the file under names that are no text are replayed.
/// `None`: the file system takes no such names.
fn traced_and_replayed(program: Program) -> Option<(Vec<u8>, u64)> {
    let scratch = scratch()?;
    scratch.write("job", &b"[a]\nfilename=f\xff\nsize=8k\nrw=write\nwrite_iolog=t\xe9\n"[..]);
    Run::new(program, scratch.path(), "job").finish().succeeded();
    let trace = std::fs::read(path(&scratch, b"t\xe9")).expect("the trace");
    std::fs::remove_file(path(&scratch, b"f\xff")).expect("the file was made");
    scratch.write("replay", &b"[a]\nread_iolog=t\xe9\n"[..]);
    Run::new(program, scratch.path(), "replay").finish().succeeded();
    let replayed_bytes = std::fs::metadata(path(&scratch, b"f\xff")).map_or(0, |file| file.len());
    let lines = trace.split_inclusive(|byte| *byte == b'\n').skip(1);
    let without_time = |line: &[u8]| line.splitn(2, |byte| *byte == b' ').nth(1).unwrap_or_default().to_vec();
    Some((lines.flat_map(without_time).collect(), replayed_bytes))
}

#[test]
fn traces_have_names_as_they_are() {
    let test = "traces_have_names_as_they_are";
    let Some(ours) = traced_and_replayed(Program::Ferrio) else {
        return crate::support::skip(test, "names of files have to be UTF-8 here");
    };
    assert_eq!(ours, (TRACE.to_vec(), 8192));
    if peer_too(test) {
        assert_eq!(traced_and_replayed(Program::Peer), Some(ours));
    }
}
