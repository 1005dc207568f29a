//! Single numbers and times: the syntax is [`ferrio_units::value`]'s; here it meets the bounds and the messages of an
//! option.
//!
//! Must not know: options beyond the name that a message needs.

use crate::error::JobError;
use crate::message::UserLine;
use crate::options::kind::Bounds;
use crate::value::Value;
use ferrio_spec::{DrawnTime, SizeSpec};
use ferrio_units::value::{
    SizeValue, TimeUnit, is_list, parse_bool, parse_integer, parse_size, parse_time_us, split_pair,
};
use ferrio_units::{KbBase, ParseError};

/// A whole number with the suffixes of sizes, within `bounds`.
pub fn integer(name: &'static str, text: &str, kb_base: KbBase, bounds: Bounds) -> Result<i64, JobError> {
    let value = match parse_integer(text, kb_base) {
        Err(ParseError::ZonesNotAllowed { .. }) => return Err(JobError::ZonesNotPossible(name)),
        result => result?,
    };
    if let Some(min) = bounds.min.filter(|min| value < i128::from(*min)) {
        return Err(JobError::BelowMinimum { name, value, min });
    }
    match bounds.max.filter(|max| value > i128::from(*max)) {
        Some(max) => Err(JobError::AboveMaximum { name, value, max }),
        None => i64::try_from(value).map_err(|_| JobError::NotParsed),
    }
}

/// A count after the colon of a word: from 0 to 32 bits.
pub fn count(text: &str, kb_base: KbBase) -> Result<u32, JobError> {
    u32::try_from(parse_integer(text, kb_base)?).map_err(|_| JobError::NotParsed)
}

/// Bytes, percent (no more than `most_percent`) or zones.
pub fn size(name: &'static str, text: &str, kb_base: KbBase, most_percent: u32) -> Result<Value, JobError> {
    match parse_size(text, kb_base, most_percent) {
        Ok(SizeValue::Bytes(bytes)) => Ok(Value::Size(SizeSpec::Bytes(bytes))),
        Ok(SizeValue::Percent(percent)) => Ok(Value::Size(SizeSpec::Percent(percent))),
        Ok(SizeValue::Zones(n_zones)) => Ok(Value::Zones(n_zones)),
        Err(ParseError::OutOfRange { max: 100, .. }) => {
            Err(JobError::Said(UserLine::named(format!("{name} values greater than 100% aren't supported"))))
        }
        Err(ParseError::NotZones { given }) => {
            Err(JobError::Said(format!("{name}: unexpected zone value '{given}'").into()))
        }
        Err(error) => Err(error.into()),
    }
}

pub fn time_us(name: &'static str, text: &str, unit: TimeUnit) -> Result<i64, JobError> {
    if text.ends_with('z') {
        return Err(JobError::ZonesNotPossible(name));
    }
    i64::try_from(parse_time_us(text, unit)?).map_err(|_| JobError::NotParsed)
}

/// A time in microseconds, or a distribution: `exponential:MEAN`, `uniform:LOW-HIGH`.
pub fn drawn_time(name: &'static str, text: &str, unit: TimeUnit) -> Result<Value, JobError> {
    let refused =
        || JobError::Said(UserLine::named(format!("{name}={text}: give a time, exponential:MEAN or uniform:LOW-HIGH")));
    let time = |text: &str| time_us(name, text, unit).map(i64::unsigned_abs);
    let (word, rest) = text.split_once(':').unwrap_or((text, ""));
    match word.trim() {
        "exponential" if rest.trim().is_empty() || is_list(rest) => Err(refused()),
        "exponential" => Ok(Value::Drawn(DrawnTime::Exponential { mean_us: time(rest)? })),
        "uniform" => {
            let (one, Some(other)) = split_pair(rest).map_err(|_| refused())? else { return Err(refused()) };
            let (one, other) = (time(one)?, time(other)?);
            Ok(Value::Drawn(DrawnTime::Uniform { low_us: one.min(other), high_us: one.max(other) }))
        }
        _ if is_list(text) => Err(JobError::NotParsed),
        _ => time_us(name, text, unit).map(Value::Number),
    }
}

/// The same for a length, which cannot be 0 if it is drawn; a range `LOW-HIGH` is a distribution too.
pub fn drawn_length(name: &'static str, text: &str, unit: TimeUnit) -> Result<Value, JobError> {
    let is_range = is_list(text) && !text.contains([',', ':']);
    let of_range = is_range.then(|| format!("uniform:{text}"));
    let value = drawn_time(name, of_range.as_deref().unwrap_or(text), unit)?;
    match value {
        Value::Drawn(DrawnTime::Uniform { low_us: 0, .. } | DrawnTime::Exponential { mean_us: 0 }) => {
            Err(JobError::Said(UserLine::named(format!("{name}={text}: 0 would be no limit; give times above it"))))
        }
        value => Ok(value),
    }
}

/// A boolean: 0 or 1.
pub fn boolean(text: &str) -> Result<bool, JobError> {
    parse_bool(text).map_err(|error| match parse_integer(text, KbBase::Binary) {
        Ok(number) if number > 1 => JobError::NotBoolean(number),
        _ => error.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::kind::{at_least, between};

    // Expected values: texts as fio 3.41 prints them.
    #[test]
    fn bounds_name_the_option() {
        let integer =
            |name, text, bounds| integer(name, text, KbBase::Binary, bounds).map_err(|error| error.to_string());
        assert_eq!(integer("bs", "4k", at_least(1)), Ok(4096));
        assert_eq!(integer("bs", "0", at_least(1)).unwrap_err(), "bs: min value out of range: 0 (1 min)");
        assert_eq!(integer("nice", "99", between(-20, 19)).unwrap_err(), "nice: max value out of range: 99 (19 max)");
        assert_eq!(integer("iodepth", "1z", at_least(1)).unwrap_err(), "iodepth: 'z' suffix isn't applicable");
    }

    #[test]
    fn sizes_may_be_percent() {
        let size = |text| size("size", text, KbBase::Decimal, 100);
        assert_eq!(size("4k"), Ok(Value::Size(SizeSpec::Bytes(4000))));
        assert_eq!(size("50%"), Ok(Value::Size(SizeSpec::Percent(50))));
        assert_eq!(size("101%").unwrap_err().to_string(), "size values greater than 100% aren't supported");
        let many = super::size("io_size", "250%", KbBase::Decimal, u32::MAX);
        assert_eq!(many, Ok(Value::Size(SizeSpec::Percent(250))));
        assert_eq!(size("2z"), Ok(Value::Zones(2)));
        assert!(size("-1").is_err());
    }

    #[test]
    fn times_may_be_distributions() {
        let drawn = |text| drawn_time("thinktime", text, TimeUnit::Microseconds);
        assert_eq!(drawn("5"), Ok(Value::Number(5)));
        assert_eq!(drawn("5ms"), Ok(Value::Number(5_000)));
        assert_eq!(drawn("exponential:2ms"), Ok(Value::Drawn(DrawnTime::Exponential { mean_us: 2_000 })));
        let uniform = Ok(Value::Drawn(DrawnTime::Uniform { low_us: 1_000, high_us: 5_000 }));
        for text in ["uniform:1ms-5ms", "uniform:5ms-1ms", "uniform: 1ms - 5000"] {
            assert_eq!(drawn(text), uniform, "{text}");
        }
        for text in [
            "exponential",
            "exponential:",
            "exponential:1-2",
            "exponential:x",
            "uniform",
            "uniform:",
            "uniform:5ms",
            "uniform:1-2-3",
            "uniform:1ms-x",
            "normal:1ms",
            "1ms-5ms",
            "1,2",
            "-1",
        ] {
            assert!(drawn(text).is_err(), "{text}");
        }
        let length = |text| drawn_length("runtime", text, TimeUnit::Seconds);
        assert_eq!(length("5"), Ok(Value::Number(5_000_000)));
        let uniform = Ok(Value::Drawn(DrawnTime::Uniform { low_us: 2_000_000, high_us: 5_000_000 }));
        for text in ["2s-5s", "2-5", "5-2", "2000ms-5s", "uniform:2s-5s", "uniform:2-5"] {
            assert_eq!(length(text), uniform, "{text}");
        }
        for text in ["0-5", "uniform:0-5", "exponential:0", "2,5", "2:5", "2-5-9", "2-", "2-x", "normal:2-5", "-1"] {
            assert!(length(text).is_err(), "{text}");
        }
        let line = "fio: runtime=0-5: 0 would be no limit; give times above it";
        assert_eq!(length("0-5").unwrap_err().line(), line);
        let line = "fio: thinktime=uniform:5ms: give a time, exponential:MEAN or uniform:LOW-HIGH";
        assert_eq!(drawn("uniform:5ms").unwrap_err().line(), line);
    }

    #[test]
    fn booleans_are_0_or_1() {
        assert_eq!((boolean("0"), boolean("1"), boolean("-1")), (Ok(false), Ok(true), Ok(true)));
        assert_eq!(boolean("2").unwrap_err().to_string(), "max value out of range: 2 (1 max)");
        assert!(boolean("yes").is_err());
    }
}
