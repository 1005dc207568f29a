//! The header before the data of a verified block, in the layouts of two versions of fio.
//!
//! Must not know: data, checksums of data. Start reading at [`Header`].
//! Facts: reference "Verify header" for 3.42; the layout of 3.33 as seen in its files (magic, method, length, seed,
//! offset, seconds, nanoseconds, number of the job, number of the write, checksum: 40 bytes). All numbers have the byte
//! order of the machine.

use ferrio_spec::HeaderLayout;
use ferrio_sys::wide_checksums::crc32c;

/// First word of every header.
pub const MAGIC: u16 = 0xacca;
/// Version of the layout of 3.42.
pub const VERSION: u8 = 0x81;

/// The fields of a header; they describe its interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    pub method_number: u8,
    /// Distance to the next header, bytes.
    pub interval_bytes: u32,
    /// Seed of the data of the block.
    pub seed: u64,
    /// Offset of the interval in its file, bytes.
    pub offset_bytes: u64,
    /// Start of the write on the clock of the writer: seconds and nanoseconds.
    pub start: (u32, u32),
    /// Number of the job's writes before this one. The layout of 3.33 stores 16 bits.
    pub sequence: u64,
    /// Number of the job, from 1.
    pub job_number: u16,
}

pub const fn header_bytes(layout: HeaderLayout) -> usize {
    match layout {
        HeaderLayout::V3 => 48,
        HeaderLayout::V2 => 40,
    }
}

/// Why bytes are no header, found before its fields are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeaderError {
    /// The first word is not the magic number.
    Magic(u16),
    /// The version is unknown.
    Version(u8),
}

/// The fields of a header and its checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadHeader {
    pub header: Header,
    pub stored_crc: u32,
    /// The checksum computed over its bytes.
    pub computed_crc: u32,
}

impl Header {
    /// Writes the header to the first bytes of `out`.
    ///
    /// # Panics
    /// If `out` is shorter than [`header_bytes`].
    pub fn write(&self, layout: HeaderLayout, out: &mut [u8]) {
        let mut at = 0;
        let mut put = |bytes: &[u8]| {
            out[at..at + bytes.len()].copy_from_slice(bytes);
            at += bytes.len();
        };
        put(&MAGIC.to_ne_bytes());
        match layout {
            HeaderLayout::V3 => put(&[VERSION, self.method_number]),
            HeaderLayout::V2 => put(&u16::from(self.method_number).to_ne_bytes()),
        }
        put(&self.interval_bytes.to_ne_bytes());
        put(&self.seed.to_ne_bytes());
        put(&self.offset_bytes.to_ne_bytes());
        put(&self.start.0.to_ne_bytes());
        put(&self.start.1.to_ne_bytes());
        match layout {
            HeaderLayout::V3 => {
                put(&self.sequence.to_ne_bytes());
                put(&self.job_number.to_ne_bytes());
                // Two bytes here are not written; they keep their value and are part of the checksum.
                at += 2;
            }
            HeaderLayout::V2 => {
                put(&self.job_number.to_ne_bytes());
                put(&(self.sequence as u16).to_ne_bytes());
            }
        }
        let crc = crc32c(&out[..at]);
        out[at..at + 4].copy_from_slice(&crc.to_ne_bytes());
    }

    /// Reads the header at the start of `bytes`.
    ///
    /// # Errors
    /// The bytes are no header of this layout.
    ///
    /// # Panics
    /// If `bytes` is shorter than [`header_bytes`].
    pub fn read(layout: HeaderLayout, bytes: &[u8]) -> Result<ReadHeader, HeaderError> {
        let magic = u16::from_ne_bytes(array(bytes, 0));
        if magic != MAGIC {
            return Err(HeaderError::Magic(magic));
        }
        let method_number = match layout {
            HeaderLayout::V3 if bytes[2] != VERSION => return Err(HeaderError::Version(bytes[2])),
            HeaderLayout::V3 => bytes[3],
            // The field has 16 bits; a larger number than 255 is no method.
            HeaderLayout::V2 => u8::try_from(u16::from_ne_bytes(array(bytes, 2))).unwrap_or(u8::MAX),
        };
        let (sequence, job_number) = match layout {
            HeaderLayout::V3 => (u64::from_ne_bytes(array(bytes, 32)), u16::from_ne_bytes(array(bytes, 40))),
            HeaderLayout::V2 => (u16::from_ne_bytes(array(bytes, 34)).into(), u16::from_ne_bytes(array(bytes, 32))),
        };
        let crc_at = header_bytes(layout) - 4;
        Ok(ReadHeader {
            header: Self {
                method_number,
                interval_bytes: u32::from_ne_bytes(array(bytes, 4)),
                seed: u64::from_ne_bytes(array(bytes, 8)),
                offset_bytes: u64::from_ne_bytes(array(bytes, 16)),
                start: (u32::from_ne_bytes(array(bytes, 24)), u32::from_ne_bytes(array(bytes, 28))),
                sequence,
                job_number,
            },
            stored_crc: u32::from_ne_bytes(array(bytes, crc_at)),
            computed_crc: crc32c(&bytes[..crc_at]),
        })
    }
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    std::array::from_fn(|index| bytes[at + index])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Second block of a file of Debian's fio 3.33 (`--bs=512 --verify=crc32c`; the job was the second of its run).
    #[cfg(target_endian = "little")]
    #[test]
    fn a_header_of_the_peer() {
        let bytes = [
            0xca, 0xac, 0x05, 0x00, 0x00, 0x02, 0x00, 0x00, 0xa9, 0xa9, 0x23, 0x7b, 0x38, 0xf4, 0x85, 0x20, 0x00, 0x02,
            0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x7e, 0x13, 0x00, 0x00, 0x25, 0x7e, 0x86, 0x2a, 0x02, 0x00, 0x01, 0x00,
            0xc1, 0x37, 0x9a, 0xbc,
        ];
        let read = Header::read(HeaderLayout::V2, &bytes).unwrap();
        assert_eq!(read.stored_crc, read.computed_crc);
        let expected = Header {
            method_number: 5,
            interval_bytes: 512,
            seed: 0x2085_f438_7b23_a9a9,
            offset_bytes: 512,
            start: (0x137e, 0x2a86_7e25),
            sequence: 1,
            job_number: 2,
        };
        assert_eq!(read.header, expected);
        let mut written = [0; 40];
        expected.write(HeaderLayout::V2, &mut written);
        assert_eq!(written, bytes);
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(
            fields in any::<(u8, u32, u64, u64, u32, u32)>(),
            (sequence, job_number) in any::<(u16, u16)>(),
            mut bytes in prop::collection::vec(any::<u8>(), 48),
        ) {
            let (method_number, interval_bytes, seed, offset_bytes, seconds, nanoseconds) = fields;
            let start = (seconds, nanoseconds);
            let sequence = sequence.into();
            let header = Header { method_number, interval_bytes, seed, offset_bytes, start, sequence, job_number };
            for layout in [HeaderLayout::V2, HeaderLayout::V3] {
                header.write(layout, &mut bytes);
                let read = Header::read(layout, &bytes).unwrap();
                prop_assert_eq!(read.header, header);
                prop_assert_eq!(read.stored_crc, read.computed_crc);
            }
        }

        #[test]
        fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 48)) {
            for layout in [HeaderLayout::V2, HeaderLayout::V3] {
                let _ = Header::read(layout, &bytes);
            }
        }
    }
}
