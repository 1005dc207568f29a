//! What engines for SCSI commands have in common: the blocks of a unit.
//!
//! Must not know: how commands reach a device. Start reading at [`blocks`].

use crate::contract::IoUnit;
use ferrio_sys::Errno;

/// The first block of a unit and their number; an error if it is not whole blocks.
pub(crate) fn blocks(unit: &IoUnit, block_bytes: u32) -> Result<(u64, u32), Errno> {
    let (block, length) = (u64::from(block_bytes), unit.length_bytes as u64);
    if block == 0 || length == 0 || !unit.offset_bytes.is_multiple_of(block) || !length.is_multiple_of(block) {
        return Err(Errno::INVAL);
    }
    let n_blocks = u32::try_from(length / block).map_err(|_| Errno::INVAL)?;
    Ok((unit.offset_bytes / block, n_blocks))
}
