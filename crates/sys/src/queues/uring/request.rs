//! Requests for a ring, and their form as a submission queue entry.
//!
//! Must not know: rings.

use crate::memory::arena::Region;
use io_uring::opcode;
use io_uring::squeue::{Entry, Flags};
use io_uring::types::{Fd, Fixed, FsyncFlags};
use std::os::fd::RawFd;

/// `BLOCK_URING_CMD_DISCARD` (`_IO(0x12, 0)`): the command for a block device in `IORING_OP_URING_CMD`. Linux 6.12.
const BLOCK_DISCARD: u32 = 0x12 << 8;

/// A file, by descriptor or by its index in the ring's table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RingFd {
    Open(RawFd),
    /// Index in the table of [`super::IoRing::register_file_table`].
    Registered(u32),
}

/// The form in which the kernel gets the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BufferForm {
    /// Address and length (Linux 5.6).
    Plain,
    /// A vector of one.
    Vector,
    /// Within this registered buffer.
    Registered(u16),
}

/// A read or write.
#[derive(Debug, Clone, Copy)]
pub struct RingIo {
    /// True to write.
    pub is_write: bool,
    pub fd: RingFd,
    /// Memory, at most 4 GiB - 1.
    pub region: Region,
    /// Form in which the kernel gets the memory.
    pub form: BufferForm,
    /// Offset, bytes from the start.
    pub offset: u64,
    /// `RWF_*` bits.
    pub rw_flags: u32,
    /// Priority in the form of `ioprio_set(2)`; 0: that of the thread.
    pub io_priority: u16,
    /// Lets a kernel worker thread do it at once (`IOSQE_ASYNC`), without first trying to do it without a wait.
    pub is_forced_async: bool,
}

/// Gives a request its file, whichever way it is named; the two ways are of different types.
macro_rules! with_fd {
    ($fd:expr, |$target:ident| $build:expr) => {
        match $fd {
            RingFd::Open(fd) => {
                let $target = Fd(fd);
                $build
            }
            RingFd::Registered(index) => {
                let $target = Fixed(index);
                $build
            }
        }
    };
}

pub(super) use with_fd;

impl RingIo {
    /// The entry; `vector` is the address of the vector of the slot, used by that form only.
    #[inline]
    pub(super) fn entry(&self, vector: *const libc::iovec) -> Entry {
        let entry = if self.is_write { self.write_entry(vector) } else { self.read_entry(vector) };
        if self.is_forced_async { entry.flags(Flags::ASYNC) } else { entry }
    }

    fn read_entry(&self, vector: *const libc::iovec) -> Entry {
        let (address, len) = (self.region.as_ptr(), self.region.len() as u32);
        let (offset, flags, priority) = (self.offset, self.rw_flags as i32, self.io_priority);
        with_fd!(self.fd, |fd| match self.form {
            BufferForm::Plain => {
                opcode::Read::new(fd, address, len).offset(offset).rw_flags(flags).ioprio(priority).build()
            }
            BufferForm::Vector => {
                opcode::Readv::new(fd, vector, 1).offset(offset).rw_flags(flags).ioprio(priority).build()
            }
            BufferForm::Registered(index) => {
                let read = opcode::ReadFixed::new(fd, address, len, index);
                read.offset(offset).rw_flags(flags).ioprio(priority).build()
            }
        })
    }

    fn write_entry(&self, vector: *const libc::iovec) -> Entry {
        let (address, len) = (self.region.as_ptr(), self.region.len() as u32);
        let (offset, flags, priority) = (self.offset, self.rw_flags as i32, self.io_priority);
        with_fd!(self.fd, |fd| match self.form {
            BufferForm::Plain => {
                opcode::Write::new(fd, address, len).offset(offset).rw_flags(flags).ioprio(priority).build()
            }
            BufferForm::Vector => {
                opcode::Writev::new(fd, vector, 1).offset(offset).rw_flags(flags).ioprio(priority).build()
            }
            BufferForm::Registered(index) => {
                let write = opcode::WriteFixed::new(fd, address, len, index);
                write.offset(offset).rw_flags(flags).ioprio(priority).build()
            }
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncKind {
    /// `fsync`.
    All,
    /// `fdatasync`.
    Data,
    /// `sync_file_range`.
    Range {
        /// First byte.
        offset: u64,
        /// Bytes; 0 means to the end of the file. The kernel takes 32 bits.
        len: u32,
        /// Flags of `sync_file_range(2)`.
        flags: u32,
    },
}

impl SyncKind {
    #[inline]
    pub(super) fn entry(self, fd: RingFd) -> Entry {
        with_fd!(fd, |fd| match self {
            Self::All => opcode::Fsync::new(fd).build(),
            Self::Data => opcode::Fsync::new(fd).flags(FsyncFlags::DATASYNC).build(),
            Self::Range { offset, len, flags } => {
                opcode::SyncFileRange::new(fd, len).offset(offset).flags(flags).build()
            }
        })
    }
}

/// Bytes of a block device that need not be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Discard {
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub length: u64,
}

impl Discard {
    /// The kernel looks for the first byte where other requests have an address, and for the length in the first 8 bytes of
    /// the command.
    pub(super) fn entry(self, fd: RingFd) -> Entry {
        let mut command = [0; 16];
        command[..8].copy_from_slice(&self.length.to_ne_bytes());
        with_fd!(fd, |fd| opcode::UringCmd16::new(fd, BLOCK_DISCARD).addr(Some(self.offset)).cmd(command).build())
    }
}
