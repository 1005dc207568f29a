//! Performance logs on their way from a server to its client.
//!
//! A log is opened, grows by pieces, and is closed. Its name is told in parts, of which the client makes the path: a server never chooses a
//! path. Must not know: where rows come from, files. Start reading at [`LogPart`].

use ferrio_stats::LogKind;
use serde::de::{Deserializer, Error, Visitor};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A part of a performance log; logs have numbers from 0 in the order in which they are opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum LogPart {
    /// The next log is opened.
    Opened(SentLogName),
    /// It grows.
    Bytes {
        /// The number of the log.
        number: u32,
        /// Whole rows, or whole pieces of compressed ones.
        bytes: LogBytes,
    },
    /// It is whole.
    Closed {
        /// The number of the log.
        number: u32,
    },
}

/// The name of a log in parts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentLogName {
    /// The value of the option, or the name of the job.
    pub prefix: String,
    /// What it logs.
    pub kind: LogKind,
    /// Number of the worker in the run, from 1; `None`: one log for all workers.
    pub worker_number: Option<u32>,
    /// It has compressed pieces.
    pub is_compressed: bool,
}

/// Bytes of a log, which are bytes on their way too, and no list of numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogBytes(pub Vec<u8>);

impl Serialize for LogBytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for LogBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = LogBytes;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("bytes")
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<LogBytes, E> {
                Ok(LogBytes(bytes.to_vec()))
            }
        }
        deserializer.deserialize_bytes(Bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_stats::wire;

    #[test]
    fn bytes_of_logs_take_no_more_room_than_they_have() {
        let part = LogPart::Bytes { number: 3, bytes: LogBytes((0..=255).cycle().take(10_000).collect()) };
        let bytes = wire::to_bytes(&part);
        assert!(bytes.len() < 10_100, "{}", bytes.len());
        assert_eq!(wire::from_bytes_within::<LogPart>(&bytes, 1 << 20).expect("a part"), part);
        assert!(wire::from_bytes_within::<LogPart>(b"\xa1\x66Opened\x01", 1 << 20).is_err());
    }
}
