//! States of the peer, the state in the reference, and arbitrary bytes.

use super::*;
use proptest::prelude::*;

/// `--name=a --rw=randwrite --size=64k --bs=4k --number_ios=5 --verify=crc32c` of Debian's fio 3.33, `--randseed=137`.
fn of_the_peer() -> Vec<u8> {
    let mut bytes = Vec::new();
    let words: [u64; 11] = [3, 168, 0x4d75_dc0e, 1, 1 << 32 | 1, 5, 0, 0, 0xa9a3_cf00_7251_b59e, 0x41aa_3d94, 0];
    bytes.extend(words.map(u64::to_le_bytes).concat());
    bytes.resize(112, 0);
    bytes.push(b'a');
    bytes.resize(176, 0);
    bytes.extend([0, 0x9000].map(u64::to_le_bytes).concat());
    bytes
}

#[test]
fn a_state_of_the_peer() {
    let state = VerifyState::decode(&of_the_peer(), 1).expect("it is whole");
    let expected = VerifyState {
        n_writes: 5,
        job_index: 0,
        offsets: OffsetState::Taus88([0x7251_b59e, 0xa9a3_cf00, 0x41aa_3d94]),
        job_name: "a".to_owned(),
        last: LastWrites::Only { depth: 1, n_files: 1, places: vec![(0, 0x9000)] },
    };
    assert_eq!(state, expected);
    assert_eq!(expected.encode(), of_the_peer());
}

/// The sample of the reference: depth 2, 16 writes, two unused slots; 184 bytes.
#[test]
fn the_form_of_the_reference() {
    let state = VerifyState {
        n_writes: 16,
        job_index: 3,
        offsets: OffsetState::Taus258([1, 2, 3, 4, 5]),
        job_name: "b/c".to_owned(),
        last: LastWrites::AllBut { in_flight: empty_slots(2), failed: Vec::new() },
    };
    let bytes = state.encode();
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
    assert_eq!(bytes.len(), 184);
    assert_eq!([word(0), word(8), word(24), word(32), word(40), word(48)], [7, 0xa0, 2, 16, 3, 1]);
    assert_eq!([word(56), word(88), word(168), word(176)], [1, 5, u64::MAX, u64::MAX]);
    assert_eq!(&bytes[104..108], b"b/c\0");
    assert_eq!(VerifyState::decode(&bytes, 2), Ok(state));
}

/// `--name=a --filename=f --size=16k --bs=4k --rw=write --verify=crc32c --do_verify=0` of fio 3.41: the form of 3.42
/// with the version of 3.41.
#[test]
fn a_state_of_the_last_version() {
    let mut body = Vec::new();
    let words: [u64; 7] = [1, 4, 0, 0, 0xeb2c_aa9a_a4a8_cb5b, 0x485e_e230, 0];
    body.extend(words.map(u64::to_le_bytes).concat());
    body.resize(80, 0);
    body.push(b'a');
    body.resize(144, 0);
    body.extend(u64::MAX.to_le_bytes());
    let bytes = sealed(5, &body);
    assert_eq!(bytes[..24], [5, 152, 0xbad7_cf56].map(u64::to_le_bytes).concat());
    let state = VerifyState::decode(&bytes, 1).expect("it is whole");
    assert_eq!((state.n_writes, state.job_index, state.job_name.as_str()), (4, 0, "a"));
    assert_eq!(state.offsets, OffsetState::Taus88([0xa4a8_cb5b, 0xeb2c_aa9a, 0x485e_e230]));
    assert_eq!(state.last, LastWrites::AllBut { in_flight: empty_slots(1), failed: Vec::new() });
    assert_eq!(state.encode()[8..], bytes[8..]);
}

/// In the form of fio 3.33, the first of the last writes that is not listed ends the pass.
#[test]
fn what_is_known_of_a_write() {
    let mut state = VerifyState::decode(&of_the_peer(), 1).expect("it is whole");
    let of_blocks = |state: &VerifyState, n: u64| -> Vec<WriteFate> {
        (0..n).map(|number| state.told(number, 0, number * 4096)).collect()
    };
    state.n_writes = 8;
    state.last = LastWrites::Only { depth: 4, n_files: 1, places: vec![(0, 28672), (0, 24576), (0, 16384)] };
    let (done, in_flight) = (WriteFate::Done, WriteFate::InFlight);
    assert_eq!(of_blocks(&state, 9), [done, done, done, done, done, in_flight, done, done, WriteFate::NotIssued]);
    state.last = LastWrites::AllBut { in_flight: vec![6, NO_WRITE], failed: vec![2] };
    assert_eq!(
        of_blocks(&state, 9),
        [done, done, WriteFate::Failed, done, done, done, in_flight, done, WriteFate::NotIssued]
    );
}

#[test]
fn what_is_no_state_is_refused() {
    let bytes = of_the_peer();
    let decode = |bytes: &[u8]| VerifyState::decode(bytes, 1);
    assert_eq!(decode(&bytes[..23]), Err(StateError(StateFault::NoHeader)));
    assert_eq!(decode(&bytes[..100]), Err(StateError(StateFault::Length { found: 76, wanted: 168 })));
    let changed = |at: usize, byte: u8| {
        let mut bytes = bytes.clone();
        bytes[at] = byte;
        bytes
    };
    assert_eq!(decode(&changed(0, 6)), Err(StateError(StateFault::Version(6))));
    for version in [5, 7] {
        assert_eq!(decode(&changed(0, version)), Err(StateError(StateFault::Corrupt)), "the form of another version");
    }
    assert_eq!(
        decode(&changed(15, 0x10)),
        Err(StateError(StateFault::Length { found: 168, wanted: 0xa8 | 0x10 << 56 }))
    );
    assert_eq!(decode(&changed(40, 6)), Err(StateError(StateFault::Corrupt)));
}

fn sealed(version: u64, body: &[u8]) -> Vec<u8> {
    let head = [version, body.len() as u64, crc32c(body).into()].map(u64::to_le_bytes).concat();
    [&head, body].concat()
}

#[test]
fn numbers_that_contradict_each_other_are_refused() {
    let mut body = of_the_peer()[24..].to_vec();
    // The number of offsets exceeds the room, the depth is in the millions, or files have no offset.
    for (at, byte) in [(0, 9), (11, 0x40), (12, 2)] {
        let before = std::mem::replace(&mut body[at], byte);
        assert_eq!(VerifyState::decode(&sealed(3, &body), 1), Err(StateError(StateFault::Corrupt)), "{at}");
        body[at] = before;
    }
    assert!(VerifyState::decode(&sealed(3, &body), 1).is_ok());
    for length in [0, 10, 151] {
        assert_eq!(VerifyState::decode(&sealed(3, &body[..length]), 1), Err(StateError(StateFault::Corrupt)));
        assert_eq!(VerifyState::decode(&sealed(7, &body[..length]), 1), Err(StateError(StateFault::Corrupt)));
    }
}

#[test]
fn names_are_cut_between_characters() {
    assert_eq!(short_name("abc"), "abc");
    assert_eq!(short_name(&"x".repeat(80)).len(), 63);
    assert_eq!(short_name(&"ä".repeat(80)).len(), 62);
}

/// Found by fuzzing: a state that is read, written and read again must not change.
#[test]
fn noise_means_nothing() {
    let common = |noise: u8, name: &[u8]| {
        let generator = [[0; 12].as_slice(), &[noise; GENERATOR_BYTES - 12]].concat();
        let mut name = name.to_vec();
        name.resize(NAME_BYTES, 0);
        [&[0; 16], 79_u64.to_le_bytes().as_slice(), &[0; 16], &generator, &name].concat()
    };
    let noisy = VerifyState::decode(&sealed(3, &common(0x23, &[])), 1);
    assert_eq!(noisy, VerifyState::decode(&sealed(3, &common(0, &[])), 1));
    let state = VerifyState::decode(&sealed(3, &common(0, &[0xff; NAME_BYTES])), 1).unwrap();
    assert_eq!(VerifyState::decode(&state.encode(), 1), Ok(state));
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..400), version in 0_u64..9, depth in 0_usize..9) {
        let _ = VerifyState::decode(&bytes, depth);
        if let Ok(state) = VerifyState::decode(&sealed(version, &bytes), depth) {
            let _ = state.told(depth as u64, 0, 0);
            prop_assert_eq!(VerifyState::decode(&state.encode(), depth), Ok(state));
        }
    }

    #[test]
    fn what_was_written_is_read(
        (n_writes, job_index) in any::<(u64, u64)>(),
        words in any::<[u64; 5]>(),
        name in "[a-z]{0,63}",
        numbers in prop::collection::vec(any::<u64>(), 0..9),
        is_wide in any::<bool>(),
    ) {
        let offsets = if is_wide { OffsetState::Taus258(words) } else { OffsetState::Taus88([1, 2, words[0] as u32]) };
        let last = if is_wide {
            LastWrites::AllBut { in_flight: numbers.clone(), failed: Vec::new() }
        } else {
            let places = numbers.iter().map(|number| (*number, number / 2)).collect();
            LastWrites::Only { depth: 3, n_files: 3, places }
        };
        let state = VerifyState { n_writes, job_index, offsets, job_name: name, last };
        prop_assert_eq!(VerifyState::decode(&state.encode(), numbers.len()), Ok(state));
    }
}
