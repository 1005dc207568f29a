//! Words of failures and remarks.

use super::*;
use ferrio_stats::note::{
    BadBlock, BlockDump, Damage, DeviceStatus, During, EngineNote, Fault, FaultKind, FileNote, IoNote, ManyWrites,
    MergeFault, RateMiss, Remedy, ReplayNote, RunNote, StateFault, StreamFault, TraceFault, TracePlace, TraceRemark,
    TraceTrouble, VerifyNote, ZoneNote,
};
use ferrio_units::{AllowedParameter, BuildError};

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
        device: None,
        action: "read".into(),
        offset: 4096,
        length: 512,
        hint: hint.map(Into::into),
    };
    let line = "fio: io_u error on file f: Input/output error: read offset=4096, buflen=512";
    assert_eq!(note(&failed(None).into()), line);
    assert_eq!(note(&failed(Some("try less")).into()), format!("{line}\nfio: try less"));
}

/// The lines are those of fio 3.41.
#[test]
fn a_status_of_a_device_is_told_in_its_parts() {
    let failed = IoNote::Failed {
        file: "/dev/ng0n1".to_owned(),
        errno: 17029,
        action: "read".into(),
        offset: 0,
        length: 4096,
        device: Some(DeviceStatus::Nvme(17029)),
        hint: None,
    };
    assert_eq!(
        note(&failed.into()),
        "fio: io_u error on file /dev/ng0n1: Device-specific error: read offset=0, buflen=4096\n\
         fio: io_uring_cmd: /dev/ng0n1: cq entry status (sct=0x02; sc=0x85)"
    );
}

#[test]
fn what_is_wrong_with_a_trace_has_its_name_where_the_line_has_one() {
    let fault = TraceFault::Magic { magic: 0xab, offset: 48 };
    let refused = |why| note(&ReplayNote::Refused { trace: "t".to_owned(), why }.into());
    assert_eq!(refused(TraceTrouble::Fault(fault.clone())), "fio: bad magic in blktrace data: ab (at byte 48) (t)");
    assert_eq!(
        refused(TraceTrouble::System(SystemError::Errno(2))),
        "fio: read iolog t: No such file or directory (os error 2)"
    );
    assert_eq!(
        note(&ReplayNote::Broken(TraceTrouble::Fault(TraceFault::Changed)).into()),
        "fio: the trace changed while it was read"
    );
    let away = |place| {
        let moved = TraceFault::MovedAway { place, length_bytes: 512, offset_bytes: 8, by_bytes: 9 };
        note(&ReplayNote::Broken(TraceTrouble::Fault(moved)).into())
    };
    let told = "replay_offset cannot move an I/O of 512 bytes at 8 by 9 bytes: no file is so long";
    assert_eq!(away(TracePlace::Line(3)), format!("fio: line 3: {told}"));
    assert_eq!(away(TracePlace::Byte(48)), format!("fio: offset 48: {told}"));
    let beyond = ReplayNote::BeyondEnd {
        trace: "t".to_owned(),
        place: TracePlace::Line(3),
        file: "f".to_owned(),
        end_bytes: 10,
        size_bytes: 8,
    };
    assert_eq!(
        note(&beyond.into()),
        "fio: t: line 3: with replay_offset an I/O ends at byte 10, beyond the end of f (8 bytes)"
    );
    let merged = |why| merge(&MergeNote::Failed { job: "j".to_owned(), why }, Wording::Fio);
    let of_trace = |why| merged(MergeFault::Trace { trace: "t".to_owned(), why });
    assert_eq!(of_trace(TraceTrouble::Fault(fault.clone())), "fio: j: bad magic in blktrace data: ab (at byte 48) (t)");
    assert_eq!(of_trace(TraceTrouble::Fault(TraceFault::NotBlktrace)), "fio: j: file is not a blktrace: t");
    assert_eq!(of_trace(TraceTrouble::Stopped), "fio: j: stopped while it merged its traces");
    let error = SystemError::Errno(2);
    assert_eq!(
        of_trace(TraceTrouble::System(error)),
        "fio: j: could not open file: t: No such file or directory (os error 2)"
    );
}

#[test]
fn what_says_nothing_in_a_trace_is_told_with_its_place() {
    let line = |remark| note(&ReplayNote::Remark { whose: "t".to_owned(), remark }.into());
    let text = || "f foo 1 2".to_owned();
    let table = [
        (TraceRemark::BadLine { number: 4, version: 2, line: text() }, "line 4: bad iolog2: f foo 1 2"),
        (TraceRemark::BadAction { number: 3, line: text() }, "line 3: bad iolog file action: f foo 1 2"),
        (
            TraceRemark::IgnoredWait { number: 3, line: text() },
            "line 3: ignoring wait command with version 3: f foo 1 2",
        ),
        (TraceRemark::LongLine { number: 9 }, "line 9: longer than any line of an iolog"),
        (TraceRemark::CutRecord { offset: 48 }, "offset 48: the trace ends within a record"),
        (TraceRemark::EmptyIos { offset: 48 }, "offset 48: I/Os without bytes are left out"),
        (
            TraceRemark::ImpossibleIo { offset: 48, length_bytes: 512, sector: 7 },
            "offset 48: an I/O of 512 bytes at sector 7",
        ),
        (TraceRemark::Unaligned { length_bytes: 512, offset_bytes: 7 }, "512 bytes at 7 cannot be aligned"),
        (TraceRemark::Forbidden { n_ios: 2 }, "--readonly leaves out 2 writes and trims"),
        (TraceRemark::Forbidden { n_ios: 1 }, "--readonly leaves out 1 write or trim"),
        (TraceRemark::More { n_more: 99_992 }, "and 99992 more entries that say nothing"),
    ];
    for (remark, said) in table {
        assert_eq!(line(remark), format!("fio: t: {said}"));
    }
}

#[test]
fn a_bad_block_is_told_with_its_fault_its_files_and_its_damage() {
    let bad = |kind, dumps, damage| {
        let fault = Fault { offset_bytes: 4608, length_bytes: 512, kind };
        let bad = BadBlock { file: "f".to_owned(), offset_bytes: 4096, length_bytes: 4096, fault, dumps, damage };
        note(&VerifyNote::BadBlock(Box::new(bad)).into())
    };
    let place = "at file f offset 4608, length 512 (requested block: offset=4096, length=4096";
    let magic = FaultKind::Magic { found: 0, wanted: 0xacca };
    let dumps = vec![
        BlockDump { kind: "hdr_fail".into(), path: "f.4608.hdr_fail".to_owned(), error: None },
        BlockDump { kind: "received".into(), path: "x".to_owned(), error: Some(SystemError::Errno(28)) },
    ];
    assert_eq!(
        bad(magic, dumps, Some(Damage::FlippedBits { n_bits: 1 })),
        format!(
            "verify: bad magic header 0, wanted acca {place})\n       hdr_fail data dumped as f.4608.hdr_fail\n       \
             received data not dumped as x: No space left on device (os error 28)\n       1 bit is flipped"
        )
    );
    let version = FaultKind::Version { found: 0x80, wanted: 0x81 };
    assert_eq!(bad(version, vec![], None), format!("verify: unsupported header version 80, wanted 81 {place})"));
    let pattern = FaultKind::Pattern { at: 3, found: 0xff, wanted: 0xfe };
    assert_eq!(
        bad(pattern, vec![], None),
        format!(
            "fio: got pattern 'ff', wanted 'fe'. Bad bits 1\nfio: bad pattern block offset 3\npattern: verify failed {place}, \
             flags=8)"
        )
    );
}

#[test]
fn refusals_of_verification_and_of_streams() {
    let remedies = vec![Remedy::LargerBlocks, Remedy::SmallBacklog];
    let advice = "run with larger blocks, or a small verify_backlog, which reads back between writes";
    let many = |of_pass| note(&VerifyNote::TooManyWrites { of_pass, limit: 5, remedies: remedies.clone() }.into());
    assert_eq!(many(None), format!("fio: verify: too many writes to be remembered, at most 5 can be; {advice}"));
    assert_eq!(
        many(Some(ManyWrites { n_writes: 7, limit_bytes: 120 })),
        format!("fio: verify: a pass has 7 writes to be remembered, at most 5 can be (120 bytes of memory); {advice}")
    );
    let broken = VerifyNote::StateBroken { path: "s".to_owned(), fault: StateFault::Version(6) };
    let line = "fio: unsupported (6) version in verify state header\nfio: state file: s (for_write=0)";
    assert_eq!(note(&broken.into()), line);
    let why = BuildError::DistributionParameter { given: 1.0, allowed: AllowedParameter::ZipfTheta };
    let stream = |fault| note(&Note::Stream { job: "j".to_owned(), fault });
    assert_eq!(
        stream(StreamFault::Distribution { file_index: 0, why }),
        "fio: j: file 0: random_distribution: 1 is not possible: zipf theta is at least 0 and not 1"
    );
    let zones = StreamFault::Zones { file_index: 1, n_blocks: 8 };
    assert_eq!(stream(zones), "fio: j: zoned_abs sizes exceed file size (file 1: 8 blocks)");
}

#[test]
fn an_engine_has_its_phrases_in_the_frame_of_the_report() {
    let line = |job: Option<&str>, said| note(&Note::Engine { job: job.map(str::to_owned), note: said });
    let refused = EngineNote::Refused {
        engine: "e".into(),
        what: "setup".to_owned(),
        error: SystemError::Errno(12),
        hint: "use less".to_owned(),
    };
    let text = "e: setup failed: Cannot allocate memory (os error 12); use less";
    assert_eq!(line(None, refused.clone()), format!("fio: {text}"));
    assert_eq!(line(Some("j"), refused), format!("fio: j: {text}"));
    let settings = vec![("cpuload".into(), 50), ("cpucycle".into(), 50_000)];
    let said = EngineNote::Mode { engine: "cpuio".into(), mode: "noop".into(), settings };
    assert_eq!(line(Some("j"), said), "j (noop): ioengine=cpuio, cpuload=50, cpucycle=50000");
    let program = || "sh".to_owned();
    let said = EngineNote::Program { program: program(), arguments: None };
    assert_eq!(line(Some("j"), said), "j : program=sh, arguments=(null)");
    let starts = |files| EngineNote::ProgramStarts { program: program(), arguments: Some("-c x".to_owned()), files };
    assert_eq!(line(Some("j"), starts(None)), "j : Running sh -c x");
    let files = ["j.stdout", "j.stderr"].map(str::to_owned);
    let text = "j : Saving output of sh -c x : stdout=j.stdout stderr=j.stderr";
    assert_eq!(line(Some("j"), starts(Some(files))), text);
    assert_eq!(
        line(Some("j"), EngineNote::ProgramFailed { program: program(), code: 3 }),
        "j : sh ended with exit code 3"
    );
    assert_eq!(
        line(Some("j"), EngineNote::ProgramKilled { program: program(), signal: 9 }),
        "j : sh was ended by signal 9"
    );
}

#[test]
fn rates_commands_zones_and_logs() {
    let misses = vec![RateMiss::Bytes { least: 9, found: 8 }, RateMiss::Ios { least: 3, found: 2 }];
    let slow = IoNote::TooSlow { job: "j".to_owned(), misses };
    assert_eq!(note(&slow.into()), "j: rate_min=9B/s not met, got 8B/s\nj: rate_iops_min=3 not met, got 2 IOPS");
    // The form of `wait(2)`: the exit code is the second byte.
    let failed = RunNote::PrerunFailed { job: "j".to_owned(), wait_status: 3 << 8 };
    assert_eq!(note(&failed.into()), "j : exec_prerun ended with exit status: 3; the job does no I/O");
    let unopened = RunNote::LogNotOpened { path: "l_bw.1.log".to_owned(), errno: 13 };
    assert_eq!(note(&unopened.into()), "fopen log: l_bw.1.log: Permission denied");
    let rounded = |is_read| ZoneNote::SizeIsRounded { file: "f".to_owned(), from_bytes: 9, to_bytes: 8, is_read };
    assert_eq!(note(&rounded(true).into()), "f: rounded io_size from 9 to 8");
    assert_eq!(note(&rounded(false).into()), "f: rounded down io_size from 9 to 8");
    let missing = FileNote::SizeIsMissing { job: "j".to_owned() };
    assert_eq!(note(&missing.into()), "j: you need to specify size=");
}
