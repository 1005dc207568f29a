//! Blocks of a namespace as a job sees them: how many bytes of its buffers and offsets a block takes.
//!
//! Must not know: rings. Start reading at [`Geometry::of`].

use super::options::CommandOptions;
use super::write_mode::WriteMode;
use crate::commands::protection::{ProtectedBlocks, Protection};
use crate::contract::{EngineError, JobFacts};
use ferrio_sys::Errno;
use ferrio_sys::nvme::namespace::{IdentifyStep, Namespace};
use ferrio_sys::nvme::zones::zone_blocks_of;
use std::os::fd::AsFd;

/// A namespace, and the use that a job makes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Geometry {
    pub(super) namespace: Namespace,
    /// Bytes of a block in buffers and offsets: its data, and its metadata where they are in the same buffer.
    pub(super) unit_bytes: u64,
    /// Bytes of a block's metadata in a buffer of their own; 0: none.
    pub(super) apart_bytes: u64,
    pub(super) protection: Option<Protection>,
    /// Blocks from one zone to the next, for jobs that append to zones; 0: there are none.
    pub(super) zone_blocks: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Blocks {
    pub(super) first: u64,
    pub(super) n: u64,
}

/// What does not fit, in a line that begins with the name of the device.
fn unfit(step: &'static str, what: impl Into<String>, errno: i32) -> EngineError {
    EngineError::Unfit { step, what: what.into(), is_named: true, errno }
}

/// What does not fit when a device is opened.
fn unfit_at_open(what: impl Into<String>) -> EngineError {
    unfit("fio_ioring_cmd_open_file", what, libc::EINVAL)
}

impl Geometry {
    /// Asks the namespace behind an open device.
    pub(super) fn of(device: impl AsFd, options: &CommandOptions) -> Result<Self, EngineError> {
        let device = device.as_fd();
        let namespace = Namespace::of(device).map_err(|(step, error)| {
            let what = match step {
                IdentifyStep::Id => "failed to fetch namespace-id",
                IdentifyStep::Controller => "failed to fetch identify ctrl",
                IdentifyStep::Namespace => "failed to fetch identify namespace",
                IdentifyStep::NvmNamespace => "failed to fetch identify nvm namespace",
            };
            unfit("get_file_size", what, error.errno().unwrap_or(libc::EIO))
        })?;
        let appends = options.write_modes.have(WriteMode::ZoneAppend);
        let zone_blocks = if appends { zone_blocks_of(device, &namespace).unwrap_or(0) } else { 0 };
        Self::new(namespace, zone_blocks, options)
    }

    fn new(namespace: Namespace, zone_blocks: u64, options: &CommandOptions) -> Result<Self, EngineError> {
        let protection = namespace.protection;
        if protection.is_some_and(|protection| protection.storage_tag_bits > 0) {
            return Err(unfit("get_file_size", "Storage tag not supported", libc::EOPNOTSUPP));
        }
        if protection.is_some_and(|protection| protection.guard_bits == 32) {
            return Err(unfit("get_file_size", "guards of 32 bits are not supported", libc::EOPNOTSUPP));
        }
        // The device takes and makes the information by itself, and it is all of the metadata.
        let is_left_out = options.protection.by_device
            && protection.is_some_and(|protection| protection.bytes() == namespace.metadata_bytes);
        let (data, metadata) = (u64::from(namespace.data_bytes), u64::from(namespace.metadata_bytes));
        let (unit_bytes, apart_bytes) = match (is_left_out, namespace.is_extended) {
            (true, _) => (data, 0),
            (false, true) => (data + metadata, 0),
            (false, false) => (data, metadata),
        };
        let protection = protection.map(|format| Protection {
            blocks: ProtectedBlocks {
                format,
                data_bytes: namespace.data_bytes as usize,
                metadata_bytes: namespace.metadata_bytes as usize,
                is_extended: namespace.is_extended,
            },
            options: options.protection,
        });
        Ok(Self { namespace, unit_bytes, apart_bytes, protection, zone_blocks })
    }

    /// Protection information of reads is checked by the host.
    pub(super) fn checks_here(&self) -> bool {
        self.protection.is_some_and(|protection| protection.is_by_host())
    }

    /// Size of the namespace, in bytes of the job's buffers.
    pub(super) fn total_bytes(&self) -> u64 {
        self.namespace.n_blocks.saturating_mul(self.unit_bytes)
    }

    /// Metadata are in the buffers of the job.
    fn has_mixed_units(&self) -> bool {
        self.unit_bytes > u64::from(self.namespace.data_bytes)
    }

    /// Checks the job against the namespace.
    pub(super) fn check(&self, job: &JobFacts, options: &CommandOptions) -> Result<(), EngineError> {
        let modes = &options.write_modes;
        if modes.only() != Some(WriteMode::Write) && !job.writes {
            return Err(unfit_at_open("'readwrite=|rw=' has no write"));
        }
        if modes.have(WriteMode::ZoneAppend) && self.has_mixed_units() {
            return Err(unfit_at_open("write_mode=zone_append does not work with extended LBAs"));
        }
        if modes.have(WriteMode::ZoneAppend) && self.zone_blocks == 0 {
            return Err(unfit_at_open("write_mode=zone_append needs a zoned namespace"));
        }
        if self.has_mixed_units() && self.protection.is_some() && job.is_verified {
            return Err(unfit_at_open("for extended LBA, verify cannot be used when E2E data protection is enabled"));
        }
        if options.compares && job.is_verified && self.protection.is_some() && options.protection.by_device {
            return Err(unfit_at_open("verify_mode=compare needs pi_act=0 where blocks have protection information"));
        }
        self.check_blocks(&job.block_bytes)?;
        let largest = job.block_bytes.iter().map(|(_, max)| *max).max().unwrap_or(0);
        let needed = largest / self.unit_bytes * self.apart_bytes;
        if needed > u64::from(options.metadata_bytes) {
            return Err(unfit_at_open(format!("md_per_io_size should be at least {needed} bytes")));
        }
        Ok(())
    }

    fn check_blocks(&self, block_bytes: &[(u64, u64)]) -> Result<(), EngineError> {
        let is_odd =
            |(min, max): &&(u64, u64)| !min.is_multiple_of(self.unit_bytes) || !max.is_multiple_of(self.unit_bytes);
        let Some((min, max)) = block_bytes.iter().find(is_odd) else { return Ok(()) };
        if !self.has_mixed_units() {
            return Err(unfit_at_open("block size must be a multiple of LBA data size"));
        }
        let (unit_bytes, data_bytes) = (self.unit_bytes, u64::from(self.namespace.data_bytes));
        let what = format!("block size must be a multiple of {unit_bytes} (LBA data size + Metadata size)");
        if min == max && min.is_multiple_of(data_bytes) {
            let meant = min / data_bytes * unit_bytes;
            return Err(unfit_at_open(format!("{what}\nDid you mean to use a block size of {meant}?")));
        }
        Err(unfit_at_open(what))
    }

    /// The blocks of an I/O. EINVAL: it is not made of whole blocks.
    #[inline]
    pub(super) fn blocks(&self, offset_bytes: u64, length_bytes: usize) -> Result<Blocks, Errno> {
        let blocks = Blocks { first: offset_bytes / self.unit_bytes, n: length_bytes as u64 / self.unit_bytes };
        let is_whole =
            blocks.first * self.unit_bytes == offset_bytes && blocks.n * self.unit_bytes == length_bytes as u64;
        if is_whole && blocks.n > 0 { Ok(blocks) } else { Err(Errno::INVAL) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::options::EngineOptions;
    use crate::testing::given;
    use ferrio_sys::nvme::namespace::ProtectionFormat;

    fn options(texts: &[(&str, &str)]) -> CommandOptions {
        CommandOptions::parse(&EngineOptions::new(given("io_uring_cmd", texts))).unwrap()
    }

    fn plain(data_bytes: u32) -> Namespace {
        Namespace { id: 1, n_blocks: 100, data_bytes, ..Namespace::default() }
    }

    /// Blocks of 4096 bytes with protection information of 8 bytes.
    fn protected(is_extended: bool, metadata_bytes: u32) -> Namespace {
        let format = ProtectionFormat { kind: 1, guard_bits: 16, storage_tag_bits: 0, is_first: false };
        Namespace { metadata_bytes, is_extended, protection: Some(format), ..plain(4096) }
    }

    fn geometry(namespace: Namespace, texts: &[(&str, &str)]) -> Geometry {
        Geometry::new(namespace, 0, &options(texts)).unwrap()
    }

    fn refusal(geometry: &Geometry, job: &JobFacts, texts: &[(&str, &str)]) -> String {
        geometry.check(job, &options(texts)).map_or_else(|error| error.to_string(), |()| String::new())
    }

    fn job(block_bytes: &[(u64, u64)]) -> JobFacts {
        JobFacts { writes: true, block_bytes: block_bytes.to_vec(), ..JobFacts::default() }
    }

    #[test]
    fn an_io_is_made_of_whole_blocks() {
        let geometry = geometry(plain(4096), &[]);
        assert_eq!(geometry.total_bytes(), 409_600);
        assert_eq!(geometry.blocks(8192, 12288), Ok(Blocks { first: 2, n: 3 }));
        for (offset_bytes, length_bytes) in [(1000, 4096), (4096, 1000), (0, 0)] {
            assert_eq!(geometry.blocks(offset_bytes, length_bytes), Err(Errno::INVAL));
        }
    }

    #[test]
    fn metadata_are_left_out_within_or_apart() {
        let host = [("pi_act", "0")];
        for is_extended in [false, true] {
            assert_eq!(geometry(protected(is_extended, 8), &[]).total_bytes(), 409_600);
        }
        let within = geometry(protected(true, 8), &host);
        assert_eq!((within.total_bytes(), within.apart_bytes), (410_400, 0));
        assert_eq!(within.blocks(4104 * 2, 4104), Ok(Blocks { first: 2, n: 1 }));
        let apart = geometry(protected(false, 8), &host);
        assert_eq!((apart.total_bytes(), apart.apart_bytes), (409_600, 8));
        // The device makes 8 of the 16 bytes, so the others go along.
        assert_eq!(geometry(protected(false, 16), &[]).apart_bytes, 16);
    }

    /// The texts are those of fio 3.41.
    #[test]
    fn a_job_that_does_not_fit_is_refused() {
        let host = [("pi_act", "0")];
        let small = geometry(plain(512), &[]);
        assert_eq!(refusal(&small, &job(&[(512, 4096), (1024, 1024)]), &[]), "");
        let odd = refusal(&small, &job(&[(512, 4096), (512, 1000)]), &[]);
        assert_eq!(odd, "block size must be a multiple of LBA data size");
        let within = geometry(protected(true, 8), &host);
        assert_eq!(
            refusal(&within, &job(&[(8192, 8192)]), &host),
            "block size must be a multiple of 4104 (LBA data size + Metadata size)\n\
             Did you mean to use a block size of 8208?"
        );
        let verified = JobFacts { is_verified: true, ..job(&[(4104, 4104)]) };
        assert!(refusal(&within, &verified, &host).starts_with("for extended LBA, verify cannot be used"));
        let comparing = [("verify_mode", "compare")];
        let by_device = geometry(protected(false, 8), &comparing);
        let compared = JobFacts { is_verified: true, ..job(&[(4096, 4096)]) };
        assert!(refusal(&by_device, &compared, &comparing).starts_with("verify_mode=compare needs pi_act=0"));
        assert_eq!(refusal(&small, &compared, &comparing), "");
        let apart = geometry(protected(false, 8), &host);
        let too_little = [("pi_act", "0"), ("md_per_io_size", "31")];
        let text = "md_per_io_size should be at least 32 bytes";
        assert_eq!(refusal(&apart, &job(&[(4096, 16384)]), &too_little), text);
        assert_eq!(refusal(&apart, &job(&[(4096, 16384)]), &[("pi_act", "0"), ("md_per_io_size", "32")]), "");
        let reads = JobFacts { reads: true, ..JobFacts::default() };
        let text = "'readwrite=|rw=' has no write";
        assert_eq!(refusal(&small, &reads, &[("write_mode", "zeroes")]), text);
    }
}
