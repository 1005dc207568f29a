//! Reads CBOR, straight from the bytes into values.
//!
//! The compiler makes the methods of [`Deserializer`] for each type of a record, so they are a call or two: what does not depend on the
//! type is no generic function, and nothing fails between the end of a value and its return.
//! Lengths are held against the bytes that are left, depths against [`MOST_DEPTH`], and sizes of values are counted
//! ([`memory`]). Must not know: what the values mean. Start reading at [`read`].

use super::memory;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor,
};
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
fn fault<T>(reason: &str) -> Result<T, WireError> {
    Err(WireError(reason.into()))
}

/// The value whose bytes these are.
pub(super) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, WireError> {
    let mut reader = Reader { left: bytes, depth: 0, fault: None };
    let value = T::deserialize(&mut reader);
    if value.is_ok() {
        reader.ended()?;
    }
    value
}

/// What is left to read.
struct Reader<'de> {
    left: &'de [u8],
    /// Number of values that the next one stands in.
    depth: u32,
    /// A fault behind a value that is there already: nothing is left to read then.
    fault: Option<WireError>,
}

/// How a value begins.
#[derive(Clone, Copy)]
enum Head {
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

/// A whole number.
#[derive(Clone, Copy)]
enum Whole {
    Unsigned(u128),
    Signed(i128),
}

/// A value that holds no others, or the beginning of one that does.
enum Scalar<'de> {
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
const BREAK: u8 = 0xff;

impl<'de> Reader<'de> {
    /// An error if something is wrong behind the value.
    fn ended(&mut self) -> Result<(), WireError> {
        match self.fault.take() {
            Some(fault) => Err(fault),
            None if self.left.is_empty() => Ok(()),
            None => fault(&format!("{} bytes behind it", self.left.len())),
        }
    }

    fn take(&mut self, n_bytes: usize) -> Result<&'de [u8], WireError> {
        let Some((taken, left)) = self.left.split_at_checked(n_bytes) else { return fault("its end is missing") };
        self.left = left;
        Ok(taken)
    }

    /// A number in big-endian order.
    fn number(&mut self, n_bytes: usize) -> Result<u64, WireError> {
        Ok(self.take(n_bytes)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn head(&mut self) -> Result<Head, WireError> {
        let first = self.take(1)?[0];
        let (major, low) = (first >> 5, first & 31);
        if major == 7 {
            return self.simple(low);
        }
        let argument = match low {
            0..=23 => u64::from(low),
            24..=27 => self.number(1 << (low - 24))?,
            31 if major == 4 => return Ok(Head::Array(None)),
            31 if major == 5 => return Ok(Head::Map(None)),
            // Texts in pieces, too, which no writer of ours makes.
            _ => return fault("a length that has no meaning"),
        };
        Ok(match major {
            0 => Head::Unsigned(argument),
            1 => Head::Negative(argument),
            2 => Head::Bytes(self.length(argument)?),
            3 => Head::Text(self.length(argument)?),
            4 => Head::Array(Some(self.length(argument)?)),
            5 => Head::Map(Some(self.length(argument)?)),
            _ => Head::Tag(argument),
        })
    }

    /// The same number, if as many values or bytes can follow: each takes a byte at least.
    fn length(&self, length: u64) -> Result<usize, WireError> {
        match usize::try_from(length) {
            Ok(length) if length <= self.left.len() => Ok(length),
            _ => fault("its end is missing"),
        }
    }

    fn simple(&mut self, low: u8) -> Result<Head, WireError> {
        Ok(match low {
            20 => Head::Bool(false),
            21 => Head::Bool(true),
            22 | 23 => Head::Null,
            25 => Head::Float(of_half(self.number(2)? as u16)),
            26 => Head::Float(f64::from(f32::from_bits(self.number(4)? as u32))),
            27 => Head::Float(f64::from_bits(self.number(8)?)),
            _ => return fault("a simple value that has no meaning"),
        })
    }

    /// The next value; of a list or a map its beginning.
    fn scalar(&mut self) -> Result<Scalar<'de>, WireError> {
        let mut head = self.head()?;
        // Other tags say more about the value behind them, which is all that is wanted.
        while let Head::Tag(tag) = head {
            if matches!(tag, TAG_BIG | TAG_BIG_NEGATIVE) {
                return Ok(Scalar::Whole(self.big(tag == TAG_BIG_NEGATIVE)?));
            }
            head = self.head()?;
        }
        Ok(match head {
            Head::Unsigned(number) => Scalar::Whole(Whole::Unsigned(number.into())),
            Head::Negative(number) => Scalar::Whole(Whole::Signed(-1 - i128::from(number))),
            Head::Bool(is_true) => Scalar::Bool(is_true),
            Head::Float(number) => Scalar::Float(number),
            Head::Null | Head::Tag(_) => Scalar::Null,
            Head::Text(length) => Scalar::Text(self.str(length)?),
            Head::Bytes(length) => Scalar::Bytes(self.take(length)?),
            Head::Array(length) => Scalar::Array(length),
            Head::Map(length) => Scalar::Map(length),
        })
    }

    fn str(&mut self, n_bytes: usize) -> Result<&'de str, WireError> {
        std::str::from_utf8(self.take(n_bytes)?).or_else(|_| fault("a text that is none"))
    }

    fn big(&mut self, is_negative: bool) -> Result<Whole, WireError> {
        let Head::Bytes(length @ 0..=16) = self.head()? else { return fault("a number that is too long") };
        let number = self.take(length)?.iter().fold(0_u128, |number, byte| number << 8 | u128::from(*byte));
        match (is_negative, i128::try_from(number)) {
            (false, _) => Ok(Whole::Unsigned(number)),
            (true, Ok(number)) => Ok(Whole::Signed(-1 - number)),
            (true, Err(_)) => fault("a number that is too long"),
        }
    }

    /// True if the next byte is one of these; it is taken then.
    fn skips(&mut self, bytes: &[u8]) -> bool {
        let is_there = self.left.first().is_some_and(|first| bytes.contains(first));
        if is_there {
            self.left = &self.left[1..];
        }
        is_there
    }

    fn whole(&mut self) -> Result<Whole, WireError> {
        match self.scalar()? {
            Scalar::Whole(whole) => Ok(whole),
            _ => fault("not a whole number where there should be one"),
        }
    }

    fn unsigned_long(&mut self) -> Result<u128, WireError> {
        match self.whole()? {
            Whole::Unsigned(number) => Ok(number),
            Whole::Signed(_) => fault("a whole number out of range"),
        }
    }

    fn signed_long(&mut self) -> Result<i128, WireError> {
        match self.whole()? {
            Whole::Signed(number) => Ok(number),
            Whole::Unsigned(number) => i128::try_from(number).or_else(|_| fault("a whole number out of range")),
        }
    }

    fn unsigned(&mut self) -> Result<u64, WireError> {
        u64::try_from(self.unsigned_long()?).or_else(|_| fault("a whole number out of range"))
    }

    fn signed(&mut self) -> Result<i64, WireError> {
        i64::try_from(self.signed_long()?).or_else(|_| fault("a whole number out of range"))
    }

    fn float(&mut self) -> Result<f64, WireError> {
        match self.scalar()? {
            Scalar::Float(number) => Ok(number),
            Scalar::Whole(Whole::Unsigned(number)) => Ok(number as f64),
            Scalar::Whole(Whole::Signed(number)) => Ok(number as f64),
            _ => fault("not a number where there should be one"),
        }
    }

    fn boolean(&mut self) -> Result<bool, WireError> {
        match self.scalar()? {
            Scalar::Bool(is_true) => Ok(is_true),
            _ => fault("neither true nor false where it should be one of them"),
        }
    }

    fn unit(&mut self) -> Result<(), WireError> {
        match self.scalar()? {
            Scalar::Null => Ok(()),
            _ => fault("a value where there should be none"),
        }
    }

    fn text(&mut self) -> Result<&'de str, WireError> {
        match self.scalar()? {
            Scalar::Text(text) => memory::take(text.len() + size_of::<String>()).map(|()| text),
            _ => fault("no text where there should be one"),
        }
    }

    fn bytes(&mut self) -> Result<&'de [u8], WireError> {
        match self.scalar()? {
            Scalar::Bytes(bytes) => memory::take(bytes.len() + size_of::<Vec<u8>>()).map(|()| bytes),
            _ => fault("no bytes where there should be some"),
        }
    }

    /// Enters a value that holds others; [`Self::leave`] is its end.
    fn enter(&mut self) -> Result<(), WireError> {
        self.depth += 1;
        if self.depth > MOST_DEPTH { fault("too many values inside of one another") } else { Ok(()) }
    }

    /// The beginning of a list, whose value takes so much memory.
    fn begin_list(&mut self, n_bytes: usize) -> Result<Option<usize>, WireError> {
        let Scalar::Array(left) = self.scalar()? else { return fault("no list where there should be one") };
        memory::take(n_bytes)?;
        self.enter()?;
        Ok(left)
    }

    /// The beginning of a map, whose value takes so much memory.
    fn begin_map(&mut self, n_bytes: usize) -> Result<Option<usize>, WireError> {
        let Scalar::Map(left) = self.scalar()? else { return fault("no fields where there should be some") };
        memory::take(n_bytes)?;
        self.enter()?;
        Ok(left)
    }

    /// The beginning of a variant of an enum, whose value takes so much memory. True if the variant is its name alone; otherwise it is
    /// a map of one entry, the name with the content, whose beginning is taken.
    fn begin_variant(&mut self, n_bytes: usize) -> Result<bool, WireError> {
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
    fn is_none(&mut self, n_bytes: usize) -> Result<bool, WireError> {
        memory::take(n_bytes)?;
        Ok(self.skips(&[0xf6, 0xf7]))
    }

    /// Passes over a value.
    fn skip(&mut self) -> Result<(), WireError> {
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
    let (exponent, mantissa) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let size = match exponent {
        0 => mantissa * 2_f64.powi(-24),
        31 if bits & 1023 == 0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (mantissa + 1024.0) * 2_f64.powi(exponent - 25),
    };
    if bits >> 15 == 0 { size } else { -size }
}

/// What is left of a list or of the entries of a map.
struct Items<'a, 'de> {
    reader: &'a mut Reader<'de>,
    /// `None`: up to a break.
    left: Option<usize>,
}

impl Items<'_, '_> {
    /// True if another item, or key and value, is there to be read.
    fn is_next(&mut self) -> Result<bool, WireError> {
        match &mut self.left {
            Some(0) => return Ok(false),
            Some(left) => *left -= 1,
            None if self.reader.skips(&[BREAK]) => {
                self.left = Some(0);
                return Ok(false);
            }
            None => {}
        }
        if self.reader.left.is_empty() { fault("its end is missing") } else { Ok(true) }
    }

    /// The end of a value, if there is one: all its items must have been taken.
    fn end(mut self, is_ok: bool) {
        self.reader.depth -= 1;
        if !is_ok {
            return;
        }
        let trouble = match self.is_next() {
            Ok(false) => return,
            Ok(true) => WireError("more values than there should be".into()),
            Err(error) => error,
        };
        self.reader.fault.get_or_insert(trouble);
        self.reader.left = &[];
    }
}

impl<'de> SeqAccess<'de> for Items<'_, 'de> {
    type Error = WireError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, WireError> {
        match self.is_next() {
            Ok(true) => seed.deserialize(&mut *self.reader).map(Some),
            Ok(false) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        self.left
    }
}

impl<'de> MapAccess<'de> for Items<'_, 'de> {
    type Error = WireError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, WireError> {
        match self.is_next() {
            Ok(true) => seed.deserialize(&mut *self.reader).map(Some),
            Ok(false) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, WireError> {
        seed.deserialize(&mut *self.reader)
    }

    fn size_hint(&self) -> Option<usize> {
        self.left
    }
}

/// Methods that read a value without others in it and show it to the visitor.
macro_rules! scalars {
    ($($name:ident $read:ident $visit:ident;)*) => { $(
        fn $name<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, WireError> {
            match self.$read() {
                Ok(value) => visitor.$visit(value),
                Err(error) => Err(error),
            }
        }
    )* };
}

impl<'de> Deserializer<'de> for &mut Reader<'de> {
    type Error = WireError;

    scalars! {
        deserialize_u8 unsigned visit_u64;
        deserialize_u16 unsigned visit_u64;
        deserialize_u32 unsigned visit_u64;
        deserialize_u64 unsigned visit_u64;
        deserialize_u128 unsigned_long visit_u128;
        deserialize_i8 signed visit_i64;
        deserialize_i16 signed visit_i64;
        deserialize_i32 signed visit_i64;
        deserialize_i64 signed visit_i64;
        deserialize_i128 signed_long visit_i128;
        deserialize_f32 float visit_f64;
        deserialize_f64 float visit_f64;
        deserialize_bool boolean visit_bool;
        deserialize_char text visit_str;
        deserialize_str text visit_borrowed_str;
        deserialize_string text visit_borrowed_str;
        deserialize_identifier text visit_str;
        deserialize_bytes bytes visit_borrowed_bytes;
        deserialize_byte_buf bytes visit_borrowed_bytes;
    }

    /// As JSON, of whose values parts of records are made.
    fn is_human_readable(&self) -> bool {
        true
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, WireError> {
        memory::take(size_of::<V::Value>())?;
        let left = self.left;
        match self.scalar()? {
            Scalar::Whole(Whole::Unsigned(number)) => match u64::try_from(number) {
                Ok(number) => visitor.visit_u64(number),
                Err(_) => visitor.visit_u128(number),
            },
            Scalar::Whole(Whole::Signed(number)) => match i64::try_from(number) {
                Ok(number) => visitor.visit_i64(number),
                Err(_) => visitor.visit_i128(number),
            },
            Scalar::Bool(is_true) => visitor.visit_bool(is_true),
            Scalar::Float(number) => visitor.visit_f64(number),
            Scalar::Null => visitor.visit_unit(),
            other => {
                self.left = left;
                match other {
                    Scalar::Bytes(_) => self.deserialize_bytes(visitor),
                    Scalar::Array(_) => self.deserialize_seq(visitor),
                    Scalar::Map(_) => self.deserialize_map(visitor),
                    _ => self.deserialize_str(visitor),
                }
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, WireError> {
        match self.is_none(size_of::<V::Value>()) {
            Ok(true) => visitor.visit_none(),
            Ok(false) => visitor.visit_some(self),
            Err(error) => Err(error),
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, WireError> {
        self.unit()?;
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, WireError> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, WireError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, WireError> {
        let left = match self.begin_list(size_of::<V::Value>()) {
            Ok(left) => left,
            Err(error) => return Err(error),
        };
        let mut items = Items { reader: self, left };
        let value = visitor.visit_seq(&mut items);
        items.end(value.is_ok());
        value
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, WireError> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, WireError> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, WireError> {
        let left = match self.begin_map(size_of::<V::Value>()) {
            Ok(left) => left,
            Err(error) => return Err(error),
        };
        let mut items = Items { reader: self, left };
        let value = visitor.visit_map(&mut items);
        items.end(value.is_ok());
        value
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, WireError> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, WireError> {
        match self.begin_variant(size_of::<V::Value>()) {
            Ok(is_bare) => visitor.visit_enum(Variant { reader: self, is_bare }),
            Err(error) => Err(error),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, WireError> {
        self.skip()?;
        visitor.visit_unit()
    }
}

/// A variant of an enum.
struct Variant<'a, 'de> {
    reader: &'a mut Reader<'de>,
    /// The name alone.
    is_bare: bool,
}

impl Variant<'_, '_> {
    /// Enters the content.
    fn enter(&mut self) -> Result<(), WireError> {
        if self.is_bare { fault("a variant without its content") } else { self.reader.enter() }
    }
}

impl<'de> EnumAccess<'de> for Variant<'_, 'de> {
    type Error = WireError;
    type Variant = Self;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Self), WireError> {
        match seed.deserialize(&mut *self.reader) {
            Ok(value) => Ok((value, self)),
            Err(error) => Err(error),
        }
    }
}

impl<'de> VariantAccess<'de> for Variant<'_, 'de> {
    type Error = WireError;

    fn unit_variant(self) -> Result<(), WireError> {
        if self.is_bare { Ok(()) } else { self.reader.unit() }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(mut self, seed: T) -> Result<T::Value, WireError> {
        if let Err(error) = self.enter() {
            return Err(error);
        }
        let value = seed.deserialize(&mut *self.reader);
        self.reader.depth -= 1;
        value
    }

    fn tuple_variant<V: Visitor<'de>>(mut self, _: usize, visitor: V) -> Result<V::Value, WireError> {
        if let Err(error) = self.enter() {
            return Err(error);
        }
        let value = self.reader.deserialize_seq(visitor);
        self.reader.depth -= 1;
        value
    }

    fn struct_variant<V: Visitor<'de>>(
        mut self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, WireError> {
        if let Err(error) = self.enter() {
            return Err(error);
        }
        let value = self.reader.deserialize_map(visitor);
        self.reader.depth -= 1;
        value
    }
}
