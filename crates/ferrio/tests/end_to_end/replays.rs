//! The system calls of a replay on its files, as strace shows them, compared with fio: texts of versions 2 and 3, and
//! traces of blktrace.
//!
//! The times of a replay are tested on virtual time (`replay` of `run`). Cases in which 3.41 differs, with the reason
//! beside the options, are not compared: offsets that are not multiples of `replay_align`, `replay_skip` of texts,
//! writes that flush first, `loops` and `time_based`. Neither are cases in which it crashes: a file that is not opened
//! or opened twice, one target for several files of a text, `read_iolog_chunked` of blktrace. Start reading at
//! [`issued`].

use crate::support::{Finished, LoopDevice, Program, Run, Scratch, has_peer, has_programs, is_root, peer_too};
use crate::traces::{DISCARD, Event, FLUSH, NOTIFY, READ, WRITE, trace};
use std::fmt::Write as _;
use std::io::Write as _;
use std::os::unix::net::UnixListener;

/// Files of 256 KiB that traces may use.
const FILES: [&str; 2] = ["f", "g"];

/// Calls that are compared.
const CALLS: &str = "openat,close,pread64,pwrite64,fsync,fdatasync,ioctl,io_setup,io_submit";

/// A trace by the name of its file.
type Trace = (&'static str, Vec<u8>);

fn prepared(test: &str, traces: &[Trace]) -> Scratch {
    let scratch = Scratch::new(test);
    std::fs::create_dir(scratch.join("data")).expect("a directory for data");
    for file in FILES {
        scratch.write(&format!("data/{file}"), vec![b'x'; 256 << 10]);
    }
    for (name, bytes) in traces {
        scratch.write(name, bytes);
    }
    scratch
}

/// Runs a replay; gives its end and, for each process that touched a file in `data` or set up asynchronous I/O, the calls.
fn traced(program: Program, scratch: &Scratch, arguments: &str, stdin: &[u8]) -> (Finished, Vec<Vec<String>>) {
    let strace = format!("strace -ff -y -s 0 -e trace={CALLS} -o {}", scratch.join("strace").display());
    let fixed = "--name=a --ioengine=psync";
    let run = Run::new(program, scratch.path(), &format!("{fixed} {arguments}")).stdin(stdin);
    let finished = run.under(&strace).recorded("replays", &["strace*"]).finish();
    let processes = scratch.names().into_iter().filter(|name| name.starts_with("strace"));
    let mut calls: Vec<Vec<String>> =
        processes.map(|name| scratch.read(&name).lines().filter_map(call).collect()).collect();
    calls.retain(|calls: &Vec<String>| !calls.is_empty());
    // The order of the clones' processes is not compared.
    calls.sort();
    (finished, calls)
}

/// A line such as `pread64(7</data/f>, ""..., 4096, 0) = 4096` as `pread64 f 4096, 0`.
fn call(line: &str) -> Option<String> {
    let (name, rest) = line.split_once('(')?;
    let (arguments, result) = rest.rsplit_once(") ")?;
    if name == "io_setup" {
        return Some(format!("io_setup {}", arguments.split(',').next()?));
    }
    if name == "io_submit" {
        let field = |field: &str| arguments.split_once(field)?.1.split([',', '}']).next();
        let words = ["aio_lio_opcode=", "aio_nbytes=", "aio_offset="].map(field);
        return Some(format!("io_submit {}", words.into_iter().collect::<Option<Vec<_>>>()?.join(" ")));
    }
    let error = result.split_whitespace().find(|word| word.starts_with('E')).unwrap_or_default();
    let (file, numbers) = if name == "openat" {
        let (file, flags) = arguments.split_once('"')?.1.split_once('"')?;
        (file, flags.replace("|O_CLOEXEC", ""))
    } else {
        let (file, rest) = arguments.split_once('<')?.1.split_once('>')?;
        let words = rest.split(", ").filter(|word| !word.is_empty() && !word.contains('"'));
        (file, words.collect::<Vec<_>>().join(", "))
    };
    let is_of_interest = file.starts_with("data/") || file.contains("/data/") || file.starts_with("/dev/loop");
    let short = file.rsplit('/').next()?;
    is_of_interest.then(|| format!("{name} {short} {} {error}", numbers.trim_start_matches(", ")).trim().to_owned())
}

/// The calls of a replay, which must succeed.
fn issued(program: Program, traces: &[Trace], arguments: &str) -> Vec<Vec<String>> {
    let scratch = prepared("replays", traces);
    let (finished, calls) = traced(program, &scratch, arguments, b"");
    finished.succeeded();
    calls
}

/// Fails unless both do the same, and something.
fn assert_same(traces: &[Trace], arguments: &str) {
    let [ours, theirs] = [Program::Ferrio, Program::Peer].map(|program| issued(program, traces, arguments));
    assert!(theirs.iter().any(|calls| calls.len() > 2), "the peer did nothing: {arguments}: {theirs:?}");
    assert_eq!(ours, theirs, "{arguments} of {:?}", String::from_utf8_lossy(&traces[0].1));
}

fn is_possible(test: &str) -> bool {
    has_peer(test) && has_programs(test, &["strace"])
}

/// A text trace of the files `data/f` and `data/g`, named `f` and `g` in `lines`; in version 3 the entries are 7 us
/// apart.
fn text(version: u32, lines: &str) -> Vec<u8> {
    let mut out = format!("fio version {version} iolog\n");
    for (number, line) in lines.split("; ").enumerate() {
        let time = if version == 3 { format!("{} ", number * 7) } else { String::new() };
        writeln!(out, "{time}data/{line}").expect("a string");
    }
    out.into_bytes()
}

/// Entries of both versions.
const TEXTS: [&str; 7] = [
    "f add; f open; f read 0 4096; f read 8192 8192; f close",
    "f add; f open; f read 0 4096; f write 4096 4096; f sync 0 0; f datasync 0 0; f close",
    "f add; g add; f open; f read 0 512; g open; g write 1024 2048; f write 4096 512; f close; g sync 8192 0; f open; \
     f read 65536 4096; f close; g close",
    "n add; n open; n write 0 4096; n write 16384 8192; n close",
    "f add; f open; f read 7 13; f write 1001 999; f read 0 131072; f close",
    "f add; f add; f open; f read 0 4096; f close; f close",
    "f add; f open; f foo 0 1; f read 0; f read x 1; f read 0 4096; junk; f read 4096 4096 77; f write 0 4096",
];

#[test]
fn texts_are_replayed_as_by_the_peer() {
    if !is_possible("texts_are_replayed_as_by_the_peer") {
        return;
    }
    for version in [2, 3] {
        for lines in TEXTS {
            let traces = [("t", text(version, lines))];
            assert_same(&traces, "--read_iolog=t");
            let chunked = [Program::Ferrio, Program::Peer]
                .map(|program| without_flags(issued(program, &traces, "--read_iolog=t --read_iolog_chunked=1")));
            assert_eq!(chunked[0], chunked[1], "{lines}");
            assert_eq!(chunked[0], without_flags(issued(Program::Ferrio, &traces, "--read_iolog=t")));
        }
    }
    let waits =
        "f add; f open; f wait 2 0; f read 0 4096; f wait 5 0; f write 4096 4096; f wait 1 0; f sync 0 0; f close";
    // Version 3 has times; it has no waits.
    for version in [2, 3] {
        assert_same(&[("t", text(version, waits))], "--read_iolog=t");
    }
    // Times that go back, lines that end as on another system, a last line that does not end.
    for bytes in [
        b"fio version 3 iolog\n1 data/f add\n2 data/f open\n300 data/f read 0 512\n10 data/f write 512 512\n900 data/f read 0 512\n"
            .to_vec(),
        b"fio version 2 iolog\r\ndata/f add\r\ndata/f open\r\ndata/f read 0 4096\r\ndata/f write 0 512\r\ndata/f close".to_vec(),
        b"fio version 2 iolog of mine\n  data/f   add\ndata/f  open\n data/f  read   0  4096\ndata/f close\n".to_vec(),
    ] {
        assert_same(&[("t", bytes)], "--read_iolog=t");
    }
}

/// With `read_iolog_chunked` fio opens all files for writing, because it does not know the later entries.
fn without_flags(processes: Vec<Vec<String>>) -> Vec<Vec<String>> {
    let without = |call: String| match call.strip_prefix("openat ").and_then(|rest| rest.split_once(' ')) {
        Some((file, _)) => format!("openat {file}"),
        None => call,
    };
    processes.into_iter().map(|calls| calls.into_iter().map(without).collect()).collect()
}

/// The events of one trace of blktrace: all that is replayed, and much that is not.
fn events() -> Vec<Event> {
    let at = |sequence: u32, sector, bytes, category| {
        let time_ns = u64::from(sequence) * 1_000;
        Event { sector, bytes, ..Event::new(sequence, time_ns, category) }
    };
    vec![
        at(0, 0, 0, NOTIFY),
        at(1, 0, 4096, READ),
        at(2, 8, 4096, WRITE),
        Event { n_data: 20, ..at(3, 64, 8192, READ) },
        Event { kind: 8, ..at(4, 0, 4096, READ) },
        Event { kind: 7, ..at(5, 8, 4096, WRITE) },
        at(6, 0, 0, FLUSH),
        at(7, 16, 512, WRITE),
        Event { device: (8, 16), ..at(8, 24, 4096, READ) },
        // Its time is before that of the entry above.
        Event { time_ns: 500, ..at(9, 128, 65_536, READ) },
        at(10, 3, 100, READ),
        Event { n_data: 0xffff, ..at(11, 8, 4096, WRITE) },
    ]
}

#[test]
fn block_traces_are_replayed_as_by_the_peer() {
    if !is_possible("block_traces_are_replayed_as_by_the_peer") {
        return;
    }
    let native = trace(&events());
    for (bytes, options) in [
        (native.clone(), ""),
        (native.clone(), "--replay_no_stall=1"),
        (native.clone(), "--replay_skip=read"),
        (native.clone(), "--replay_skip=write"),
        (native.clone(), "--replay_skip=sync"),
        (native.clone(), "--replay_skip=trim,sync,write"),
        (native.clone(), "--replay_scale=2"),
        (native.clone(), "--replay_scale=3"),
        (native.clone(), "--replay_scale=0"),
        // Offsets are multiples of the step; sizes are rounded up.
        (trace(&events()[..10]), "--replay_align=512"),
        (trace(&events()[..10]), "--replay_align=4096"),
        (trace(&events()[..10]), "--replay_align=2048 --replay_scale=2"),
        (native.clone(), "--readonly"),
        (other_order(&events()[..9]), ""),
        // The last record is cut off.
        (native[..48 * 8].to_vec(), "--replay_time_scale=1000"),
    ] {
        assert_same(&[("t", bytes)], &format!("--read_iolog=t --replay_redirect=data/f {options}"));
    }
}

/// The same records with reversed byte order in all fields.
fn other_order(events: &[Event]) -> Vec<u8> {
    let swap = |event: &Event| {
        let bytes = Event { n_data: 0, ..*event }.to_bytes();
        let mut rest = &bytes[..];
        let mut out = Vec::new();
        for n in [4, 4, 8, 8, 4, 4, 4, 4, 4, 2, 2] {
            let (field, tail) = rest.split_at(n);
            out.extend(field.iter().rev());
            rest = tail;
        }
        out
    };
    events.iter().flat_map(swap).collect()
}

#[test]
fn the_depth_is_that_of_the_trace() {
    if !is_possible("the_depth_is_that_of_the_trace") {
        return;
    }
    let queued = |sequence: u32| Event::new(sequence, u64::from(sequence) * 100, READ);
    let later = |sequence: u32, kind| Event { kind, ..queued(sequence) };
    let three = [queued(1), queued(2), queued(3), later(1, 8), later(2, 8), later(3, 8), queued(4)];
    let merged = [queued(1), queued(2), later(2, 2), queued(3), later(3, 3), later(1, 8), queued(4)];
    for (events, options) in [(&three, ""), (&merged, ""), (&three, "--iodepth=7")] {
        let arguments = format!(
            "--read_iolog=t --replay_redirect=data/f --replay_no_stall=1 --ioengine=libaio --iodepth_batch=1 {options}"
        );
        let [ours, theirs] = [Program::Ferrio, Program::Peer].map(|program| {
            let mut calls = issued(program, &[("t", trace(events))], &arguments);
            // The peer leaves the last file open.
            for calls in &mut calls {
                calls.retain(|call| !call.starts_with("close"));
            }
            calls
        });
        assert_eq!(ours, theirs, "{arguments}");
    }
}

#[test]
fn options_of_texts_are_those_of_the_peer() {
    if !is_possible("options_of_texts_are_those_of_the_peer") {
        return;
    }
    let hours = "fio version 3 iolog\n1 data/f add\n2 data/f open\n3 data/f read 0 4096\n3600000000 data/f write 8192 4096\n\
                 7200000000 data/f read 16384 4096\n7200000001 data/f close\n";
    for options in [
        "--replay_no_stall=1",
        "--replay_no_stall=1 --replay_time_scale=1",
        "--replay_time_scale=10000000",
        "--replay_no_stall=1 --replay_scale=2",
        "--replay_no_stall=1 --replay_scale=3",
        "--replay_no_stall=1 --replay_align=4096",
        "--replay_no_stall=1 --replay_redirect=data/g",
        "--replay_no_stall=1 --readonly",
        "--replay_no_stall=1 --rw=write --bs=64k --size=64k --filename=data/g",
        "--replay_no_stall=1 --create_only=0 --write_iolog=w",
        "--replay_no_stall=1 --ioengine=libaio --iodepth=1",
    ] {
        let [ours, theirs] = [Program::Ferrio, Program::Peer]
            .map(|program| issued(program, &[("t", hours.into())], &format!("--read_iolog=t {options}")));
        assert_eq!(ours, theirs, "{options}");
    }
}

/// Clone n of a job replays trace n, and begins again with the first after the last.
#[test]
fn clones_replay_traces_of_their_own() {
    if !is_possible("clones_replay_traces_of_their_own") {
        return;
    }
    let traces = [
        ("t", text(3, TEXTS[0])),
        ("u:v", text(2, TEXTS[1])),
        ("w", trace(&[Event::new(1, 0, READ), Event::new(9, 9, READ)])),
    ];
    let block_traces = [("t", trace(&[Event::new(3, 0, READ)])), traces[2].clone()];
    for (traces, options) in [
        (&traces[..], "--read_iolog=t --numjobs=2"),
        (&traces, "--read_iolog=t:u\\:v --numjobs=2"),
        (&traces, "--read_iolog=t:u\\:v --numjobs=3"),
        (&block_traces, "--read_iolog=w:t:w --replay_redirect=data/g --numjobs=3"),
    ] {
        // For a file that clones share, fio may open a second descriptor.
        let [ours, theirs] = [Program::Ferrio, Program::Peer].map(|program| {
            let mut processes = issued(program, traces, options);
            for calls in &mut processes {
                calls.retain(|call| !call.starts_with("openat") && !call.starts_with("close"));
            }
            processes.sort();
            processes
        });
        assert!(theirs.len() > 1, "{options}: {theirs:?}");
        assert_eq!(ours, theirs, "{options}");
    }
}

/// A trace that is no file: from the standard input, and from a socket.
#[test]
fn traces_come_by_other_ways() {
    if !is_possible("traces_come_by_other_ways") {
        return;
    }
    let bytes = text(2, TEXTS[1]);
    let of_file = issued(Program::Ferrio, &[("t", bytes.clone())], "--read_iolog=t");
    for program in [Program::Ferrio, Program::Peer] {
        let scratch = prepared("replays-stdin", &[]);
        let (finished, calls) = traced(program, &scratch, "--read_iolog=-", &bytes);
        finished.succeeded();
        assert_eq!(calls, of_file, "{program:?}, standard input");
        let scratch = prepared("replays-socket", &[]);
        // The path of the scratch directory may be longer than that of a socket may be.
        let place = Scratch::in_temporary_directory("socket");
        let path = place.join("s");
        let listener = UnixListener::bind(&path).expect("a socket");
        let bytes = bytes.clone();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("who replays connects");
            stream.write_all(&bytes).expect("who replays reads");
        });
        let arguments = format!("--read_iolog={}", path.display());
        let (finished, calls) = traced(program, &scratch, &arguments, b"");
        finished.succeeded();
        assert_eq!(calls, of_file, "{program:?}, socket");
        server.join().expect("it wrote");
    }
}

/// Without `replay_redirect`, the I/O goes to the device that has the number in the trace.
#[test]
fn devices_are_found_by_their_numbers() {
    let test = "devices_are_found_by_their_numbers";
    if !is_possible(test) || !is_root(test) {
        return;
    }
    let calls = [Program::Ferrio, Program::Peer].map(|program| {
        let scratch = prepared(test, &[]);
        let device = LoopDevice::new(&scratch, 1 << 20)?;
        let minor: u32 = device.path().strip_prefix("/dev/loop")?.parse().ok()?;
        let device = (7, minor);
        let events = [READ, WRITE, DISCARD, DISCARD | WRITE, READ].iter().enumerate();
        let events = events.map(|(n, category)| Event { device, ..Event::new(n as u32, n as u64 * 1_000, *category) });
        scratch.write("t", trace(&events.collect::<Vec<_>>()));
        let (finished, calls) = traced(program, &scratch, "--read_iolog=t", b"");
        finished.succeeded();
        let shown = |call: &String| call.replace(&format!("loop{minor}"), "loop");
        let is_io = |call: &&String| !call.starts_with("openat") && !call.starts_with("close");
        let calls = calls.iter().flatten().filter(is_io).filter(|call| !call.contains("BLKFLSBUF")).map(shown);
        Some(calls.filter(|call| !call.contains("BLKGETSIZE")).collect::<Vec<_>>())
    });
    let [Some(ours), Some(theirs)] = calls else {
        return crate::support::skip(test, "no loop device can be made");
    };
    assert!(theirs.len() >= 5, "{theirs:?}");
    assert_eq!(ours, theirs);
}

/// Whether the peer ends with the same exit code.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Peer {
    Same,
    Differs(&'static str),
}
use Peer::{Differs, Same};

#[test]
fn broken_traces_end_as_under_the_peer() {
    let has_peer = peer_too("broken_traces_end_as_under_the_peer");
    let read = Event::new(1, 1_000, READ);
    let with = |more: &[u8]| [&read.to_bytes()[..], more].concat();
    let other = |version: u8, magic: u8| {
        let mut bytes = read.to_bytes();
        let end = bytes.len().min(4);
        let mut word = [version, magic, 0x61, 0x65];
        if cfg!(target_endian = "big") {
            word.reverse();
        }
        bytes[..end].copy_from_slice(&word);
        bytes
    };
    let one = |line: &str| text(2, &format!("f add; f open; {line}; f close"));
    let crashes = Differs("crashes");
    for (bytes, code, message, peer) in [
        (Vec::new(), 1, "fio: unable to read iolog", Same),
        (b"fio version 1 iolog\n".to_vec(), 1, "fio: iolog version 1 is no longer supported", Same),
        (b"fio version 9 iolog\n1 data/f add\n".to_vec(), 1, "fio: iolog version 1 is no longer supported", Same),
        (b"\nfio version 3 iolog\n".to_vec(), 1, "fio: iolog version 1 is no longer supported", Same),
        (vec![b'j'; 300], 1, "fio: iolog version 1 is no longer supported", Same),
        (text(3, "f add; f open; f close"), 1, "fio: found no ios in iolog data", Same),
        (
            b"fio version 3 iolog\ndata/f add\ndata/f open\ndata/f read 0 4096\n".to_vec(),
            1,
            "found no ios in iolog",
            Same,
        ),
        (text(2, "no add; no open; no read 0 4096; no close"), 1, "data/no: No such file or directory", Same),
        (one("f read 1048576 4096"), 1, "Input/output error: read offset=1048576", Same),
        (one("f read 260096 4096"), 1, "Input/output error: read offset=262144, buflen=2048", Same),
        (one("f trim 0 4096"), 1, "Inappropriate ioctl for device: trim", Same),
        (one("f read -4096 4096; f read 0 512"), 0, "bad iolog file action", Differs("does it, and fails")),
        (one("f read 0 0; f read 0 512"), 0, "bad iolog2", Same),
        (trace(&[Event { category: NOTIFY, ..read }]), 1, "fio: found no ios in blktrace data", Same),
        (trace(&[Event { kind: 8, ..read }]), 1, "fio: found no ios in blktrace data", Same),
        (trace(&[Event { bytes: 0, ..read }]), 1, "fio: found no ios in blktrace data", Same),
        (trace(&[Event { sector: 1 << 60, ..read }]), 1, "no ios in blktrace", Differs("takes it for another sector")),
        (trace(&[Event { device: (4000, 1), ..read }]), 1, "fio: did not find replay device(s)", Same),
        (other(7, 0x75), 1, "fio: iolog version 1 is no longer supported", Same),
        (with(&other(7, 0x75)), 1, "fio: bad magic in blktrace data: 65617507", crashes),
        (other(8, 0x74), 1, "fio: bad blktrace version 8", crashes),
        (with(&other(6, 0x74)), 1, "fio: bad blktrace version 6", crashes),
        (with(&[0; 48]), 1, "fio: bad magic in blktrace data: 0", crashes),
    ] {
        let shown = String::from_utf8_lossy(&bytes).into_owned();
        // I/O of a missing device is not redirected to another one.
        let is_redirected = !bytes.starts_with(b"fio") && !message.contains("replay device");
        let redirect = if is_redirected { "--replay_redirect=data/f" } else { "" };
        let arguments = format!("--name=a --ioengine=psync --read_iolog=t {redirect}");
        let end = |program| {
            let scratch = prepared("replays-broken", &[("t", bytes.clone())]);
            Run::new(program, scratch.path(), &arguments).recorded("replays", &[]).finish()
        };
        let ours = end(Program::Ferrio);
        assert_eq!(ours.code, Some(code), "{shown}: {}", ours.all());
        assert!(ours.stderr.contains(message), "{shown}: {}", ours.all());
        if has_peer {
            let theirs = end(Program::Peer);
            assert_eq!(theirs.code == ours.code, peer == Same, "{shown}: {}", theirs.all());
        }
    }
}

/// Counts of discards. They need a device, so the engine `null` does them.
#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn counts_are_those_of_the_peer() {
    if !has_peer("counts_are_those_of_the_peer") {
        return;
    }
    let discard = |n: u32| Event::new(n, u64::from(n) * 1_000, DISCARD);
    let mut events = events();
    events.extend([discard(20), Event { category: DISCARD | WRITE, bytes: 65_536, ..discard(21) }, discard(22)]);
    for options in ["", "--replay_skip=trim", "--replay_skip=read,write", "--readonly", "--replay_align=65536"] {
        let counts = |program| {
            let scratch = prepared("replays-counts", &[("t", trace(&events))]);
            let fixed = "--name=a --ioengine=null --read_iolog=t --replay_redirect=data/f --output-format=json";
            let finished = Run::new(program, scratch.path(), &format!("{fixed} {options}"))
                .recorded("replays", &[])
                .finish()
                .succeeded();
            let document: serde_json::Value = serde_json::from_str(&finished.stdout).expect("a document");
            let job = &document["jobs"][0];
            // Bytes are not compared: of this trace the peer does not count those of the last I/O.
            ["read", "write", "trim"].map(|name| job[name]["total_ios"].as_u64())
        };
        assert_eq!(counts(Program::Ferrio), counts(Program::Peer), "{options}");
    }
}
