//! `ioengine=nbd`: against a server of the tests, that can be slow, silent, full or gone, and against real ones.
//!
//! Start reading at [`run`]. No test waits for a time.

mod server;

use crate::counterparts::answers_about;
use crate::support::{Finished, Program, Run, Running, Scratch, has_programs, peer_too, send};
use rcgen::{BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use rustix::process::Signal;
use serde_json::Value;
use server::{Answer, FLUSH, MULTI_CONN, Manner, READ, READ_ONLY, Server, TRIM, WRITE};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The run of a job on a server at this socket.
fn job(program: Program, scratch: &Scratch, socket: &Path, options: &str) -> Run {
    let uri = format!("nbd+unix:///disk?socket={}", socket.display());
    Run::new(program, scratch.path(), &format!("--name=t --ioengine=nbd --uri={uri} {options}"))
}

/// A job on a server with this manner.
fn run(program: Program, manner: Manner, options: &str) -> Finished {
    let scratch = Scratch::new("nbd");
    let socket = scratch.join("s");
    let _server = Server::start(&socket, manner);
    job(program, &scratch, &socket, options).finish()
}

/// Starts a job on a server, and waits until the server has seen as many requests and connections.
fn start(manner: Manner, options: &str, n_requests: usize, n_connections: usize) -> Running {
    let scratch = Scratch::new("nbd");
    let socket = scratch.join("s");
    let server = Server::start(&socket, manner);
    let mut running = job(Program::Ferrio, &scratch, &socket, options).start();
    let is_seen = |_: &Running| server.n_requests() >= n_requests && server.n_connections() >= n_connections;
    running.wait_until("requests", is_seen);
    running
}

/// A number of the job in a document.
fn figure(finished: &Finished, path: &str) -> u64 {
    let text = &finished.stdout;
    let begin = text.find("{\n").unwrap_or_else(|| panic!("no document: {}", finished.all()));
    let document: Value = serde_json::from_str(&text[begin..]).expect("JSON");
    document["jobs"][0].pointer(path).and_then(Value::as_u64).unwrap_or_else(|| panic!("{path}: {text}"))
}

/// A member of ferrio's own key of a document.
fn ferrio_key(finished: &Finished, key: &str) -> Value {
    let begin = finished.stdout.find("{\n").unwrap_or_else(|| panic!("no document: {}", finished.all()));
    let document: Value = serde_json::from_str(&finished.stdout[begin..]).expect("JSON");
    document["ferrio"][key].clone()
}

fn programs(test: &str) -> &'static [Program] {
    if peer_too(test) { &[Program::Ferrio, Program::Peer] } else { &[Program::Ferrio] }
}

#[test]
fn what_is_written_is_read_back_though_replies_come_in_any_order() {
    let answer = |asked: server::Asked| Answer::Later(Duration::from_micros(asked.number as u64 * 7919 % 3000 + 1));
    for program in programs("what_is_written_is_read_back_though_replies_come_in_any_order") {
        for (depth, is_structured) in [(1, false), (16, false), (1, true), (16, true)] {
            let options = "--output-format=json --rw=randrw --bs=4k --size=256k --verify=crc32c --fsync=16";
            let manner = Manner { is_structured, answer, ..Manner::default() };
            let finished = run(*program, manner, &format!("{options} --iodepth={depth}"));
            let what = format!("{program:?} {depth} {is_structured}: {}", finished.all());
            assert_eq!(finished.code, Some(0), "{what}");
            // Each block is read or written once, and what was written is read back.
            assert_eq!(figure(&finished, "/read/total_ios"), 64, "{what}");
        }
    }
}

#[test]
fn the_export_gives_the_size() {
    for program in programs("the_export_gives_the_size") {
        for (options, n_reads) in
            [("", 16), ("--size=1g", 16), ("--size=256k", 4), ("--nrfiles=2 --size=2m", 32), ("--size=50%", 8)]
        {
            let common = "--output-format=json --rw=read --bs=64k --iodepth=4";
            let finished = run(*program, Manner::default(), &format!("{common} {options}"));
            assert_eq!(finished.code, Some(0), "{program:?} {options}: {}", finished.all());
            assert!(finished.stdout.contains("fio: connected to NBD server"), "{program:?}: {}", finished.all());
            assert_eq!(figure(&finished, "/read/total_ios"), n_reads, "{program:?} {options}");
        }
    }
}

#[test]
fn ferrio_engines_says_what_an_export_offers() {
    let scratch = Scratch::new("nbd");
    for (flags, is_structured, smallest_block) in
        [(1 | FLUSH | TRIM, true, 512), (1 | READ_ONLY | MULTI_CONN, false, 0)]
    {
        let socket = scratch.join(&format!("s{flags}"));
        let _server = Server::start(&socket, Manner { flags, smallest_block, is_structured, ..Manner::default() });
        let uri = format!("nbd+unix:///disk?socket={}", socket.display());
        let found = answers_about(&scratch, &uri);
        let works = |name: &str| found.iter().any(|answer| *answer == (name.to_owned(), "works".to_owned()));
        assert!(works("ioengine=nbd"), "{found:?}");
        assert_eq!(works("writes"), flags & READ_ONLY == 0, "{found:?}");
        assert_eq!(["flush", "trim", "multi-conn"].map(works), [FLUSH, TRIM, MULTI_CONN].map(|flag| flags & flag != 0));
        assert_eq!([works("structured replies"), works("blocks")], [is_structured, smallest_block > 0], "{found:?}");
        let text = Run::new(Program::Ferrio, scratch.path(), &format!("engines {uri}")).finish();
        assert!(text.stdout.contains("the export has 1048576 bytes (1 MiB)"), "{}", text.all());
    }
}

#[test]
fn errors_of_the_server_are_those_of_the_job() {
    for program in programs("errors_of_the_server_are_those_of_the_job") {
        for (code, errno, text) in [(28, 28, "No space left on device"), (5, 5, "Input/output error")] {
            for is_structured in [false, true] {
                let answer = match code {
                    28 => |asked: server::Asked| if asked.command == WRITE { Answer::No(28) } else { Answer::Yes },
                    _ => |asked: server::Asked| if asked.number == 3 { Answer::No(5) } else { Answer::Yes },
                };
                let manner = Manner { is_structured, answer, ..Manner::default() };
                let kind = if code == 5 && is_structured { "read" } else { "write" };
                let finished = run(*program, manner, &format!("--rw={kind} --bs=4k --size=64k"));
                let what = finished.all();
                assert_eq!(finished.code, Some(1), "{program:?}: {what}");
                assert!(what.contains(&format!("fio: io_u error on file t.0.0: {text}: {kind} offset=")), "{what}");
                assert!(
                    what.contains(&format!("err={errno:2} (")) || what.contains(&format!("err= {errno} (")),
                    "{what}"
                );
            }
        }
    }
}

#[test]
fn a_full_server_fills_a_device() {
    let answer = |asked: server::Asked| if asked.number < 5 { Answer::Yes } else { Answer::No(28) };
    let options = "--output-format=json --rw=write --bs=4k --fill_device=1";
    let finished = run(Program::Ferrio, Manner { answer, ..Manner::default() }, options);
    assert_eq!(finished.code, Some(0), "{}", finished.all());
    assert_eq!(figure(&finished, "/write/io_bytes"), 5 * 4096);
}

#[test]
fn a_server_that_is_cut_ends_the_job() {
    for depth in [1, 4] {
        let answer = |asked: server::Asked| if asked.number < 10 { Answer::Yes } else { Answer::Cut };
        let manner = Manner { answer, ..Manner::default() };
        let finished = run(Program::Ferrio, manner, &format!("--rw=read --bs=4k --iodepth={depth}"));
        let what = finished.all();
        assert_eq!(finished.code, Some(1), "{what}");
        assert!(what.contains("err=104 ("), "{what}");
        assert!(what.contains("the server has closed the connection, or is gone"), "{what}");
        assert!(what.contains("(40.0KiB/") || what.contains("(40960B/"), "{what}");
    }
}

#[test]
fn a_silent_server_does_not_hold_a_stopped_job() {
    for depth in [1, 4] {
        let answer = |asked: server::Asked| if asked.number < 5 { Answer::Yes } else { Answer::Never };
        let manner = Manner { answer, ..Manner::default() };
        let options = format!("--rw=randread --bs=4k --time_based --runtime=100000 --iodepth={depth}");
        let running = start(manner, &options, 5 + depth, 2);
        send(running.pid(), Signal::INT);
        let finished = running.finish();
        let what = finished.all();
        assert_eq!(finished.code, Some(128), "{what}");
        assert!(what.contains("err= 0: pid="), "{what}");
        // The requests without a reply do not count, and that is said.
        let given_up = "fio: t: the server has not answered the I/Os in flight; they are given up, and do not count";
        assert!(what.contains(given_up), "{what}");
        assert!(what.contains("issued rwts: total=5,0,0,0"), "{what}");
    }
}

#[test]
fn a_server_that_says_nothing_does_not_hold_a_stopped_run() {
    let running = start(Manner { is_mute: true, ..Manner::default() }, "--rw=read --bs=4k", 0, 1);
    send(running.pid(), Signal::TERM);
    let finished = running.finish();
    assert_eq!(finished.code, Some(128), "{}", finished.all());
}

/// The wait for the I/Os that are given up is no part of the rates; a ramp is over with its time, whatever the job waits for.
#[test]
fn a_silent_server_does_not_hold_a_job_beyond_its_time() {
    let few = |asked: server::Asked| if asked.number < 20 { Answer::Yes } else { Answer::Never };
    let read = "--rw=randread --bs=4k --time_based --output-format=json --iodepth=4";
    for (options, n_reads) in [
        ("--runtime=300ms", 20),
        ("--runtime=300ms --thread", 20),
        ("--runtime=300ms --ramp_time=200ms", 0),
        ("--runtime=300ms --ramp_time=200ms --thread --iodepth=1", 0),
        ("--runtime=300ms --ramp_size=1m", 0),
    ] {
        let finished = run(Program::Ferrio, Manner { answer: few, ..Manner::default() }, &format!("{read} {options}"));
        let what = format!("{options}: {}", finished.all());
        assert_eq!((finished.code, figure(&finished, "/error")), (Some(1), 110), "{what}");
        assert!(finished.stderr.contains("the server has not answered the I/Os in flight"), "{what}");
        let expected = if n_reads > 0 { [n_reads, 300] } else { [0, 0] };
        assert_eq!(["/read/total_ios", "/read/runtime"].map(|name| figure(&finished, name)), expected, "{what}");
    }
    let mute = Manner { is_mute: true, ..Manner::default() };
    let finished = run(Program::Ferrio, mute, &format!("{read} --runtime=300ms --numjobs=100"));
    assert_eq!((finished.code, figure(&finished, "/error")), (Some(100), 110), "{}", finished.all());
    assert!(finished.stderr.contains("no connection was made within runtime"), "{}", finished.all());
}

/// A job without a runtime waits for as long as it allows a server to be silent.
#[test]
fn a_silent_server_does_not_hold_a_job_without_a_runtime() {
    let few = |asked: server::Asked| if asked.number < 20 { Answer::Yes } else { Answer::Never };
    for options in ["--rw=randread --iodepth=1", "--rw=randread --iodepth=4 --thread", "--rw=write --iodepth=4"] {
        let all = format!("{options} --bs=4k --server_timeout=1 --output-format=json");
        let finished = run(Program::Ferrio, Manner { answer: few, ..Manner::default() }, &all);
        let what = format!("{options}: {}", finished.all());
        assert_eq!((finished.code, figure(&finished, "/error")), (Some(1), 110), "{what}");
        let moved = ["/read/io_bytes", "/write/io_bytes"].map(|name| figure(&finished, name));
        assert_eq!(moved.iter().sum::<u64>(), 20 << 12, "{what}");
        assert!(what.contains("the server has answered nothing for as long as server_timeout allows"), "{what}");
    }
}

#[test]
fn the_time_of_a_slow_server_is_latency() {
    for program in programs("the_time_of_a_slow_server_is_latency") {
        let answer = |asked: server::Asked| match asked.command {
            READ => Answer::Later(Duration::from_millis(50)),
            _ => Answer::Yes,
        };
        let options = "--output-format=json --rw=read --bs=4k --size=32k --iodepth=2";
        let finished = run(*program, Manner { answer, ..Manner::default() }, options);
        assert_eq!(finished.code, Some(0), "{}", finished.all());
        // Of an I/O, not of its completion alone: a thread that the kernel holds up after it has sent the request
        // spends a part of the wait in its submission.
        assert!(figure(&finished, "/read/lat_ns/min") >= 50_000_000, "{}", finished.all());
        assert!(figure(&finished, "/read/runtime") >= 200, "{}", finished.all());
    }
}

#[test]
fn what_an_export_does_not_take_is_refused() {
    let plain = |flags: u16| Manner { flags, ..Manner::default() };
    let cases = [
        (plain(1 | READ_ONLY), "--rw=write", 1, "the export is read-only, and the job writes"),
        (plain(1 | READ_ONLY), "--rw=trim", 1, "the export is read-only, and the job writes"),
        (plain(1 | FLUSH), "--rw=trim", 22, "the server does not offer trims for this export"),
        (plain(1), "--rw=write --fsync=1", 22, "the server does not offer to flush this export"),
        (plain(1 | FLUSH), "--rw=write --fdatasync=1", 22, "a server can only flush the whole export"),
        (Manner { smallest_block: 4096, ..plain(1) }, "--rw=read --bs=512", 22, "multiples of its smallest block"),
        (plain(1), "--rw=write --file_append=1", 22, "can't append/extent with IO engine nbd"),
        (plain(1), "--rw=write --offset=2m", 22, "you need to specify valid offset="),
    ];
    for (manner, options, errno, text) in cases {
        let finished = run(Program::Ferrio, manner, &format!("--size=64k {options}"));
        let what = format!("{options}: {}", finished.all());
        assert_eq!(finished.code, Some(1), "{what}");
        assert!(what.contains(text) && what.contains(&format!("err={errno}/file:")), "{what}");
    }
    let finished = run(Program::Ferrio, plain(1 | READ_ONLY), "--size=64k --rw=read");
    assert_eq!(finished.code, Some(0), "{}", finished.all());
}

#[test]
fn requests_go_over_as_many_connections_as_a_job_asks_for() {
    let manner = |flags: u16| Manner { flags, ..Manner::default() };
    let all = 1 | FLUSH | TRIM | MULTI_CONN;
    let options = "--output-format=json --rw=randrw --bs=4k --verify=crc32c --iodepth=16 --fsync=8 --connections=4";
    let finished = run(Program::Ferrio, manner(all), options);
    assert_eq!(finished.code, Some(0), "{}", finished.all());
    assert_eq!(figure(&finished, "/read/total_ios"), 256, "{}", finished.all());
    let servers = ferrio_key(&finished, "servers");
    let server = &servers[0];
    assert_eq!(
        (&server["connections"], &server["connect_ns"]["N"], &server["agree_ns"]["N"]),
        (&4.into(), &4.into(), &4.into())
    );
    assert!(server.get("tls_ns").is_none(), "{servers}");
    // A server that promises nothing of the flush is good enough for reads.
    let finished = run(Program::Ferrio, manner(1 | FLUSH), "--rw=randread --bs=4k --iodepth=4 --connections=2");
    assert_eq!(finished.code, Some(0), "{}", finished.all());
    for (flags, options, text) in [
        (1 | FLUSH, "--rw=write --connections=2", "a job that writes needs connections=1"),
        (all, "--rw=read --connections=0", "connections"),
        (all, "--rw=read --connections=17", "connections"),
    ] {
        let finished = run(Program::Ferrio, manner(flags), options);
        assert_eq!(finished.code, Some(1), "{options}: {}", finished.all());
        assert!(finished.all().contains(text), "{options}: {}", finished.all());
    }
}

#[test]
fn each_of_many_jobs_has_its_connection() {
    let options = "--rw=read --bs=4k --size=64k --numjobs=200 --thread --group_reporting --output-format=json";
    let finished = run(Program::Ferrio, Manner::default(), options);
    assert_eq!(finished.code, Some(0), "{}", finished.all());
    assert_eq!(figure(&finished, "/read/total_ios"), 200 * 16);
    assert_eq!(ferrio_key(&finished, "servers")[0]["connections"], 200);
}

#[test]
fn addresses_without_a_server_are_errors() {
    let scratch = Scratch::new("nbd");
    for (uri, text) in [
        ("", "nbd: option uri="),
        ("--uri=nbd+unix:///?socket=missing", "connect: No such file or directory"),
        ("--uri=nbd://127.0.0.1:1/x", "connect: Connection refused"),
        ("--uri=nbds://127.0.0.1:1/x", "connect: Connection refused"),
        ("--uri=nbds://127.0.0.1/x?tls-psk-file=/k", "pre-shared keys are not built"),
        ("--uri=https://127.0.0.1/x", "unknown scheme"),
    ] {
        let options = format!("--name=t --ioengine=nbd --rw=read {uri}");
        let finished = Run::new(Program::Ferrio, scratch.path(), &options).finish();
        assert_eq!(finished.code, Some(1), "{uri}: {}", finished.all());
        assert!(finished.all().contains(text), "{uri}: {}", finished.all());
    }
}

/// A server of another project, ended when it is dropped: the process that was started, and the one whose number it has
/// written to a file, if it has.
struct RealServer(Child, PathBuf);

impl Drop for RealServer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
        if let Some(pid) = std::fs::read_to_string(&self.1).ok().and_then(|text| text.trim().parse().ok()) {
            send(pid, Signal::TERM);
        }
    }
}

/// Certificates of an authority, a server `storage.test` and a client, under the names that nbdkit and ferrio expect.
fn write_certificates(directory: &Path) {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    let key = KeyPair::generate().expect("a key");
    let authority = params.self_signed(&key).expect("an authority");
    std::fs::write(directory.join("ca-cert.pem"), authority.pem()).expect("a file");
    let issuer = Issuer::new(params, key);
    for (kind, purpose) in
        [("server", ExtendedKeyUsagePurpose::ServerAuth), ("client", ExtendedKeyUsagePurpose::ClientAuth)]
    {
        let mut params = CertificateParams::new(vec!["storage.test".to_owned()]).expect("a name");
        params.extended_key_usages = vec![purpose];
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &issuer).expect("a certificate");
        std::fs::write(directory.join(format!("{kind}-cert.pem")), certificate.pem()).expect("a file");
        std::fs::write(directory.join(format!("{kind}-key.pem")), key.serialize_pem()).expect("a file");
    }
}

#[test]
fn a_real_server_with_tls_keeps_what_is_written() {
    let test = "a_real_server_with_tls_keeps_what_is_written";
    if !has_programs(test, &["nbdkit"]) {
        return;
    }
    let scratch = Scratch::new("nbd");
    let path = |name: &str| scratch.join(name).display().to_string();
    write_certificates(scratch.path());
    let certificates = path("");
    for (tls, asks_for_client) in [("require", false), ("require", true), ("on", false)] {
        let socket = path(&format!("s-{tls}-{asks_for_client}"));
        let mut command = Command::new("nbdkit");
        let tls_option = format!("--tls={tls}");
        command.args(["--foreground", "--unix", &socket, &tls_option, "--tls-certificates", &certificates]);
        command.args(asks_for_client.then_some("--tls-verify-peer")).args(["memory", "4M"]);
        let server =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a server");
        let _server = RealServer(server, PathBuf::new());
        let run = |uri: &str, options: &str| {
            let options = format!("--name=t --ioengine=nbd --uri={uri} --bs=4k --output-format=json {options}");
            Run::new(Program::Ferrio, scratch.path(), &options).finish()
        };
        let uri = format!("nbds+unix:///?socket={socket}&tls-certificates={certificates}");
        let try_once = || run(&uri, "--rw=read --size=4k");
        let is_there = (0..200).any(|_| {
            std::thread::sleep(Duration::from_millis(50));
            try_once().code == Some(0)
        });
        assert!(is_there, "{}", try_once().all());
        let named = format!("{uri}&tls-hostname=storage.test");
        let work = "--rw=randrw --size=2m --iodepth=16 --fsync=16 --verify=crc32c --end_fsync=1 --connections=3";
        let finished = run(&named, work);
        assert_eq!(finished.code, Some(0), "{}", finished.all());
        let steps = &ferrio_key(&finished, "servers")[0];
        assert_eq!((&steps["connections"], &steps["tls_ns"]["N"]), (&3.into(), &3.into()), "{steps}");
        let refused = |uri: &str, text: &str| {
            let finished = run(uri, "--rw=read --size=4k");
            assert_eq!(finished.code, Some(1), "{uri}: {}", finished.all());
            assert!(finished.all().contains(text), "{uri}: {}", finished.all());
        };
        refused(&format!("{uri}&tls-hostname=other.test"), "it is of another host than other.test");
        refused(&format!("nbds+unix:///?socket={socket}"), "no authority that is trusted has signed it");
        let unchecked = run(&format!("nbds+unix:///?socket={socket}&tls-verify-peer=false"), "--rw=read --size=4k");
        assert_eq!(unchecked.code == Some(0), !asks_for_client, "{}", unchecked.all());
        let plain = format!("nbd+unix:///?socket={socket}");
        if tls == "require" {
            refused(&plain, "TLS");
        } else {
            assert_eq!(run(&plain, "--rw=read --size=4k").code, Some(0));
        }
    }
    let socket = path("plain");
    let _server = Server::start(Path::new(&socket), Manner::default());
    let uri = format!("nbds+unix:///?socket={socket}");
    let finished =
        Run::new(Program::Ferrio, scratch.path(), &format!("--name=t --ioengine=nbd --uri={uri} --rw=read")).finish();
    assert_eq!(finished.code, Some(1), "{}", finished.all());
    assert!(finished.all().contains("the server offers no TLS"), "{}", finished.all());
}

#[test]
fn real_servers_keep_what_is_written() {
    let test = "real_servers_keep_what_is_written";
    let scratch = Scratch::new("nbd");
    scratch.write("image", vec![0; 4 << 20]);
    let port = super::engines_net::free_port();
    let image = scratch.join("image").display().to_string();
    let config =
        format!("[generic]\nlistenaddr=127.0.0.1\nport={port}\n[disk]\nexportname={image}\ntrim=true\nflush=true\n");
    scratch.write("config", config);
    for (program, arguments, uri) in [
        ("nbdkit", "--foreground --unix a memory 4M".to_owned(), "nbd+unix:///?socket=a".to_owned()),
        (
            "qemu-nbd",
            format!("--persistent --format=raw --export-name=disk --socket={} image", scratch.join("b").display()),
            "nbd+unix:///disk?socket=b".to_owned(),
        ),
        (
            "nbd-server",
            format!("-C {} -p {}", scratch.join("config").display(), scratch.join("pid").display()),
            format!("nbd://127.0.0.1:{port}/disk"),
        ),
    ] {
        if !has_programs(&format!("{test} ({program})"), &[program]) {
            continue;
        }
        let mut command = Command::new(program);
        command.args(arguments.split(' ')).current_dir(scratch.path()).stdin(Stdio::null());
        let server = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a server");
        let _server = RealServer(server, scratch.join("pid"));
        let options = format!("--name=t --ioengine=nbd --uri={uri} --bs=4k --output-format=json");
        let try_once = || Run::new(Program::Ferrio, scratch.path(), &format!("{options} --rw=read --size=4k")).finish();
        let is_there = (0..200).any(|_| {
            std::thread::sleep(Duration::from_millis(50));
            try_once().code == Some(0)
        });
        assert!(is_there, "{program}: {}", try_once().all());
        let work = "--rw=randrw --size=1m --iodepth=16 --fsync=16 --verify=crc32c --end_fsync=1";
        let finished = Run::new(Program::Ferrio, scratch.path(), &format!("{options} {work}")).finish();
        assert_eq!(finished.code, Some(0), "{program}: {}", finished.all());
        assert_eq!(figure(&finished, "/error"), 0, "{program}");
        let trims = Run::new(Program::Ferrio, scratch.path(), &format!("{options} --rw=trim --size=64k")).finish();
        assert!(trims.code == Some(0) || trims.all().contains("does not offer trims"), "{program}: {}", trims.all());
    }
}
