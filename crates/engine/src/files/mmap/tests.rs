//! The engine on real files: whole mappings, windows, truncation.

use super::*;
use crate::contract::Cancellation;
use crate::testing::{BLOCK, N_BLOCKS, Rig, RigOptions, TestFile, check_file_engine, shuffled_blocks};
use ferrio_spec::GivenOptions;
use std::fs::File;
use std::os::fd::AsFd;

fn options(direct: bool, thp: bool) -> RigOptions {
    RigOptions { direct, options: GivenOptions::default().with(&THP, thp), ..RigOptions::default() }
}

#[test]
fn files_are_read_written_and_synced() {
    for (direct, thp) in [(false, false), (true, false), (false, true)] {
        check_file_engine("mmap", || options(direct, thp));
    }
}

#[test]
fn a_file_truncated_under_its_mapping_is_an_error_and_its_return_is_seen() {
    let file = TestFile::new("mmap");
    let mut rig = Rig::new("mmap", Some(&file), options(false, false)).unwrap();
    let on_disk = File::options().write(true).open(file.path()).unwrap();
    on_disk.set_len(BLOCK as u64).unwrap();
    let (first, last) = (rig.unit(Direction::Read, 0), rig.unit(Direction::Read, N_BLOCKS - 1));
    let eio = -i64::from(libc::EIO);
    assert_eq!([rig.one(last), rig.one(first), rig.one(last)], [eio, BLOCK as i64, eio]);
    assert_eq!(rig.one(rig.unit(Direction::Write, N_BLOCKS - 1)), eio);
    assert!(rig.engine.hint(&last, libc::EIO).is_some_and(|hint| hint.contains("truncated")));
    on_disk.set_len((N_BLOCKS * BLOCK) as u64).unwrap();
    let units = [rig.unit(Direction::Write, N_BLOCKS - 1), last];
    assert_eq!(rig.run(&units, |_, buffer| buffer.fill(0x77), |_, _, _| ()), [BLOCK as i64; 2]);
    assert_eq!(file.contents()[N_BLOCKS * BLOCK - 1], 0x77);
}

#[test]
fn windows_move_with_the_io() {
    let file = TestFile::new("mmap");
    let handle = File::options().read(true).write(true).open(file.path()).unwrap();
    let range = MappedWindow::new(0, (N_BLOCKS * BLOCK) as u64);
    let unmapped = MappedFile { range, is_writable: true, is_random: true, mapped: None };
    let mut engine = Mmap {
        has_huge_pages: false,
        is_direct: false,
        window_bytes: 65_536 + BLOCK as u64,
        files: vec![Some(unmapped)],
    };
    let unit = |direction, block: usize| IoUnit {
        direction,
        file_index: 0,
        offset_bytes: (block * BLOCK) as u64,
        length_bytes: BLOCK,
        buffer_offset: 0,
        sync_flags: 0,
        ioprio: 0,
    };
    for block in shuffled_blocks() {
        let mut buffer = [0; BLOCK];
        assert_eq!(engine.read(handle.as_fd(), &unit(Direction::Read, block), &mut buffer), Ok(BLOCK));
        assert_eq!(buffer, [block as u8 + 1; BLOCK]);
        assert_eq!(
            engine.write(handle.as_fd(), &unit(Direction::Write, block), &[block as u8 + 100; BLOCK]),
            Ok(BLOCK)
        );
    }
    let target = OpenTarget::Descriptor(handle.as_fd());
    let mut fds = FdTable::new(1);
    fds.open(&EngineFile {
        index: 0,
        target,
        writable: true,
        range_start: 0,
        range_bytes: 1,
        random: false,
        cancellation: Cancellation::ENDLESS,
    });
    assert_eq!(engine.control(&fds, &unit(Direction::Sync, 0)).number(), BLOCK as i64);
    for (block, bytes) in file.contents().chunks(BLOCK).enumerate() {
        assert_eq!(bytes, [block as u8 + 100; BLOCK]);
    }
}

#[test]
fn what_cannot_be_mapped_is_explained() {
    let mut engine = Mmap::new(&EngineOptions::new(GivenOptions::default()));
    engine.files = vec![None];
    let (reader, _writer) = io::pipe().unwrap();
    let file = EngineFile {
        index: 0,
        target: OpenTarget::Descriptor(reader.as_fd()),
        writable: false,
        range_start: 0,
        range_bytes: 4096,
        random: false,
        cancellation: Cancellation::ENDLESS,
    };
    let error = engine.opened(&file).unwrap_err();
    assert!(error.to_string().contains("cannot be mapped"), "{error}");
}
