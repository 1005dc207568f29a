//! Writes values as CBOR.
//!
//! The compiler makes the methods of [`Serializer`] for each type, so what they do is in functions that are not generic. Numbers take the
//! shortest form for whole numbers, and for others the one of 4 bytes if it loses nothing.
//! Must not know: what the values mean. Start reading at [`Writer`].

use super::reader::{BREAK, TAG_BIG, TAG_BIG_NEGATIVE};
use serde::ser::{
    Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};
use std::fmt::{self, Display};

/// Why a value cannot be written; none of ours ever says so.
#[derive(Debug)]
pub(super) struct Unwritable(String);

impl Display for Unwritable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for Unwritable {}

impl serde::ser::Error for Unwritable {
    fn custom<T: Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

/// Kinds of values, in the upper bits of their first byte.
const UNSIGNED: u8 = 0;
const NEGATIVE: u8 = 1;
const BYTES: u8 = 2;
const TEXT: u8 = 3;
const ARRAY: u8 = 4;
const MAP: u8 = 5;
const TAG: u8 = 6;

/// Appends to bytes.
pub(super) struct Writer<'a>(pub(super) &'a mut Vec<u8>);

impl Writer<'_> {
    fn head(&mut self, kind: u8, argument: u64) {
        let kind = kind << 5;
        let bytes = argument.to_be_bytes();
        match argument {
            0..=23 => self.0.push(kind | argument as u8),
            24..=0xff => self.0.extend([kind | 0x18, bytes[7]]),
            0x100..=0xffff => self.0.extend([kind | 0x19, bytes[6], bytes[7]]),
            0x1_0000..=0xffff_ffff => {
                self.0.push(kind | 0x1a);
                self.0.extend(&bytes[4..]);
            }
            _ => {
                self.0.push(kind | 0x1b);
                self.0.extend(bytes);
            }
        }
    }

    fn unsigned(&mut self, number: u128) {
        match u64::try_from(number) {
            Ok(number) => self.head(UNSIGNED, number),
            Err(_) => self.big(TAG_BIG, number),
        }
    }

    fn signed(&mut self, number: i128) {
        // -1 minus the number has the bits of the number, inverted.
        match (u128::try_from(number), u64::try_from(!number)) {
            (Ok(number), _) => self.unsigned(number),
            (Err(_), Ok(number)) => self.head(NEGATIVE, number),
            (Err(_), Err(_)) => self.big(TAG_BIG_NEGATIVE, !number as u128),
        }
    }

    fn big(&mut self, tag: u64, number: u128) {
        self.head(TAG, tag);
        self.head(BYTES, 16);
        self.0.extend(number.to_be_bytes());
    }

    fn float(&mut self, number: f64) {
        let short = number as f32;
        if f64::from(short).to_bits() == number.to_bits() {
            self.0.push(0xfa);
            self.0.extend(short.to_be_bytes());
        } else {
            self.0.push(0xfb);
            self.0.extend(number.to_be_bytes());
        }
    }

    fn text(&mut self, text: &str) {
        self.head(TEXT, text.len() as u64);
        self.0.extend(text.as_bytes());
    }

    /// The beginning of a list or a map; true if its end has to be written.
    fn begin(&mut self, kind: u8, length: Option<usize>) -> bool {
        match length {
            Some(length) => self.head(kind, length as u64),
            None => self.0.push(kind << 5 | 0x1f),
        }
        length.is_none()
    }

    /// The beginning of a variant with content.
    fn variant(&mut self, name: &str) {
        self.head(MAP, 1);
        self.text(name);
    }
}

/// The rest of a list or a map.
pub(super) struct OpenList<'a, 'b> {
    writer: &'a mut Writer<'b>,
    has_break: bool,
}

impl OpenList<'_, '_> {
    fn close(self) {
        if self.has_break {
            self.writer.0.push(BREAK);
        }
    }
}

macro_rules! scalars {
    ($($name:ident($type:ty) $write:ident;)*) => { $(
        fn $name(self, value: $type) -> Result<(), Unwritable> {
            self.$write(value.into());
            Ok(())
        }
    )* };
}

impl<'a, 'b> Serializer for &'a mut Writer<'b> {
    type Ok = ();
    type Error = Unwritable;
    type SerializeSeq = OpenList<'a, 'b>;
    type SerializeTuple = OpenList<'a, 'b>;
    type SerializeTupleStruct = OpenList<'a, 'b>;
    type SerializeTupleVariant = OpenList<'a, 'b>;
    type SerializeMap = OpenList<'a, 'b>;
    type SerializeStruct = OpenList<'a, 'b>;
    type SerializeStructVariant = OpenList<'a, 'b>;

    scalars! {
        serialize_u8(u8) unsigned;
        serialize_u16(u16) unsigned;
        serialize_u32(u32) unsigned;
        serialize_u64(u64) unsigned;
        serialize_u128(u128) unsigned;
        serialize_i8(i8) signed;
        serialize_i16(i16) signed;
        serialize_i32(i32) signed;
        serialize_i64(i64) signed;
        serialize_i128(i128) signed;
        serialize_f32(f32) float;
        serialize_f64(f64) float;
        serialize_str(&str) text;
    }

    fn serialize_bool(self, value: bool) -> Result<(), Unwritable> {
        self.0.push(0xf4 + u8::from(value));
        Ok(())
    }

    fn serialize_char(self, value: char) -> Result<(), Unwritable> {
        self.text(value.encode_utf8(&mut [0; 4]));
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Unwritable> {
        self.head(BYTES, value.len() as u64);
        self.0.extend(value);
        Ok(())
    }

    fn serialize_none(self) -> Result<(), Unwritable> {
        self.0.push(0xf6);
        Ok(())
    }

    fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> Result<(), Unwritable> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Unwritable> {
        self.serialize_none()
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Unwritable> {
        self.serialize_none()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), Unwritable> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: ?Sized + Serialize>(self, _: &'static str, value: &T) -> Result<(), Unwritable> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: ?Sized + Serialize>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Unwritable> {
        self.variant(variant);
        value.serialize(self)
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<OpenList<'a, 'b>, Unwritable> {
        let has_break = self.begin(ARRAY, length);
        Ok(OpenList { writer: self, has_break })
    }

    fn serialize_tuple(self, length: usize) -> Result<OpenList<'a, 'b>, Unwritable> {
        self.serialize_seq(Some(length))
    }

    fn serialize_tuple_struct(self, _: &'static str, length: usize) -> Result<OpenList<'a, 'b>, Unwritable> {
        self.serialize_seq(Some(length))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<OpenList<'a, 'b>, Unwritable> {
        self.variant(variant);
        self.serialize_seq(Some(length))
    }

    fn serialize_map(self, length: Option<usize>) -> Result<OpenList<'a, 'b>, Unwritable> {
        let has_break = self.begin(MAP, length);
        Ok(OpenList { writer: self, has_break })
    }

    fn serialize_struct(self, _: &'static str, length: usize) -> Result<OpenList<'a, 'b>, Unwritable> {
        self.serialize_map(Some(length))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<OpenList<'a, 'b>, Unwritable> {
        self.variant(variant);
        self.serialize_map(Some(length))
    }

    /// As the reader says.
    fn is_human_readable(&self) -> bool {
        true
    }
}

macro_rules! lists {
    ($($kind:ident $method:ident;)*) => { $(
        impl $kind for OpenList<'_, '_> {
            type Ok = ();
            type Error = Unwritable;

            fn $method<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Unwritable> {
                value.serialize(&mut *self.writer)
            }

            fn end(self) -> Result<(), Unwritable> {
                self.close();
                Ok(())
            }
        }
    )* };
}

lists! {
    SerializeSeq serialize_element;
    SerializeTuple serialize_element;
    SerializeTupleStruct serialize_field;
    SerializeTupleVariant serialize_field;
}

macro_rules! fields {
    ($($kind:ident)*) => { $(
        impl $kind for OpenList<'_, '_> {
            type Ok = ();
            type Error = Unwritable;

            fn serialize_field<T: ?Sized + Serialize>(&mut self, key: &'static str, value: &T) -> Result<(), Unwritable> {
                self.writer.text(key);
                value.serialize(&mut *self.writer)
            }

            fn end(self) -> Result<(), Unwritable> {
                self.close();
                Ok(())
            }
        }
    )* };
}

fields!(SerializeStruct SerializeStructVariant);

impl SerializeMap for OpenList<'_, '_> {
    type Ok = ();
    type Error = Unwritable;

    fn serialize_key<T: ?Sized + Serialize>(&mut self, key: &T) -> Result<(), Unwritable> {
        key.serialize(&mut *self.writer)
    }

    fn serialize_value<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Unwritable> {
        value.serialize(&mut *self.writer)
    }

    fn end(self) -> Result<(), Unwritable> {
        self.close();
        Ok(())
    }
}
