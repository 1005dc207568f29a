//! Stored forms compared with catalogues and standards; the end-to-end tests of `cli` compare them with fio's files.

use super::*;

fn stored(checksum: Checksum, data: &[u8]) -> String {
    let mut out = vec![0; checksum.n_bytes()];
    checksum.store(data, &mut out);
    out.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

/// `check` of the catalogue of parametrised CRC algorithms (reveng), over "123456789": CRC-64/REDIS, CRC-32/CKSUM and
/// CRC-32/ISCSI without their final inversion, CRC-16/ARC, CRC-7/MMC. Stored little endian.
#[test]
fn cyclic_codes_are_those_of_the_catalogue() {
    let check = b"123456789";
    assert_eq!(stored(Checksum::Crc64, check), "cad9b8c414d9c6e9");
    assert_eq!(stored(Checksum::Crc32, check), "7f89a189");
    assert_eq!(stored(Checksum::Crc32c, check), "7c6df91c");
    assert_eq!(crc32c(check), !0xe306_9283);
    assert_eq!(stored(Checksum::Crc16, check), "3dbb");
    assert_eq!(stored(Checksum::Crc7, check), "75");
}

/// FIPS 180-4 examples over "abc"; the words of SHA-1 turned round, the padded block of SHA-512 behind its digest.
#[test]
fn digests_are_those_of_the_standards() {
    assert_eq!(stored(Checksum::Sha1, b"abc"), "363e99a96a81064771253eba6cc250789dd8d09c");
    let sha512 = stored(Checksum::Sha512, b"abc");
    assert!(sha512.starts_with("ddaf35a193617abacc417349ae204131"));
    // Bytes 64 to 127 of the padded message: zeroes, and its 24 bits at the end.
    assert_eq!(&sha512[128..254], "0".repeat(126));
    assert_eq!(&sha512[254..], "18");
    assert_eq!(stored(Checksum::Md5, b"abc"), "900150983cd24fb0d6963f7d28e17f72");
    assert!(stored(Checksum::Sha3_256, b"abc").starts_with("3a985da74fe225b2045c172d6bd390bd"));
}

/// Bytes 8 to 63 of the padded block are the message's: three bytes, the bit, zeroes, and 24 bits little endian.
#[test]
fn the_block_behind_sha_256_is_padded_little_endian() {
    let text = stored(Checksum::Sha256, &[0x11; 60]);
    // 60 bytes and the padding take two blocks: the last holds no data.
    assert_eq!(&text[16..112], "0".repeat(96));
    assert_eq!(&text[112..], "e001000000000000");
}

#[test]
fn the_form_of_old_versions_is_the_first_block_under_the_rest() {
    let data: Vec<u8> = (0..=255).collect();
    let mut expected: Vec<u8> = (0..128).collect();
    expected[..72].copy_from_slice(&data[128..200]);
    let mut out = [0; 128];
    Checksum::Sha512Unfinished.store(&data[..200], &mut out);
    assert_eq!(out[..], expected);
}

#[test]
fn every_length_up_to_three_blocks_has_a_form() {
    let data = [0x5a; 400];
    for checksum in [Checksum::Sha256, Checksum::Sha512, Checksum::Sha512Unfinished, Checksum::Sha1, Checksum::Crc7] {
        for length in 0..=400 {
            assert_eq!(stored(checksum, &data[..length]).len(), 2 * checksum.n_bytes());
        }
    }
}

/// The check values of the catalogue of CRCs, and those of the NVM command set specification: 4096 bytes of zeroes, of ones, and of
/// numbers that count up.
#[test]
fn guards_of_protection_information_are_those_of_their_specifications() {
    assert_eq!(crc16_t10dif(&[b"123456789"]), 0xD0DB);
    assert_eq!(crc64_nvme(&[b"123456789"]), 0xAE8B_1486_0A79_9888);
    assert_eq!(crc16_t10dif(&[b"1234", b"", b"56789"]), 0xD0DB);
    assert_eq!(crc64_nvme(&[b"12345678", b"9"]), 0xAE8B_1486_0A79_9888);
    let counting: Vec<u8> = (0..4096).map(|index| index as u8).collect();
    assert_eq!(crc64_nvme(&[&[0; 4096]]), 0x6482_D367_EB22_B64E);
    assert_eq!(crc64_nvme(&[&[0xFF; 4096]]), 0xC0DD_BA73_02EC_A3AC);
    assert_eq!(crc64_nvme(&[&counting]), 0x3E72_9F5F_6750_449C);
    assert_eq!(crc16_t10dif(&[&[0; 512]]), 0);
}
