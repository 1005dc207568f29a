//! What the first blocks of a device say about its contents, so that a person sees what is going to be lost.
//!
//! Must not know: devices. Start reading at [`told_by`].

/// So many bytes from the beginning are looked at: the superblock of Btrfs is the last one.
pub(crate) const LOOKED_AT_BYTES: usize = 68 << 10;

/// A mark of contents: bytes at a place.
struct ContentMark {
    place: usize,
    bytes: &'static [u8],
    what: &'static str,
}

const fn mark(place: usize, bytes: &'static [u8], what: &'static str) -> ContentMark {
    ContentMark { place, bytes, what }
}

/// Known marks: those of blkid(8) that are common on Linux. A file system goes before a partition table, whose mark boot sectors have too.
const MARKS: [ContentMark; 13] = [
    mark(1_080, &[0x53, 0xEF], "an ext2, ext3 or ext4 file system"),
    mark(0, b"XFSB", "an XFS file system"),
    mark(65_600, b"_BHRfS_M", "a Btrfs file system"),
    mark(1_024, &[0x10, 0x20, 0xF5, 0xF2], "an F2FS file system"),
    mark(3, b"NTFS    ", "an NTFS file system"),
    mark(3, b"EXFAT   ", "an exFAT file system"),
    mark(82, b"FAT32   ", "a FAT file system"),
    mark(0, b"LUKS\xBA\xBE", "an encrypted volume (LUKS)"),
    mark(536, b"LVM2 001", "a physical volume of LVM"),
    mark(4_096, &[0xFC, 0x4E, 0x2B, 0xA9], "a member of a RAID (md)"),
    mark(4_086, b"SWAPSPACE2", "swap space"),
    mark(512, b"EFI PART", "a partition table (GPT)"),
    mark(510, &[0x55, 0xAA], "a partition table (MBR)"),
];

/// What the first bytes tell.
pub(crate) fn told_by(bytes: &[u8]) -> &'static str {
    let is_there = |mark: &&ContentMark| bytes.get(mark.place..).is_some_and(|rest| rest.starts_with(mark.bytes));
    match MARKS.iter().find(is_there) {
        Some(mark) => mark.what,
        None if bytes.iter().all(|byte| *byte == 0) => "nothing but zeroes at its beginning",
        None => "data of no kind that is known here",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(places: &[(usize, &[u8])]) -> &'static str {
        let mut bytes = vec![0; LOOKED_AT_BYTES];
        for (place, mark) in places {
            bytes[*place..*place + mark.len()].copy_from_slice(mark);
        }
        told_by(&bytes)
    }

    #[test]
    fn contents_are_told() {
        assert_eq!(with(&[]), "nothing but zeroes at its beginning");
        assert_eq!(with(&[(7, b"x")]), "data of no kind that is known here");
        assert_eq!(with(&[(1_080, &[0x53, 0xEF])]), "an ext2, ext3 or ext4 file system");
        assert_eq!(with(&[(65_600, b"_BHRfS_M"), (510, &[0x55, 0xAA])]), "a Btrfs file system");
        assert_eq!(with(&[(512, b"EFI PART"), (510, &[0x55, 0xAA])]), "a partition table (GPT)");
        assert_eq!(told_by(b""), "nothing but zeroes at its beginning");
    }

    #[test]
    fn all_marks_lie_within_what_is_read() {
        assert!(MARKS.iter().all(|mark| mark.place + mark.bytes.len() <= LOOKED_AT_BYTES));
    }
}
