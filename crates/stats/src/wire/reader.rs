//! Reads CBOR: heads of values, and values that hold no others.
//!
//! No function here is generic. Lengths are held against the bytes that are left, depths against [`MOST_DEPTH`], and sizes of values are counted
//! ([`memory`]). Must not know: types of values. Start reading at [`WireReader`]; `access.rs` makes values of what it reads.

use super::access::Items;
use super::memory;
use serde::de::Error;
use std::fmt::{self, Display};

/// Most values that stand inside of one another.
const MOST_DEPTH: u32 = 128;

/// Tags of whole numbers that are longer than 8 bytes, by their sign.
pub(super) const TAG_BIG: u64 = 2;
pub(super) const TAG_BIG_NEGATIVE: u64 = 3;

/// Why bytes are no value of the wanted type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireError(Box<str>);

impl Display for WireError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for WireError {}

impl Error for WireError {
    fn custom<T: Display>(message: T) -> Self {
        of_text(&message)
    }
}

#[inline(never)]
fn of_text(message: &dyn Display) -> WireError {
    WireError(message.to_string().into())
}

#[cold]
pub(super) fn fault<T>(reason: &str) -> Result<T, WireError> {
    Err(WireError(reason.into()))
}

/// What is left to read.
pub(super) struct WireReader<'de> {
    pub(super) left: &'de [u8],
    /// Number of values that the next one stands in.
    pub(super) depth: u32,
    /// A fault behind a value that is there already: nothing is left to read then.
    pub(super) fault: Option<WireError>,
}

/// How a value begins.
#[derive(Clone, Copy)]
pub(super) enum ItemHead {
    Unsigned(u64),
    /// -1 minus this.
    Negative(u64),
    Bytes(usize),
    Text(usize),
    /// `None`: up to a break.
    Array(Option<usize>),
    /// `None`: up to a break.
    Map(Option<usize>),
    Tag(u64),
    Bool(bool),
    Null,
    Float(f64),
}

#[derive(Clone, Copy)]
pub(super) enum Whole {
    Unsigned(u128),
    Signed(i128),
}

/// A value that holds no others, or the beginning of one that does.
pub(super) enum Scalar<'de> {
    Whole(Whole),
    Bool(bool),
    Float(f64),
    Null,
    Text(&'de str),
    Bytes(&'de [u8]),
    Array(Option<usize>),
    Map(Option<usize>),
}

/// The byte behind a list or a map whose length was not said.
pub(super) const BREAK: u8 = 0xff;

impl<'de> WireReader<'de> {
    /// An error if something is wrong behind the value.
    pub(super) fn ended(&mut self) -> Result<(), WireError> {
        match self.fault.take() {
            Some(fault) => Err(fault),
            None if self.left.is_empty() => Ok(()),
            None => fault(&format!("{} bytes behind it", self.left.len())),
        }
    }

    pub(super) fn take(&mut self, n_bytes: usize) -> Result<&'de [u8], WireError> {
        let Some((taken, left)) = self.left.split_at_checked(n_bytes) else { return fault("its end is missing") };
        self.left = left;
        Ok(taken)
    }

    /// A number in big-endian order.
    pub(super) fn number(&mut self, n_bytes: usize) -> Result<u64, WireError> {
        Ok(self.take(n_bytes)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    pub(super) fn head(&mut self) -> Result<ItemHead, WireError> {
        let first = self.take(1)?[0];
        let (major, low) = (first >> 5, first & 0x1f);
        if major == 7 {
            return self.simple(low);
        }
        let argument = match low {
            0..=23 => u64::from(low),
            24..=27 => self.number(1 << (low - 24))?,
            31 if major == 4 => return Ok(ItemHead::Array(None)),
            31 if major == 5 => return Ok(ItemHead::Map(None)),
            // Texts in pieces, too, which no writer of ours makes.
            _ => return fault("a length that has no meaning"),
        };
        Ok(match major {
            0 => ItemHead::Unsigned(argument),
            1 => ItemHead::Negative(argument),
            2 => ItemHead::Bytes(self.length(argument)?),
            3 => ItemHead::Text(self.length(argument)?),
            4 => ItemHead::Array(Some(self.length(argument)?)),
            5 => ItemHead::Map(Some(self.length(argument)?)),
            _ => ItemHead::Tag(argument),
        })
    }

    /// The same number, if as many values or bytes can follow: each takes a byte at least.
    pub(super) fn length(&self, length: u64) -> Result<usize, WireError> {
        match usize::try_from(length) {
            Ok(length) if length <= self.left.len() => Ok(length),
            _ => fault("its end is missing"),
        }
    }

    pub(super) fn simple(&mut self, low: u8) -> Result<ItemHead, WireError> {
        Ok(match low {
            20 => ItemHead::Bool(false),
            21 => ItemHead::Bool(true),
            22 | 23 => ItemHead::Null,
            25 => ItemHead::Float(of_half(self.number(2)? as u16)),
            26 => ItemHead::Float(f64::from(f32::from_bits(self.number(4)? as u32))),
            27 => ItemHead::Float(f64::from_bits(self.number(8)?)),
            _ => return fault("a simple value that has no meaning"),
        })
    }

    /// The next value; of a list or a map its beginning.
    pub(super) fn scalar(&mut self) -> Result<Scalar<'de>, WireError> {
        let mut head = self.head()?;
        // Other tags say more about the value behind them, which is all that is wanted.
        while let ItemHead::Tag(tag) = head {
            if matches!(tag, TAG_BIG | TAG_BIG_NEGATIVE) {
                return Ok(Scalar::Whole(self.big(tag == TAG_BIG_NEGATIVE)?));
            }
            head = self.head()?;
        }
        Ok(match head {
            ItemHead::Unsigned(number) => Scalar::Whole(Whole::Unsigned(number.into())),
            ItemHead::Negative(number) => Scalar::Whole(Whole::Signed(-1 - i128::from(number))),
            ItemHead::Bool(is_true) => Scalar::Bool(is_true),
            ItemHead::Float(number) => Scalar::Float(number),
            ItemHead::Null | ItemHead::Tag(_) => Scalar::Null,
            ItemHead::Text(length) => Scalar::Text(self.str(length)?),
            ItemHead::Bytes(length) => Scalar::Bytes(self.take(length)?),
            ItemHead::Array(length) => Scalar::Array(length),
            ItemHead::Map(length) => Scalar::Map(length),
        })
    }

    pub(super) fn str(&mut self, n_bytes: usize) -> Result<&'de str, WireError> {
        std::str::from_utf8(self.take(n_bytes)?).or_else(|_| fault("a text that is none"))
    }

    pub(super) fn big(&mut self, is_negative: bool) -> Result<Whole, WireError> {
        let ItemHead::Bytes(length @ 0..=16) = self.head()? else { return fault("a number that is too long") };
        let number = self.take(length)?.iter().fold(0_u128, |number, byte| number << 8 | u128::from(*byte));
        match (is_negative, i128::try_from(number)) {
            (false, _) => Ok(Whole::Unsigned(number)),
            (true, Ok(number)) => Ok(Whole::Signed(-1 - number)),
            (true, Err(_)) => fault("a number that is too long"),
        }
    }

    /// True if the next byte is one of these; it is taken then.
    pub(super) fn skips(&mut self, bytes: &[u8]) -> bool {
        let is_there = self.left.first().is_some_and(|first| bytes.contains(first));
        if is_there {
            self.left = &self.left[1..];
        }
        is_there
    }

    pub(super) fn whole(&mut self) -> Result<Whole, WireError> {
        match self.scalar()? {
            Scalar::Whole(whole) => Ok(whole),
            _ => fault("not a whole number where there should be one"),
        }
    }

    pub(super) fn unsigned_long(&mut self) -> Result<u128, WireError> {
        match self.whole()? {
            Whole::Unsigned(number) => Ok(number),
            Whole::Signed(_) => fault("a whole number out of range"),
        }
    }

    pub(super) fn signed_long(&mut self) -> Result<i128, WireError> {
        match self.whole()? {
            Whole::Signed(number) => Ok(number),
            Whole::Unsigned(number) => i128::try_from(number).or_else(|_| fault("a whole number out of range")),
        }
    }

    pub(super) fn unsigned(&mut self) -> Result<u64, WireError> {
        u64::try_from(self.unsigned_long()?).or_else(|_| fault("a whole number out of range"))
    }

    pub(super) fn signed(&mut self) -> Result<i64, WireError> {
        i64::try_from(self.signed_long()?).or_else(|_| fault("a whole number out of range"))
    }

    pub(super) fn float(&mut self) -> Result<f64, WireError> {
        match self.scalar()? {
            Scalar::Float(number) => Ok(number),
            Scalar::Whole(Whole::Unsigned(number)) => Ok(number as f64),
            Scalar::Whole(Whole::Signed(number)) => Ok(number as f64),
            _ => fault("not a number where there should be one"),
        }
    }

    pub(super) fn boolean(&mut self) -> Result<bool, WireError> {
        match self.scalar()? {
            Scalar::Bool(is_true) => Ok(is_true),
            _ => fault("neither true nor false where it should be one of them"),
        }
    }

    pub(super) fn unit(&mut self) -> Result<(), WireError> {
        match self.scalar()? {
            Scalar::Null => Ok(()),
            _ => fault("a value where there should be none"),
        }
    }

    pub(super) fn text(&mut self) -> Result<&'de str, WireError> {
        match self.scalar()? {
            Scalar::Text(text) => memory::take(text.len() + size_of::<String>()).map(|()| text),
            _ => fault("no text where there should be one"),
        }
    }

    pub(super) fn bytes(&mut self) -> Result<&'de [u8], WireError> {
        match self.scalar()? {
            Scalar::Bytes(bytes) => memory::take(bytes.len() + size_of::<Vec<u8>>()).map(|()| bytes),
            _ => fault("no bytes where there should be some"),
        }
    }

    /// Enters a value that holds others; [`Self::leave`] is its end.
    pub(super) fn enter(&mut self) -> Result<(), WireError> {
        self.depth += 1;
        if self.depth > MOST_DEPTH { fault("too many values inside of one another") } else { Ok(()) }
    }

    /// The beginning of a list, whose value takes so much memory.
    pub(super) fn begin_list(&mut self, n_bytes: usize) -> Result<Option<usize>, WireError> {
        let Scalar::Array(left) = self.scalar()? else { return fault("no list where there should be one") };
        memory::take(n_bytes)?;
        self.enter()?;
        Ok(left)
    }

    /// The beginning of a map, whose value takes so much memory.
    pub(super) fn begin_map(&mut self, n_bytes: usize) -> Result<Option<usize>, WireError> {
        let Scalar::Map(left) = self.scalar()? else { return fault("no fields where there should be some") };
        memory::take(n_bytes)?;
        self.enter()?;
        Ok(left)
    }

    /// The beginning of a variant of an enum, whose value takes so much memory. True if the variant is its name alone; otherwise it is
    /// a map of one entry, the name with the content, whose beginning is taken.
    pub(super) fn begin_variant(&mut self, n_bytes: usize) -> Result<bool, WireError> {
        memory::take(n_bytes)?;
        let left = self.left;
        match self.scalar()? {
            Scalar::Map(Some(1)) => Ok(false),
            Scalar::Text(_) => {
                self.left = left;
                Ok(true)
            }
            _ => fault("no variant where there should be one"),
        }
    }

    /// Takes a null, if it is one, where a value may be missing that takes so much memory.
    pub(super) fn is_none(&mut self, n_bytes: usize) -> Result<bool, WireError> {
        memory::take(n_bytes)?;
        Ok(self.skips(&[0xf6, 0xf7]))
    }

    /// Passes over a value.
    pub(super) fn skip(&mut self) -> Result<(), WireError> {
        let (left, n_each) = match self.scalar()? {
            Scalar::Array(left) => (left, 1),
            Scalar::Map(left) => (left, 2),
            _ => return Ok(()),
        };
        self.enter()?;
        let mut items = Items { reader: self, left };
        while items.is_next()? {
            for _ in 0..n_each {
                items.reader.skip()?;
            }
        }
        items.reader.depth -= 1;
        Ok(())
    }
}

/// The number whose half-precision form this is.
fn of_half(bits: u16) -> f64 {
    let (exponent, mantissa) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    let size = match exponent {
        0 => mantissa * 2_f64.powi(-24),
        31 if mantissa == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (mantissa + 1024.0) * 2_f64.powi(exponent - 25),
    };
    if bits >> 15 == 0 { size } else { -size }
}
