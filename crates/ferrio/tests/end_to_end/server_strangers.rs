//! What a server of `--server` gives to strangers: nothing.
//!
//! Start reading at [`strangers_are_turned_away`].

use crate::client_server::{Server, comes_true, run};
use crate::engines_net::free_port;
use crate::support::Scratch;
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

/// Strangers get nothing, and take nothing from clients that have the key.
#[test]
fn strangers_are_turned_away() {
    let scratch = Scratch::new("client-strangers");
    let port = free_port();
    let server = Server::start(&scratch, &format!(",{port}"), "");
    scratch.write("job.fio", "[x]\nioengine=null\nsize=64k\n");
    let said = |bytes: &[u8]| {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("a server");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a limit");
        // A server that has closed already refuses the rest.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        answer
    };
    let endless = [b"ferrio client 1 ".to_vec(), vec![b'a'; 100_000]].concat();
    for bytes in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0x16, 3, 1, 2, 0], &[0; 4_096], &[0xff; 4_096], b"\n", &endless] {
        assert_eq!(said(bytes), b"", "{bytes:?}");
    }
    // The server proves itself, and wants the same.
    let answer = String::from_utf8(said(b"ferrio client 1 0123456789abcdef\nrun 0 00\n")).expect("text");
    assert!(answer.starts_with("ferrio server 1 ") && answer.lines().count() == 1, "{answer}");
    let foreign = run(&scratch, &format!("--client=,{port} --server-key=other.key job.fio")).finish();
    assert!(foreign.code == Some(1) && foreign.stderr.contains("another key"), "{}", foreign.all());
    // More of them than the server keeps, none of which says a word.
    let idle: Vec<TcpStream> =
        (0..600).map(|_| TcpStream::connect(("127.0.0.1", port)).expect("a connection")).collect();
    run(&scratch, &format!("--client=,{port} job.fio")).finish().succeeded();
    drop(idle);
    let log = server.end();
    assert!(
        log.stderr.contains("it is no client of ferrio") && log.stderr.contains("does not have the key"),
        "{}",
        log.all()
    );
}

/// Connections of each kind: silent, begun, noise, and closed at once.
const N_STRANGERS: usize = 400;
/// Memory of a server whatever strangers do, KiB.
const MOST_MEMORY_KIB: u64 = 128 << 10;

/// Many strangers together keep no client out, and what they take is given back.
#[test]
fn crowds_of_strangers_cost_a_server_little() {
    let scratch = Scratch::new("client-crowds");
    let port = free_port();
    let server = Server::start(&scratch, &format!(",{port}"), "");
    scratch.write("job.fio", "[x]\nioengine=null\nsize=64k\n");
    let pid = server.pid();
    let n_open = || fs::read_dir(format!("/proc/{pid}/fd")).expect("descriptors").count();
    let memory_kib = || {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("a process");
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("its memory").to_owned();
        line.split_whitespace().nth(1).and_then(|number| number.parse::<u64>().ok()).expect("a number")
    };
    let n_before = n_open();
    let mut held = Vec::new();
    for number in 0..N_STRANGERS {
        for bytes in [Some(&b""[..]), Some(b"ferrio client 1 012345"), Some(&[0xff; 4_096]), None] {
            let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
            // A server that has closed already refuses the rest.
            let _ = stream.write_all(bytes.unwrap_or_default());
            held.extend(bytes.map(|_| stream));
        }
        if number == N_STRANGERS / 2 {
            run(&scratch, &format!("--client=,{port} job.fio")).finish().succeeded();
        }
    }
    run(&scratch, &format!("--client=,{port} job.fio")).finish().succeeded();
    drop(held);
    assert!(comes_true(|| n_open() <= n_before + 4), "{} descriptors, {n_before} before", n_open());
    assert!(memory_kib() < MOST_MEMORY_KIB, "{} KiB", memory_kib());
    let log = server.end();
    assert!(log.stderr.lines().count() < 40, "strangers do not fill a log: {}", log.all());
}

/// What was recorded of one connection opens no other.
#[test]
fn a_replayed_connection_is_refused() {
    let scratch = Scratch::new("client-replay");
    let port = free_port();
    let server = Server::start(&scratch, &format!(",{port}"), "");
    scratch.write("job.fio", "[x]\nioengine=null\nsize=64k\nfilename=f\n");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let between = listener.local_addr().expect("its address").port();
    let recording = std::thread::spawn(move || {
        let (client, _) = listener.accept().expect("a client");
        let server = TcpStream::connect(("127.0.0.1", port)).expect("a server");
        let (mut from, mut to) = (server.try_clone().expect("a stream"), client.try_clone().expect("a stream"));
        let back = std::thread::spawn(move || drop(std::io::copy(&mut from, &mut to)));
        let mut recorded = Vec::new();
        let (mut client, mut server, mut buffer) = (client, server, [0; 4_096]);
        while let Ok(n_bytes @ 1..) = client.read(&mut buffer) {
            recorded.extend_from_slice(&buffer[..n_bytes]);
            // At the end both say a last word at the same time.
            let _ = server.write_all(&buffer[..n_bytes]);
        }
        let _ = server.shutdown(std::net::Shutdown::Write);
        back.join().expect("no panic");
        recorded
    });
    run(&scratch, &format!("--client=127.0.0.1,{between} job.fio")).finish().succeeded();
    let recorded = recording.join().expect("no panic");
    assert!(recorded.starts_with(b"ferrio client 1 ") && recorded.len() > 500);
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("a server");
    let _ = stream.write_all(&recorded);
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    assert_eq!(answer.lines().count(), 1, "{answer}");
    let log = server.end();
    let n_served = log.stderr.lines().filter(|line| line.contains("served by process")).count();
    assert_eq!(n_served, 1, "{}", log.all());
}
