//! Numbers shortened to some digits and a prefix. Stands in for the module of the same name in `ferrio-units`.
//!
//! Must not know: what is counted. Start reading at [`scaled`].

/// What a number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Nothing to name.
    None,
    /// `B`.
    Bytes,
    /// `B/s`.
    BytesPerSec,
    /// `bit/s`; the number is in bytes.
    BitsPerSec,
}

impl Unit {
    fn name(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Bytes => "B",
            Self::BytesPerSec => "B/s",
            Self::BitsPerSec => "bit/s",
        }
    }
}

const SI: [&str; 7] = ["", "k", "M", "G", "T", "P", "E"];
const IEC: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/// `value` (times 1024^`first_prefix`) with at most about `digits` digits.
pub(crate) fn scaled(value: u64, digits: u32, iec: bool, first_prefix: usize, unit: Unit) -> String {
    let (prefixes, divisor) = if iec { (IEC, 1024u128) } else { (SI, 1000) };
    let mut whole = u128::from(value) * if unit == Unit::BitsPerSec { 8 } else { 1 };
    let mut prefix = first_prefix;
    let mut rest = None;
    while whole.to_string().len() > digits as usize && prefix + 1 < prefixes.len() {
        rest = Some(whole % divisor);
        whole /= divisor;
        prefix += 1;
    }
    let number = match rest {
        None => whole.to_string(),
        Some(rest) => with_decimals(whole, rest, divisor, digits),
    };
    format!("{number}{}{}", prefixes[prefix], unit.name())
}

fn with_decimals(whole: u128, rest: u128, divisor: u128, digits: u32) -> String {
    let n_decimals = (digits as usize).saturating_sub(whole.to_string().len() + 1).min(12);
    if n_decimals == 0 {
        return (whole + u128::from(rest * 2 >= divisor)).to_string();
    }
    let power = 10u128.pow(n_decimals as u32);
    let decimals = (rest * power * 2 + divisor) / (divisor * 2);
    let (whole, decimals) = if decimals >= power { (whole + 1, 0) } else { (whole, decimals) };
    format!("{whole}.{decimals:0n_decimals$}")
}
