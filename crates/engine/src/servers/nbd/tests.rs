//! Tests of the engine `nbd` against servers that break the protocol. Whole jobs are in the end-to-end tests.

use super::connections::Connections;
use super::handshake::{Agreed, Times, reach};
use super::protocol::{Export, NbdCommand};
use super::uri::Uri;
use super::wire::Wire;
use crate::contract::{Cancellation, Completion, IoResult, IoUnit};
use crate::servers::remote::channel::Channel;
use crate::servers::remote::silence::MOST_SILENCE;
use crate::testing::{BLOCK, nowhere, setup};
use ferrio_sys::arena::Arena;
use ferrio_sys::clock::Clock;
use ferrio_sys::socket::{Address, Family, Socket};
use ferrio_units::Direction;
use proptest::prelude::*;
use std::cell::RefCell;
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The path of a socket, removed when dropped.
struct Place(PathBuf);

impl Place {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        Self(std::env::temp_dir().join(format!("ferrio-nbd-{}-{count}", std::process::id())))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Both ends of a connection.
fn pair() -> (Socket, UnixStream) {
    let place = Place::new();
    let listener = UnixListener::bind(&place.0).unwrap();
    let socket = Socket::new(Family::Unix, true).unwrap();
    socket.connect(&Address::of_path(&place.0).unwrap()).unwrap();
    (socket, listener.accept().unwrap().0)
}

/// What the handshake makes of a server that says these bytes and then closes the connection.
fn agreed(bytes: Vec<u8>) -> Result<Option<u64>, String> {
    let place = Place::new();
    let listener = UnixListener::bind(&place.0).unwrap();
    let server = std::thread::spawn(move || {
        let mut stream = listener.accept().unwrap().0;
        let _ = stream.write_all(&bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let uri = Uri::parse(&format!("nbd+unix:///x?socket={}", place.0.display())).unwrap();
    let result = reach(&uri, None, Cancellation::new(&|| false));
    let result = result.map(|agreed| agreed.map(|agreed| agreed.export.size_bytes)).map_err(|error| error.to_string());
    server.join().unwrap();
    result
}

fn reply_to_option(kind: u32, data: &[u8]) -> Vec<u8> {
    let mut bytes = 0x0003_e889_0455_65a9_u64.to_be_bytes().to_vec();
    for word in [7, kind, data.len() as u32] {
        bytes.extend_from_slice(&word.to_be_bytes());
    }
    [&bytes, data].concat()
}

const GREETING: &[u8] = b"NBDMAGICIHAVEOPT\0\x03";

/// A greeting, and the refusal of structured replies.
fn plain_greeting() -> Vec<u8> {
    [GREETING, &reply_to_option(1 << 31 | 1, &[])].concat()
}

#[test]
fn servers_without_go_are_asked_by_name() {
    let description = [&(1u64 << 20).to_be_bytes()[..], &[0, 1]].concat();
    let refusal = reply_to_option(1 << 31 | 1, &[]);
    assert_eq!(agreed([&plain_greeting()[..], &refusal, &description].concat()), Ok(Some(1 << 20)));
    // A server that is not fixed newstyle sends zeroes.
    assert_eq!(agreed([b"NBDMAGICIHAVEOPT\0\0", &description[..], &[0; 124]].concat()), Ok(Some(1 << 20)));
}

#[test]
fn what_a_server_refuses_is_told_in_its_words() {
    let refusal = reply_to_option(1 << 31 | 6, b"no disk\n here");
    let error = agreed([&plain_greeting()[..], &refusal].concat()).unwrap_err();
    assert!(error.contains("the server has no export of this name (no disk here)"), "{error}");
    let error = agreed(b"NBDMAGIC\0\0\x42\x02\x81\x86\x12\x53\0\0".to_vec()).unwrap_err();
    assert!(error.contains("old protocol"), "{error}");
    assert!(agreed(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()).unwrap_err().contains("no NBD server"));
    // A reply as long as memory is not read.
    let mut long = reply_to_option(3, &[]);
    let end = long.len();
    long[end - 4..].copy_from_slice(&u32::MAX.to_be_bytes());
    assert!(agreed([&plain_greeting()[..], &long].concat()).unwrap_err().contains("no reply of the protocol"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_bytes_of_a_server_make_the_client_panic(
        greets in any::<bool>(),
        kind in prop_oneof![Just(1u32), Just(3), any::<u32>()],
        data in proptest::collection::vec(any::<u8>(), 0..20),
        rest in proptest::collection::vec(any::<u8>(), 0..40),
    ) {
        let greeting = if greets { plain_greeting() } else { Vec::new() };
        let _ = agreed([&greeting[..], &reply_to_option(kind, &data), &rest].concat());
        let (mut wire, mut server) = wired(2);
        wire.queue(0, &unit(Direction::Read, 0), NbdCommand::Read).unwrap();
        wire.queue(1, &unit(Direction::Read, 1), NbdCommand::Read).unwrap();
        wire.commit();
        server.write_all(&[reply(0, 1, 0), data, rest].concat()).unwrap();
        drop(server);
        prop_assert_eq!(results(&mut wire, 2).len(), 2);
    }
}

/// A connection of a depth, and the server's end of it.
fn wired(depth: u32) -> (Connections, UnixStream) {
    let (connections, mut servers, _) = wired_by(1, depth);
    (connections, servers.remove(0))
}

/// Connections of a depth, the server's ends of them, and the buffers of the units.
fn wired_by(n_connections: usize, depth: u32) -> (Connections, Vec<UnixStream>, Rc<RefCell<Arena>>) {
    let arena = setup(depth, &Clock::new_virtual()).arena;
    let mut connections = Connections::new(MOST_SILENCE);
    let servers: Vec<UnixStream> = (0..n_connections)
        .map(|_| {
            let (socket, server) = pair();
            let agreed = Agreed {
                channel: Channel::Plain(socket),
                export: Export::default(),
                is_structured: true,
                times: Times::default(),
            };
            connections.add(Wire::new(agreed, depth, Rc::clone(&arena)));
            server
        })
        .collect();
    (connections, servers, arena)
}

fn unit(direction: Direction, slot: usize) -> IoUnit {
    IoUnit { buffer_offset: slot * BLOCK, ..nowhere(direction) }
}

/// The first bytes of the reply to the request with this serial number.
fn reply(error: u32, serial: u32, slot: u32) -> Vec<u8> {
    [0x6744_6698, error, serial, slot].iter().flat_map(|word: &u32| word.to_be_bytes()).collect()
}

/// Takes up to `n` results, as slot and result.
fn results(wire: &mut Connections, n: u32) -> Vec<(u32, IoResult)> {
    let mut completions: Vec<Completion> = Vec::with_capacity(n as usize);
    for _ in 0..100 {
        let left = n - completions.len() as u32;
        wire.reap((left, left), Duration::from_millis(50), &mut completions);
        if completions.len() == n as usize {
            break;
        }
    }
    completions.iter().map(|completion| (completion.unit_index, completion.result)).collect()
}

#[test]
fn replies_in_parts_and_in_any_order_find_their_requests() {
    let (mut wire, mut server) = wired(3);
    for slot in 0..3 {
        let direction = if slot == 1 { Direction::Write } else { Direction::Read };
        let command = if slot == 1 { NbdCommand::Write } else { NbdCommand::Read };
        wire.queue(slot, &unit(direction, slot as usize), command).unwrap();
    }
    assert_eq!(wire.commit(), 3);
    let mut requests = [0; 3 * 28 + BLOCK];
    server.read_exact(&mut requests).unwrap();
    let replies = [reply(0, 3, 2), vec![7; BLOCK], reply(28, 2, 1), reply(0, 1, 0), vec![9; BLOCK]].concat();
    let writer = std::thread::spawn(move || {
        replies.chunks(1001).for_each(|part| server.write_all(part).unwrap());
        server
    });
    let block = IoResult::done(BLOCK);
    assert_eq!(results(&mut wire, 3), [(2, block), (1, IoResult::failed(28)), (0, block)]);
    drop(writer.join().unwrap());
}

#[test]
fn units_that_are_given_up_end_without_a_reply() {
    let (mut wire, _server) = wired(2);
    wire.queue(1, &unit(Direction::Read, 1), NbdCommand::Read).unwrap();
    wire.commit();
    assert_eq!(results(&mut wire, 0), []);
    wire.give_up();
    assert_eq!(results(&mut wire, 1), [(1, IoResult::END_OF_DATA)]);
    assert_eq!(wire.queue(0, &unit(Direction::Read, 0), NbdCommand::Read), Err(IoResult::END_OF_DATA));
}

#[test]
fn a_write_larger_than_the_socket_waits_for_nobody() {
    // The server replies to the first request before it reads the second.
    let (mut wire, mut server) = wired(64);
    for slot in 0..64 {
        wire.queue(slot, &unit(Direction::Write, slot as usize), NbdCommand::Write).unwrap();
    }
    assert_eq!(wire.commit(), 64);
    let server = std::thread::spawn(move || {
        let mut request = [0; 28 + BLOCK];
        for slot in 0..64 {
            server.read_exact(&mut request).unwrap();
            server.write_all(&reply(0, slot + 1, slot)).unwrap();
        }
        server
    });
    assert_eq!(results(&mut wire, 64).len(), 64);
    drop(server.join().unwrap());
}

/// A chunk of a structured reply to the request with this serial number.
fn chunk(is_last: bool, code: u16, serial: u32, slot: u32, parts: &[&[u8]]) -> Vec<u8> {
    let parts = parts.concat();
    let head = [&0x668e_33ef_u32.to_be_bytes()[..], &u16::from(is_last).to_be_bytes(), &code.to_be_bytes()].concat();
    let words: Vec<u8> = [serial, slot, parts.len() as u32].iter().flat_map(|word| word.to_be_bytes()).collect();
    [head, words, parts].concat()
}

/// What becomes of a read of the block at offset 0, whose buffer was full of 9, if the server says these bytes.
fn read_of(bytes: &[u8]) -> (IoResult, Vec<u8>) {
    let (mut wire, mut servers, arena) = wired_by(1, 1);
    arena.borrow_mut().slice_mut(0, BLOCK).fill(9);
    wire.queue(0, &unit(Direction::Read, 0), NbdCommand::Read).unwrap();
    wire.commit();
    servers[0].write_all(bytes).unwrap();
    servers.clear();
    let result = results(&mut wire, 1)[0].1;
    let block = arena.borrow().slice(0, BLOCK).to_vec();
    (result, block)
}

#[test]
fn a_read_is_put_together_from_chunks() {
    let half = BLOCK / 2;
    let data = |is_last, at: usize, n: usize| chunk(is_last, 1, 1, 0, &[&(at as u64).to_be_bytes(), &vec![7; n]]);
    let hole = |is_last, at: usize, n: usize| {
        chunk(is_last, 2, 1, 0, &[&(at as u64).to_be_bytes(), &(n as u32).to_be_bytes()])
    };
    let done = chunk(true, 0, 1, 0, &[]);
    let whole = IoResult::done(BLOCK);
    assert_eq!(read_of(&data(true, 0, BLOCK)), (whole, vec![7; BLOCK]));
    assert_eq!(read_of(&hole(true, 0, BLOCK)), (whole, vec![0; BLOCK]));
    let second_first = [data(false, half, half), hole(false, 0, half), done.clone()].concat();
    assert_eq!(read_of(&second_first), (whole, [vec![0; half], vec![7; half]].concat()));
    // An error in the middle, with a text, is that of the read; what was sent before it stays.
    let failure = chunk(false, 0x8001, 1, 0, &[&5_u32.to_be_bytes(), &4_u16.to_be_bytes(), b"oops"]);
    let (result, _) = read_of(&[data(false, 0, half), failure, done.clone()].concat());
    assert_eq!(result, IoResult::failed(5));
    let at_offset =
        chunk(true, 0x8002, 1, 0, &[&28_u32.to_be_bytes(), &0_u16.to_be_bytes(), &(half as u64).to_be_bytes()]);
    assert_eq!(read_of(&at_offset).0, IoResult::failed(28));
}

#[test]
fn chunks_that_lie_are_faults_of_the_server() {
    let data = |at: u64, n: usize| chunk(true, 1, 1, 0, &[&at.to_be_bytes(), &vec![7; n]]);
    let hole = |at: u64, n: u32| chunk(true, 2, 1, 0, &[&at.to_be_bytes(), &n.to_be_bytes()]);
    for bytes in [
        data(0, BLOCK / 2),
        data(1, BLOCK),
        data(u64::MAX, 8),
        hole(0, u32::MAX),
        hole(u64::MAX - 1, 4096),
        [data(0, BLOCK), data(0, BLOCK)].concat()[..BLOCK + 20].to_vec(),
        chunk(true, 0, 1, 0, &[]),
        chunk(true, 0, 1, 0, &[b"x"]),
        chunk(true, 5, 1, 0, &[&[0; 12]]),
        chunk(true, 1, 1, 0, &[b"short"]),
        chunk(true, 1, 2, 0, &[&[0; 8]]),
        chunk(true, 0x8001, 1, 0, &[&5_u32.to_be_bytes(), &vec![b'x'; 1 << 16]]),
        chunk(true, 0x8001, 1, 0, &[b"e"]),
    ] {
        let result = read_of(&bytes).0;
        assert!(result == IoResult::failed(71) || result == IoResult::failed(104), "{result:?}: {bytes:02x?}");
    }
    // A chunk of data is no answer to a write.
    let (mut wire, mut server) = wired(1);
    wire.queue(0, &unit(Direction::Write, 0), NbdCommand::Write).unwrap();
    wire.commit();
    server.write_all(&data(0, BLOCK)).unwrap();
    assert_eq!(results(&mut wire, 1), [(0, IoResult::failed(71))]);
}

#[test]
fn requests_are_spread_over_connections() {
    let (mut wire, mut servers, _) = wired_by(3, 6);
    for slot in 0..6 {
        wire.queue(slot, &unit(Direction::Read, slot as usize), NbdCommand::Read).unwrap();
    }
    assert_eq!(wire.commit(), 6);
    for server in &mut servers {
        let mut requests = [0; 2 * 28];
        server.read_exact(&mut requests).unwrap();
        let slot = |at: usize| u32::from_be_bytes(requests[at + 12..at + 16].try_into().unwrap());
        let replies = [reply(0, 1, slot(0)), vec![1; BLOCK], reply(0, 2, slot(28)), vec![2; BLOCK]].concat();
        server.write_all(&replies).unwrap();
    }
    let mut found = results(&mut wire, 6);
    found.sort_by_key(|(slot, _)| *slot);
    assert_eq!(found, (0..6).map(|slot| (slot, IoResult::done(BLOCK))).collect::<Vec<_>>());
    // One connection is lost: its requests fail, those of the others do not.
    for slot in 0..3 {
        wire.queue(slot, &unit(Direction::Read, slot as usize), NbdCommand::Read).unwrap();
    }
    wire.commit();
    drop(servers.remove(0));
    for server in &mut servers {
        let mut request = [0; 28];
        server.read_exact(&mut request).unwrap();
        let slot = u32::from_be_bytes(request[12..16].try_into().unwrap());
        server.write_all(&[reply(0, 3, slot), vec![3; BLOCK]].concat()).unwrap();
    }
    let found = results(&mut wire, 3);
    assert_eq!(found.iter().filter(|(_, result)| *result == IoResult::done(BLOCK)).count(), 2);
    assert_eq!(found.iter().filter(|(_, result)| *result == IoResult::failed(104)).count(), 1);
    // From now on the others have them all.
    for slot in 0..4 {
        wire.queue(slot, &unit(Direction::Read, slot as usize), NbdCommand::Read).unwrap();
    }
    wire.commit();
    for server in &mut servers {
        server.read_exact(&mut [0; 2 * 28]).unwrap();
    }
}

/// The first of three connections says nothing, the second answers whenever it is looked at, and the third has nothing to do.
#[test]
fn a_silent_connection_is_gone_though_others_answer() {
    let (mut wire, mut servers, _) = wired_by(3, 2);
    let read = |wire: &mut Connections, slot: u32| {
        wire.queue(slot, &unit(Direction::Read, slot as usize), NbdCommand::Read).unwrap();
        wire.commit();
    };
    read(&mut wire, 0);
    let (begin, n_looks) = (Instant::now(), MOST_SILENCE.as_millis() / Cancellation::LOOK.as_millis());
    let mut lost = Vec::with_capacity(2);
    for n_judged in 0..2 * n_looks as u32 {
        read(&mut wire, 1);
        servers[1].read_exact(&mut [0; 28]).unwrap();
        servers[1].write_all(&[reply(0, n_judged + 1, 1), vec![1; BLOCK]].concat()).unwrap();
        assert_eq!(results(&mut wire, 1), [(1, IoResult::done(BLOCK))]);
        if wire.judge(begin + Cancellation::LOOK * n_judged, None, &mut lost) {
            assert!(n_judged >= n_looks as u32);
            break;
        }
    }
    let lost: Vec<_> = lost.iter().map(|lost| (lost.unit_index, lost.result)).collect();
    assert_eq!((lost, wire.are_silent()), (vec![(0, IoResult::failed(110))], true));
}
