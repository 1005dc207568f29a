//! Booleans (`direct=1`) and flags (`time_based`, `time_based=0`): numbers, never words.

use super::ParseError;
use super::number::Number;

/// A boolean: 0 or 1, in decimal or hexadecimal. Like fio, ferrio takes `-1` for 1.
///
/// # Errors
/// No value, no number, or any other number; `yes` and `true` are no booleans.
pub fn parse_bool(text: &str) -> Result<bool, ParseError> {
    match read_number(text)? {
        0 => Ok(false),
        1 | -1 => Ok(true),
        _ => Err(ParseError::NotABoolean { given: text.to_owned() }),
    }
}

/// The value of a flag: 0 clears it, any other number sets it. A flag without a value is set; that is up to the caller.
pub fn parse_flag(text: &str) -> Result<bool, ParseError> {
    read_number(text).map(|value| value != 0)
}

/// An empty text stays one; everything else that is no number is no boolean.
fn read_number(text: &str) -> Result<i64, ParseError> {
    let no_boolean = |error| match error {
        ParseError::Empty => error,
        _ => ParseError::NotABoolean { given: text.to_owned() },
    };
    Number::read(text).map_err(no_boolean)?.alone(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As fio 3.41 takes them, which takes `1x` and `1.5` too.
    #[test]
    fn recorded_booleans() {
        for text in ["1", "-1", "0x1", "01", " 1", "1 ", "+1", "1 # on"] {
            assert_eq!(parse_bool(text), Ok(true), "{text}");
        }
        for text in ["0", "00", "0x0"] {
            assert_eq!(parse_bool(text), Ok(false), "{text}");
        }
        for text in ["2", "x", "yes", "true", "99999999999999999999", "0x", "0xg"] {
            assert_eq!(parse_bool(text), Err(ParseError::NotABoolean { given: text.to_owned() }));
        }
        for text in ["1x", "1.5", "0k", "10 1", "1,0"] {
            assert!(matches!(parse_bool(text), Err(ParseError::LeftOver { .. })), "{text}");
        }
        assert_eq!(parse_bool(""), Err(ParseError::Empty));
    }

    #[test]
    fn any_number_sets_a_flag() {
        for text in ["1", "5", "-1", "0x1"] {
            assert_eq!(parse_flag(text), Ok(true), "{text}");
        }
        assert_eq!(parse_flag("0"), Ok(false));
        assert!(parse_flag("x").is_err());
        assert_eq!(parse_flag(""), Err(ParseError::Empty));
    }
}
