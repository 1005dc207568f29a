//! Reaches a server and agrees with it on an export: fixed newstyle handshake, `NBD_OPT_GO`, or `NBD_OPT_EXPORT_NAME`
//! where the server knows no better.
//!
//! Must not know: I/Os. Start reading at [`reach`].

use super::NAME;
use super::protocol::Export;
use super::uri::{Server, Uri};
use crate::contract::{EngineError, Patience};
use ferrio_sys::Errno;
use ferrio_sys::socket::{Address, Family, Socket};
use std::fmt::Display;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::time::{Duration, Instant};

/// Longest time in which a server has to take a connection and to agree.
const LIMIT: Duration = Duration::from_secs(30);

/// Longest text of a server that is shown, bytes; also the longest reply to an option that is read.
const LONGEST_REPLY_BYTES: u32 = 64 << 10;

const GREETING: &[u8; 8] = b"NBDMAGIC";
const OPTION_MAGIC: &[u8; 8] = b"IHAVEOPT";
const REPLY_MAGIC: u64 = 0x0003_e889_0455_65a9;

const FIXED_NEWSTYLE: u16 = 1;
const NO_ZEROES: u16 = 2;

/// Zeroes after the description of an export, where they are not agreed to be left out.
const N_ZEROES: usize = 124;

/// Options of a client.
const EXPORT_NAME: u32 = 1;
const GO: u32 = 7;

/// Kinds of replies.
const ACK: u32 = 1;
const INFO: u32 = 3;
const ERROR_BIT: u32 = 1 << 31;
const UNSUPPORTED: u32 = ERROR_BIT | 1;

/// Kinds of information.
const INFO_EXPORT: u16 = 0;
const INFO_BLOCK_SIZE: u16 = 3;

/// Why there is no agreement.
enum Trouble {
    /// The patience was over.
    Over,
    /// What failed, and the error.
    Failed(String, io::Error),
}

type Step<T> = Result<T, Trouble>;

fn failed<T>(what: impl Display, errno: Errno) -> Step<T> {
    Err(Trouble::Failed(what.to_string(), errno.into()))
}

/// Connects to the server of an export; `None`: the patience was over.
pub(super) fn reach(uri: &Uri, patience: Patience<'_>) -> Result<Option<(Socket, Export)>, EngineError> {
    let limits = Limits { patience, end: Instant::now() + LIMIT };
    let agreed = connect(uri, limits).and_then(|socket| {
        let export = Handshake { socket: &socket, limits }.agree(&uri.export)?;
        Ok((socket, export))
    });
    match agreed {
        Ok(agreed) => Ok(Some(agreed)),
        Err(Trouble::Over) => Ok(None),
        Err(Trouble::Failed(what, source)) => {
            Err(EngineError::Failed { engine: NAME, step: "nbd_connect_uri", what: format!("{uri}: {what}"), source })
        }
    }
}

/// When a wait ends.
#[derive(Clone, Copy)]
struct Limits<'a> {
    patience: Patience<'a>,
    end: Instant,
}

impl Limits<'_> {
    /// Called between two waits.
    fn check(&self, what: &str) -> Step<()> {
        if self.patience.is_over() {
            return Err(Trouble::Over);
        }
        if Instant::now() >= self.end { failed(format_args!("{what}: no answer"), Errno::TIMEDOUT) } else { Ok(()) }
    }
}

fn connect(uri: &Uri, limits: Limits<'_>) -> Step<Socket> {
    let addresses: Vec<(Family, Address)> = match &uri.server {
        Server::Path(path) => match Address::of_path(path) {
            Ok(address) => vec![(Family::Unix, address)],
            Err(errno) => return failed("socket", errno),
        },
        Server::Host(name, port) => match (name.as_str(), *port).to_socket_addrs() {
            Ok(found) => found.map(|address| (family(&address), Address::of_internet(address))).collect(),
            Err(error) => return Err(Trouble::Failed("host".to_owned(), named(error))),
        },
    };
    let mut last = failed("connect", Errno::ADDRNOTAVAIL);
    for (family, address) in addresses {
        match connect_to(family, &address, limits) {
            Err(Trouble::Failed(what, error)) => last = Err(Trouble::Failed(what, error)),
            ended => return ended,
        }
    }
    last
}

fn family(address: &SocketAddr) -> Family {
    if address.is_ipv4() { Family::Inet } else { Family::Inet6 }
}

/// A host name that cannot be resolved gives no errno.
fn named(error: io::Error) -> io::Error {
    if error.raw_os_error().is_some() { error } else { io::Error::new(io::ErrorKind::InvalidInput, error) }
}

fn connect_to(family: Family, address: &Address, limits: Limits<'_>) -> Step<Socket> {
    let made = Socket::new(family, true).and_then(|socket| socket.wait_at_most(Patience::LOOK).map(|()| socket));
    let socket = match made {
        Ok(socket) => socket,
        Err(errno) => return failed("socket", errno),
    };
    loop {
        match socket.connect(address) {
            Ok(()) | Err(Errno::ISCONN) => break,
            Err(Errno::INPROGRESS | Errno::ALREADY | Errno::AGAIN | Errno::INTR) => limits.check("connect")?,
            Err(errno) => return failed("connect", errno),
        }
    }
    if family != Family::Unix {
        // Without this, the kernel holds small requests back.
        socket.set_nodelay().or_else(|errno| failed("setsockopt TCP_NODELAY", errno))?;
    }
    Ok(socket)
}

/// The talk before the first request.
struct Handshake<'a> {
    socket: &'a Socket,
    limits: Limits<'a>,
}

impl Handshake<'_> {
    fn agree(&self, name: &[u8]) -> Step<Export> {
        let mut greeting = [0; 18];
        self.receive(&mut greeting, "greeting")?;
        if &greeting[..8] != GREETING {
            return failed("this is no NBD server", Errno::PROTO);
        }
        if &greeting[8..16] != OPTION_MAGIC {
            return failed(
                "the server speaks the old protocol without options, which is not supported",
                Errno::OPNOTSUPP,
            );
        }
        let theirs = u16::from_be_bytes([greeting[16], greeting[17]]);
        let flags = theirs & (FIXED_NEWSTYLE | NO_ZEROES);
        self.send(&u32::from(flags).to_be_bytes())?;
        if flags & FIXED_NEWSTYLE != 0
            && let Some(export) = self.go(name)?
        {
            return Ok(export);
        }
        self.name_export(name, flags & NO_ZEROES != 0)
    }

    /// `NBD_OPT_GO`; `None`: the server does not know it.
    fn go(&self, name: &[u8]) -> Step<Option<Export>> {
        let mut data = (name.len() as u32).to_be_bytes().to_vec();
        data.extend_from_slice(name);
        data.extend_from_slice(&1u16.to_be_bytes());
        data.extend_from_slice(&INFO_BLOCK_SIZE.to_be_bytes());
        self.send(&option(GO, &data))?;
        let (mut export, mut blocks) = (None, None);
        loop {
            let (kind, data) = self.reply()?;
            match (kind, data.as_slice()) {
                (ACK, _) => {
                    let Some(export): Option<Export> = export else {
                        return failed("the server agrees, but does not describe the export", Errno::PROTO);
                    };
                    return Ok(Some(match blocks {
                        Some((smallest, largest)) => export.with_blocks(smallest, largest),
                        None => export,
                    }));
                }
                (INFO, [k0, k1, rest @ ..]) => match (u16::from_be_bytes([*k0, *k1]), rest) {
                    (INFO_EXPORT, description) => export = Some(described(description)?),
                    // Smallest, preferred and largest block.
                    (INFO_BLOCK_SIZE, sizes) if sizes.len() == 12 => blocks = Some((word(sizes, 0), word(sizes, 8))),
                    _ => {}
                },
                (UNSUPPORTED, _) => return Ok(None),
                (error, text) if error & ERROR_BIT != 0 => return refused(error, text),
                _ => {}
            }
        }
    }

    /// `NBD_OPT_EXPORT_NAME`, to which a server can only agree or close the connection.
    fn name_export(&self, name: &[u8], without_zeroes: bool) -> Step<Export> {
        self.send(&option(EXPORT_NAME, name))?;
        let mut description = [0; 10 + N_ZEROES];
        let n_bytes = if without_zeroes { 10 } else { description.len() };
        self.receive(&mut description[..n_bytes], "export, whose name the server may not know")?;
        described(&description[..10])
    }

    /// The kind and the data of the server's next reply to an option.
    fn reply(&self) -> Step<(u32, Vec<u8>)> {
        let mut header = [0; 20];
        self.receive(&mut header, "reply")?;
        let magic = u64::from(word(&header, 0)) << 32 | u64::from(word(&header, 4));
        let (kind, n_bytes) = (word(&header, 12), word(&header, 16));
        if magic != REPLY_MAGIC || n_bytes > LONGEST_REPLY_BYTES {
            return failed("the server has sent what is no reply of the protocol", Errno::PROTO);
        }
        let mut data = vec![0; n_bytes as usize];
        self.receive(&mut data, "reply")?;
        Ok((kind, data))
    }

    fn send(&self, mut bytes: &[u8]) -> Step<()> {
        while !bytes.is_empty() {
            match self.socket.send(bytes, false) {
                Ok(n_bytes) => bytes = &bytes[n_bytes..],
                Err(Errno::AGAIN | Errno::INTR) => self.limits.check("handshake")?,
                Err(errno) => return failed("handshake", errno),
            }
        }
        Ok(())
    }

    fn receive(&self, buffer: &mut [u8], what: &str) -> Step<()> {
        let mut n_filled = 0;
        while n_filled < buffer.len() {
            match self.socket.receive(&mut buffer[n_filled..]) {
                Ok(0) => return failed(format_args!("{what}: the server has closed the connection"), Errno::CONNRESET),
                Ok(n_bytes) => n_filled += n_bytes,
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(errno) => return failed(what, errno),
            }
            // A server that sends a byte now and then has no more time than a silent one.
            if n_filled < buffer.len() {
                self.limits.check(what)?;
            }
        }
        Ok(())
    }
}

/// The number of 32 bits at this place.
fn word(bytes: &[u8], at: usize) -> u32 {
    bytes[at..at + 4].iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

/// The bytes of an option.
fn option(option: u32, data: &[u8]) -> Vec<u8> {
    let mut bytes = OPTION_MAGIC.to_vec();
    bytes.extend_from_slice(&option.to_be_bytes());
    bytes.extend_from_slice(&(data.len() as u32).to_be_bytes());
    bytes.extend_from_slice(data);
    bytes
}

/// Size and flags of an export.
fn described(bytes: &[u8]) -> Step<Export> {
    let [size @ .., f0, f1] = bytes else { return failed("the description of the export is cut", Errno::PROTO) };
    match size.try_into() {
        Ok(size) => Ok(Export::new(u64::from_be_bytes(size), u16::from_be_bytes([*f0, *f1]))),
        Err(_) => failed("the description of the export is cut", Errno::PROTO),
    }
}

/// The server's refusal of an export, with its own words where it has some.
fn refused<T>(error: u32, text: &[u8]) -> Step<T> {
    let (why, errno) = match error & !ERROR_BIT {
        2 => ("the server's policy forbids it", Errno::PERM),
        5 => ("the server demands TLS, which is not built", Errno::OPNOTSUPP),
        6 => ("the server has no export of this name", Errno::NOENT),
        7 => ("the server is shutting down", Errno::SHUTDOWN),
        8 => ("the server demands that its block sizes are kept, and does not announce them", Errno::INVAL),
        _ => ("the server refuses the export", Errno::INVAL),
    };
    let text: String = String::from_utf8_lossy(text).chars().filter(|letter| !letter.is_control()).take(200).collect();
    if text.is_empty() { failed(why, errno) } else { failed(format_args!("{why} ({text})"), errno) }
}
