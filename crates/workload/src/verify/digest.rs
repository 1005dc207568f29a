//! Checksums by the fastest way that this CPU has, for one message or several at once.
//!
//! Must not know: blocks, headers. Start reading at [`store`], then [`store_each`].

use ferrio_sys::wide_checksums::{crc32c, lane_counts, md5_of_each, sha1_of_each, sha256_lane_counts, sha256_of_each};
use ferrio_units::checksum::{Checksum, MAX_CHECKSUM_BYTES, sha};

pub(super) use ferrio_sys::wide_checksums::MAX_LANES;

/// Writes the stored form over `data` to `out`, as [`Checksum::store`] does.
pub(super) fn store(checksum: Checksum, data: &[u8], out: &mut [u8]) {
    match checksum {
        Checksum::Crc32c => out.copy_from_slice(&crc32c(data).to_ne_bytes()),
        _ => checksum.store(data, out),
    }
}

/// Numbers of messages whose checksums take much less time together than one by one, largest first.
pub(super) fn lanes_of(checksum: Checksum) -> &'static [usize] {
    match checksum {
        Checksum::Md5 | Checksum::Sha1 => lane_counts(),
        Checksum::Sha256 => sha256_lane_counts(),
        _ => &[],
    }
}

/// Computes the stored forms for several messages; calls `put` for each, with the index of the message.
pub(super) fn store_each(checksum: Checksum, messages: &[&[u8]], mut put: impl FnMut(usize, &[u8])) {
    let are_done = match checksum {
        Checksum::Md5 => md5_of_each(messages, |index, digest| put(index, &digest)),
        Checksum::Sha1 => sha1_of_each(messages, |index, words| put(index, words.map(u32::to_ne_bytes).as_flattened())),
        Checksum::Sha256 => {
            sha256_of_each(messages, |index, state| put(index, &sha::stored_256(state, messages[index])))
        }
        _ => false,
    };
    if are_done {
        return;
    }
    for (index, message) in messages.iter().enumerate() {
        let mut form = [0; MAX_CHECKSUM_BYTES];
        let form = &mut form[..checksum.n_bytes()];
        store(checksum, message, form);
        put(index, form);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn forms_are_those_one_by_one(data in prop::collection::vec(any::<u8>(), MAX_LANES..300)) {
            for checksum in [Checksum::Md5, Checksum::Sha1, Checksum::Crc32c, Checksum::Sha256] {
                for n in [1, 8, 16] {
                    let messages: Vec<&[u8]> = (0..n).map(|lane| &data[lane..data.len() - MAX_LANES + lane]).collect();
                    let mut n_put = 0;
                    store_each(checksum, &messages, |lane, form| {
                        let mut expected = [0; MAX_CHECKSUM_BYTES];
                        checksum.store(messages[lane], &mut expected[..checksum.n_bytes()]);
                        assert_eq!(form, &expected[..checksum.n_bytes()], "{checksum:?}");
                        n_put += 1;
                    });
                    prop_assert_eq!(n_put, n);
                }
            }
        }
    }
}
