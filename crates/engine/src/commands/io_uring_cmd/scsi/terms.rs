//! What the options of a job with `cmd_type=bsg` say of its commands.
//!
//! Must not know: rings. Start reading at [`BsgTerms`].

use super::super::NAME;
use crate::commands::io_uring_cmd::write_mode::{self, WriteMode};
use crate::commands::scsi::blocks;
use crate::contract::options::EngineOptions;
use crate::contract::{EngineError, IoUnit, JobFacts};
use crate::files::io_uring::options::UringOptions;
use ferrio_spec::engines::options::io_uring::{self, BytesToCheck, CommandLength, ReadMode, VerifyReading};
use ferrio_sys::Errno;
use ferrio_sys::arena::Region;
use ferrio_sys::scsi::cdb::{BlockCommand, ByteCheck, Cdb, CdbLength};
use ferrio_sys::scsi::queue::ScsiData;
use ferrio_units::Direction;

/// The options of a job.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct BsgTerms {
    pub(super) ring: UringOptions,
    length: CdbLength,
    reads_with_fua: bool,
    writes_with_fua: bool,
    read: BlockCommand,
    write: BlockCommand,
}

/// The options contradict each other.
fn refused(what: &str) -> EngineError {
    EngineError::Unfit { step: "init", what: what.to_owned(), is_named: false, errno: libc::EINVAL }
}

impl BsgTerms {
    /// The texts of errors are fio's.
    pub(super) fn parse(options: &EngineOptions) -> Result<Self, EngineError> {
        let text = options.get(&io_uring::WRITE_MODE);
        let modes = write_mode::parse(text)
            .map_err(|why| EngineError::bad_option(NAME, io_uring::WRITE_MODE.name(), text, why.to_string()))?;
        let check = match options.get(&io_uring::VERIFY_BYTCHK) {
            BytesToCheck::Nothing => ByteCheck::Nothing,
            BytesToCheck::All => ByteCheck::All,
            BytesToCheck::OneBlock => ByteCheck::OneBlock,
        };
        let (reads_with_fua, writes_with_fua) = (options.get(&io_uring::READFUA), options.get(&io_uring::WRITEFUA));
        let write = match modes.only() {
            Some(WriteMode::Write) if check != ByteCheck::Nothing => {
                return Err(refused("verify_bytchk is only supported with write_mode=verify for bsg"));
            }
            Some(WriteMode::Write) => BlockCommand::Write,
            Some(WriteMode::Verify) if writes_with_fua => {
                return Err(refused("writefua is not supported with write_mode=verify for bsg"));
            }
            Some(WriteMode::Verify) => BlockCommand::Verify(check),
            _ => return Err(refused("Not Support Write mode in BSG io_uring_cmd")),
        };
        if options.get(&io_uring::VERIFY_MODE) == VerifyReading::Compare {
            return Err(refused("verify_mode=compare is not supported with cmd_type=bsg"));
        }
        let length = match options.get(&io_uring::CDB_LEN) {
            CommandLength::Fitting => CdbLength::Fitting,
            CommandLength::Ten => CdbLength::Ten,
            CommandLength::Sixteen => CdbLength::Sixteen,
            CommandLength::ThirtyTwo => CdbLength::ThirtyTwo,
        };
        let read = match options.get(&io_uring::READ_MODE) {
            ReadMode::Read => BlockCommand::Read,
            ReadMode::Prefetch if reads_with_fua => {
                return Err(refused("readfua is not supported with read_mode=prefetch for bsg"));
            }
            ReadMode::Prefetch if length == CdbLength::ThirtyTwo => {
                return Err(refused("cdb_len=32 is not supported with read_mode=prefetch for bsg"));
            }
            ReadMode::Prefetch => BlockCommand::Prefetch,
        };
        Ok(Self { ring: UringOptions::parse(options)?, length, reads_with_fua, writes_with_fua, read, write })
    }

    /// Checks the job: a command without data cannot be verified.
    pub(super) fn check(&self, job: &JobFacts) -> Result<(), EngineError> {
        if job.commands.ranges_per_trim > 1 {
            return Err(refused("num_range above 1 is not supported with cmd_type=bsg"));
        }
        let moves_data = self.read == BlockCommand::Read && self.write == BlockCommand::Write;
        if job.is_verified && !moves_data {
            return Err(refused("the data of read_mode=prefetch and write_mode=verify cannot be verified"));
        }
        Ok(())
    }

    /// The command of a read or write, and its data, which is all or a part of the unit's. EINVAL: it is not made of whole blocks, or
    /// does not fit the length of a command.
    pub(super) fn transfer(&self, unit: &IoUnit, block_bytes: u32, area: Region) -> Result<(Cdb, ScsiData), Errno> {
        let (first, n_blocks) = blocks(unit, block_bytes)?;
        let (command, with_fua) = match unit.direction {
            Direction::Read => (self.read, self.reads_with_fua),
            _ => (self.write, self.writes_with_fua),
        };
        let cdb = Cdb::of_length(command, self.length, with_fua, first, n_blocks).ok_or(Errno::INVAL)?;
        let data = match command {
            BlockCommand::Read => ScsiData::FromDevice(area),
            BlockCommand::Write | BlockCommand::Verify(ByteCheck::All) => ScsiData::ToDevice(area),
            BlockCommand::Verify(ByteCheck::OneBlock) => ScsiData::ToDevice(area.part(0, block_bytes as usize)),
            BlockCommand::Prefetch | BlockCommand::Verify(ByteCheck::Nothing) => ScsiData::Nothing,
        };
        Ok((cdb, data))
    }

    /// The command of a sync: with 10 bytes, which every disk takes, unless a longer one was asked for.
    pub(super) fn sync(&self) -> Cdb {
        match self.length {
            CdbLength::Fitting | CdbLength::Ten => Cdb::synchronize_cache(),
            CdbLength::Sixteen | CdbLength::ThirtyTwo => Cdb::synchronize_cache_16(),
        }
    }
}

/// A possible reason for the errno of an I/O, which the kernel gives before the device sees the command.
pub(super) fn hint(unit: &IoUnit, errno: i32) -> Option<&'static str> {
    match errno {
        libc::EINVAL if unit.direction == Direction::SyncFileRange => {
            Some("a device has no sync_file_range: use fsync or fdatasync")
        }
        libc::EINVAL => Some(
            "an I/O is made of whole blocks of the disk, takes no more than the disk does at once (max_hw_sectors_kb of its queue), \
             and has a block and length that fit cdb_len: look at bs, offset and cdb_len",
        ),
        libc::EACCES | libc::EPERM => Some("the kernel lets only privileged users send this command (CAP_SYS_RAWIO)"),
        libc::EOPNOTSUPP | libc::ENOSYS => Some("this kernel takes no SCSI commands by a ring (Linux 7 does)"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::given;

    fn parse(texts: &[(&str, &str)]) -> Result<BsgTerms, EngineError> {
        BsgTerms::parse(&EngineOptions::new(given(NAME, texts)))
    }

    /// The texts are fio's.
    #[test]
    fn options_that_contradict_each_other_are_refused() {
        for (texts, text) in [
            (&[("write_mode", "zeroes")][..], "Not Support Write mode in BSG io_uring_cmd"),
            (&[("write_mode", "write/50:verify/50")], "Not Support Write mode in BSG io_uring_cmd"),
            (
                &[("write_mode", "verify"), ("writefua", "1")],
                "writefua is not supported with write_mode=verify for bsg",
            ),
            (
                &[("read_mode", "prefetch"), ("readfua", "1")],
                "readfua is not supported with read_mode=prefetch for bsg",
            ),
            (
                &[("read_mode", "prefetch"), ("cdb_len", "32")],
                "cdb_len=32 is not supported with read_mode=prefetch for bsg",
            ),
            (&[("verify_bytchk", "1")], "verify_bytchk is only supported with write_mode=verify for bsg"),
        ] {
            assert_eq!(parse(texts).unwrap_err().to_string(), text);
        }
    }

    /// SYNCHRONIZE CACHE(10) is 35, SYNCHRONIZE CACHE(16) is 91 (SBC).
    #[test]
    fn a_sync_is_as_short_as_it_may_be() {
        let opcode = |texts: &[(&str, &str)]| parse(texts).unwrap().sync().bytes()[0];
        assert_eq!([opcode(&[]), opcode(&[("cdb_len", "10")])], [0x35; 2]);
        assert_eq!(["16", "32"].map(|length| opcode(&[("cdb_len", length)])), [0x91; 2]);
    }

    #[test]
    fn what_moves_no_data_is_not_verified() {
        let job = JobFacts { is_verified: true, ..JobFacts::default() };
        assert!(parse(&[]).unwrap().check(&job).is_ok());
        assert!(parse(&[("read_mode", "prefetch")]).unwrap().check(&job).is_err());
        assert!(parse(&[("write_mode", "verify")]).unwrap().check(&job).is_err());
    }
}
