//! I/Os that move no data: syncs and trims, done at once in the thread of the job.
//!
//! fio makes the same system calls for these in each of its engines for files (seen by strace), so all of ferrio's
//! share this file.
//! Must not know: which engine calls. Start reading at [`run`].

use crate::contract::{IoResult, IoUnit};
use crate::files::fd_table::FdTable;
use ferrio_sys::Errno;
use ferrio_sys::file_space::punch_hole;
use ferrio_sys::{file_cache, io_calls};
use ferrio_units::Direction;

/// Bytes moved or the errno.
#[inline]
pub(crate) fn result_of(outcome: Result<usize, Errno>) -> IoResult {
    match outcome {
        Ok(n_bytes) => IoResult::done(n_bytes),
        Err(errno) => error_result(errno),
    }
}

#[inline]
pub(crate) fn error_result(errno: Errno) -> IoResult {
    IoResult::failed(errno.raw_os_error())
}

/// True for what [`run`] does.
#[inline]
pub(crate) const fn is_control(direction: Direction) -> bool {
    !matches!(direction, Direction::Read | Direction::Write)
}

/// Does a sync or a trim. Reads and writes are refused with EINVAL.
///
/// A trim is `BLKDISCARD`, to which a regular file answers ENOTTY, as with fio; then its blocks are given back to the file system, if the
/// job wants that.
pub(crate) fn run(fds: &FdTable, unit: &IoUnit) -> IoResult {
    let outcome = fds.get(unit.file_index).and_then(|fd| match unit.direction {
        Direction::Read | Direction::Write => Err(Errno::INVAL),
        Direction::Trim => match io_calls::discard(fd, unit.offset_bytes, unit.length_bytes as u64) {
            Err(Errno::NOTTY) if fds.punches_holes => punch_hole(fd, unit.offset_bytes, unit.length_bytes as u64),
            outcome => outcome,
        },
        Direction::Sync => file_cache::sync(fd),
        Direction::Datasync => file_cache::sync_data(fd),
        Direction::SyncFileRange => {
            io_calls::sync_file_range(fd, unit.offset_bytes, unit.length_bytes as u64, unit.sync_flags)
        }
        Direction::Syncfs => file_cache::sync_file_system(fd),
    });
    result_of(outcome.map(|()| unit.length_bytes))
}

#[cfg(test)]
mod tests {
    use crate::testing::{BLOCK, LoopedTestFile, Rig, RigOptions};
    use ferrio_testing::{skip, skip_part};
    use ferrio_units::Direction;

    #[test]
    fn every_engine_trims_a_block_device() {
        let device = match LoopedTestFile::new("trim") {
            Ok(device) => device,
            Err(reason) => {
                skip!("every_engine_trims_a_block_device", "{reason}");
                return;
            }
        };
        for (block, name) in
            ["sync", "psync", "vsync", "pvsync", "pvsync2", "libaio", "io_uring", "posixaio", "mmap", "splice"]
                .iter()
                .enumerate()
        {
            let mut rig = match Rig::on_path(name, Some(device.path()), RigOptions::default()) {
                Ok(rig) => rig,
                Err(error) => {
                    skip_part!("every_engine_trims_a_block_device", "with {name}: {error}");
                    continue;
                }
            };
            let [before, trim, after] =
                [Direction::Read, Direction::Trim, Direction::Read].map(|direction| rig.unit(direction, block));
            let mut bytes = Vec::new();
            for unit in [before, trim, after] {
                rig.run(
                    &[unit],
                    |_, _| (),
                    |_, buffer, result| {
                        assert_eq!(result, BLOCK as i64, "{name}");
                        bytes.push(buffer[0]);
                    },
                );
            }
            assert_eq!((bytes[0], bytes[2]), (block as u8 + 1, 0), "{name}");
        }
    }
}
