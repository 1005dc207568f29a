//! Commands of units. Commands to devices are in the tests that run in the guest.

use super::command::{CommandTerms, UnmapLists};
use crate::commands::scsi::blocks;
use crate::contract::IoUnit;
use crate::contract::options::EngineOptions;
use crate::testing::{BLOCK, nowhere, setup};
use ferrio_spec::GivenOptions;
use ferrio_spec::engines::options::sg::{READFUA, SG_WRITE_MODE, ScsiWriteMode, WRITEFUA};
use ferrio_sys::Errno;
use ferrio_sys::clock::Clock;
use ferrio_sys::scsi::queue::ScsiData;
use ferrio_units::Direction;

fn unit(direction: Direction, offset_bytes: u64) -> IoUnit {
    IoUnit { offset_bytes, ..nowhere(direction) }
}

/// The bytes of the command, and the length of its data.
fn command(given: GivenOptions, direction: Direction) -> (Vec<u8>, usize) {
    let arena = setup(1, &Clock::new_virtual()).arena;
    let terms = CommandTerms::parse(&EngineOptions::new(given));
    let block_area = arena.borrow().region(0, BLOCK);
    let (cdb, data) = terms.transfer(&unit(direction, 8192), 512, block_area).unwrap();
    let length = match data {
        ScsiData::Nothing => 0,
        ScsiData::FromDevice(region) | ScsiData::ToDevice(region) => region.len(),
    };
    (cdb.bytes().to_vec(), length)
}

#[test]
fn options_choose_the_command_and_its_data() {
    let none = GivenOptions::default;
    assert_eq!(command(none(), Direction::Read), (vec![0x28, 0, 0, 0, 0, 16, 0, 0, 8, 0], BLOCK));
    assert_eq!(command(none().with(&READFUA, true), Direction::Read).0[1], 8);
    assert_eq!(command(none().with(&WRITEFUA, true), Direction::Write).0[..2], [0x2A, 8]);
    for (mode, code, flags, n_bytes) in [
        (ScsiWriteMode::Write, 0x2A, 0, BLOCK),
        (ScsiWriteMode::WriteAndVerify, 0x2E, 0, BLOCK),
        (ScsiWriteMode::Verify, 0x2E, 0, BLOCK),
        (ScsiWriteMode::WriteSame, 0x41, 0, 512),
        (ScsiWriteMode::Same, 0x41, 0, 512),
        (ScsiWriteMode::WriteSameNoData, 0x93, 1, 0),
        (ScsiWriteMode::VerifyNothing, 0x2F, 0, 0),
        (ScsiWriteMode::VerifyAll, 0x2F, 2, BLOCK),
        (ScsiWriteMode::VerifyOneBlock, 0x2F, 6, 512),
    ] {
        let (bytes, length) = command(none().with(&SG_WRITE_MODE, mode), Direction::Write);
        assert_eq!((bytes[0], bytes[1], length), (code, flags, n_bytes), "{mode:?}");
    }
}

#[test]
fn only_whole_blocks_have_a_command() {
    let at = |offset, block| blocks(&unit(Direction::Read, offset), block);
    assert_eq!(at(8192, 4096), Ok((2, 1)));
    assert_eq!(at(8192 + 512, 4096), Err(Errno::INVAL));
    assert_eq!(at(0, 3), Err(Errno::INVAL));
    assert_eq!(at(0, 0), Err(Errno::INVAL));
}

#[test]
fn trims_that_are_gathered_share_a_command() {
    let mut lists = UnmapLists::new(70).unwrap();
    assert!(lists.command().is_none());
    for unit_index in 5..69 {
        assert!(lists.has_room_for(0), "{unit_index}");
        assert_eq!(lists.add(unit_index, 0, (u64::from(unit_index) * 8, 8)), 5);
    }
    assert!(!lists.has_room_for(0) && !lists.is_of(5));
    let (slot, file_index, cdb, list) = lists.command().unwrap();
    assert_eq!((slot, file_index, list.len()), (5, 0, 8 + 64 * 16));
    assert_eq!(cdb.bytes()[7..9], (8_u16 + 64 * 16).to_be_bytes());
    // Until it is sent, it can be asked for again.
    assert!(lists.n_gathered() == 64 && lists.command().is_some() && !lists.is_of(5));
    lists.mark_sent(slot);
    assert!(lists.is_of(5) && lists.command().is_none());
    lists.free(5);
    assert!(!lists.is_of(5));
    assert_eq!(lists.add(0, 1, (0, 1)), 0);
    assert!(lists.has_room_for(1) && !lists.has_room_for(0));
}
