//! The commands that writes of a job become (`write_mode`): one, or a mix of several by percentages.
//!
//! Must not know: encodings. Start reading at [`parse`].

use crate::mix::{MixError, WordMix};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WriteMode {
    Write,
    /// Write zeroes: no data go to the device.
    Zeroes,
    /// Verify: the device reads the blocks and checks them, without data for the host.
    Verify,
    /// Zone append: the device chooses the place within the zone.
    ZoneAppend,
}

/// The commands with their shares.
pub(super) type WriteModes = WordMix<WriteMode>;

/// Reads the option.
pub(super) fn parse(text: &str) -> Result<WriteModes, MixError> {
    WordMix::parse("write_mode", text, mode)
}

fn mode(name: &str) -> Result<WriteMode, MixError> {
    match name {
        "write" => Ok(WriteMode::Write),
        "zeroes" => Ok(WriteMode::Zeroes),
        "verify" => Ok(WriteMode::Verify),
        "zone_append" => Ok(WriteMode::ZoneAppend),
        "uncor" => Err(MixError::Word("write_mode=uncor is not built yet".to_owned())),
        _ => Err(MixError::Word(format!("invalid write_mode value: {name}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_fio() {
        let modes = parse("write/70:zeroes/30").unwrap();
        assert!(modes.have(WriteMode::Write) && modes.have(WriteMode::Zeroes) && !modes.have(WriteMode::Verify));
        assert_eq!(parse("zone_append").unwrap().only(), Some(WriteMode::ZoneAppend));
        assert_eq!(parse("foo").unwrap_err().to_string(), "invalid write_mode value: foo");
        assert_eq!(parse("uncor").unwrap_err().to_string(), "write_mode=uncor is not built yet");
    }
}
