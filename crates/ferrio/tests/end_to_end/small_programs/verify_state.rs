//! `ferrio verify-state` beside `fio-verify-state`, and on files that are no states.
//!
//! Start reading at [`texts_are_those_of_the_peer`]. The program of fio 3.33 reads only the states of that version.

use crate::support::{Finished, Program, Run, Scratch, has_programs, skip};
use ferrio_units::checksum::crc32c;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

fn shown(scratch: &Scratch, arguments: &str) -> Finished {
    Run::new(Program::Ferrio, scratch.path(), &format!("verify-state {arguments}")).finish()
}

/// A file with a head and this rest.
fn with_head(version: u64, rest: &[u8]) -> Vec<u8> {
    let head = [version, rest.len() as u64, crc32c(rest).into()];
    head.into_iter().flat_map(u64::to_le_bytes).chain(rest.iter().copied()).collect()
}

/// The part that both forms have: number of writes, job, kind and words of the generator, name.
fn common(n_writes: u64, job_index: u64, name: &str) -> Vec<u8> {
    let mut bytes: Vec<u8> = [n_writes, job_index, 0].into_iter().flat_map(u64::to_le_bytes).collect();
    bytes.resize(bytes.len() + 48, 0);
    bytes.extend(name.as_bytes());
    bytes.resize(24 + 48 + 64, 0);
    bytes
}

/// The form of fio 3.33.
fn of_places(n_places: u64, depth: u32, n_files: u32, rows: &[(u64, u64)], name: &str) -> Vec<u8> {
    let mut body = n_places.to_le_bytes().to_vec();
    body.extend(depth.to_le_bytes());
    body.extend(n_files.to_le_bytes());
    body.extend(common(16, 3, name));
    body.extend(rows.iter().flat_map(|(file, offset)| [file.to_le_bytes(), offset.to_le_bytes()].concat()));
    with_head(3, &body)
}

/// The form of fio 3.41 (version 5) and 3.42 (version 7).
fn of_slots(version: u64, slots: &[u64], n_writes: u64) -> Vec<u8> {
    let mut body = (slots.len() as u64).to_le_bytes().to_vec();
    body.extend(common(n_writes, 0, "slots"));
    body.extend(slots.iter().flat_map(|number| number.to_le_bytes()));
    with_head(version, &body)
}

#[test]
fn texts_are_those_of_the_peer() {
    let test = "texts_are_those_of_the_peer";
    if !has_programs(test, &["fio-verify-state"]) {
        return;
    }
    let scratch = Scratch::new(test);
    let jobs = "--name=a/b --filename=f:g --size=64k --bs=4k --verify=md5 --do_verify=0 --verify_header_layout=3.33 --numjobs=2";
    for job in ["--rw=write", "--rw=randwrite --iodepth=8 --ioengine=libaio", "--rw=randwrite --number_ios=5"] {
        Run::new(Program::Ferrio, scratch.path(), &format!("{jobs} {job}")).finish().succeeded();
        scratch.write("made", of_places(3, 2, 2, &[(0, 0), (1, 4096), (12, 8192), (0, 0)], "name"));
        for file in ["local-a.b-0-verify.state", "local-a.b-1-verify.state", "made"] {
            let theirs = Command::new("fio-verify-state").arg(file).current_dir(scratch.path()).output();
            let theirs = theirs.expect("the peer runs");
            assert!(theirs.status.success() && theirs.stdout.len() > 100, "{theirs:?}");
            let ours = shown(&scratch, file).succeeded().quiet();
            assert_eq!(ours.stdout, String::from_utf8_lossy(&theirs.stdout), "{job} {file}");
        }
    }
}

/// The texts are those of the programs of fio 3.41 and 3.33.
#[test]
fn each_form_has_its_text() {
    let scratch = Scratch::new("verify-state");
    scratch.write("slots", of_slots(5, &[77, 5, u64::MAX], u64::MAX - 1));
    let text = shown(&scratch, "slots").succeeded().quiet().stdout;
    let rows = "Name:\t\tslots\nDepth:\t\t3\nNumber IOs:\t18446744073709551614\nIndex:\t\t0\nInflight writes:\n\tNot \
                inflight\n\t5\n\t77\n";
    assert!(text.starts_with("Version:\t0x5\nSize:\t\t168\nCRC:\t\t0x"), "{text}");
    assert!(text.ends_with(&format!("Thread:\t\t0\n{rows}")), "{text}");
    scratch.write("newer", of_slots(7, &[], 9));
    scratch.write("places", of_places(1, 1, 1, &[(0, 45056)], "r\n\x1b[1m"));
    let text = shown(&scratch, "newer places").succeeded().quiet().stdout;
    assert!(text.starts_with("newer:\nVersion:\t0x7\nSize:\t\t144\n"), "{text}");
    assert!(text.contains("Inflight writes:\nplaces:\nVersion:\t0x3\n"), "{text}");
    assert!(text.contains("Name:\t\tr\\n\\u{1b}[1m\nCompletions:\t1\nDepth:\t\t1\n"), "{text}");
    assert!(text.ends_with("Completions:\n\t(file= 0) 45056\n"), "{text}");
}

#[test]
fn json_has_all_parts() {
    let scratch = Scratch::new("verify-state-json");
    let job = "--name=r --filename=f --size=64k --bs=4k --verify=md5 --rw=randwrite --number_ios=5 --randseed=1";
    Run::new(Program::Ferrio, scratch.path(), job).finish().succeeded();
    let text = shown(&scratch, "--json local-r-0-verify.state").succeeded().quiet().stdout;
    let document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let state = &document["states"][0];
    assert_eq!(state["n_writes"], 5);
    assert_eq!(state["job_name"], "r");
    assert_eq!(state["last_writes"], serde_json::json!({ "n_slots": 1, "in_flight_or_failed": [] }));
    assert_eq!(state["generator"]["kind"], "tausworthe");
    assert_eq!(state["generator"]["words"].as_array().map(Vec::len), Some(3));
}

#[test]
fn what_is_no_state_is_an_error_with_its_reason() {
    let scratch = Scratch::new("no-states");
    let whole = of_places(1, 1, 1, &[(0, 4096)], "n");
    let changed = |index: usize, byte: u8| {
        let mut bytes = whole.clone();
        bytes[index] ^= byte;
        bytes
    };
    std::fs::create_dir(scratch.join("directory")).expect("a directory");
    for (bytes, expected) in [
        (Vec::new(), "it is empty"),
        (whole[..9].to_vec(), "it has 9 bytes; the head of a state has 24"),
        (whole[..99].to_vec(), "it is cut: its head announces 168 bytes, and 75 are there"),
        ([&whole[..], b"x"].concat(), "it is longer than its head announces (168 bytes)"),
        (changed(60, 1), "it is damaged: its checksum is wrong, or its parts contradict each other"),
        (changed(0, 8), "it is no state that is known: its version is 11; known are 3, 5 and 7"),
        (changed(15, 0x80), "its head announces 9223372036854775976 bytes; a state has at most 16777216"),
        (b"random bytes, not any state".repeat(9), "it is no state that is known: its version is 7070771740165431666"),
        // Here the program of fio 3.33 dies of a signal, or prints what lies behind the file in memory.
        (of_places(9, 2, 2, &[(0, 0); 4], "n"), "its parts contradict each other"),
        (of_places(1, u32::MAX, u32::MAX, &[(0, 0)], "n"), "its parts contradict each other"),
    ] {
        scratch.write("bad", bytes);
        let finished = shown(&scratch, "bad");
        let stderr = &finished.stderr;
        assert!(stderr.starts_with("ferrio verify-state: bad: ") && stderr.contains(expected), "{}", finished.all());
        assert_eq!((finished.code, finished.stdout.as_str()), (Some(2), ""), "{expected}");
    }
    for (path, expected) in [("directory", "Is a directory"), ("missing", "No such file or directory")] {
        let finished = shown(&scratch, path);
        assert_eq!(finished.stderr, format!("ferrio verify-state: {path}: it cannot be read: {expected}\n"));
        assert_eq!(finished.code, Some(2));
    }
    let none = shown(&scratch, "");
    assert!(none.code == Some(2) && none.stderr.contains("<FILE>..."), "{}", none.all());
}

/// A bad file does not hide a good one.
#[test]
fn other_files_are_shown_nevertheless() {
    let scratch = Scratch::new("some-states");
    scratch.write("good", of_slots(7, &[], 9));
    scratch.write("locked", of_slots(7, &[], 8));
    let locked = scratch.join("locked");
    std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o0)).expect("our file");
    if std::fs::read(&locked).is_ok() {
        skip("other_files_are_shown_nevertheless", "this user may read everything: a missing file instead");
        std::fs::remove_file(&locked).expect("our file");
    }
    let finished = shown(&scratch, "locked good");
    assert_eq!(finished.code, Some(2));
    assert!(finished.stdout.starts_with("good:\nVersion:\t0x7\n"), "{}", finished.all());
    assert!(finished.stderr.starts_with("ferrio verify-state: locked: it cannot be read: "), "{}", finished.all());
    let json = shown(&scratch, "--json locked good");
    let document: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!((json.code, document["states"][0]["n_writes"].as_u64()), (Some(2), Some(9)));
}

#[test]
fn the_help_fits_a_terminal() {
    let scratch = Scratch::new("verify-state-help");
    let help = shown(&scratch, "--help").succeeded().quiet().stdout;
    assert!(help.contains("Exit code") && help.lines().all(|line| line.chars().count() <= 80), "{help}");
}
