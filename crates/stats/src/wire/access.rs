//! Makes values of what [`WireReader`] reads.
//!
//! The compiler makes these functions for each type of a record, so they are a call or two, and nothing fails between the end of a value and
//! its return. Must not know: what the values mean. Start reading at [`read`].

use super::memory;
use super::reader::{BREAK, Scalar, Whole, WireError, WireReader, fault};
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor,
};

pub(super) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, WireError> {
    let mut reader = WireReader { left: bytes, depth: 0, fault: None };
    let value = T::deserialize(&mut reader);
    if value.is_ok() {
        reader.ended()?;
    }
    value
}

/// What is left of a list or of the entries of a map.
pub(super) struct Items<'a, 'de> {
    pub(super) reader: &'a mut WireReader<'de>,
    /// `None`: up to a break.
    pub(super) left: Option<usize>,
}

impl Items<'_, '_> {
    /// True if another item, or key and value, is there to be read.
    pub(super) fn is_next(&mut self) -> Result<bool, WireError> {
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
            Ok(true) => WireError::custom("more values than there should be"),
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

impl<'de> Deserializer<'de> for &mut WireReader<'de> {
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
        let left = self.begin_list(size_of::<V::Value>())?;
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
        let left = self.begin_map(size_of::<V::Value>())?;
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
    reader: &'a mut WireReader<'de>,
    /// The name alone.
    is_bare: bool,
}

impl Variant<'_, '_> {
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
        self.enter()?;
        let value = seed.deserialize(&mut *self.reader);
        self.reader.depth -= 1;
        value
    }

    fn tuple_variant<V: Visitor<'de>>(mut self, _: usize, visitor: V) -> Result<V::Value, WireError> {
        self.enter()?;
        let value = self.reader.deserialize_seq(visitor);
        self.reader.depth -= 1;
        value
    }

    fn struct_variant<V: Visitor<'de>>(
        mut self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, WireError> {
        self.enter()?;
        let value = self.reader.deserialize_map(visitor);
        self.reader.depth -= 1;
        value
    }
}
