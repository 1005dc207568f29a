//! Values as bytes: saved records, messages of workers, frames of live views. The form is CBOR (RFC 8949), in which every field has
//! its name: a later version finds the fields that it knows, and takes defaults for those that are not there.
//!
//! All of them, and documents in JSON too, are written and read by one type each, `writer::Writer` and `reader::WireReader`, so that the
//! compiler makes the code for each type of a record once, and for these types it is short.
//! The bytes are not trusted. Must not know: records, files. Start reading at [`to_bytes`] and [`from_bytes`].

mod access;
mod memory;
pub mod packed;
mod reader;
mod writer;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use memory::MOST_MEMORY_BYTES;
pub(crate) use memory::take_memory;
pub use packed::Packed;
pub use reader::WireError;

pub fn to_bytes<T: Serialize>(value: &T) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(value, &mut bytes);
    bytes
}

pub fn write<T: Serialize>(value: &T, bytes: &mut Vec<u8>) {
    // Cannot fail: values are numbers, texts and lists of them, and fit into memory.
    let _ = value.serialize(&mut writer::Writer(bytes));
}

/// The value whose bytes these are, in bounded memory ([`MOST_MEMORY_BYTES`]).
pub fn from_bytes<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, WireError> {
    memory::within(MOST_MEMORY_BYTES, || access::read(bytes))
}

/// The value whose bytes these are, which may take so much memory, bytes.
pub fn from_bytes_within<T: DeserializeOwned>(bytes: &[u8], most_memory_bytes: u64) -> Result<T, WireError> {
    memory::within(most_memory_bytes, || access::read(bytes))
}

/// The value that a document in JSON has in this place.
pub fn from_value<T: DeserializeOwned>(value: &serde_json::Value) -> Result<T, WireError> {
    from_bytes(&to_bytes(value))
}

/// The value as JSON has it; null if JSON cannot have it, such as whole numbers of more than 64 bits.
pub fn to_value<T: Serialize>(value: &T) -> serde_json::Value {
    from_bytes(&to_bytes(value)).unwrap_or_default()
}

#[cfg(test)]
mod tests;
