//! Both ends in one thread, and hostile other ends. Every call returns after a moment, so no test can hang.

use super::link::{CLOSING, OPENING};
use crate::contract::options::EngineOptions;
use crate::contract::parts::Connection;
use crate::contract::{
    Cancellation, Engine, EngineError, EngineFile, EngineSetup, IoResult, IoUnit, JobFacts, OpenTarget, Outcome, Queued,
};
use crate::registry;
use crate::testing::{BLOCK, given, setup};
use ferrio_spec::Compatibility;
use ferrio_sys::arena::Arena;
use ferrio_sys::clock::Clock;
use ferrio_testing::skip;
use ferrio_units::Direction;
use std::cell::RefCell;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::rc::Rc;

const ENGINES: [&str; 2] = ["net", "netsplice"];

/// A job and its engine.
struct End {
    engine: Box<dyn Engine>,
    arena: Rc<RefCell<Arena>>,
    direction: Direction,
}

impl End {
    fn new(name: &str, direction: Direction, options: &[(&str, &str)]) -> Result<Self, EngineError> {
        Self::of_run(Compatibility::Fio, name, direction, options)
    }

    fn of_run(
        compatibility: Compatibility,
        name: &str,
        direction: Direction,
        options: &[(&str, &str)],
    ) -> Result<Self, EngineError> {
        let kind = registry::find(name).unwrap();
        let job = JobFacts {
            reads: direction == Direction::Read,
            writes: direction == Direction::Write,
            is_verified: true,
            ..JobFacts::default()
        };
        let setup = EngineSetup { n_files: 1, job, ..setup(1, &Clock::new_virtual()) };
        let arena = Rc::clone(&setup.arena);
        let engine =
            kind.io().unwrap()(&EngineOptions::new(given(name, options)).of_run(compatibility))?.start(setup)?;
        Ok(Self { engine, arena, direction })
    }

    fn connected(mut self) -> Self {
        for _ in 0..50 {
            if self.engine.server().unwrap().connect(Cancellation::new(&|| false)).unwrap() == Connection::Made {
                let target = OpenTarget::Name("a".as_ref());
                let range_bytes = 1 << 20;
                let file = EngineFile {
                    index: 0,
                    target,
                    writable: true,
                    range_start: 0,
                    range_bytes,
                    random: false,
                    cancellation: Cancellation::ENDLESS,
                };
                self.engine.open_file(&file).unwrap();
                return self;
            }
        }
        panic!("no connection");
    }

    fn queue(&mut self, start: usize) -> IoResult {
        let unit = IoUnit {
            direction: self.direction,
            file_index: 0,
            offset_bytes: start as u64,
            length_bytes: BLOCK - start,
            buffer_offset: start,
            sync_flags: 0,
            ioprio: 0,
        };
        match self.engine.queue(0, &unit) {
            Queued::Completed(result) => result,
            other => panic!("{other:?}"),
        }
    }

    /// Sends a whole block filled with a mark.
    fn send(&mut self, mark: u8) {
        self.arena.borrow_mut().slice_mut(0, BLOCK).fill(mark);
        self.transfer(0);
    }

    /// Moves the rest of a block.
    fn transfer(&mut self, mut n_moved: usize) {
        // The sender holds back small packets, for at most two tenths of a second, to join them with later ones.
        for _ in 0..100 {
            match self.queue(n_moved) {
                IoResult::NOT_YET => {}
                result => {
                    assert!(result.number() > 0, "{result:?}");
                    n_moved += result.number() as usize;
                }
            }
            if n_moved == BLOCK {
                return;
            }
        }
        panic!("only {n_moved} bytes");
    }

    /// Receives a whole block; the mark that fills it.
    fn receive(&mut self) -> u8 {
        self.transfer(0);
        let arena = self.arena.borrow();
        let block = arena.slice(0, BLOCK);
        assert!(block.iter().all(|byte| *byte == block[0]));
        block[0]
    }

    fn close(&mut self) {
        self.engine.close_file(0);
    }
}

/// A port that is not in use.
fn free_port() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string()
}

fn free_datagram_port() -> String {
    UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string()
}

fn of_protocol(name: &str, protocol: &str) -> (End, End) {
    let is_datagram = protocol.starts_with("udp");
    let port = if is_datagram { free_datagram_port() } else { free_port() };
    let host = if protocol.ends_with("v6") { "::1" } else { "127.0.0.1" };
    let mut listening = vec![("protocol", protocol), ("port", &port)];
    if !is_datagram {
        listening.push(("listen", "1"));
    }
    let reader = End::new(name, Direction::Read, &listening).unwrap();
    let sending = [("protocol", protocol), ("port", &port), ("hostname", host)];
    let writer = End::new(name, Direction::Write, &sending).unwrap().connected();
    (reader.connected(), writer)
}

#[test]
fn blocks_arrive_whole_in_their_order_and_the_end_is_said() {
    for name in ENGINES {
        for protocol in ["tcp", "tcpv6", "udp", "udpv6"] {
            let (mut reader, mut writer) = of_protocol(name, protocol);
            for mark in 1..=5 {
                writer.send(mark);
                assert_eq!(reader.receive(), mark, "{name} {protocol}");
            }
            assert_eq!(reader.queue(0), IoResult::NOT_YET, "{name} {protocol}");
            // Data sent before the end arrives before it.
            writer.send(6);
            writer.close();
            assert_eq!(reader.receive(), 6, "{name} {protocol}");
            assert_eq!(reader.queue(0), IoResult::END_OF_DATA, "{name} {protocol}");
        }
    }
}

#[test]
fn a_unix_socket_ends_when_it_is_closed() {
    let path = std::env::temp_dir().join(format!("ferrio-net-{}", std::process::id()));
    let path = path.to_str().unwrap();
    for name in ENGINES {
        let options = [("protocol", "unix"), ("hostname", path)];
        let reader = End::new(name, Direction::Read, &options).unwrap();
        let mut writer = End::new(name, Direction::Write, &options).unwrap().connected();
        let mut reader = reader.connected();
        writer.send(9);
        assert_eq!(reader.receive(), 9);
        writer.close();
        assert_eq!(reader.queue(0), IoResult::END_OF_DATA);
        assert_eq!(reader.queue(0), IoResult::END_OF_DATA);
    }
    std::fs::remove_file(path).unwrap();
    std::fs::write(path, "a file of somebody").unwrap();
    let options = [("protocol", "unix"), ("hostname", path)];
    let error = End::new("net", Direction::Read, &options).err().unwrap();
    assert_eq!(error.errno(), libc::EADDRINUSE);
    assert_eq!(std::fs::read_to_string(path).unwrap(), "a file of somebody");
    std::fs::remove_file(path).unwrap();
}

#[test]
fn each_block_comes_back() {
    let port = free_port();
    let reading = [("port", port.as_str()), ("listen", "1"), ("pingpong", "1")];
    let reader = End::new("net", Direction::Read, &reading).unwrap();
    let writing = [("port", port.as_str()), ("hostname", "127.0.0.1"), ("pingpong", "1")];
    let mut writer = End::new("net", Direction::Write, &writing).unwrap().connected();
    let mut reader = reader.connected();
    writer.arena.borrow_mut().slice_mut(0, BLOCK).fill(7);
    // Nothing has come back yet; the block is not sent again.
    assert_eq!(writer.queue(0), IoResult::NOT_YET);
    assert_eq!(reader.receive(), 7);
    assert_eq!(writer.queue(0), IoResult::done(BLOCK));
    assert_eq!(reader.queue(0), IoResult::NOT_YET);
    reader.close();
    assert_eq!(writer.queue(0), IoResult::END_OF_DATA);
}

#[test]
fn who_is_alone_waits_for_a_moment_at_a_time() {
    let port = free_port();
    let mut listener = End::new("net", Direction::Read, &[("port", &port), ("listen", "1")]).unwrap();
    assert_eq!(listener.engine.server().unwrap().connect(Cancellation::new(&|| false)).unwrap(), Connection::Listening);
    let port = free_datagram_port();
    let mut reader = End::new("net", Direction::Read, &[("port", &port), ("protocol", "udp")]).unwrap();
    assert_eq!(reader.engine.server().unwrap().connect(Cancellation::new(&|| false)).unwrap(), Connection::Awaited);
}

#[test]
fn nobody_there_is_an_error_with_its_step() {
    let port = free_port();
    let mut alone = End::new("net", Direction::Write, &[("port", &port), ("hostname", "127.0.0.1")]).unwrap();
    let error = alone.engine.server().unwrap().connect(Cancellation::new(&|| false)).unwrap_err();
    assert_eq!((error.errno(), error.step()), (libc::ECONNREFUSED, Some("connect")));
    assert!(error.to_string().contains(&format!("connect, 127.0.0.1:{port}")), "{error}");
    let unknown = [("port", "9"), ("hostname", "no.such.host.invalid")];
    let error = End::new("net", Direction::Write, &unknown).err().unwrap();
    assert_eq!((error.errno(), error.step()), (libc::EINVAL, Some("getaddrinfo")));
    let segments = [("port", "9"), ("listen", "1"), ("mss", "5")];
    let error = End::new("net", Direction::Read, &segments).err().unwrap();
    assert_eq!((error.errno(), error.step()), (libc::EINVAL, Some("setsockopt TCP_MAXSEG")));
}

#[test]
fn a_port_in_use_is_an_error() {
    let taken = TcpListener::bind("0.0.0.0:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let error = End::new("net", Direction::Read, &[("port", &port), ("listen", "1")]).err().unwrap();
    assert_eq!((error.errno(), error.step()), (libc::EADDRINUSE, Some("bind")));
}

/// A reader, and the other end of its connection.
fn reader_of_stream(name: &str) -> (End, TcpStream) {
    let port = free_port();
    let reader = End::new(name, Direction::Read, &[("port", &port), ("listen", "1")]).unwrap();
    let stream = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
    (reader.connected(), stream)
}

#[test]
fn an_end_without_a_word_is_an_error_and_one_with_it_is_none() {
    for name in ENGINES {
        let (mut reader, mut stream) = reader_of_stream(name);
        stream.write_all(&[3; BLOCK + 100]).unwrap();
        drop(stream);
        assert_eq!(reader.receive(), 3);
        assert_eq!(reader.queue(0), IoResult::done(100));
        assert_eq!(reader.queue(100), IoResult::failed(libc::ECONNRESET), "{name}");
        let hint = reader.engine.hint(&IoUnit { ..unit() }, libc::ECONNRESET);
        assert!(hint.is_some_and(|hint| hint.contains("is gone")));
        // The closing word arrives together with the last bytes.
        let (mut reader, mut stream) = reader_of_stream(name);
        stream.write_all(&[&[3; 100][..], &CLOSING].concat()).unwrap();
        drop(stream);
        assert_eq!(reader.queue(0), IoResult::done(108));
        assert_eq!(reader.queue(108), IoResult::END_OF_DATA, "{name}");
    }
}

fn unit() -> IoUnit {
    IoUnit {
        direction: Direction::Read,
        file_index: 0,
        offset_bytes: 0,
        length_bytes: BLOCK,
        buffer_offset: 0,
        sync_flags: 0,
        ioprio: 0,
    }
}

#[test]
fn a_writer_to_nobody_fails_and_lives() {
    for name in ENGINES {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port().to_string();
        let options = [("port", port.as_str()), ("hostname", "127.0.0.1")];
        let mut writer = End::new(name, Direction::Write, &options).unwrap().connected();
        drop(listener.accept().unwrap());
        let failed =
            (0..100_000).map(|_| writer.queue(0)).find(|result| !matches!(result.outcome(), Outcome::Done(1..)));
        assert!(
            [IoResult::failed(libc::EPIPE), IoResult::failed(libc::ECONNRESET)].map(Some).contains(&failed),
            "{name}: {failed:?}"
        );
    }
}

#[test]
fn a_reader_who_does_not_read_holds_a_writer_up_and_no_longer() {
    for name in ENGINES {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port().to_string();
        let options = [("port", port.as_str()), ("hostname", "127.0.0.1"), ("window_size", "4096")];
        let mut writer = End::new(name, Direction::Write, &options).unwrap().connected();
        let (mut stream, _) = listener.accept().unwrap();
        let n_whole = (0..100_000).take_while(|_| writer.queue(0) != IoResult::NOT_YET).count();
        assert!(n_whole < 100_000);
        // All that `send` accepted arrives, and the writer continues.
        let mut taken = vec![0; BLOCK * 64];
        let goes_on = (0..100_000).any(|_| {
            assert!(stream.read(&mut taken).unwrap() > 0, "{name}");
            matches!(writer.queue(0).outcome(), Outcome::Done(1..))
        });
        assert!(goes_on, "{name}");
    }
}

#[test]
fn datagrams_that_are_no_opening_are_nobodys_concern() {
    let port = free_datagram_port();
    let mut reader = End::new("net", Direction::Read, &[("port", &port), ("protocol", "udp")]).unwrap();
    let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
    let to = format!("127.0.0.1:{port}");
    let longer = [&OPENING[..], b"x"].concat();
    let large = vec![0xff; 60_000];
    let garbage: [&[u8]; 6] = [b"", b"x", b"garbage!", &CLOSING, &longer, &large];
    for datagram in garbage {
        stranger.send_to(datagram, &to).unwrap();
        assert_eq!(
            reader.engine.server().unwrap().connect(Cancellation::new(&|| false)).unwrap(),
            Connection::Awaited,
            "{} bytes",
            datagram.len()
        );
    }
    stranger.send_to(&OPENING, &to).unwrap();
    let mut reader = reader.connected();
    // A datagram that is too long is cut off, an empty one is ignored, and a second opening counts as data.
    stranger.send_to(&[5; BLOCK + 1], &to).unwrap();
    assert_eq!(reader.receive(), 5);
    stranger.send_to(b"", &to).unwrap();
    assert_eq!(reader.queue(0), IoResult::NOT_YET);
    stranger.send_to(&OPENING, &to).unwrap();
    assert_eq!(reader.queue(0), IoResult::done(8));
    stranger.send_to(&CLOSING, &to).unwrap();
    assert_eq!(reader.queue(0), IoResult::END_OF_DATA);
}

#[test]
fn a_group_hears_its_sender() {
    let port = free_datagram_port();
    let group = [
        ("protocol", "udp"),
        ("port", port.as_str()),
        ("hostname", "239.255.77.1"),
        ("interface", "127.0.0.1"),
        ("ttl", "0"),
    ];
    let reader = match End::new("net", Direction::Read, &group) {
        Ok(reader) => reader,
        Err(error) => {
            skip!("a_group_hears_its_sender", "{error}");
            return;
        }
    };
    let mut writer = End::new("net", Direction::Write, &group).unwrap().connected();
    let mut reader = reader.connected();
    writer.send(4);
    assert_eq!(reader.receive(), 4);
    let wrong = [("protocol", "udp"), ("port", "9"), ("hostname", "239.255.77.1"), ("interface", "here")];
    let error = End::new("net", Direction::Read, &wrong).err().unwrap();
    assert!(error.to_string().contains("option interface"), "{error}");
}

/// The first interface with IPv6 beside that of this host alone, which takes no groups.
fn interface_of_groups() -> Option<String> {
    let interfaces = std::fs::read_to_string("/proc/net/if_inet6").ok()?;
    let mut names = interfaces.lines().filter_map(|line| line.split_whitespace().last());
    names.find(|name| *name != "lo").map(str::to_owned)
}

/// Groups of `ff11::/16` do not leave the host, and exist once an interface.
#[test]
fn a_group_of_ipv6_hears_its_sender() {
    let Some(interface) = interface_of_groups() else {
        skip!("a_group_of_ipv6_hears_its_sender", "no interface with IPv6 beside lo");
        return;
    };
    let with_scope = format!("ff11::4d4d%{interface}");
    for (group, interface) in [("ff11::4d4d", Some(interface.as_str())), (&with_scope, None)] {
        let port = free_datagram_port();
        let mut options = vec![("protocol", "udpv6"), ("port", port.as_str()), ("hostname", group), ("ttl", "0")];
        options.extend(interface.map(|name| ("interface", name)));
        let reader = match End::new("net", Direction::Read, &options) {
            Ok(reader) => reader,
            Err(error) => {
                skip!("a_group_of_ipv6_hears_its_sender", "{error}");
                return;
            }
        };
        let mut writer = End::new("net", Direction::Write, &options).unwrap();
        if let Err(error) = writer.engine.server().unwrap().connect(Cancellation::new(&|| false)) {
            skip!("a_group_of_ipv6_hears_its_sender", "{error}");
            return;
        }
        let (mut writer, mut reader) = (writer.connected(), reader.connected());
        writer.send(4);
        assert_eq!(reader.receive(), 4, "{group}");
    }
    let wrong = [("protocol", "udpv6"), ("port", "9"), ("hostname", "ff15::1"), ("interface", "no-such-one")];
    let error = End::new("net", Direction::Read, &wrong).err().unwrap();
    assert!(error.to_string().contains("option interface"), "{error}");
}

#[test]
fn machines_connect_or_the_kernel_says_why_not() {
    let options = [("protocol", "vsock"), ("port", "47110"), ("listen", "1")];
    let reader = match End::new("net", Direction::Read, &options) {
        Ok(reader) => reader,
        Err(error) => {
            skip!("machines_connect_or_the_kernel_says_why_not", "{error}");
            return;
        }
    };
    let options = [("protocol", "vsock"), ("port", "47110"), ("hostname", "1")];
    let mut writer = End::new("net", Direction::Write, &options).unwrap();
    if let Err(error) = writer.engine.server().unwrap().connect(Cancellation::new(&|| false)) {
        assert_eq!(error.step(), Some("connect"));
        skip!("machines_connect_or_the_kernel_says_why_not", "{error}");
        return;
    }
    let (mut writer, mut reader) = (writer.connected(), reader.connected());
    writer.send(8);
    assert_eq!(reader.receive(), 8);
}

#[test]
fn datagrams_of_strangers_are_reads_of_fio_alone() {
    for (compatibility, is_taken) in [(Compatibility::Fio, true), (Compatibility::Native, false)] {
        let port = free_datagram_port();
        let options = [("port", port.as_str()), ("protocol", "udp")];
        let reader = End::of_run(compatibility, "net", Direction::Read, &options).unwrap();
        let [writer, stranger] = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").unwrap());
        let to = format!("127.0.0.1:{port}");
        writer.send_to(&OPENING, &to).unwrap();
        let mut reader = reader.connected();
        stranger.send_to(&[7; BLOCK], &to).unwrap();
        assert_eq!(reader.queue(0), if is_taken { IoResult::done(BLOCK) } else { IoResult::NOT_YET });
        stranger.send_to(&CLOSING, &to).unwrap();
        assert_eq!(reader.queue(0), if is_taken { IoResult::END_OF_DATA } else { IoResult::NOT_YET });
        writer.send_to(&[5; BLOCK], &to).unwrap();
        assert_eq!(reader.receive(), 5);
        assert_eq!(reader.engine.server().unwrap().n_foreign_datagrams(), 2);
        writer.send_to(&CLOSING, &to).unwrap();
        assert_eq!(reader.queue(0), IoResult::END_OF_DATA);
    }
}

/// The other end replies from another address than that which was asked, as hosts with several addresses do.
#[test]
fn a_writer_takes_replies_of_its_reader_only() {
    for (compatibility, is_taken) in [(Compatibility::Fio, true), (Compatibility::Native, false)] {
        let strangers = ["127.0.0.1:0", "127.0.0.3:0"].map(|place| UdpSocket::bind(place).unwrap());
        let everywhere = UdpSocket::bind("0.0.0.0:0").unwrap();
        let port = everywhere.local_addr().unwrap().port().to_string();
        let options = [("port", port.as_str()), ("protocol", "udp"), ("hostname", "127.0.0.2"), ("pingpong", "1")];
        let mut writer = End::of_run(compatibility, "net", Direction::Write, &options).unwrap().connected();
        let mut buffer = [0; BLOCK];
        let (_, address) = everywhere.recv_from(&mut buffer).unwrap();
        for round in 0..3 {
            assert_eq!(writer.queue(0), IoResult::NOT_YET, "{round}");
            let (n_bytes, sender) = everywhere.recv_from(&mut buffer).unwrap();
            assert_eq!((n_bytes, sender), (BLOCK, address));
            for other in &strangers {
                other.send_to(&[9; BLOCK], address).unwrap();
            }
            everywhere.send_to(&buffer, address).unwrap();
            let result = writer.queue(0);
            assert_eq!(result, if is_taken { IoResult::done(BLOCK) } else { IoResult::NOT_YET });
            if is_taken {
                break;
            }
            assert_eq!(writer.queue(0), IoResult::NOT_YET);
            assert_eq!(writer.queue(0), IoResult::done(BLOCK));
            assert_eq!(writer.engine.server().unwrap().n_foreign_datagrams(), 2 * (round + 1));
        }
    }
}
