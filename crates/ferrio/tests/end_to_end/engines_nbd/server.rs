//! A small server for network block devices, as well-behaved or as bad as a test wants it.
//!
//! Start reading at [`Server::start`]. Its threads live as long as the program of the tests.

use std::io::{Read, Result, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub(super) const READ_ONLY: u16 = 1 << 1;
pub(super) const FLUSH: u16 = 1 << 2;
pub(super) const TRIM: u16 = 1 << 5;
pub(super) const MULTI_CONN: u16 = 1 << 8;

/// Commands of requests.
pub(super) const READ: u16 = 0;
pub(super) const WRITE: u16 = 1;

/// What a server does with a request.
#[derive(Debug, Clone, Copy)]
pub(super) enum Answer {
    /// Does it, and replies.
    Yes,
    /// Replies with an error.
    No(u32),
    /// Does it, and replies later; other replies may come before.
    Later(Duration),
    /// Never replies.
    Never,
    /// Closes the connection.
    Cut,
}

/// A request, as far as answers depend on it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked {
    /// Its number on the server, from 0.
    pub(super) number: usize,
    pub(super) command: u16,
}

/// An export and its behaviour.
pub(super) struct Manner {
    pub(super) size_bytes: usize,
    pub(super) flags: u16,
    /// Announced if it is not 0.
    pub(super) smallest_block: u32,
    /// Reads are answered in chunks: the second half of a block, then the first, zeroes as holes, errors with a text.
    pub(super) is_structured: bool,
    /// The server takes connections, but never says a word.
    pub(super) is_mute: bool,
    pub(super) answer: fn(Asked) -> Answer,
}

impl Default for Manner {
    fn default() -> Self {
        Self {
            size_bytes: 1 << 20,
            flags: 1 | FLUSH | TRIM,
            smallest_block: 0,
            is_structured: false,
            is_mute: false,
            answer: |_| Answer::Yes,
        }
    }
}

pub(super) struct Server {
    shared: Arc<Shared>,
}

struct Shared {
    manner: Manner,
    data: Mutex<Vec<u8>>,
    n_connections: AtomicUsize,
    n_requests: AtomicUsize,
}

impl Server {
    /// A server at the path of a Unix socket.
    pub(super) fn start(socket: &Path, manner: Manner) -> Self {
        let listener = UnixListener::bind(socket).expect("a socket");
        let data = Mutex::new(vec![0; manner.size_bytes]);
        let shared = Arc::new(Shared { manner, data, n_connections: 0.into(), n_requests: 0.into() });
        let of_listener = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                of_listener.n_connections.fetch_add(1, Ordering::Relaxed);
                let shared = Arc::clone(&of_listener);
                std::thread::spawn(move || serve(&shared, &stream));
            }
        });
        Self { shared }
    }

    pub(super) fn n_connections(&self) -> usize {
        self.shared.n_connections.load(Ordering::Relaxed)
    }

    pub(super) fn n_requests(&self) -> usize {
        self.shared.n_requests.load(Ordering::Relaxed)
    }
}

fn serve(shared: &Arc<Shared>, stream: &UnixStream) {
    if shared.manner.is_mute {
        let _ = (&mut &*stream).read(&mut [0]);
        return;
    }
    // The client closes the connection whenever it likes.
    let _ = agree(&shared.manner, stream).and_then(|agreed| if agreed { reply_to_all(shared, stream) } else { Ok(()) });
    let _ = stream.shutdown(std::net::Shutdown::Both);
}

fn number<const N: usize>(mut stream: &UnixStream) -> Result<[u8; N]> {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// The handshake; false: the client does not go on.
fn agree(manner: &Manner, mut stream: &UnixStream) -> Result<bool> {
    stream.write_all(b"NBDMAGICIHAVEOPT\0\x03")?;
    number::<4>(stream)?;
    loop {
        assert_eq!(&number::<8>(stream)?, b"IHAVEOPT");
        let option = u32::from_be_bytes(number(stream)?);
        let mut data = vec![0; u32::from_be_bytes(number(stream)?) as usize];
        stream.read_exact(&mut data)?;
        let mut say = |kind: u32, data: &[u8]| {
            let mut bytes = 0x0003_e889_0455_65a9_u64.to_be_bytes().to_vec();
            for word in [option, kind, data.len() as u32] {
                bytes.extend_from_slice(&word.to_be_bytes());
            }
            bytes.extend_from_slice(data);
            stream.write_all(&bytes)
        };
        match option {
            7 => {
                let mut export = vec![0, 0];
                export.extend_from_slice(&(manner.size_bytes as u64).to_be_bytes());
                export.extend_from_slice(&manner.flags.to_be_bytes());
                say(3, &export)?;
                if manner.smallest_block > 0 {
                    let mut blocks = vec![0, 3];
                    for bytes in [manner.smallest_block, 4096.max(manner.smallest_block), 32 << 20] {
                        blocks.extend_from_slice(&bytes.to_be_bytes());
                    }
                    say(3, &blocks)?;
                }
                say(1, &[])?;
                return Ok(true);
            }
            2 => {
                say(1, &[])?;
                return Ok(false);
            }
            8 if manner.is_structured => say(1, &[])?,
            _ => say((1 << 31) | 1, &[])?,
        }
    }
}

fn reply_to_all(shared: &Arc<Shared>, stream: &UnixStream) -> Result<()> {
    let out = Arc::new(Mutex::new(stream.try_clone()?));
    loop {
        let header: [u8; 28] = number(stream)?;
        assert_eq!(header[..4], 0x2560_9513_u32.to_be_bytes());
        let word = |at: usize| u32::from_be_bytes(header[at..at + 4].try_into().expect("4 bytes")) as usize;
        let (command, cookie) = (u16::from_be_bytes([header[6], header[7]]), header[8..16].to_vec());
        let (offset, length) = (word(16) << 32 | word(20), word(24));
        let mut data = vec![0; if command == WRITE { length } else { 0 }];
        (&mut &*stream).read_exact(&mut data)?;
        if command == 2 {
            return Ok(());
        }
        let asked = Asked { number: shared.n_requests.fetch_add(1, Ordering::Relaxed), command };
        let answer = (shared.manner.answer)(asked);
        let in_chunks = shared.manner.is_structured && command == READ;
        let mut reply = [&0x6744_6698_u32.to_be_bytes()[..], &[0; 4], &cookie].concat();
        let delay = match answer {
            Answer::Yes => Duration::ZERO,
            Answer::Later(delay) => delay,
            Answer::No(error) if in_chunks => {
                let text = b"no such block";
                let parts = [&error.to_be_bytes()[..], &(text.len() as u16).to_be_bytes(), text];
                out.lock().expect("a lock").write_all(&chunk(true, 0x8001, &cookie, &parts))?;
                continue;
            }
            Answer::No(error) => {
                reply[4..8].copy_from_slice(&error.to_be_bytes());
                out.lock().expect("a lock").write_all(&reply)?;
                continue;
            }
            Answer::Never => continue,
            Answer::Cut => return Ok(()),
        };
        let mut stored = shared.data.lock().expect("a lock");
        match command {
            READ if in_chunks => reply = read_in_chunks(&stored[offset..offset + length], offset, &cookie),
            READ => reply.extend_from_slice(&stored[offset..offset + length]),
            WRITE => stored[offset..offset + length].copy_from_slice(&data),
            _ => {}
        }
        drop(stored);
        if delay.is_zero() {
            out.lock().expect("a lock").write_all(&reply)?;
            continue;
        }
        let out = Arc::clone(&out);
        std::thread::spawn(move || {
            std::thread::sleep(delay);
            let _ = out.lock().expect("a lock").write_all(&reply);
        });
    }
}

/// A chunk of a structured reply.
fn chunk(is_last: bool, code: u16, cookie: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    let parts = parts.concat();
    let head = [&0x668e_33ef_u32.to_be_bytes()[..], &u16::from(is_last).to_be_bytes(), &code.to_be_bytes(), cookie];
    [head.concat(), (parts.len() as u32).to_be_bytes().to_vec(), parts].concat()
}

fn read_in_chunks(data: &[u8], offset: usize, cookie: &[u8]) -> Vec<u8> {
    let half = data.len() / 2;
    let part = |is_last, at: usize, data: &[u8]| {
        let at = (offset + at) as u64;
        if data.iter().all(|byte| *byte == 0) {
            return chunk(is_last, 2, cookie, &[&at.to_be_bytes(), &(data.len() as u32).to_be_bytes()]);
        }
        chunk(is_last, 1, cookie, &[&at.to_be_bytes(), data])
    };
    [part(false, half, &data[half..]), part(false, 0, &data[..half]), chunk(true, 0, cookie, &[])].concat()
}
