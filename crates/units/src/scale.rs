//! Scaled figures: `199MiB/s`, `50.8k`, `97.7KiB`: a number cut to so many significant digits, with a prefix and a unit.
//!
//! The digits are those of the reference: integer divisions, of which only the last remainder is used for decimals.
//!
//! Must not know: which report a figure is for. Start reading at [`Scaler::scale`], then [`FigureStyle`] for the
//! `primary (alternate)` pairs.

use crate::base::{KbBase, UnitBase};

/// Prefixes for thousands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PrefixSystem {
    /// `k`, `M`, ...: steps of 1000.
    Si,
    /// `Ki`, `Mi`, ...: steps of 1024.
    Iec,
}

impl PrefixSystem {
    const fn prefixes(self) -> [&'static str; 7] {
        match self {
            Self::Si => ["", "k", "M", "G", "T", "P", "E"],
            Self::Iec => ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"],
        }
    }

    const fn step(self) -> u128 {
        match self {
            Self::Si => 1000,
            Self::Iec => 1024,
        }
    }

    /// The prefixes that a `kb_base` shows first.
    pub const fn primary(kb_base: KbBase) -> Self {
        match kb_base {
            KbBase::Binary => Self::Iec,
            KbBase::Decimal => Self::Si,
        }
    }
}

/// Unit behind the prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScaleUnit {
    /// None: counts.
    None,
    /// `B`.
    Bytes,
    /// `B/s`.
    BytesPerSec,
    /// `bit`: the value is in bytes, and shown times 8.
    Bits,
    /// `bit/s`: the value is in bytes per second, and shown times 8.
    BitsPerSec,
}

impl ScaleUnit {
    const fn text(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Bytes => "B",
            Self::BytesPerSec => "B/s",
            Self::Bits => "bit",
            Self::BitsPerSec => "bit/s",
        }
    }

    const fn factor(self) -> u128 {
        match self {
            Self::Bits | Self::BitsPerSec => 8,
            _ => 1,
        }
    }
}

/// Turns numbers into figures of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scaler {
    n_digits: usize,
    system: PrefixSystem,
    unit: ScaleUnit,
    first_prefix_index: usize,
}

/// Significant digits unless `significant_figures` says otherwise.
pub const DEFAULT_N_DIGITS: u32 = 4;

impl Scaler {
    /// Figures with [`DEFAULT_N_DIGITS`] significant digits.
    pub const fn new(system: PrefixSystem, unit: ScaleUnit) -> Self {
        Self { n_digits: DEFAULT_N_DIGITS as usize, system, unit, first_prefix_index: 0 }
    }

    /// Figures with this many significant digits (`significant_figures`, 1..=10; 0 counts as 1).
    #[must_use]
    pub const fn with_digits(self, n_digits: u32) -> Self {
        Self { n_digits: if n_digits == 0 { 1 } else { n_digits as usize }, ..self }
    }

    /// Figures of values that are counted in thousands (KiB or kB) already: the first prefix is `k` or `Ki`. The value
    /// is not converted between 1000 and 1024.
    #[must_use]
    pub const fn from_kilo(self) -> Self {
        Self { first_prefix_index: 1, ..self }
    }

    /// The figure of a value. The rules come from fio's output, number by number.
    pub fn scale(&self, value: u64) -> String {
        let prefixes = self.system.prefixes();
        let mut prefix_index = self.first_prefix_index;
        // Cannot overflow: 64 bits times 8.
        let mut integer = u128::from(value) * self.unit.factor();
        let mut remainder = None;
        while n_decimal_digits(integer) > self.n_digits && prefix_index + 1 < prefixes.len() {
            remainder = Some(integer % self.system.step());
            integer /= self.system.step();
            prefix_index += 1;
        }
        let digits = match remainder {
            None => integer.to_string(),
            Some(remainder) => self.round(integer, remainder),
        };
        format!("{digits}{}{}", prefixes[prefix_index], self.unit.text())
    }

    /// `integer + remainder / step` in the digits that are left. Rounding can add a digit: `9999 k` and 999 is `10000k`.
    fn round(&self, integer: u128, remainder: u128) -> String {
        let step = self.system.step();
        let n_decimals = self.n_digits.saturating_sub(n_decimal_digits(integer) + 1);
        if n_decimals == 0 {
            return (integer + u128::from(2 * remainder >= step)).to_string();
        }
        // The reference rounds this double, not the exact fraction: 0.15 is below a half of a tenth, 0.05 is above.
        let decimals = format!("{:.n_decimals$}", remainder as f64 / step as f64);
        let carry = u128::from(decimals.starts_with('1'));
        format!("{}{}", integer + carry, &decimals[1..])
    }
}

fn n_decimal_digits(value: u128) -> usize {
    value.checked_ilog10().unwrap_or(0) as usize + 1
}

/// Style of a job's figures: the choices of `kb_base`, `unit_base` and `significant_figures` together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FigureStyle {
    /// Prefixes of the first figure.
    pub kb_base: KbBase,
    /// Whether rates are in bytes or bits.
    pub unit_base: UnitBase,
    /// Significant digits, `1..=10`.
    pub n_digits: u32,
}

impl Default for FigureStyle {
    fn default() -> Self {
        Self { kb_base: KbBase::default(), unit_base: UnitBase::default(), n_digits: DEFAULT_N_DIGITS }
    }
}

/// One value in both prefix systems, as in `199MiB/s (208MB/s)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FigurePair {
    /// In the prefixes of `kb_base`.
    pub primary: String,
    /// In the other prefixes.
    pub alternate: String,
}

impl FigureStyle {
    /// A rate, in the unit of `unit_base`.
    pub fn rate(self, bytes_per_sec: u64) -> FigurePair {
        self.pair(bytes_per_sec, self.rate_unit())
    }

    /// An amount of data: always in bytes.
    pub fn amount(self, n_bytes: u64) -> FigurePair {
        self.pair(n_bytes, ScaleUnit::Bytes)
    }

    /// A count, such as IOPS: SI prefixes and no unit whatever `kb_base` says.
    pub fn count(self, n: u64) -> String {
        Scaler::new(PrefixSystem::Si, ScaleUnit::None).with_digits(self.n_digits).scale(n)
    }

    /// `B/s` or `bit/s`.
    pub const fn rate_unit(self) -> ScaleUnit {
        match self.unit_base {
            UnitBase::Bytes => ScaleUnit::BytesPerSec,
            UnitBase::Bits => ScaleUnit::BitsPerSec,
        }
    }

    fn pair(self, value: u64, unit: ScaleUnit) -> FigurePair {
        let scaler = |kb_base| Scaler::new(PrefixSystem::primary(kb_base), unit).with_digits(self.n_digits);
        FigurePair { primary: scaler(self.kb_base).scale(value), alternate: scaler(self.kb_base.other()).scale(value) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(system: PrefixSystem, unit: ScaleUnit, n_digits: u32, value: u64) -> String {
        Scaler::new(system, unit).with_digits(n_digits).scale(value)
    }

    /// The table of the reference: value, 4 digits SI, 4 digits IEC bytes, 6 digits SI.
    #[test]
    fn reference_table() {
        let table = [
            (9999, "9999", "9999B", "9999"),
            (10_000, "10.0k", "9.77KiB", "10000"),
            (12_345, "12.3k", "12.1KiB", "12345"),
            (99_999, "100.0k", "97.7KiB", "99999"),
            (123_456, "123k", "121KiB", "123456"),
            (999_500, "1000k", "976KiB", "999500"),
            (1_048_576, "1049k", "1024KiB", "1048.6k"),
            (9_999_999, "10000k", "9766KiB", "10000.0k"),
            (10_485_760, "10.5M", "10.0MiB", "10486k"),
        ];
        for (value, si_4, iec_4, si_6) in table {
            assert_eq!(figure(PrefixSystem::Si, ScaleUnit::None, 4, value), si_4);
            assert_eq!(figure(PrefixSystem::Iec, ScaleUnit::Bytes, 4, value), iec_4);
            assert_eq!(figure(PrefixSystem::Si, ScaleUnit::None, 6, value), si_6);
        }
    }

    /// Recorded from fio 3.41, which shows a block size at its start: digits, value, SI, IEC.
    #[test]
    fn recorded_block_sizes() {
        let table = [
            (1, 10, "0kB", "0KiB"),
            (1, 999, "1kB", "1KiB"),
            (1, 10_000, "0MB", "10KiB"),
            (1, 2_147_483_647, "2GB", "2GiB"),
            (2, 99_999, "100kB", "98KiB"),
            (2, 100_864, "0MB", "99KiB"),
            (3, 1000, "1.0kB", "1.0KiB"),
            (3, 9999, "10.0kB", "9.8KiB"),
            (3, 104_857_600, "105MB", "100MiB"),
            (4, 10_112, "10.1kB", "9.88KiB"),
            (4, 12_050, "12.1kB", "11.8KiB"),
            (4, 12_150, "12.1kB", "11.9KiB"),
            (4, 12_250, "12.2kB", "12.0KiB"),
            (4, 12_350, "12.3kB", "12.1KiB"),
            (4, 1_000_500, "1001kB", "977KiB"),
            (5, 100_480, "100.5kB", "98.12KiB"),
            (5, 101_504, "101.5kB", "99.12KiB"),
            (5, 10_485_760, "10486kB", "10240KiB"),
            (6, 1_000_500, "1000.5kB", "977.05KiB"),
            (7, 10_485_760, "10485.8kB", "10240.0KiB"),
            (10, 2_147_483_647, "2147483647B", "2147483647B"),
        ];
        for (n_digits, value, si, iec) in table {
            assert_eq!(figure(PrefixSystem::Si, ScaleUnit::Bytes, n_digits, value), si);
            assert_eq!(figure(PrefixSystem::Iec, ScaleUnit::Bytes, n_digits, value), iec);
        }
    }

    #[test]
    fn largest_values_end_at_exa() {
        assert_eq!(figure(PrefixSystem::Si, ScaleUnit::BytesPerSec, 4, u64::MAX), "18.4EB/s");
        assert_eq!(figure(PrefixSystem::Iec, ScaleUnit::BitsPerSec, 1, u64::MAX), "128Eibit/s");
        assert_eq!(figure(PrefixSystem::Si, ScaleUnit::None, 0, 0), "0");
    }

    #[test]
    fn thousands_start_one_prefix_up() {
        let kib_per_sec = Scaler::new(PrefixSystem::Iec, ScaleUnit::BytesPerSec).from_kilo();
        assert_eq!(kib_per_sec.scale(3845), "3845KiB/s");
        assert_eq!(kib_per_sec.scale(16_384), "16.0MiB/s");
        // The reference shows the same KiB as kB where it means the alternate figure.
        let kilo = Scaler::new(PrefixSystem::Si, ScaleUnit::BytesPerSec).from_kilo();
        assert_eq!(kilo.scale(3845), "3845kB/s");
    }

    #[test]
    fn pairs_follow_the_bases() {
        let style = FigureStyle::default();
        let pair = |primary: &str, alternate: &str| FigurePair { primary: primary.into(), alternate: alternate.into() };
        assert_eq!(style.amount(8_388_608), pair("8192KiB", "8389kB"));
        assert_eq!(FigureStyle { kb_base: KbBase::Decimal, ..style }.amount(8_388_608), pair("8389kB", "8192KiB"));
        // 8 MiB in 7 ms, recorded with unit_base=1; amounts stay in bytes.
        let bits = FigureStyle { unit_base: UnitBase::Bits, ..style };
        assert_eq!(bits.rate(8_388_608 * 1000 / 7), pair("9143Mibit/s", "9587Mbit/s"));
        assert_eq!(bits.amount(8_388_608), pair("8192KiB", "8389kB"));
        assert_eq!(bits.count(18_285), "18.3k");
    }
}
