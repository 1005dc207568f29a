//! Reads a value whose bytes are not trusted, in bounded memory: a list of a few bytes may stand for many large values.
//!
//! Each value that is read is counted by its size (`ferrio_stats::form::take_memory`) before it is made. A value that stands inside of
//! another one is counted with both, so the count is above what is taken. Must not know: records. Start reading at [`Bounded`].

use ferrio_stats::form::take_memory;
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor,
};
use std::fmt;

/// A value that was read in bounded memory.
pub(super) struct Bounded<T>(pub(super) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Bounded<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(Counted(deserializer)).map(Self)
    }
}

/// A part of the reading, counted.
struct Counted<T>(T);

macro_rules! counted_values {
    ($($name:ident($($argument:ident: $type:ty),*);)*) => { $(
        fn $name<V: Visitor<'de>>(self, $($argument: $type,)* visitor: V) -> Result<V::Value, D::Error> {
            take_memory::<D::Error>(size_of::<V::Value>())?;
            self.0.$name($($argument,)* Counted(visitor))
        }
    )* };
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Counted<D> {
    type Error = D::Error;

    counted_values! {
        deserialize_any();
        deserialize_bool();
        deserialize_i8();
        deserialize_i16();
        deserialize_i32();
        deserialize_i64();
        deserialize_i128();
        deserialize_u8();
        deserialize_u16();
        deserialize_u32();
        deserialize_u64();
        deserialize_u128();
        deserialize_f32();
        deserialize_f64();
        deserialize_char();
        deserialize_str();
        deserialize_string();
        deserialize_bytes();
        deserialize_byte_buf();
        deserialize_option();
        deserialize_unit();
        deserialize_unit_struct(name: &'static str);
        deserialize_newtype_struct(name: &'static str);
        deserialize_seq();
        deserialize_tuple(length: usize);
        deserialize_tuple_struct(name: &'static str, length: usize);
        deserialize_map();
        deserialize_struct(name: &'static str, fields: &'static [&'static str]);
        deserialize_enum(name: &'static str, variants: &'static [&'static str]);
        deserialize_identifier();
        deserialize_ignored_any();
    }

    fn is_human_readable(&self) -> bool {
        self.0.is_human_readable()
    }
}

macro_rules! passed_on {
    ($($name:ident($type:ty);)*) => { $(
        fn $name<E: Error>(self, value: $type) -> Result<V::Value, E> {
            self.0.$name(value)
        }
    )* };
}

macro_rules! counted_bytes {
    ($($name:ident($type:ty);)*) => { $(
        fn $name<E: Error>(self, value: $type) -> Result<V::Value, E> {
            take_memory::<E>(value.len())?;
            self.0.$name(value)
        }
    )* };
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Counted<V> {
    type Value = V::Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(formatter)
    }

    passed_on! {
        visit_bool(bool);
        visit_i8(i8);
        visit_i16(i16);
        visit_i32(i32);
        visit_i64(i64);
        visit_i128(i128);
        visit_u8(u8);
        visit_u16(u16);
        visit_u32(u32);
        visit_u64(u64);
        visit_u128(u128);
        visit_f32(f32);
        visit_f64(f64);
        visit_char(char);
    }

    counted_bytes! {
        visit_str(&str);
        visit_borrowed_str(&'de str);
        visit_string(String);
        visit_bytes(&[u8]);
        visit_borrowed_bytes(&'de [u8]);
        visit_byte_buf(Vec<u8>);
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_none()
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        self.0.visit_some(Counted(deserializer))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        self.0.visit_newtype_struct(Counted(deserializer))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, sequence: A) -> Result<V::Value, A::Error> {
        self.0.visit_seq(Counted(sequence))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(Counted(map))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<V::Value, A::Error> {
        self.0.visit_enum(Counted(data))
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Counted<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<S::Value, D::Error> {
        self.0.deserialize(Counted(deserializer))
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Counted<A> {
    type Error = A::Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, A::Error> {
        self.0.next_element_seed(Counted(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Counted<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        self.0.next_key_seed(Counted(seed))
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, A::Error> {
        self.0.next_value_seed(Counted(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: EnumAccess<'de>> EnumAccess<'de> for Counted<A> {
    type Error = A::Error;
    type Variant = Counted<A::Variant>;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Self::Variant), A::Error> {
        self.0.variant_seed(Counted(seed)).map(|(value, variant)| (value, Counted(variant)))
    }
}

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for Counted<A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        self.0.unit_variant()
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, A::Error> {
        self.0.newtype_variant_seed(Counted(seed))
    }

    fn tuple_variant<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, A::Error> {
        self.0.tuple_variant(length, Counted(visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        self.0.struct_variant(fields, Counted(visitor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_stats::form;
    use ferrio_stats::{Histogram, RECORD_FORMAT};

    fn read<T: for<'de> Deserialize<'de>>(bytes: &[u8], most_bytes: u64) -> Result<T, String> {
        form::reading_within(RECORD_FORMAT, most_bytes, || ciborium::from_reader::<Bounded<T>, _>(bytes))
            .map(|read| read.0)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn values_are_those_that_were_written() {
        let value = (Some("text".to_owned()), vec![(1_u8, 2.5_f64)], [(-3_i64, ())], Err::<u8, _>('x'));
        let mut bytes = Vec::new();
        ciborium::into_writer(&value, &mut bytes).unwrap();
        assert_eq!(read(&bytes, 1 << 20), Ok(value));
    }

    /// A list of a thousand empty histograms takes 1,003 bytes in the file, and 32 KiB each in memory.
    #[test]
    fn small_bytes_for_large_values_are_refused() {
        let mut bytes = vec![0x99, 0x03, 0xe8];
        bytes.extend([0x80; 1000]);
        let error = read::<Vec<Histogram>>(&bytes, 1 << 20).unwrap_err();
        assert!(error.contains("memory"), "{error}");
        assert_eq!(read::<Vec<Histogram>>(&bytes, 64 << 20).map(|read| read.len()), Ok(1000));
        // A million texts without a byte: 24 bytes each.
        let mut bytes = vec![0x9a, 0, 0x0f, 0x42, 0x40];
        bytes.extend(vec![0x60; 1_000_000]);
        assert!(read::<Vec<String>>(&bytes, 1 << 20).is_err() && read::<Vec<String>>(&bytes, 64 << 20).is_ok());
    }
}
