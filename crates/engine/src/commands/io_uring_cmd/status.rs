//! What the status of a device means, for the message about a failed I/O.
//!
//! Facts: the NVM Express specifications. Must not know: rings. Start reading at [`hint`].

use crate::contract::IoUnit;
use ferrio_sys::nvme::status_parts;
use ferrio_units::Direction;

/// A possible reason for the errno of an I/O, which the kernel gives before the device sees the command.
pub(super) fn errno_hint(unit: &IoUnit, errno: i32) -> Option<&'static str> {
    match errno {
        libc::EINVAL if unit.direction == Direction::SyncFileRange => {
            Some("a device has no sync_file_range: use fsync or fdatasync")
        }
        libc::EINVAL => Some(
            "an I/O is made of whole blocks of the namespace, and takes no more than the device does (max_hw_sectors_kb of \
             its queue, MDTS of nvme id-ctrl): look at bs and offset",
        ),
        libc::EACCES | libc::EPERM => {
            Some("the kernel lets only privileged users send this command (CAP_SYS_ADMIN), and others reads at most")
        }
        libc::EOPNOTSUPP => Some("the kernel or the driver of the device has no such commands by a ring (Linux 5.19)"),
        _ => None,
    }
}

/// The meaning of a status.
pub(super) fn hint(status: u16) -> Option<&'static str> {
    let text = match status_parts(status) {
        (0, 0x01) => "the device does not have this command",
        (0, 0x02) => "the device does not take a field of this command",
        (0, 0x04) => "a transfer of data failed",
        (0, 0x06) => "an internal error of the device",
        (0, 0x0B) => "the namespace or its format is not valid",
        (0, 0x20) => "the namespace is write protected",
        (0, 0x80) => "the blocks are past the end of the namespace",
        (0, 0x81) => "the capacity of the device is exceeded",
        (0, 0x82) => "the namespace is not ready",
        (1, 0x80) => "attributes of the command contradict each other",
        (1, 0x81) => "the protection information asked for does not fit the format of the namespace",
        (1, 0x82) => "the range is read only",
        (1, 0xB8) => "the I/O crosses the border of a zone",
        (1, 0xB9) => "the zone is full",
        (1, 0xBA) => "the zone is read only",
        (1, 0xBB) => "the zone is offline",
        (1, 0xBC) => "the write is not at the write pointer of its zone",
        (1, 0xBD) => "too many zones are partly written",
        (1, 0xBE) => "too many zones are open",
        (1, 0xBF) => "the zone cannot get into this state",
        (2, 0x80) => "the medium cannot be written",
        (2, 0x81) => "the medium cannot be read",
        (2, 0x82) => "the guard does not match the data",
        (2, 0x83) => "the application tag is another one",
        (2, 0x84) => "the reference tag is another one",
        (2, 0x85) => "the data on the device differ",
        (2, 0x86) => "the device denies access",
        (2, 0x87) => "the blocks are deallocated or unwritten",
        _ => return None,
    };
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bits_above_type_and_code_do_not_matter() {
        assert_eq!(hint(0x4080), hint(0x0080));
        assert_eq!(hint(0x4285), Some("the data on the device differ"));
        assert_eq!(hint(0x00FF), None);
    }
}
