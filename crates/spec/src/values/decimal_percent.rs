//! Shares in percent with decimals, which add up exactly.
//!
//! Must not know: what is shared. Start reading at [`DecimalPercent`].

use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// A share in percent with up to four decimals, at most 100 million percent. In records it is a whole number or a decimal one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct DecimalPercent {
    parts: u64,
}

impl DecimalPercent {
    /// Parts of the whole in which shares are counted.
    pub const PARTS_OF_ALL: u64 = 100 * Self::PARTS_OF_PERCENT;

    const PARTS_OF_PERCENT: u64 = 10_000;

    /// So many whole percent.
    pub const fn whole(percent: u32) -> Self {
        Self { parts: percent as u64 * Self::PARTS_OF_PERCENT }
    }

    /// So many parts of [`Self::PARTS_OF_ALL`].
    pub const fn of_parts(parts: u64) -> Self {
        Self { parts }
    }

    /// A whole number, or one with one to four decimals: `5`, `0.25`. `None`: anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
        let n_digits = u32::try_from(decimals.len()).ok().filter(|n_digits| (1..=4).contains(n_digits))?;
        let decimals: u64 = decimals.bytes().all(|digit| digit.is_ascii_digit()).then(|| decimals.parse().ok())??;
        let parts = Self::whole(whole.parse().ok()?).parts + decimals * 10_u64.pow(4 - n_digits);
        Some(Self { parts })
    }

    pub const fn parts(self) -> u64 {
        self.parts
    }

    /// Whole percent; `None`: it has decimals.
    pub fn as_whole(self) -> Option<u32> {
        let is_whole = self.parts.is_multiple_of(Self::PARTS_OF_PERCENT);
        u32::try_from(self.parts / Self::PARTS_OF_PERCENT).ok().filter(|_| is_whole)
    }

    /// The share of a whole of 1.
    pub fn fraction(self) -> f64 {
        self.parts as f64 / Self::PARTS_OF_ALL as f64
    }
}

impl fmt::Display for DecimalPercent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.parts as f64 / Self::PARTS_OF_PERCENT as f64)
    }
}

impl Serialize for DecimalPercent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.as_whole() {
            Some(percent) => serializer.serialize_u32(percent),
            None => serializer.serialize_f64(self.parts as f64 / Self::PARTS_OF_PERCENT as f64),
        }
    }
}

impl<'de> Deserialize<'de> for DecimalPercent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Numbers)
    }
}

struct Numbers;

impl Visitor<'_> for Numbers {
    type Value = DecimalPercent;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a share in percent")
    }

    fn visit_u64<E: Error>(self, percent: u64) -> Result<DecimalPercent, E> {
        let percent = u32::try_from(percent).map_err(|_| E::invalid_value(Unexpected::Unsigned(percent), &self))?;
        Ok(DecimalPercent::whole(percent))
    }

    fn visit_i64<E: Error>(self, percent: i64) -> Result<DecimalPercent, E> {
        let unsigned = u64::try_from(percent).map_err(|_| E::invalid_value(Unexpected::Signed(percent), &self))?;
        self.visit_u64(unsigned)
    }

    fn visit_f64<E: Error>(self, percent: f64) -> Result<DecimalPercent, E> {
        if !(0.0..=f64::from(u32::MAX)).contains(&percent) {
            return Err(E::invalid_value(Unexpected::Float(percent), &self));
        }
        // Fits: 32 bits and four decimals.
        Ok(DecimalPercent::of_parts((percent * DecimalPercent::PARTS_OF_PERCENT as f64).round() as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::de::IntoDeserializer;
    use serde::de::value::{Error, F64Deserializer, I64Deserializer, U32Deserializer};

    #[test]
    fn decimals_are_read_exactly() {
        let parts = |text| DecimalPercent::parse(text).map(DecimalPercent::parts);
        for (text, expected) in
            [("0", 0), ("5", 50_000), ("0.5", 5_000), ("99.5", 995_000), ("0.0001", 1), ("1.10", 11_000)]
        {
            assert_eq!(parts(text), Some(expected), "{text}");
        }
        for text in ["", ".", "5.", ".5", "0.00001", "1.5x", "1.-5", "-1", "1e2", "1.2.3", "4294967296", "nan"] {
            assert_eq!(parts(text), None, "{text}");
        }
        let shown = |text| DecimalPercent::parse(text).expect("a number").to_string();
        assert_eq!([shown("90"), shown("99.50"), shown("0.0001")], ["90", "99.5", "0.0001"]);
        assert_eq!([DecimalPercent::whole(7).as_whole(), DecimalPercent::of_parts(1).as_whole()], [Some(7), None]);
    }

    #[test]
    fn records_have_whole_or_decimal_numbers() {
        let whole: U32Deserializer<Error> = 60_u32.into_deserializer();
        let decimal: F64Deserializer<Error> = 0.25_f64.into_deserializer();
        let negative: I64Deserializer<Error> = (-1_i64).into_deserializer();
        assert_eq!(DecimalPercent::deserialize(whole), Ok(DecimalPercent::whole(60)));
        assert_eq!(DecimalPercent::deserialize(decimal), Ok(DecimalPercent::of_parts(2_500)));
        assert!(DecimalPercent::deserialize(negative).is_err());
    }
}
