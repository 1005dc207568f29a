//! Outcomes of I/Os: the enum that everybody reads, and the compact form in which engines hand it over.
//!
//! The compact form is as large as one number, because an outcome is handed over for every I/O and an enum with a payload
//! takes two registers and a comparison more. Only this file knows how it is stored.
//! Must not know: engines. Start reading at [`Outcome`].

use std::fmt;

/// How an I/O has ended, or why it has not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It is done. Bytes moved; for syncs and trims the length asked for.
    Done(u64),
    /// A read has moved so many bytes, fewer than asked for, and there are no more: the object is shorter than the block.
    Short(u64),
    /// It failed with this errno, which is above 0.
    Failed(i32),
    /// The device refused the command, or failed to do it, with this status of NVMe, which is above 0.
    NvmeStatus(u16),
    /// The other end of the connection sends no more, or the I/O was given up: it counts for what it has moved, and the
    /// job ends.
    EndOfData,
    /// Nothing was moved for a moment. The loop queues the same unit again, or the job ends.
    NotYet,
}

/// An [`Outcome`] in compact form.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct IoResult(i64);

impl IoResult {
    /// [`Outcome::EndOfData`].
    pub const END_OF_DATA: Self = Self(i64::MIN);

    /// [`Outcome::NotYet`].
    pub const NOT_YET: Self = Self(i64::MIN + 1);

    /// Numbers of short reads count from here.
    const SHORT_BASE: i64 = i64::MIN / 2;

    /// Numbers of errors of the kernel are below this, and statuses of devices are above it.
    const STATUS_BASE: i64 = 1 << 16;

    /// [`Outcome::Done`].
    #[inline]
    pub const fn done(n_bytes: usize) -> Self {
        // Fits: no transfer is half as long as the address space.
        Self(n_bytes as i64)
    }

    /// [`Outcome::Short`].
    #[inline]
    pub const fn short(n_bytes: usize) -> Self {
        Self(Self::SHORT_BASE + n_bytes as i64)
    }

    /// [`Outcome::Failed`].
    #[inline]
    pub const fn failed(errno: i32) -> Self {
        Self::of_call(-(errno as i64))
    }

    /// [`Outcome::NvmeStatus`].
    #[inline]
    pub const fn nvme_status(status: u16) -> Self {
        Self(-(Self::STATUS_BASE + status as i64))
    }

    /// What a system call returned: bytes moved, or a negative errno.
    #[inline]
    pub const fn of_call(returned: i64) -> Self {
        Self(returned)
    }

    /// True if the I/O is done and has moved this many bytes.
    #[inline]
    pub const fn is_done_with(self, n_bytes: usize) -> bool {
        self.0 == n_bytes as i64
    }

    #[inline]
    pub const fn outcome(self) -> Outcome {
        match self {
            Self(n_bytes @ 0..) => Outcome::Done(n_bytes as u64),
            Self::END_OF_DATA => Outcome::EndOfData,
            Self::NOT_YET => Outcome::NotYet,
            // No block is a quarter as long as the address space.
            Self(number) if number < Self::SHORT_BASE / 2 => Outcome::Short((number - Self::SHORT_BASE) as u64),
            Self(number) if number < -Self::STATUS_BASE => Outcome::NvmeStatus((-number - Self::STATUS_BASE) as u16),
            // Fits: the kernel's numbers of errors are below 4096.
            Self(errno) => Outcome::Failed(-errno as i32),
        }
    }

    /// The outcome as tests write it: bytes, or a negative errno.
    #[cfg(test)]
    pub(crate) fn number(self) -> i64 {
        match self.outcome() {
            Outcome::Done(n_bytes) => n_bytes as i64,
            Outcome::Failed(errno) => -i64::from(errno),
            other => panic!("{other:?}"),
        }
    }
}

impl fmt::Debug for IoResult {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.outcome().fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_compact_form_keeps_every_outcome() {
        assert_eq!(IoResult::done(0).outcome(), Outcome::Done(0));
        assert_eq!(IoResult::done(usize::MAX >> 1).outcome(), Outcome::Done(u64::MAX >> 1));
        assert_eq!(IoResult::short(0).outcome(), Outcome::Short(0));
        assert_eq!(IoResult::short(1 << 40).outcome(), Outcome::Short(1 << 40));
        assert_eq!(IoResult::failed(1).outcome(), Outcome::Failed(1));
        assert_eq!(IoResult::failed(4095).outcome(), Outcome::Failed(4095));
        for status in [1, 0x4285, u16::MAX] {
            assert_eq!(IoResult::nvme_status(status).outcome(), Outcome::NvmeStatus(status));
        }
        assert_eq!(IoResult::END_OF_DATA.outcome(), Outcome::EndOfData);
        assert_eq!(IoResult::NOT_YET.outcome(), Outcome::NotYet);
        assert_eq!([IoResult::of_call(7), IoResult::of_call(-5)], [IoResult::done(7), IoResult::failed(5)]);
        assert!(IoResult::done(7).is_done_with(7) && !IoResult::failed(7).is_done_with(7));
    }
}
