//! Blocks of a namespace as a job sees them: how many bytes of its buffers and offsets a block takes.
//!
//! Must not know: rings. Start reading at [`Geometry::of`].

use super::options::CommandOptions;
use crate::contract::{EngineError, JobFacts};
use ferrio_sys::Errno;
use ferrio_sys::nvme::namespace::{IdentifyStep, Namespace, ProtectionFormat};
use std::io;
use std::os::fd::AsFd;

/// A namespace, and the use that a job makes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Geometry {
    pub(super) namespace: Namespace,
    /// Bytes of a block in buffers and offsets: its data, and its metadata where they are in the same buffer.
    pub(super) unit_bytes: u64,
}

/// Blocks of an I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Blocks {
    pub(super) first: u64,
    pub(super) n: u64,
}

impl Geometry {
    /// Asks the namespace behind an open device.
    pub(super) fn of(device: impl AsFd, _options: &CommandOptions) -> Result<Self, EngineError> {
        let namespace = Namespace::of(device).map_err(|(step, error)| {
            let what = match step {
                IdentifyStep::Id => "failed to fetch namespace-id",
                IdentifyStep::Controller => "failed to fetch identify ctrl",
                IdentifyStep::Namespace => "failed to fetch identify namespace",
                IdentifyStep::NvmNamespace => "failed to fetch identify nvm namespace",
            };
            let errno = error.errno().unwrap_or(libc::EIO);
            EngineError::Unfit { step: "get_file_size", what: what.to_owned(), is_named: true, errno }
        })?;
        Self::new(namespace)
    }

    fn new(namespace: Namespace) -> Result<Self, EngineError> {
        if namespace.metadata_bytes > namespace.protection.map_or(0, ProtectionFormat::bytes) {
            let source = io::Error::from_raw_os_error(libc::EOPNOTSUPP);
            let what = format!("blocks with {} bytes of metadata", namespace.metadata_bytes);
            let hint = "metadata of a job's own are not built yet: format the namespace with metadata of 0 bytes, or \
                        with protection information alone";
            return Err(EngineError::Refused { engine: super::NAME, what, source, hint: hint.to_owned() });
        }
        // The controller makes and checks protection information by itself, and leaves it out of the data.
        Ok(Self { namespace, unit_bytes: u64::from(namespace.data_bytes) })
    }

    /// Size of the namespace.
    pub(super) fn total_bytes(&self) -> u64 {
        self.namespace.n_blocks.saturating_mul(self.unit_bytes)
    }

    /// Checks the block sizes of the job.
    pub(super) fn check(&self, job: &JobFacts) -> Result<(), EngineError> {
        let is_whole = |bytes: &u64| bytes.is_multiple_of(self.unit_bytes);
        if job.block_bytes.iter().all(|(min, max)| is_whole(min) && is_whole(max)) {
            return Ok(());
        }
        let what = "block size must be a multiple of LBA data size".to_owned();
        Err(EngineError::Unfit { step: "fio_ioring_cmd_open_file", what, is_named: true, errno: libc::EINVAL })
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

    fn namespace(data_bytes: u32) -> Namespace {
        Namespace { id: 1, n_blocks: 100, data_bytes, ..Namespace::default() }
    }

    #[test]
    fn an_io_is_made_of_whole_blocks() {
        let geometry = Geometry::new(namespace(4096)).unwrap();
        assert_eq!(geometry.total_bytes(), 409_600);
        assert_eq!(geometry.blocks(8192, 12288), Ok(Blocks { first: 2, n: 3 }));
        for (offset_bytes, length_bytes) in [(1000, 4096), (4096, 1000), (0, 0)] {
            assert_eq!(geometry.blocks(offset_bytes, length_bytes), Err(Errno::INVAL));
        }
    }

    #[test]
    fn block_sizes_of_a_job_are_multiples() {
        let geometry = Geometry::new(namespace(512)).unwrap();
        let job = |blocks: &[(u64, u64)]| JobFacts { block_bytes: blocks.to_vec(), ..JobFacts::default() };
        assert!(geometry.check(&job(&[(512, 4096), (1024, 1024)])).is_ok());
        let error = geometry.check(&job(&[(512, 4096), (512, 1000)])).unwrap_err();
        assert_eq!((error.errno(), error.to_string().as_str()), (22, "block size must be a multiple of LBA data size"));
    }
}
