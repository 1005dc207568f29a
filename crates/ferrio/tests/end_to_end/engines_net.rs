//! `ioengine=net` and `netsplice`: between two runs, with the peer at either end, and with ends that do not play along.
//!
//! Start reading at [`between`]. Every port was free a moment before.

use crate::support::{Finished, Program, Run, Running, Scratch, has_peer, has_programs, peer_too, send};
use rustix::process::Signal;
use serde_json::Value;
use std::io::Write;
use std::net::{TcpListener, UdpSocket};
use std::sync::atomic::{AtomicU16, Ordering};

/// A free port, for connections and for datagrams. Each test gets a different one. It is below 32768, because the
/// kernel gives higher ports to outgoing connections, which could take it before it is used.
pub(crate) fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(20_000);
    // A few in a row, for clones.
    const IN_A_ROW: u16 = 4;
    loop {
        let port = NEXT.fetch_add(IN_A_ROW, Ordering::Relaxed);
        assert!(port < 32_000, "no port is free");
        let is_free =
            |port: u16| TcpListener::bind(("0.0.0.0", port)).is_ok() && UdpSocket::bind(("0.0.0.0", port)).is_ok();
        if (port..port + IN_A_ROW).all(is_free) {
            return port;
        }
    }
}

/// True if a process listens at a port or a path.
fn is_awaited(protocol: &str, place: &str) -> bool {
    let read = |name: &str| std::fs::read_to_string(format!("/proc/net/{name}")).unwrap_or_default();
    match protocol {
        "unix" => read("unix").lines().any(|line| line.contains("00010000") && line.ends_with(place)),
        "udp" | "udpv6" | "tcp" | "tcpv6" => {
            let table = protocol.replace("v6", "6");
            let port = format!(":{:04X} ", place.parse::<u16>().expect("a port"));
            let is_so = |line: &str| line.contains(&port) && (protocol.starts_with("udp") || line.contains(" 0A "));
            read(&table).lines().any(is_so)
        }
        other => panic!("{other}"),
    }
}

/// The options that two jobs share, and the options of each.
struct Ends<'a> {
    protocol: &'a str,
    both: &'a str,
    reader: &'a str,
    writer: &'a str,
}

/// A reader that listens and a writer that finds it.
fn between(ends: &Ends<'_>, reader: Program, writer: Program) -> [Finished; 2] {
    let scratch = Scratch::new("net");
    let place = if ends.protocol == "unix" { scratch.join("s").display().to_string() } else { free_port().to_string() };
    let (at, host) = match ends.protocol {
        "unix" => (format!("--hostname={place}"), String::new()),
        protocol if protocol.ends_with("v6") => (format!("--port={place}"), "--hostname=::1".to_owned()),
        _ => (format!("--port={place}"), "--hostname=127.0.0.1".to_owned()),
    };
    let listen = if ends.protocol.starts_with("tcp") { "--listen" } else { "" };
    let common = format!("--output-format=json {} --protocol={} {at}", ends.both, ends.protocol);
    let reading = format!("--name=r --rw=read {common} {listen} {}", ends.reader);
    let writing = format!("--name=w --rw=write {common} {host} {}", ends.writer);
    let mut reading = Run::new(reader, scratch.path(), &reading).start();
    reading.wait_until("a reader that waits", |_| is_awaited(ends.protocol, &place));
    let written = Run::new(writer, scratch.path(), &writing).finish();
    [reading.finish(), written]
}

/// A number of the first job of a document.
fn figure(finished: &Finished, path: &str) -> u64 {
    let text = &finished.stdout;
    let begin = text.find("{\n").unwrap_or_else(|| panic!("no document: {}", finished.all()));
    let document: Value = serde_json::from_str(&text[begin..]).expect("JSON");
    document["jobs"][0].pointer(path).and_then(Value::as_u64).expect("a number")
}

fn programs(test: &str) -> Vec<(Program, Program)> {
    let mut pairs = vec![(Program::Ferrio, Program::Ferrio)];
    if peer_too(test) {
        pairs.extend([(Program::Ferrio, Program::Peer), (Program::Peer, Program::Ferrio)]);
    }
    pairs
}

#[test]
fn what_is_sent_is_what_is_read() {
    for (reader, writer) in programs("what_is_sent_is_what_is_read") {
        for protocol in ["tcp", "tcpv6", "udp", "udpv6", "unix"] {
            for engine in ["net", "netsplice"] {
                // netsplice of fio sends the contents of its buffer late, when they may have changed.
                let is_checked = engine == "net" || !protocol.starts_with("tcp") || writer == Program::Ferrio;
                let verify = if is_checked { "--verify=crc32c" } else { "" };
                let both = format!("--ioengine={engine} --size=64k --bs=4k {verify}");
                let ends = Ends { protocol, both: &both, reader: "", writer: "" };
                let what = format!("{reader:?} {writer:?} {protocol} {engine}");
                for (finished, program, direction) in between(&ends, reader, writer)
                    .into_iter()
                    .zip([reader, writer])
                    .zip(["read", "write"])
                    .map(|((a, b), c)| (a, b, c))
                {
                    // The peer's last word over a Unix socket is an error to itself.
                    let code = i32::from(program == Program::Peer && protocol == "unix");
                    assert_eq!(finished.code, Some(code), "{what}: {}", finished.all());
                    assert_eq!(figure(&finished, &format!("/{direction}/io_bytes")), 65_536, "{what}");
                    assert_eq!(figure(&finished, &format!("/{direction}/total_ios")), 16, "{what}");
                }
            }
        }
    }
}

#[test]
fn each_block_comes_back() {
    for (reader, writer) in programs("each_block_comes_back") {
        for protocol in ["tcp", "udp"] {
            for engine in ["net", "netsplice"] {
                let both = format!("--ioengine={engine} --pingpong --size=64k --bs=4k");
                let ends = Ends { protocol, both: &both, reader: "", writer: "--nodelay=1 --window_size=64k" };
                for finished in between(&ends, reader, writer) {
                    assert_eq!(finished.code, Some(0), "{protocol} {engine}: {}", finished.all());
                }
            }
        }
    }
}

#[test]
fn a_reader_ends_with_its_writer() {
    for (reader, writer) in programs("a_reader_ends_with_its_writer") {
        for protocol in ["tcp", "udp", "unix"] {
            let both = "--ioengine=net --bs=4k --window_size=128k --mss=1000";
            let ends = Ends { protocol, both, reader: "--size=1m", writer: "--size=20k" };
            if protocol == "unix" && (reader == Program::Peer || writer == Program::Peer) {
                // With this protocol neither end notices that the other one closed.
                continue;
            }
            let [read, written] = between(&ends, reader, writer);
            assert_eq!((read.code, written.code), (Some(0), Some(0)), "{}{}", read.all(), written.all());
            // fio 3.41 as the reader loses count on a busy machine, when a block arrives in pieces: 7 of 25 runs between fio and itself
            // read 12,576 or 16,528 of the 20,480 bytes.
            if reader == Program::Ferrio {
                assert_eq!(figure(&read, "/read/io_bytes"), 20_480, "{writer:?} {protocol}");
                assert_eq!(figure(&read, "/read/total_ios"), 5, "{writer:?} {protocol}");
            }
        }
    }
}

#[test]
fn jobs_of_one_run_find_each_other() {
    for more in ["", "thread\n"] {
        let scratch = Scratch::new("net-of-one");
        let port = free_port();
        scratch.write(
            "jobs.fio",
            format!(
                "[global]\nioengine=net\nport={port}\nnumjobs=3\nbs=4k\nsize=256k\nverify=crc32c\nloops=2\n{more}\
                 [r]\nlisten\nrw=read\n[w]\nhostname=localhost\nrw=write\n"
            ),
        );
        let run = "jobs.fio --output-format=normal,json --group_reporting";
        let finished = Run::new(Program::Ferrio, scratch.path(), run).finish();
        assert_eq!(finished.code, Some(0), "{}", finished.all());
        assert_eq!(finished.stdout.matches("fio: waiting for connection").count(), 6, "{}", finished.stdout);
        assert!(finished.stdout.contains("io=1536KiB"), "{}", finished.stdout);
    }
}

#[test]
fn what_cannot_be_ends_as_with_the_peer() {
    let test = "what_cannot_be_ends_as_with_the_peer";
    let programs: &[Program] = if peer_too(test) { &[Program::Ferrio, Program::Peer] } else { &[Program::Ferrio] };
    let port = free_port();
    for (options, errno, words) in [
        ("--hostname=127.0.0.1 --rw=write", 111, "func=connect, error=Connection refused"),
        ("--hostname=127.0.0.1 --rw=read", 111, "func=connect, error=Connection refused"),
        ("--hostname=no.such.host.invalid --rw=write", 22, "func=getaddrinfo"),
        ("--rw=write", 22, "host to connect to"),
        ("--listen --mss=5 --rw=read", 22, "func=setsockopt TCP_MAXSEG, error=Invalid argument"),
        ("--listen --hostname=127.0.0.1 --rw=read", 0, "inbound network I"),
        ("--hostname=127.0.0.1 --rw=randwrite", 0, "can't be random"),
        ("--protocol=udp --listen --rw=read", 0, "only valid for "),
        ("--protocol=udp --hostname=127.0.0.1 --rw=rw", 0, "datagram network connections must be read "),
        ("--protocol=unix --hostname=s --rw=write", 0, "not valid with "),
    ] {
        for program in programs {
            let scratch = Scratch::new("net-errors");
            let arguments = format!("--name=a --ioengine=net --size=8k --bs=4k --port={port} {options}");
            let finished = Run::new(*program, scratch.path(), &arguments).finish();
            let all = finished.all();
            let said =
                all.replace("unix socket", "a unix socket").replace("a a unix", "a unix").replace("read OR", "read or");
            assert_eq!(finished.code, Some(1), "{program:?} {options}: {all}");
            assert!(said.contains(words), "{program:?} {options}: {all}");
            assert!(errno == 0 || said.contains(&format!("err={errno}/")), "{program:?} {options}: {all}");
        }
    }
    let scratch = Scratch::new("net-no-port");
    let finished = Run::new(Program::Ferrio, scratch.path(), "--name=a --ioengine=net --size=8k --hostname=h").finish();
    assert!(finished.code == Some(1) && finished.all().contains("option port="), "{}", finished.all());
}

#[test]
fn a_port_in_use_is_told() {
    let taken = TcpListener::bind("0.0.0.0:0").expect("a port");
    let port = taken.local_addr().expect("its number").port();
    let scratch = Scratch::new("net-taken");
    let arguments = format!("--name=a --ioengine=net --size=8k --listen --rw=read --port={port}");
    let finished = Run::new(Program::Ferrio, scratch.path(), &arguments).finish();
    assert_eq!(finished.code, Some(1), "{}", finished.all());
    assert!(
        finished.all().contains("err=98/") && finished.all().contains(&format!("port={port}")),
        "{}",
        finished.all()
    );
}

/// Interrupts a run that waits at a place.
fn interrupted(mut running: Running, is_waiting: impl Fn() -> bool) -> Finished {
    running.wait_until("a job that waits", |_| is_waiting());
    send(running.pid(), Signal::INT);
    running.finish()
}

#[test]
fn waiting_ends_on_a_signal() {
    for more in ["", "--thread"] {
        let scratch = Scratch::new("net-signal");
        for (protocol, listen) in [("tcp", "--listen"), ("udp", "")] {
            let port = free_port().to_string();
            let arguments = format!(
                "--name=a --ioengine=net --protocol={protocol} --size=8k --rw=read --port={port} {listen} {more}"
            );
            let running = Run::new(Program::Ferrio, scratch.path(), &arguments).start();
            let finished = interrupted(running, || is_awaited(protocol, &port));
            assert_eq!(finished.code, Some(128), "{protocol}: {}", finished.all());
            assert!(!finished.all().contains("err="), "{protocol}: {}", finished.all());
        }
        // Both ends are connected, but neither sends or receives.
        for rw in ["read", "write"] {
            let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
            let port = listener.local_addr().expect("its number").port();
            let arguments = format!(
                "--name=a --ioengine=net --hostname=127.0.0.1 --port={port} --size=1g --bs=64k --rw={rw} {more}"
            );
            let running = Run::new(Program::Ferrio, scratch.path(), &arguments).start();
            let (_stream, _) = listener.accept().expect("a connection");
            let finished = interrupted(running, || true);
            assert_eq!(finished.code, Some(128), "{rw}: {}", finished.all());
            assert!(!finished.all().contains("err=1"), "{rw}: {}", finished.all());
        }
    }
}

#[test]
fn waiting_ends_with_the_runtime() {
    let scratch = Scratch::new("net-runtime");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("its number").port();
    let job = format!("--name=a --ioengine=net --port={port} --size=1g --bs=64k --runtime=300ms");
    for rw in ["read", "write"] {
        let running =
            Run::new(Program::Ferrio, scratch.path(), &format!("{job} --hostname=127.0.0.1 --rw={rw}")).start();
        let (_stream, _) = listener.accept().expect("a connection");
        let finished = running.finish();
        assert_eq!(finished.code, Some(0), "{rw}: {}", finished.all());
    }
    drop(listener);
    let finished = Run::new(Program::Ferrio, scratch.path(), &format!("{job} --listen --rw=read")).finish();
    assert_eq!(finished.code, Some(1), "{}", finished.all());
    assert!(finished.all().contains("no connection was made within runtime"), "{}", finished.all());
}

#[test]
fn an_end_that_is_gone_is_told() {
    let scratch = Scratch::new("net-gone");
    for engine in ["net", "netsplice"] {
        for rw in ["read", "write"] {
            let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
            let port = listener.local_addr().expect("its number").port();
            let arguments = format!(
                "--name=a --ioengine={engine} --hostname=127.0.0.1 --port={port} --size=1g --bs=4k --rw={rw} --output-format=json"
            );
            let running = Run::new(Program::Ferrio, scratch.path(), &arguments).start();
            let (mut stream, _) = listener.accept().expect("a connection");
            stream.write_all(&[7; 6000]).expect("bytes");
            drop(stream);
            let finished = running.finish();
            assert_eq!(finished.code, Some(1), "{engine} {rw}: {}", finished.all());
            assert!(
                finished.stderr.contains("the other end of the connection is gone"),
                "{engine} {rw}: {}",
                finished.all()
            );
            let errno = figure(&finished, "/error");
            assert!([32, 104].contains(&errno), "{engine} {rw}: {errno}");
        }
    }
}

/// The words that a writer of datagrams sends first and last.
const OPENING: &[u8] = b"link\0\0\0\x98";
const CLOSING: &[u8] = b"knil\x89\0\0\0";

/// A socket of this host at an address and a free port.
fn socket_at(address: &str) -> UdpSocket {
    let socket = UdpSocket::bind((address, 0)).expect("a port");
    socket.set_read_timeout(Some(std::time::Duration::from_secs(30))).expect("a limit");
    socket
}

/// Text of the finding about datagrams of others, from the document of `ferrio run`.
fn foreign_datagrams(finished: &Finished) -> String {
    let document: Value = serde_json::from_str(&finished.stdout).expect("JSON");
    let findings = document["findings"].as_array().expect("findings");
    let found = findings.iter().find(|finding| finding["id"] == "foreign-datagrams");
    found.unwrap_or_else(|| panic!("{}", finished.all())).to_string()
}

#[test]
fn a_native_reader_takes_datagrams_of_its_writer_only() {
    for more in ["", "--thread"] {
        let scratch = Scratch::new("net-foreign");
        let port = free_port();
        let job = format!(
            "run --json --name=r --ioengine=net --protocol=udp --port={port} --rw=read --size=16k --bs=4k {more}"
        );
        let mut running = Run::new(Program::Ferrio, scratch.path(), &job).start();
        running.wait_until("a reader that waits", |_| is_awaited("udp", &port.to_string()));
        let [writer, stranger] = ["127.0.0.1", "127.0.0.2"].map(socket_at);
        writer.send_to(OPENING, ("127.0.0.1", port)).expect("a datagram");
        for _ in 0..4 {
            stranger.send_to(&[9; 4096], ("127.0.0.1", port)).expect("a datagram");
            stranger.send_to(CLOSING, ("127.0.0.1", port)).expect("a datagram");
            writer.send_to(&[5; 4096], ("127.0.0.1", port)).expect("a datagram");
        }
        let finished = running.finish().succeeded();
        let document: Value = serde_json::from_str(&finished.stdout).expect("JSON");
        assert_eq!(document["jobs"][0]["n_ios"], 4, "{}", finished.all());
        let told = foreign_datagrams(&finished);
        assert!(told.contains("8 datagrams came from other senders than the writer, and were left out."), "{told}");
    }
}

/// The reader replies from another address than that to which the writer sends, as hosts with several addresses do.
#[test]
fn a_native_writer_takes_replies_of_its_reader_only() {
    let scratch = Scratch::new("net-foreign-replies");
    let reader = socket_at("0.0.0.0");
    let port = reader.local_addr().expect("its number").port();
    let job = format!(
        "run --json --name=w --ioengine=net --protocol=udp --hostname=127.0.0.2 --port={port} --pingpong --rw=write --size=16k --bs=4k"
    );
    let running = Run::new(Program::Ferrio, scratch.path(), &job).start();
    let stranger = socket_at("127.0.0.3");
    let mut block = [0; 4096];
    let (_, writer) = reader.recv_from(&mut block).expect("the opening");
    for round in 0..4 {
        let (n_bytes, sender) = reader.recv_from(&mut block).expect("a block");
        assert_eq!((n_bytes, sender), (4096, writer), "{round}");
        stranger.send_to(&block, writer).expect("a datagram");
        stranger.send_to(CLOSING, writer).expect("a datagram");
        reader.send_to(&block, writer).expect("a datagram");
    }
    let finished = running.finish().succeeded();
    let told = foreign_datagrams(&finished);
    assert!(told.contains("8 datagrams came from other senders than the reader, and were left out."), "{told}");
}

/// Calls that moved data, with their lengths.
fn data_calls(trace: &str) -> Vec<String> {
    let is_data = |line: &&str| {
        let is_of_socket = line.contains("<TCP:") || line.contains("<UDP:");
        is_of_socket && !line.contains("= -1")
    };
    let call = |line: &str| {
        let name = line.split('(').next()?.split_whitespace().last()?.to_owned();
        Some(format!("{name} {}", line.rsplit("= ").next()?.trim()))
    };
    trace.lines().filter(is_data).filter_map(call).collect()
}

#[cfg_attr(not(peer), ignore = "needs the peer, FERRIO_PEER=1")]
#[test]
fn calls_that_move_data_are_those_of_the_peer() {
    let test = "calls_that_move_data_are_those_of_the_peer";
    if !has_peer(test) || !has_programs(test, &["strace"]) {
        return;
    }
    for (engine, protocol, more) in
        [("net", "tcp", ""), ("net", "udp", ""), ("net", "tcp", "--pingpong"), ("netsplice", "tcp", "")]
    {
        let of = |program: Program| {
            let scratch = Scratch::new("net-calls");
            let port = free_port().to_string();
            let job = format!("--ioengine={engine} --protocol={protocol} --port={port} --size=16k --bs=4k {more}");
            let listen = if protocol == "tcp" { "--listen" } else { "" };
            let strace = |name: &str| {
                format!(
                    "strace -f -qq -yy -e signal=none -e trace=sendto,recvfrom,splice -o {}",
                    scratch.join(name).display()
                )
            };
            let reading = format!("--name=r --rw=read {job} {listen}");
            let mut reading = Run::new(program, scratch.path(), &reading).under(&strace("r")).start();
            reading.wait_until("a reader that waits", |_| is_awaited(protocol, &port));
            let writing = format!("--name=w --rw=write {job} --hostname=127.0.0.1");
            Run::new(program, scratch.path(), &writing).under(&strace("w")).finish().succeeded();
            reading.finish().succeeded();
            ["r", "w"].map(|name| data_calls(&scratch.read(name)))
        };
        assert_eq!(of(Program::Ferrio), of(Program::Peer), "{engine} {protocol} {more}");
    }
}
