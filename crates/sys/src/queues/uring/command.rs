//! Commands to NVMe devices by a ring (`IORING_OP_URING_CMD` with requests of 128 bytes). Linux 5.19.
//!
//! Must not know: what commands mean. Start reading at [`RingCommand`].
#![expect(unsafe_code, reason = "the command is read as bytes, and points to memory")]

use super::request::with_fd;
use super::{CommandRing, RingFd};
use crate::devices::nvme::NvmeCommand;
use crate::memory::arena::Region;
use io_uring::opcode;
use io_uring::squeue::{Entry128, Flags};
use io_uring::types::{Fd, Fixed};

/// `NVME_URING_CMD_IO` and `NVME_URING_CMD_IO_VEC`, `_IOWR('N', 0x80, struct nvme_uring_cmd)` and 0x81.
const IO: u32 = 0xC048_4E80;
const IO_BY_VECTOR: u32 = 0xC048_4E81;

const COMMAND_BYTES: usize = 80;

/// The data of a command, and the form in which the kernel gets its memory.
#[derive(Debug, Clone, Copy)]
pub enum CommandData {
    /// No data.
    None,
    /// Address and length.
    Plain(Region),
    /// A vector of one.
    Vector(Region),
    /// Within this registered buffer.
    Registered(Region, u16),
}

#[derive(Debug, Clone, Copy)]
pub struct RingCommand {
    /// The character device of the namespace.
    pub fd: RingFd,
    /// The command; the ring puts the data into it.
    pub command: NvmeCommand,
    pub data: CommandData,
    /// Its metadata, if they are separate.
    pub metadata: Option<Region>,
    /// Lets a kernel worker thread do it at once (`IOSQE_ASYNC`).
    pub is_forced_async: bool,
}

impl CommandRing {
    /// Pushes a command for a slot. False, and nothing is pushed, if the submission queue is full.
    ///
    /// # Safety
    /// Until the completion of the slot was popped or the ring is dropped: the memory of data and metadata must live and must
    /// not be used otherwise (that of a write may be read), the descriptor must stay open, and the slot must not be used again.
    ///
    /// # Panics
    /// If the slot is not below the depth.
    #[inline]
    pub unsafe fn push_command(&mut self, slot: u32, request: &RingCommand) -> bool {
        let vector = self.vectors[slot as usize].get();
        let mut command = request.command;
        if let Some(metadata) = request.metadata {
            command.metadata_address = metadata.as_ptr() as u64;
            command.metadata_bytes = metadata.len() as u32;
        }
        let (operation, buffer) = match request.data {
            CommandData::None => (IO, None),
            CommandData::Plain(region) => (IO, Some((region, None))),
            CommandData::Registered(region, index) => (IO, Some((region, Some(index)))),
            CommandData::Vector(region) => {
                // SAFETY: the slot is in no request (the caller's promise), so nobody reads its vector.
                unsafe { *vector = libc::iovec { iov_base: region.as_ptr().cast(), iov_len: region.len() } };
                command.data_address = vector as u64;
                command.data_bytes = 1;
                (IO_BY_VECTOR, None)
            }
        };
        if let Some((region, _)) = buffer {
            command.data_address = region.as_ptr() as u64;
            command.data_bytes = region.len() as u32;
        }
        let index = buffer.and_then(|(_, index)| index);
        let entry = entry(request.fd, operation, index, &command).user_data(u64::from(slot));
        let entry = if request.is_forced_async { entry.flags(Flags::ASYNC) } else { entry };
        // SAFETY: the vector lives as long as the ring, and the rest is the caller's promise.
        unsafe { self.push(&entry) }
    }
}

fn entry(fd: RingFd, operation: u32, index: Option<u16>, command: &NvmeCommand) -> Entry128 {
    let mut bytes = [0; COMMAND_BYTES];
    bytes[..NvmeCommand::BYTES].copy_from_slice(&command.bytes());
    with_fd!(fd, |fd| opcode::UringCmd80::new(fd, operation).buf_index(index).cmd(bytes).build())
}
