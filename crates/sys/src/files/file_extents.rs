//! Extents of files on ext4: blocks that change their file.
//!
//! Must not know: why. Start reading at [`swap_blocks`].
#![expect(unsafe_code, reason = "ioctl with the kernel's own opcode")]

use rustix::fd::{AsFd, AsRawFd, BorrowedFd};
use rustix::io::Errno;
use rustix::ioctl::{Opcode, Updater, ioctl, opcode};

/// `struct move_extent` of the kernel (`fs/ext4/ext4.h`).
#[repr(C)]
struct MoveExtent {
    reserved: u32,
    donor_fd: u32,
    first_block: u64,
    donor_first_block: u64,
    n_blocks: u64,
    n_moved: u64,
}

/// `EXT4_IOC_MOVE_EXT`.
const MOVE_EXT: Opcode = opcode::read_write::<MoveExtent>(b'f', 15);

/// Bytes of a block of the file system that a file is on.
///
/// # Errors
/// What `fstatfs(2)` says.
pub fn block_bytes(file: impl AsFd) -> Result<u64, Errno> {
    let status = rustix::io::retry_on_intr(|| rustix::fs::fstatfs(&file))?;
    u64::try_from(status.f_bsize).ok().filter(|bytes| *bytes > 0).ok_or(Errno::INVAL)
}

/// Gives a file the blocks that a donor has at the same place, and the donor those of the file (`EXT4_IOC_MOVE_EXT`). What is read
/// from the file stays the same. Returns how many blocks were swapped, holes included. Called once per I/O.
///
/// # Errors
/// ENOTTY where the file is not on ext4, EOPNOTSUPP where one of both has no extents, EINVAL where the donor is the same file, on another
/// file system or too short, EBUSY where the kernel still writes pages of one of both, EBADF where one of both is not open for it.
pub fn swap_blocks(file: BorrowedFd<'_>, donor: BorrowedFd<'_>, first_block: u64, n_blocks: u64) -> Result<u64, Errno> {
    let donor_fd = u32::try_from(donor.as_raw_fd()).map_err(|_| Errno::BADF)?;
    let mut request =
        MoveExtent { reserved: 0, donor_fd, first_block, donor_first_block: first_block, n_blocks, n_moved: 0 };
    // SAFETY: the opcode reads and writes one `move_extent`, which has the layout of the kernel's; the descriptor in it is open
    // as long as `donor` is borrowed. A file that is on no ext4 refuses the opcode.
    unsafe { ioctl(file, Updater::<MOVE_EXT, MoveExtent>::new(&mut request)) }?;
    Ok(request.n_moved)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::file_cache::{CacheAdvice, advise};
    use crate::files::file_space::fallocate_extend;
    use crate::test_support::TempDir;
    use ferrio_testing::skip;
    use std::fs::File;

    #[test]
    fn the_opcode_is_that_of_the_kernel() {
        // As strace shows it: _IOC(_IOC_READ|_IOC_WRITE, 0x66, 0xf, 0x28).
        assert_eq!(MOVE_EXT, 0xc028_660f);
    }

    #[test]
    fn blocks_change_their_file_and_contents_stay() {
        let dir = TempDir::new("extents");
        std::fs::write(dir.path().join("file"), vec![1; 65_536]).unwrap();
        let open = |name: &str| {
            File::options().read(true).write(true).create(true).truncate(false).open(dir.path().join(name)).unwrap()
        };
        let (first, donor) = (open("file"), open("donor"));
        first.sync_all().unwrap();
        // Blocks whose pages are in the cache can be busy, and the donor begins without any.
        advise(&first, 0, 0, CacheAdvice::DontNeed).unwrap();
        if fallocate_extend(&donor, 0, 65_536).is_err() {
            skip!("blocks_change_their_file_and_contents_stay", "no fallocate in {}", dir.path().display());
            return;
        }
        let block = block_bytes(&first).unwrap();
        let n_blocks = 65_536 / block;
        match swap_blocks(first.as_fd(), donor.as_fd(), 0, n_blocks) {
            Ok(n_swapped) => assert_eq!(n_swapped, n_blocks),
            Err(errno @ (Errno::NOTTY | Errno::OPNOTSUPP | Errno::BUSY)) => {
                skip!("blocks_change_their_file_and_contents_stay", "{errno} in {}", dir.path().display());
                return;
            }
            Err(errno) => panic!("{errno}"),
        }
        assert_eq!(std::fs::read(dir.path().join("file")).unwrap(), vec![1; 65_536]);
        assert_eq!(swap_blocks(first.as_fd(), first.as_fd(), 0, 1), Err(Errno::INVAL));
        donor.set_len(0).unwrap();
        assert_eq!(swap_blocks(first.as_fd(), donor.as_fd(), 0, 1).ok().filter(|n_swapped| *n_swapped > 0), None);
    }

    #[test]
    fn other_file_systems_refuse_it() {
        let file = File::open("/proc/self/exe").unwrap();
        let proc = File::open("/proc/self/status").unwrap();
        assert_eq!(swap_blocks(proc.as_fd(), file.as_fd(), 0, 1), Err(Errno::NOTTY));
    }
}
