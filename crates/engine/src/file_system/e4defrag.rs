//! `ioengine=e4defrag`: each write gives its part of the file the blocks of a donor file, by `EXT4_IOC_MOVE_EXT`, as the defragmentation
//! of ext4 does. What the file holds stays the same; nothing else is moved. Reads and trims are errors.
//!
//! Its options; defaults are in their declarations (`ferrio_spec::engines::options::e4defrag`):
//!
//! | option | meaning |
//! |---|---|
//! | `donorname` | the donor, on the same file system; made if need be, and left there; it has to be given |
//! | `inplace` | 0: the donor gets its blocks when a file is opened; 1: for each I/O, after which it is emptied |
//!
//! As seen on fio 3.41 by strace, whose `inplace=0` only works with `filesize=`. Must not know: batches. Start reading at `Defrag`.

use crate::contract::options::EngineOptions;
use crate::contract::{Engine, EngineError, EngineFile, EngineSetup, IoResult, IoUnit, OpenTarget, Prepare, Prepared};
use crate::files::control;
use crate::files::fd_table::FdTable;
use crate::files::inline::{Inline, Transfer};
use ferrio_spec::engines::options::e4defrag::{DONORNAME, INPLACE};
use ferrio_sys::{Errno, file_extents, file_space};
use ferrio_units::{Direction, byte_text};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

const NAME: &str = "e4defrag";

pub(crate) const PREPARE: Prepare = |options| Ok(Box::new(Defrag::parse(options)?));

/// The engine in its first state.
#[derive(Debug, PartialEq, Eq)]
struct Defrag {
    donor: String,
    is_in_place: bool,
}

impl Defrag {
    fn parse(options: &EngineOptions) -> Result<Self, EngineError> {
        let donor = options.get(&DONORNAME).unwrap_or_default();
        if donor.is_empty() {
            return Err(EngineError::bad_option(NAME, "donorname", "", "a donor file has to be given"));
        }
        Ok(Self { donor: donor.to_owned(), is_in_place: options.get(&INPLACE) })
    }
}

impl Prepared for Defrag {
    fn start(self: Box<Self>, setup: EngineSetup) -> Result<Box<dyn Engine>, EngineError> {
        let mut options = OpenOptions::new();
        // The mode is that of fio.
        options.write(true).create(true).truncate(false).mode(0o644);
        let opened = options.open(byte_text::to_os_string(&self.donor)).and_then(|donor| {
            let block_bytes = file_extents::block_bytes(&donor)?;
            Ok(Swaps { donor, block_bytes, is_in_place: self.is_in_place })
        });
        let swaps = opened.map_err(|source| failed("open", format!("cannot open the donor {}", self.donor), source))?;
        Box::new(Inline(swaps)).start(setup)
    }

    fn hint(&self, unit: &IoUnit, errno: i32) -> Option<&'static str> {
        hint(unit, errno)
    }
}

fn failed(step: &'static str, what: String, source: io::Error) -> EngineError {
    EngineError::Failed { engine: NAME, step, what, source }
}

/// The donor of a job at work.
struct Swaps {
    donor: File,
    /// Of the file system.
    block_bytes: u64,
    is_in_place: bool,
}

impl Swaps {
    /// Swaps the blocks that a part of the file touches; the number of bytes of the part that is done.
    fn swap(&self, file: BorrowedFd<'_>, offset: u64, length: usize) -> Result<usize, Errno> {
        let end = offset.checked_add(length as u64).ok_or(Errno::INVAL)?;
        let first_block = offset / self.block_bytes;
        let n_blocks = end.div_ceil(self.block_bytes) - first_block;
        let n_swapped = file_extents::swap_blocks(file, self.donor.as_fd(), first_block, n_blocks)?;
        let done_to = (first_block + n_swapped).saturating_mul(self.block_bytes).clamp(offset, end);
        Ok((done_to - offset) as usize)
    }
}

impl Transfer for Swaps {
    fn opened(&mut self, file: &EngineFile<'_>) -> Result<(), EngineError> {
        let end = file.range_start.saturating_add(file.range_bytes);
        if self.is_in_place || end == 0 || !matches!(file.target, OpenTarget::Descriptor(_)) {
            return Ok(());
        }
        file_space::fallocate_extend(&self.donor, 0, end)
            .map_err(|errno| failed("fallocate", format!("cannot give the donor {end} bytes"), errno.into()))
    }

    fn control(&mut self, fds: &FdTable, unit: &IoUnit) -> IoResult {
        match unit.direction {
            Direction::Trim => control::error_result(Errno::INVAL),
            _ => control::run(fds, unit),
        }
    }

    fn read(&mut self, _: BorrowedFd<'_>, _: &IoUnit, _: &mut [u8]) -> Result<usize, Errno> {
        Err(Errno::INVAL)
    }

    fn write(&mut self, fd: BorrowedFd<'_>, unit: &IoUnit, buffer: &[u8]) -> Result<usize, Errno> {
        if !self.is_in_place {
            return self.swap(fd, unit.offset_bytes, buffer.len());
        }
        file_space::fallocate_extend(&self.donor, unit.offset_bytes, buffer.len() as u64)?;
        let swapped = self.swap(fd, unit.offset_bytes, buffer.len());
        let emptied = file_space::truncate(&self.donor, 0);
        swapped.and_then(|n_bytes| emptied.map(|()| n_bytes))
    }

    fn hint(&self, unit: &IoUnit, errno: i32) -> Option<&'static str> {
        hint(unit, errno)
    }
}

fn hint(unit: &IoUnit, errno: i32) -> Option<&'static str> {
    match errno {
        libc::EINVAL if unit.direction != Direction::Write => Some("the engine e4defrag takes writes only"),
        libc::EINVAL => Some(
            "the file has to be as long as the job's part of it (see fallocate), and the donor another file on its file system, which no \
             other job uses",
        ),
        libc::EBUSY => Some("the kernel still writes pages of the file or of the donor: sync them before the run"),
        libc::ENOTTY | libc::EOPNOTSUPP => Some("the file is not on ext4, or has no extents there"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{BLOCK, N_BLOCKS, Rig, RigOptions, TestFile};
    use ferrio_spec::GivenOptions;
    use ferrio_sys::file_cache::{CacheAdvice, advise};
    use ferrio_testing::skip;
    use std::path::PathBuf;

    fn options(donor: &str, is_in_place: bool) -> GivenOptions {
        GivenOptions::default().with(&DONORNAME, donor).with(&INPLACE, is_in_place)
    }

    /// A donor that is not there yet, removed when dropped.
    struct Donor(PathBuf);

    impl Donor {
        fn of(file: &TestFile) -> Self {
            Self(file.path().with_extension("donor"))
        }

        fn size(&self) -> u64 {
            std::fs::metadata(&self.0).unwrap().len()
        }
    }

    impl Drop for Donor {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    fn rig(file: &TestFile, donor: &Donor, is_in_place: bool) -> Rig {
        let options = options(donor.0.to_str().unwrap(), is_in_place);
        Rig::new(NAME, Some(file), RigOptions { options, ..RigOptions::default() }).unwrap()
    }

    #[test]
    fn a_donor_has_to_be_named_and_there() {
        let error = PREPARE(&EngineOptions::new(GivenOptions::default())).err().unwrap();
        assert!(matches!(&error, EngineError::BadOption { option: "donorname", .. }), "{error}");
        let file = TestFile::new("e4defrag");
        let options = RigOptions { options: options("/no/such", false), ..RigOptions::default() };
        let error = Rig::new(NAME, Some(&file), options).err().unwrap();
        assert_eq!((error.errno(), error.step()), (libc::ENOENT, Some("open")));
        assert!(error.to_string().starts_with("e4defrag: cannot open the donor /no/such: "), "{error}");
    }

    #[test]
    fn blocks_are_swapped_and_contents_stay() {
        for is_in_place in [false, true] {
            let file = TestFile::new("e4defrag");
            let donor = Donor::of(&file);
            let before = file.contents();
            let opened = File::open(file.path()).unwrap();
            opened.sync_all().unwrap();
            // As the run does when it opens files: blocks whose pages are in the cache can be busy.
            advise(&opened, 0, 0, CacheAdvice::DontNeed).unwrap();
            let mut rig = rig(&file, &donor, is_in_place);
            let odd = (7 * BLOCK + 100) as u64;
            let odd = IoUnit { offset_bytes: odd, length_bytes: 1000, ..rig.unit(Direction::Write, 0) };
            for unit in [rig.unit(Direction::Write, 0), rig.unit(Direction::Write, N_BLOCKS - 1), odd] {
                let result = rig.one(unit);
                if [libc::ENOTTY, libc::EOPNOTSUPP, libc::EBUSY].contains(&(-result as i32)) {
                    skip!("blocks_are_swapped_and_contents_stay", "no ext4 here, or a busy one");
                    assert!(rig.engine.hint(&unit, -result as i32).is_some());
                    return;
                }
                assert_eq!(result, unit.length_bytes as i64, "{is_in_place}");
            }
            assert_eq!(file.contents(), before);
            assert_eq!(donor.size(), if is_in_place { 0 } else { (N_BLOCKS * BLOCK) as u64 });
        }
    }

    #[test]
    fn what_is_no_write_is_an_error() {
        let file = TestFile::new("e4defrag");
        let donor = Donor::of(&file);
        let mut rig = rig(&file, &donor, true);
        for direction in [Direction::Read, Direction::Trim] {
            let unit = rig.unit(direction, 0);
            assert_eq!(rig.one(unit), -i64::from(libc::EINVAL));
            assert!(rig.engine.hint(&unit, libc::EINVAL).is_some_and(|hint| hint.contains("writes only")));
        }
        assert_eq!(rig.one(IoUnit { length_bytes: 0, ..rig.unit(Direction::Sync, 0) }), 0);
        assert_eq!(donor.size(), 0);
    }
}
