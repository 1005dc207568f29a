//! Checksums of data by the fastest way that this CPU has: of one message, or of several at once.
//!
//! Must not know: blocks, headers. Start reading at [`store`], then [`store_each`].

use ferrio_sys::wide_checksums::{self, crc32c, md5_of_each, sha1_of_each};
use ferrio_units::checksum::{Checksum, MAX_CHECKSUM_BYTES};

pub(super) use ferrio_sys::wide_checksums::N_LANES;

/// Writes the stored form over `data` to `out`, as [`Checksum::store`] does.
pub(super) fn store(checksum: Checksum, data: &[u8], out: &mut [u8]) {
    match checksum {
        Checksum::Crc32c => out.copy_from_slice(&crc32c(data).to_ne_bytes()),
        _ => checksum.store(data, out),
    }
}

/// Several at once take much less time than one by one. SHA-256 is not among them: the CPUs that have the instructions have
/// some for SHA-256 too, which are as fast.
pub(super) fn has_lanes(checksum: Checksum) -> bool {
    matches!(checksum, Checksum::Md5 | Checksum::Sha1) && wide_checksums::has_lanes()
}

/// Gives the stored forms over messages of one length to `put`, each with its index.
pub(super) fn store_each(checksum: Checksum, messages: [&[u8]; N_LANES], mut put: impl FnMut(usize, &[u8])) {
    let mut forms = [[0; MAX_CHECKSUM_BYTES]; N_LANES];
    let md5 = if checksum == Checksum::Md5 { md5_of_each(messages) } else { None };
    let sha1 = if checksum == Checksum::Sha1 { sha1_of_each(messages) } else { None };
    match (md5, sha1) {
        (Some(digests), _) => {
            for (form, digest) in forms.iter_mut().zip(digests) {
                form[..digest.len()].copy_from_slice(&digest);
            }
        }
        (None, Some(digests)) => {
            for (form, words) in forms.iter_mut().zip(digests) {
                for (bytes, word) in form.as_chunks_mut().0.iter_mut().zip(words) {
                    *bytes = word.to_ne_bytes();
                }
            }
        }
        (None, None) => {
            for (form, message) in forms.iter_mut().zip(messages) {
                store(checksum, message, &mut form[..checksum.n_bytes()]);
            }
        }
    }
    for (index, form) in forms.iter().enumerate() {
        put(index, &form[..checksum.n_bytes()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn forms_are_those_one_by_one(data in prop::collection::vec(any::<u8>(), 8..300)) {
            for checksum in [Checksum::Md5, Checksum::Sha1, Checksum::Crc32c, Checksum::Sha256] {
                let messages = std::array::from_fn(|lane| &data[lane..data.len() - 8 + lane]);
                store_each(checksum, messages, |lane, form| {
                    let mut expected = [0; MAX_CHECKSUM_BYTES];
                    checksum.store(messages[lane], &mut expected[..checksum.n_bytes()]);
                    assert_eq!(form, &expected[..checksum.n_bytes()], "{checksum:?}");
                });
            }
        }
    }
}
