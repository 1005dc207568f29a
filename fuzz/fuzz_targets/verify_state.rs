//! Any bytes as a state file: gives a state or an error, never a panic; a state is written and read again.
//!
//! The first byte is the depth of the job, the rest the body of the file. Its head is computed here, since no fuzzer
//! finds a checksum; then the bytes are tested as the whole file.
#![no_main]

use ferrio_units::checksum::crc32c;
use ferrio_workload::verify::state::VerifyState;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let [depth, body @ ..] = data else { return };
    let _ = VerifyState::decode(body, (*depth).into());
    for version in [3, 7] {
        let head = [version, body.len() as u64, crc32c(body).into()].map(u64::to_le_bytes).concat();
        let Ok(state) = VerifyState::decode(&[&head, body].concat(), (*depth).into()) else { continue };
        let _ = (state.told(state.n_writes, 0, 0), state.told(state.n_writes.wrapping_sub(1), 0, 0));
        assert_eq!(VerifyState::decode(&state.encode(), (*depth).into()), Ok(state));
    }
});
