//! Agrees with a server on an export: fixed newstyle handshake, TLS where the address asks for it, structured replies
//! where the server has them, `NBD_OPT_GO`, or `NBD_OPT_EXPORT_NAME` where the server knows no better.
//!
//! Must not know: I/Os. Start reading at [`reach`].

use super::NAME;
use super::protocol::Export;
use super::uri::Uri;
use crate::contract::{Cancellation, EngineError};
use crate::servers::remote::channel::Channel;
use crate::servers::remote::reach::{Step, Trouble, WaitLimits, connect, failed};
use crate::servers::remote::tls::TlsSettings;
use ferrio_stats::ServerSteps;
use ferrio_sys::Errno;
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
const STARTTLS: u32 = 5;
const GO: u32 = 7;
const STRUCTURED_REPLY: u32 = 8;

/// Kinds of replies.
const ACK: u32 = 1;
const INFO: u32 = 3;
const ERROR_BIT: u32 = 1 << 31;
const UNSUPPORTED: u32 = ERROR_BIT | 1;
const POLICY: u32 = ERROR_BIT | 2;

const INFO_EXPORT: u16 = 0;
const INFO_BLOCK_SIZE: u16 = 3;

/// An export that a server and this end have agreed on.
pub(super) struct Agreed {
    pub(super) channel: Channel,
    pub(super) export: Export,
    /// Replies may be structured.
    pub(super) is_structured: bool,
    pub(super) times: Times,
}

/// Times of the steps until the agreement.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Times {
    connect: Duration,
    /// Zero without TLS.
    pub(super) tls: Duration,
    agree: Duration,
}

impl Times {
    pub(super) fn note_in(self, steps: &mut ServerSteps) {
        let ns = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        steps.n_connections += 1;
        steps.connect.record(ns(self.connect));
        if !self.tls.is_zero() {
            steps.tls.record(ns(self.tls));
        }
        steps.agree.record(ns(self.agree));
    }
}

/// Connects to the server of an export; `None`: the call was cancelled.
pub(super) fn reach(
    uri: &Uri,
    tls: Option<&TlsSettings>,
    cancellation: Cancellation<'_>,
) -> Result<Option<Agreed>, EngineError> {
    let limits = WaitLimits::new(cancellation, LIMIT);
    let start = Instant::now();
    let agreed = connect(&uri.place, limits).and_then(|socket| {
        let connected = start.elapsed();
        let handshake = Handshake { channel: Channel::Plain(socket), limits, tls_time: Duration::ZERO };
        let mut agreed = handshake.agree(tls, &uri.export)?;
        agreed.times.connect = connected;
        agreed.times.agree = start.elapsed().saturating_sub(connected).saturating_sub(agreed.times.tls);
        Ok(agreed)
    });
    match agreed {
        Ok(agreed) => Ok(Some(agreed)),
        Err(Trouble::Over) => Ok(None),
        Err(Trouble::Failed(what, source)) => {
            Err(EngineError::Failed { engine: NAME, step: "nbd_connect_uri", what: format!("{uri}: {what}"), source })
        }
    }
}

/// The talk before the first request.
struct Handshake<'a> {
    channel: Channel,
    limits: WaitLimits<'a>,
    tls_time: Duration,
}

impl Handshake<'_> {
    fn agree(mut self, tls: Option<&TlsSettings>, name: &[u8]) -> Step<Agreed> {
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
        let is_fixed = flags & FIXED_NEWSTYLE != 0;
        if let Some(settings) = tls {
            if !is_fixed {
                return failed("the server offers no TLS", Errno::OPNOTSUPP);
            }
            self = self.encrypt(settings)?;
        }
        let is_structured = is_fixed && self.ask(STRUCTURED_REPLY)? == ACK;
        let asked = if is_fixed { self.go(name)? } else { None };
        let export = match asked {
            Some(export) => export,
            None => self.name_export(name, flags & NO_ZEROES != 0)?,
        };
        let times = Times { tls: self.tls_time, ..Times::default() };
        Ok(Agreed { channel: self.channel, export, is_structured, times })
    }

    /// `NBD_OPT_STARTTLS`, and what follows it.
    fn encrypt(mut self, settings: &TlsSettings) -> Step<Self> {
        match self.ask(STARTTLS)? {
            ACK => {}
            UNSUPPORTED | POLICY => return failed("the server offers no TLS", Errno::OPNOTSUPP),
            _ => return failed("the server refuses TLS", Errno::OPNOTSUPP),
        }
        let Channel::Plain(socket) = self.channel else { return Ok(self) };
        let start = Instant::now();
        let channel = Channel::encrypt(socket, settings, self.limits)?;
        Ok(Self { channel, tls_time: start.elapsed(), ..self })
    }

    /// The kind of the reply to an option without data.
    fn ask(&mut self, code: u32) -> Step<u32> {
        self.send(&option(code, &[]))?;
        Ok(self.reply()?.0)
    }

    /// `NBD_OPT_GO`; `None`: the server does not know it.
    fn go(&mut self, name: &[u8]) -> Step<Option<Export>> {
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
                        Some(blocks) => export.with_blocks(blocks),
                        None => export,
                    }));
                }
                (INFO, [k0, k1, rest @ ..]) => match (u16::from_be_bytes([*k0, *k1]), rest) {
                    (INFO_EXPORT, description) => export = Some(described(description)?),
                    // Smallest, preferred and largest block.
                    (INFO_BLOCK_SIZE, sizes) if sizes.len() == 12 => blocks = Some([0, 4, 8].map(|at| word(sizes, at))),
                    _ => {}
                },
                (UNSUPPORTED, _) => return Ok(None),
                (error, text) if error & ERROR_BIT != 0 => return refused(error, text),
                _ => {}
            }
        }
    }

    /// `NBD_OPT_EXPORT_NAME`, to which a server can only agree or close the connection.
    fn name_export(&mut self, name: &[u8], without_zeroes: bool) -> Step<Export> {
        self.send(&option(EXPORT_NAME, name))?;
        let mut description = [0; 10 + N_ZEROES];
        let n_bytes = if without_zeroes { 10 } else { description.len() };
        self.receive(&mut description[..n_bytes], "export, whose name the server may not know")?;
        described(&description[..10])
    }

    /// The kind and the data of the server's next reply to an option.
    fn reply(&mut self) -> Step<(u32, Vec<u8>)> {
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

    fn send(&mut self, bytes: &[u8]) -> Step<()> {
        self.channel.send_all(bytes, self.limits, "handshake")
    }

    fn receive(&mut self, buffer: &mut [u8], what: &str) -> Step<()> {
        self.channel.receive_all(buffer, self.limits, what)
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
        5 => ("the server demands TLS; see uri=nbds://", Errno::OPNOTSUPP),
        6 => ("the server has no export of this name", Errno::NOENT),
        7 => ("the server is shutting down", Errno::SHUTDOWN),
        8 => ("the server demands that its block sizes are kept, and does not announce them", Errno::INVAL),
        _ => ("the server refuses the export", Errno::INVAL),
    };
    let text: String = String::from_utf8_lossy(text).chars().filter(|letter| !letter.is_control()).take(200).collect();
    if text.is_empty() { failed(why, errno) } else { failed(format_args!("{why} ({text})"), errno) }
}
