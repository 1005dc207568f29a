//! Addresses and tokens that are refused before the run, and requests that are refused in it.

use super::{Answer, HELD, Served};
use crate::support::{Program, Run, Scratch};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

const JOB: &str = "--name=a --ioengine=psync --filename=data --rw=write --size=4k";

#[test]
fn bad_addresses_are_refused_before_the_first_io() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("an address").port();
    let table = [
        (format!("--web=127.0.0.1:{port}"), "cannot listen on 127.0.0.1:"),
        ("--web=localhost".to_owned(), "localhost is no address to listen on: give HOST:PORT"),
        ("--web=127.0.0.1:99999".to_owned(), "127.0.0.1:99999 is no address"),
        ("--web=no-such-host.invalid:1".to_owned(), "cannot find no-such-host.invalid:1"),
        ("--web=0.0.0.0:0".to_owned(), "--web-token=TOKEN"),
        ("--web=[::]:0".to_owned(), "FERRIO_WEB_TOKEN"),
        ("--web=0.0.0.0:0 --web-token=short".to_owned(), "the token must have 8"),
        ("--web-token=long-enough".to_owned(), "--web-token is for --web"),
        ("--web=".to_owned(), "--web needs a value: --web ADDR"),
        ("--web=0 --anonymous".to_owned(), "--web do not go together"),
    ];
    for (option, text) in table {
        let scratch = Scratch::new("web-refused");
        let run = Run::new(Program::Ferrio, scratch.path(), &format!("run {option} {JOB}"));
        let finished = run.without_env("FERRIO_WEB_TOKEN").finish();
        assert_eq!((finished.code, finished.stdout.as_str()), (Some(2), ""), "{option}");
        assert!(
            finished.stderr.starts_with("ferrio run: --") && finished.stderr.contains(text),
            "{option}: {}",
            finished.stderr
        );
        assert!(!scratch.join("data").exists(), "{option}");
    }
}

const LONG: &str = "--json --name=a --ioengine=null --size=1t --rate_iops=1000 --time_based --runtime=1500ms";

#[test]
fn requests_under_another_name_are_refused() {
    let served = Served::start("web-host", LONG);
    for host in ["localhost", "localhost:1", "127.0.0.1", &format!("127.0.0.1:{}", served.port)] {
        assert_eq!(served.ask("/metrics", &format!("Host: {host}\r\n")).status, 200, "{host}");
    }
    for host in ["evil.example", "127.0.0.2", "localhost.evil.example", "[::1]"] {
        for path in ["/", "/metrics", "/events", "/result.json", "/other"] {
            let answer = served.ask(path, &format!("Host: {host}\r\n"));
            assert!(answer.status == 403 && !answer.content.contains("ferrio_"), "{host} {path} {answer:?}");
        }
    }
    assert_eq!(served.ask("/", "").status, 400);
    assert_eq!(served.get("/other").status, 404);
    let page = served.get("/");
    assert!(page.head.contains("\r\ncontent-security-policy: default-src 'none'"), "{}", page.head);
    served.finish().0.succeeded();
}

#[test]
fn a_token_is_needed_where_it_is_set_and_is_on_no_page() {
    let token = "secret-0123456789";
    for (option, environment) in
        [(format!("--web-token={token} "), &[][..]), (String::new(), &[("FERRIO_WEB_TOKEN", token)])]
    {
        let served = Served::with_address("web-token", &format!("--web=0.0.0.0:0 {option}{LONG}"), environment);
        let other = format!("{token}x");
        for path in ["/", "/metrics", "/events", "/result.json"] {
            assert_eq!(served.get(path).status, 401, "{path}");
            assert_eq!(served.get(&format!("{path}?token={other}")).status, 401, "{path}");
        }
        assert_eq!(served.get(&format!("/metrics?token={token}")).status, 200);
        let bearer =
            |token: &str| served.ask("/metrics", &format!("Host: localhost\r\nAuthorization: Bearer {token}\r\n"));
        assert_eq!((bearer(token).status, bearer(&other).status), (200, 401));
        let mut follower = super::Follower::new(&served, &format!("page&token={token}"));
        let course = follower
            .wait_for("course", |course| course["jobs"].as_array().is_some_and(Vec::is_empty) || course["title"] != "");
        assert!(!course.to_string().contains(token), "{course}");
        follower.wait_for("end", |_| true);
        let result = served.get(&format!("/result.json?token={token}"));
        let page = served.get(&format!("/?token={token}"));
        let errors = served.errors();
        let finished = served.finish().0.succeeded();
        for text in [&result.content, &page.content, &errors, &finished.stdout] {
            assert!(!text.is_empty() && !text.contains(token), "{text}");
        }
    }
}

#[test]
fn bad_clients_are_refused_and_others_are_served() {
    let served = Served::start("web-bad-clients", LONG);
    let mut socket = served.connect();
    // The server may close the socket before it has read all of this.
    let _ = write!(socket, "GET / HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "x".repeat(1 << 20));
    let answer = Answer::read(socket);
    assert!([0, 431].contains(&answer.status), "{answer:?}");
    let mut socket = served.connect();
    socket.write_all(b"\x16\x03\x01\x02\x00 this is no request\r\n\r\n").expect("it is sent");
    assert!([0, 400].contains(&Answer::read(socket).status));
    let posted = {
        let mut socket = served.connect();
        write!(socket, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc")
            .expect("it is sent");
        Answer::read(socket)
    };
    assert_eq!(posted.status, 405);
    // Sixty-four have a place; those behind them are closed.
    let mut sockets: Vec<_> = (0..100).map(|_| served.connect()).collect();
    let mut n_closed = 0;
    for socket in sockets.iter_mut().skip(64) {
        n_closed += u32::from(socket.read(&mut [0]).map_or(true, |n_bytes| n_bytes == 0));
    }
    assert_eq!(n_closed, 36);
    drop(sockets);
    // Their places become free.
    while served.get("/metrics").status != 200 {
        std::thread::yield_now();
    }
    served.finish().0.succeeded();
}

/// Streams whose clients do not read keep nobody out: the oldest of them gives way.
#[test]
fn streams_that_nobody_reads_give_way() {
    let mut served = Served::start("web-unread", &format!("{HELD} --json --name=a --ioengine=null --size=4k"));
    let mut sockets: Vec<_> = (0..64).map(|_| served.connect()).collect();
    for socket in &mut sockets {
        write!(socket, "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("it is sent");
    }
    // All of them are served; what follows the head is not read.
    for socket in &mut sockets {
        socket.read_exact(&mut [0; 15]).expect("a status");
    }
    for _ in 0..10 {
        assert_eq!(served.get("/metrics").status, 200);
    }
    let is_closed = |socket: &mut TcpStream| {
        socket.set_nonblocking(true).expect("a socket");
        let mut rest = [0; 4096];
        loop {
            match socket.read(&mut rest) {
                Ok(0) => return true,
                Ok(_) => {}
                Err(error) => return error.kind() != std::io::ErrorKind::WouldBlock,
            }
        }
    };
    assert!(is_closed(&mut sockets[0]) && !is_closed(&mut sockets[63]));
    drop(sockets);
    served.let_go();
    served.finish().0.succeeded();
}
