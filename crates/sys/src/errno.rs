//! Numbers of errors for reports and patterns. The values are those of the kernel, from [`Errno`].
//!
//! Must not know: their effect on a job.

use crate::Errno;

pub const EACCES: i32 = Errno::ACCESS.raw_os_error();
pub const EAGAIN: i32 = Errno::AGAIN.raw_os_error();
pub const EBUSY: i32 = Errno::BUSY.raw_os_error();
pub const EDQUOT: i32 = Errno::DQUOT.raw_os_error();
pub const EEXIST: i32 = Errno::EXIST.raw_os_error();
pub const EFBIG: i32 = Errno::FBIG.raw_os_error();
pub const EILSEQ: i32 = Errno::ILSEQ.raw_os_error();
pub const EINTR: i32 = Errno::INTR.raw_os_error();
pub const EINVAL: i32 = Errno::INVAL.raw_os_error();
pub const EIO: i32 = Errno::IO.raw_os_error();
pub const EISDIR: i32 = Errno::ISDIR.raw_os_error();
pub const EMFILE: i32 = Errno::MFILE.raw_os_error();
pub const ENODEV: i32 = Errno::NODEV.raw_os_error();
pub const ENOENT: i32 = Errno::NOENT.raw_os_error();
pub const ENOMEDIUM: i32 = Errno::NOMEDIUM.raw_os_error();
pub const ENOMEM: i32 = Errno::NOMEM.raw_os_error();
pub const ENOSPC: i32 = Errno::NOSPC.raw_os_error();
pub const ENXIO: i32 = Errno::NXIO.raw_os_error();
pub const EOVERFLOW: i32 = Errno::OVERFLOW.raw_os_error();
pub const EPERM: i32 = Errno::PERM.raw_os_error();
pub const EREMOTEIO: i32 = Errno::REMOTEIO.raw_os_error();
pub const EROFS: i32 = Errno::ROFS.raw_os_error();
pub const ETIMEDOUT: i32 = Errno::TIMEDOUT.raw_os_error();
