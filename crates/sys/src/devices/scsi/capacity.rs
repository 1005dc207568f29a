//! The size of a SCSI disk, as it says itself.
//!
//! Must not know: files of sysfs. Start reading at [`Capacity::of`].
#![expect(unsafe_code, reason = "commands whose data is in memory of this function")]

use super::bsg;
use super::cdb::Cdb;
use super::queue::{ScsiData, ScsiQueue};
use crate::Errno;
use crate::memory::arena::{Arena, ArenaKind, ArenaRequest};
use rustix::fd::{AsFd, BorrowedFd};

/// Bytes of the answers: to READ CAPACITY(10), to (16).
const ANSWERS: [usize; 2] = [8, 32];

/// Size of a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capacity {
    pub n_blocks: u64,
    pub block_bytes: u32,
}

impl Capacity {
    /// Asks a device: READ CAPACITY(10), and (16) where that fails or is too small.
    ///
    /// # Errors
    /// The device does not tell its size (`EIO`), or the kernel does not take the command.
    pub fn of(device: impl AsFd) -> Result<Self, Errno> {
        let short = ask(device.as_fd(), Cdb::read_capacity_10(), ANSWERS[0])?;
        let short = short.as_deref().and_then(Self::parse_short);
        if let Some(capacity) = short.filter(|capacity| u32::try_from(capacity.n_blocks).is_ok()) {
            return Ok(capacity);
        }
        let long = ask(device.as_fd(), Cdb::read_capacity_16(ANSWERS[1] as u32), ANSWERS[1])?;
        long.as_deref().and_then(Self::parse_long).ok_or(Errno::IO)
    }

    /// Asks the device behind `/dev/bsg/H:C:T:L`, in the same way.
    pub fn of_bsg(device: impl AsFd) -> Result<Self, Errno> {
        let ask = |cdb, n_bytes| {
            let memory = memory_of(n_bytes)?;
            // SAFETY: the memory is used by nobody else.
            unsafe { bsg::run(device.as_fd(), cdb, ScsiData::FromDevice(memory.region(0, n_bytes))) }?;
            Ok::<_, Errno>(memory.slice(0, n_bytes).to_vec())
        };
        let short = ask(Cdb::read_capacity_10(), ANSWERS[0])?;
        if let Some(capacity) = Self::parse_short(&short).filter(|capacity| u32::try_from(capacity.n_blocks).is_ok()) {
            return Ok(capacity);
        }
        Self::parse_long(&ask(Cdb::read_capacity_16(ANSWERS[1] as u32), ANSWERS[1])?).ok_or(Errno::IO)
    }

    pub fn bytes(self) -> u64 {
        self.n_blocks.saturating_mul(self.block_bytes.into())
    }

    fn parse_short(answer: &[u8]) -> Option<Self> {
        let (last, rest) = answer.split_first_chunk()?;
        Self {
            n_blocks: u64::from(u32::from_be_bytes(*last)) + 1,
            block_bytes: u32::from_be_bytes(*rest.first_chunk()?),
        }
        .checked()
    }

    fn parse_long(answer: &[u8]) -> Option<Self> {
        let (last, rest) = answer.split_first_chunk()?;
        let n_blocks = u64::from_be_bytes(*last).checked_add(1)?;
        Self { n_blocks, block_bytes: u32::from_be_bytes(*rest.first_chunk()?) }.checked()
    }

    fn checked(self) -> Option<Self> {
        (self.block_bytes > 0).then_some(self)
    }
}

fn memory_of(n_bytes: usize) -> Result<Arena, Errno> {
    let memory = ArenaRequest { kind: ArenaKind::Malloc, size_bytes: n_bytes, offset_bytes: 0, hugepage_bytes: 0 };
    Arena::new(&memory).map_err(|_| Errno::NOMEM)
}

/// The answer to a command; `None`: the device does not answer it.
fn ask(device: BorrowedFd<'_>, cdb: Cdb, n_bytes: usize) -> Result<Option<Vec<u8>>, Errno> {
    let arena = memory_of(n_bytes)?;
    let mut queue = ScsiQueue::new(1);
    // SAFETY: the memory belongs to this function, which waits for the command.
    unsafe { queue.run(0, device, cdb, ScsiData::FromDevice(arena.region(0, n_bytes)), false) }?;
    Ok(queue.is_well(0).then(|| arena.slice(0, n_bytes).to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_tell_the_last_block() {
        let short = Capacity::parse_short(&[0, 0, 1, 0xFF, 0, 0, 2, 0]);
        assert_eq!(short, Some(Capacity { n_blocks: 512, block_bytes: 512 }));
        let long = Capacity::parse_long(&[0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0, 0, 0]);
        assert_eq!(long, Some(Capacity { n_blocks: 0x1_0000_0001, block_bytes: 4096 }));
        assert_eq!(long.map(Capacity::bytes), Some(0x1000_0000_1000));
        assert_eq!(Capacity::parse_short(&[0; 8]), None);
        assert_eq!(Capacity::parse_long(&[0xFF; 32]), None);
        assert_eq!(Capacity::parse_short(&[0; 3]), None);
    }

    #[test]
    fn a_file_is_no_disk() {
        let file = std::fs::File::open("/dev/zero").unwrap();
        assert_eq!(Capacity::of(&file), Err(Errno::NOTTY));
    }
}
