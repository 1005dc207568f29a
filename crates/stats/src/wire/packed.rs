//! Parts of a record whose code is made once, in this crate, for all others: inside of another value they are bytes.
//!
//! A crate that sends a part would make the code for all its types again. Must not know: what the parts mean.
//! Start reading at [`Packed`].

use super::{WireError, from_bytes, to_bytes};
use crate::{Failure, Note, RunRecord, ThreadStats};
use serde::de::{Deserializer, Error, Visitor};
use serde::ser::Serializer;
use std::fmt;
use std::marker::PhantomData;

/// A value with functions that write and read it, which are not generic.
pub trait Packed: Sized {
    /// Its bytes.
    fn pack(&self) -> Vec<u8>;

    fn unpack(bytes: &[u8]) -> Result<Self, WireError>;
}

macro_rules! packed {
    ($($type:ty;)*) => { $(
        impl Packed for $type {
            fn pack(&self) -> Vec<u8> {
                to_bytes(self)
            }

            fn unpack(bytes: &[u8]) -> Result<Self, WireError> {
                from_bytes(bytes)
            }
        }
    )* };
}

packed! {
    RunRecord;
    ThreadStats;
    Note;
    Option<Failure>;
}

impl<T: Packed> Packed for Box<T> {
    fn pack(&self) -> Vec<u8> {
        T::pack(self)
    }

    fn unpack(bytes: &[u8]) -> Result<Self, WireError> {
        T::unpack(bytes).map(Self::new)
    }
}

/// For fields: `#[serde(with = "wire::packed")]`.
pub fn serialize<T: Packed, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bytes(&value.pack())
}

/// For fields: `#[serde(with = "wire::packed")]`.
///
/// # Errors
/// There are no bytes, or bytes that are no such value.
pub fn deserialize<'de, T: Packed, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct Bytes<T>(PhantomData<T>);
    impl<T: Packed> Visitor<'_> for Bytes<T> {
        type Value = T;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("bytes")
        }

        fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<T, E> {
            T::unpack(bytes).map_err(E::custom)
        }
    }
    deserializer.deserialize_bytes(Bytes(PhantomData))
}
