//! NVMe namespaces behind their character devices (`/dev/ngXnY`): commands, the size and format of a namespace, its zones, and the block
//! device of the same namespace.
//!
//! Facts: the NVM Express base, NVM command set and zoned namespace specifications; `linux/nvme_ioctl.h`. Numbers of commands and
//! answers are little endian. Must not know: jobs. Start reading at [`NvmeCommand`], then [`namespace::Namespace`].
#![expect(unsafe_code, reason = "ioctl with the kernel's own opcodes")]

pub mod namespace;
pub mod node;
pub mod zones;

use crate::error::{Error, Result};
use rustix::fd::{AsFd, AsRawFd};
use std::io;

/// `NVME_IOCTL_ID`, `_IO('N', 0x40)`: the number of the namespace.
const IOCTL_ID: libc::c_ulong = 0x4E40;
/// `NVME_IOCTL_ADMIN_CMD` and `NVME_IOCTL_IO_CMD`, `_IOWR('N', 0x41, struct nvme_passthru_cmd)` and 0x43.
const IOCTL_ADMIN: libc::c_ulong = 0xC048_4E41;
const IOCTL_IO: libc::c_ulong = 0xC048_4E43;

/// Opcodes of the commands to a namespace.
pub mod opcode {
    pub const FLUSH: u8 = 0x00;
    pub const WRITE: u8 = 0x01;
    pub const READ: u8 = 0x02;
    pub const COMPARE: u8 = 0x05;
    pub const WRITE_ZEROES: u8 = 0x08;
    pub const DATASET_MANAGEMENT: u8 = 0x09;
    pub const VERIFY: u8 = 0x0C;
    pub const IO_MANAGEMENT_RECEIVE: u8 = 0x12;
    pub const ZONE_MANAGEMENT_SEND: u8 = 0x79;
    pub const ZONE_MANAGEMENT_RECEIVE: u8 = 0x7A;
    pub const ZONE_APPEND: u8 = 0x7D;
}

/// A command, in the form in which the kernel takes it (`struct nvme_passthru_cmd` and `struct nvme_uring_cmd`).
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NvmeCommand {
    pub opcode: u8,
    /// Flags; none are used.
    pub flags: u8,
    reserved: u16,
    pub namespace: u32,
    /// Words 2 and 3.
    pub words_2: [u32; 2],
    /// Address of separate metadata, or 0.
    pub metadata_address: u64,
    /// Address of the data, or 0.
    pub data_address: u64,
    /// Length of separate metadata, bytes.
    pub metadata_bytes: u32,
    /// Length of the data, bytes; of a command by vector: number of its parts.
    pub data_bytes: u32,
    /// Words 10 to 15.
    pub words_10: [u32; 6],
    /// Time until the kernel gives the command up, ms; 0: that of the driver.
    pub timeout_ms: u32,
    /// The answer, in a call that waits for it.
    pub answer: u32,
}

impl NvmeCommand {
    pub const BYTES: usize = size_of::<Self>();

    /// A command without data.
    pub const fn new(opcode: u8, namespace: u32) -> Self {
        Self {
            opcode,
            flags: 0,
            reserved: 0,
            namespace,
            words_2: [0; 2],
            metadata_address: 0,
            data_address: 0,
            metadata_bytes: 0,
            data_bytes: 0,
            words_10: [0; 6],
            timeout_ms: 0,
            answer: 0,
        }
    }

    /// The command as the kernel reads it.
    #[inline]
    pub const fn bytes(&self) -> [u8; Self::BYTES] {
        // SAFETY: both have the same size, and the fields of the command leave no gap between them.
        unsafe { std::mem::transmute(*self) }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CommandQueue {
    Admin,
    Io,
}

/// The data of a command that is waited for.
enum CommandPayload<'a> {
    None,
    Receive(&'a mut [u8]),
    Send(&'a [u8]),
}

/// Has all written data put on the medium, and waits for it.
///
/// # Errors
/// The errno of the kernel, or `Unavailable` with the status of the device.
pub fn flush(device: impl AsFd, namespace: u32) -> Result<()> {
    let command = NvmeCommand::new(opcode::FLUSH, namespace);
    wait_for(device, CommandQueue::Io, command, CommandPayload::None).map(drop)
}

/// Length of the head of a report of reclaim unit handles, and of each handle in it.
const HANDLES_HEAD_BYTES: usize = 16;
const HANDLE_BYTES: usize = 32;

/// The placement identifiers of a namespace: those of its reclaim unit handles, in the order of the device.
///
/// # Errors
/// The errno of the kernel, or `Unavailable` with the status of the device, which may have no flexible data placement.
pub fn placement_ids(device: impl AsFd, namespace: u32) -> Result<Vec<u16>> {
    let device = device.as_fd();
    let ask = |n_handles: usize| {
        let mut answer = vec![0; HANDLES_HEAD_BYTES + n_handles * HANDLE_BYTES];
        let mut command = NvmeCommand::new(opcode::IO_MANAGEMENT_RECEIVE, namespace);
        // The status of the handles; the length of the answer in words of 32 bits, less one.
        (command.words_10[0], command.words_10[1]) = (1, (answer.len() / 4 - 1) as u32);
        wait_for(device, CommandQueue::Io, command, CommandPayload::Receive(&mut answer)).map(|_| answer)
    };
    let n_handles = handles_in(&ask(0)?);
    Ok(ids_in(&ask(n_handles)?))
}

fn handles_in(answer: &[u8]) -> usize {
    usize::from(u16::from_le_bytes([answer[14], answer[15]]))
}

fn ids_in(answer: &[u8]) -> Vec<u16> {
    let handles = answer[HANDLES_HEAD_BYTES..].chunks_exact(HANDLE_BYTES).take(handles_in(answer));
    handles.map(|handle| u16::from_le_bytes([handle[0], handle[1]])).collect()
}

/// Number of the namespace behind an open character device.
fn namespace_id(device: impl AsFd) -> Result<u32> {
    // SAFETY: this opcode takes no argument, and returns the number.
    let returned = unsafe { libc::ioctl(device.as_fd().as_raw_fd(), IOCTL_ID, 0) };
    u32::try_from(returned).map_err(|_| call("NVME_IOCTL_ID", io::Error::last_os_error()))
}

/// Sends a command and waits for its end.
///
/// # Errors
/// The errno of the kernel, or `Unavailable` with the status of the device.
fn wait_for(
    device: impl AsFd,
    queue: CommandQueue,
    mut command: NvmeCommand,
    transfer: CommandPayload<'_>,
) -> Result<u32> {
    (command.data_address, command.data_bytes) = match transfer {
        CommandPayload::None => (0, 0),
        CommandPayload::Receive(buffer) => (buffer.as_mut_ptr() as u64, buffer.len() as u32),
        CommandPayload::Send(data) => (data.as_ptr() as u64, data.len() as u32),
    };
    let (operation, name) = match queue {
        CommandQueue::Admin => (IOCTL_ADMIN, "NVME_IOCTL_ADMIN_CMD"),
        CommandQueue::Io => (IOCTL_IO, "NVME_IOCTL_IO_CMD"),
    };
    // SAFETY: the kernel reads and writes one command, and the data that it names, during the call, after which the
    // borrow of the caller ends; it is mutable where the device sends data.
    let returned = unsafe { libc::ioctl(device.as_fd().as_raw_fd(), operation, &raw mut command) };
    match returned {
        0 => Ok(command.answer),
        1.. => Err(Error::Unavailable { what: "a command of the device", reason: status_text(returned as u16) }),
        _ => Err(call(name, io::Error::last_os_error())),
    }
}

fn call(operation: &'static str, source: io::Error) -> Error {
    Error::Call { operation, target: String::new(), source }
}

/// The two parts of a status: its type (bits 8 to 10) and its code (bits 0 to 7).
pub const fn status_parts(status: u16) -> (u8, u8) {
    ((status >> 8) as u8 & 7, status as u8)
}

fn status_text(status: u16) -> String {
    let (kind, code) = status_parts(status);
    format!("status type 0x{kind:02x}, code 0x{code:02x}")
}

/// A little-endian number of 32 bits in an answer.
fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes[at..].first_chunk().map_or(0, |word| u32::from_le_bytes(*word))
}

/// A little-endian number of 64 bits in an answer.
fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes[at..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_has_the_layout_of_the_kernel() {
        let command = NvmeCommand {
            words_2: [0x0202_0202, 0x0303_0303],
            metadata_address: 0x1111,
            data_address: 0x2222,
            metadata_bytes: 0x33,
            data_bytes: 0x44,
            words_10: [10, 11, 12, 13, 14, 15],
            timeout_ms: 0x55,
            ..NvmeCommand::new(opcode::READ, 7)
        };
        let bytes = command.bytes();
        assert_eq!(bytes.len(), 72);
        assert_eq!(
            (bytes[0], u32_at(&bytes, 4), u32_at(&bytes, 8), u32_at(&bytes, 12)),
            (2, 7, 0x0202_0202, 0x0303_0303)
        );
        assert_eq!((u64_at(&bytes, 16), u64_at(&bytes, 24)), (0x1111, 0x2222));
        assert_eq!((u32_at(&bytes, 32), u32_at(&bytes, 36)), (0x33, 0x44));
        let words: Vec<u32> = (0..6).map(|index| u32_at(&bytes, 40 + index * 4)).collect();
        assert_eq!((words, u32_at(&bytes, 64)), (vec![10, 11, 12, 13, 14, 15], 0x55));
    }

    #[test]
    fn handles_have_their_ids() {
        let mut answer = vec![0; HANDLES_HEAD_BYTES + 3 * HANDLE_BYTES];
        answer[14] = 2;
        for (index, id) in [0x0102_u16, 7, 9].iter().enumerate() {
            let at = HANDLES_HEAD_BYTES + index * HANDLE_BYTES;
            answer[at..at + 2].copy_from_slice(&id.to_le_bytes());
        }
        assert_eq!(ids_in(&answer), [0x0102, 7]);
    }

    #[test]
    fn a_status_has_two_parts() {
        // Bit 14 says that a retry is useless.
        assert_eq!(status_parts(0x4001), (0, 1));
        assert_eq!(status_parts(0x4285), (2, 0x85));
    }

    #[test]
    fn what_is_no_namespace_says_so() {
        let null = std::fs::File::open("/dev/null").unwrap();
        assert!(namespace_id(&null).is_err());
        assert!(wait_for(&null, CommandQueue::Admin, NvmeCommand::new(6, 1), CommandPayload::None).is_err());
    }
}
