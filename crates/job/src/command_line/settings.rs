//! Values of the switches that choose how results are shown.
//!
//! Must not know: jobs. Each function takes a switch's argument and returns the setting, or the lines of a refusal.

use crate::invocation::EtaWhen;
use crate::message::UserLine;
use ferrio_spec::{OUTPUT_FORMAT_NAMES, OutputFormat, OutputFormats};
use ferrio_units::value::{TimeUnit, parse_integer, parse_time_us};
use ferrio_units::{KbBase, ParseError};

/// Shortest time between two progress lines, milliseconds.
const MIN_ETA_INTERVAL_MS: u64 = 250;

/// Lines for standard error.
pub type Complaints = Vec<UserLine>;

/// `--output-format`: replaces earlier choices.
pub fn formats(list: &str) -> Result<OutputFormats, Complaints> {
    list.split(',').map(|word| OutputFormat::from_name(word).ok_or_else(|| no_format(word))).collect()
}

fn no_format(word: &str) -> Complaints {
    let said = UserLine::named(format!("invalid output format {word}"));
    let allowed = format!("command line: output-format takes these, joined by commas: {OUTPUT_FORMAT_NAMES}");
    vec![said, UserLine::named("failed parsing output-format"), allowed.into()]
}

/// `--terse-version`: 2 to 5; any text after the digits is ignored.
pub fn terse_version(text: &str) -> Result<u8, Complaints> {
    let version = parse_integer(text, KbBase::Binary).ok().and_then(|number| u8::try_from(number).ok());
    version.filter(|version| (2..=5).contains(version)).ok_or_else(|| {
        let allowed = "command line: terse-version takes a number from 2 to 5";
        vec![UserLine::named("bad terse version format"), allowed.into()]
    })
}

/// `--eta`: any other word means auto, as in fio.
pub fn eta_when(text: &str) -> EtaWhen {
    match text {
        "always" => EtaWhen::Always,
        "never" => EtaWhen::Never,
        _ => EtaWhen::Auto,
    }
}

pub fn eta_interval_ms(text: &str) -> Result<u64, Complaints> {
    let interval_ms =
        time_ms(text).map_err(|_| vec![UserLine::named(format!("failed parsing eta interval {text}"))])?;
    if interval_ms < MIN_ETA_INTERVAL_MS {
        return Err(vec![UserLine::named(format!("eta interval time too short ({MIN_ETA_INTERVAL_MS}msec min)"))]);
    }
    Ok(interval_ms)
}

pub fn eta_newline_ms(text: &str) -> Result<u64, Complaints> {
    let newline_ms = time_ms(text).map_err(|_| vec![UserLine::named(format!("failed parsing eta time {text}"))])?;
    if newline_ms == 0 { Err(vec![UserLine::named("eta new line time too short")]) } else { Ok(newline_ms) }
}

/// A time whose unit is seconds unless it says otherwise, in milliseconds.
pub(super) fn time_ms(text: &str) -> Result<u64, ParseError> {
    parse_time_us(text, TimeUnit::Seconds).map(|time_us| time_us / 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Values and texts as fio 3.41 takes and prints them.
    #[test]
    fn formats_are_words() {
        let plus = formats("csv,json+").unwrap();
        assert_eq!(plus, OutputFormats::from_iter([OutputFormat::Terse, OutputFormat::JsonPlus]));
        for word in ["foo", "", "Normal", "json,"] {
            let bad = word.trim_start_matches("json,");
            let expected =
                [format!("fio: invalid output format {bad}"), "fio: failed parsing output-format".to_owned()];
            assert_eq!(formats(word).unwrap_err()[..2], expected);
        }
    }

    #[test]
    fn terse_versions_are_2_to_5() {
        for (text, expected) in [("2", Some(2)), ("5", Some(5)), ("2x", None), ("1", None), ("9", None), ("x", None)] {
            assert_eq!(terse_version(text).ok(), expected, "{text}");
        }
    }

    #[test]
    fn eta_times() {
        assert_eq!(eta_interval_ms("1"), Ok(1000));
        assert_eq!(eta_interval_ms("250ms"), Ok(250));
        assert_eq!(eta_interval_ms("100ms").unwrap_err(), ["fio: eta interval time too short (250msec min)"]);
        assert_eq!(eta_interval_ms("foo").unwrap_err(), ["fio: failed parsing eta interval foo"]);
        assert_eq!(eta_newline_ms("500ms"), Ok(500));
        assert_eq!(eta_newline_ms("0").unwrap_err(), ["fio: eta new line time too short"]);
        assert_eq!(eta_newline_ms("foo").unwrap_err(), ["fio: failed parsing eta time foo"]);
    }
}
