//! Names of error numbers, for `ignore_error`.
//!
//! Must not know: the effect of an error on a job. The numbers come from libc.

use crate::error::JobError;
use crate::refused_value::RefusedValue;

macro_rules! errno_names {
    ($($name:ident),* $(,)?) => { &[$((stringify!($name), libc::$name)),*] };
}

/// Names that are understood, with their numbers on this machine.
const NAMES: &[(&str, i32)] = errno_names!(
    EPERM,
    ENOENT,
    ESRCH,
    EINTR,
    EIO,
    ENXIO,
    E2BIG,
    ENOEXEC,
    EBADF,
    ECHILD,
    EAGAIN,
    EWOULDBLOCK,
    ENOMEM,
    EACCES,
    EFAULT,
    ENOTBLK,
    EBUSY,
    EEXIST,
    EXDEV,
    ENODEV,
    ENOTDIR,
    EISDIR,
    EINVAL,
    ENFILE,
    EMFILE,
    ENOTTY,
    ETXTBSY,
    EFBIG,
    ENOSPC,
    ESPIPE,
    EROFS,
    EMLINK,
    EPIPE,
    EDOM,
    ERANGE,
    EDEADLK,
    EDEADLOCK,
    ENAMETOOLONG,
    ENOLCK,
    ENOSYS,
    ENOTEMPTY,
    ELOOP,
    ENODATA,
    ETIME,
    EREMOTE,
    ENOLINK,
    ECOMM,
    EPROTO,
    EBADMSG,
    EOVERFLOW,
    EILSEQ,
    EUSERS,
    EOPNOTSUPP,
    ENOTSUP,
    ENOBUFS,
    ETIMEDOUT,
    ECONNREFUSED,
    ECONNRESET,
    ECONNABORTED,
    EHOSTDOWN,
    EHOSTUNREACH,
    EALREADY,
    EINPROGRESS,
    ESTALE,
    EUCLEAN,
    EREMOTEIO,
    EDQUOT,
    ENOMEDIUM,
    EMEDIUMTYPE,
    ECANCELED,
    ENOKEY,
    EKEYEXPIRED,
    EKEYREJECTED,
);

/// The number of `text`: a name, or a number above 0, decimal or hexadecimal.
pub fn parse(text: &str) -> Result<i32, JobError> {
    if let Some((_, number)) = NAMES.iter().find(|(name, _)| *name == text) {
        return Ok(*number);
    }
    let number = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) if !digits.starts_with(['+', '-']) => i32::from_str_radix(digits, 16),
        _ => text.parse(),
    };
    match number {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(RefusedValue::UnknownErrno(text.to_owned()).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers() {
        for (text, expected) in
            [("EIO", 5), ("ENOSPC", 28), ("EWOULDBLOCK", 11), ("EDEADLOCK", 35), ("122", 122), ("0x1C", 28)]
        {
            assert_eq!(parse(text), Ok(expected), "{text}");
        }
        assert_eq!(parse("FOO").unwrap_err().line(), "Unknown error FOO, please use number value");
        for bad in ["-1", "0", "", "0x", "0x0", "0x-1", "0x1k", "28x"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
