//! Those of the ring are those of `io_uring`. Must not know: commands. Start reading at [`CommandOptions`].

use super::NAME;
use super::write_mode::{self, WriteModes};
use crate::commands::protection::{ProtectionOptions, metadata_bytes};
use crate::contract::EngineError;
use crate::contract::options::EngineOptions;
use crate::files::io_uring::options::UringOptions;
use ferrio_spec::engines::options::io_uring::{self, ReadMode, VerifyReading};
use ferrio_spec::engines::options::io_uring_cmd as of_commands;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct CommandOptions {
    pub(super) ring: UringOptions,
    /// Reads bypass the cache of the device (FUA).
    pub(super) reads_past_cache: bool,
    /// Writes end when the data is on the medium (FUA).
    pub(super) writes_past_cache: bool,
    pub(super) write_modes: WriteModes,
    /// Zeroes are written by deallocating, where the device can (`deac`).
    pub(super) deallocates_zeroes: bool,
    /// Room for metadata of an I/O in a buffer of their own, bytes.
    pub(super) metadata_bytes: u32,
    pub(super) protection: ProtectionOptions,
    /// What the job has written is compared by the device, and not read back (`verify_mode`).
    pub(super) compares: bool,
}

impl CommandOptions {
    pub(super) fn parse(options: &EngineOptions) -> Result<Self, EngineError> {
        if options.get(&io_uring::READ_MODE) != ReadMode::Read {
            let what = "read_mode is only supported with cmd_type=bsg".to_owned();
            return Err(EngineError::Unfit { step: "init", what, is_named: false, errno: libc::EINVAL });
        }
        let text = options.get(&io_uring::WRITE_MODE);
        let write_modes = write_mode::parse(text)
            .map_err(|why| EngineError::bad_option(NAME, io_uring::WRITE_MODE.name(), text, why.to_string()))?;
        Ok(Self {
            ring: UringOptions::parse(options)?,
            reads_past_cache: options.get(&io_uring::READFUA),
            writes_past_cache: options.get(&io_uring::WRITEFUA),
            write_modes,
            deallocates_zeroes: options.get(&of_commands::DEAC),
            metadata_bytes: metadata_bytes(NAME, options)?,
            protection: ProtectionOptions::parse(NAME, options)?,
            compares: options.get(&io_uring::VERIFY_MODE) == VerifyReading::Compare,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::given;

    fn parse(texts: &[(&str, &str)]) -> Result<CommandOptions, EngineError> {
        CommandOptions::parse(&EngineOptions::new(given(NAME, texts)))
    }

    #[test]
    fn the_fields_to_check_are_words_of_a_text() {
        let options = parse(&[("pi_chk", "GUARD,APPTAG")]).unwrap().protection;
        assert!(options.checks_guard && options.checks_application && !options.checks_reference && options.by_device);
        assert_eq!((options.application_tag, options.application_mask), (0x1234, 0xFFFF));
        let none = parse(&[]).unwrap().protection;
        assert!(!none.checks_guard && !none.checks_application && !none.checks_reference);
    }

    #[test]
    fn numbers_fit_their_fields() {
        let error = parse(&[("apptag", "65536")]).unwrap_err();
        assert_eq!(error.to_string(), "io_uring_cmd: option apptag=65536: the number does not fit its field");
        assert!(parse(&[("md_per_io_size", "-1")]).is_err());
        assert!(parse(&[("write_mode", "foo")]).unwrap_err().to_string().ends_with("invalid write_mode value: foo"));
    }
}
