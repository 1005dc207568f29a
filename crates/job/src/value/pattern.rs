//! Patterns of data: decimals, hexadecimal bytes, texts and contents of files, joined without separators. A `0x` begins
//! a new number, even between digits.
//!
//! Must not know: the buffers to fill. Start reading at [`parse`].
//! Facts: reference "Patterns" (a decimal is little endian in as few bytes as hold it, 0 is one byte, -1 four).

use crate::environment::Environment;
use crate::error::JobError;
use ferrio_spec::VerifyPattern;
use std::io::Read;
use std::path::Path;

/// Longest pattern, bytes.
const MAX_BYTES: usize = 128 << 20;

/// Parses a pattern; it is not empty. `environment` opens the files that it names.
pub(crate) fn parse(text: &str, environment: &dyn Environment) -> Result<Vec<u8>, JobError> {
    let pattern = parse_with_offsets(text, environment)?;
    if pattern.offsets_at.is_empty() { Ok(pattern.bytes) } else { Err(JobError::NotParsed) }
}

/// Parses a pattern in which `%o` reserves eight bytes for an offset.
pub(crate) fn parse_with_offsets(text: &str, environment: &dyn Environment) -> Result<VerifyPattern, JobError> {
    let (mut bytes, mut offsets_at) = (Vec::new(), Vec::new());
    let mut rest = text;
    while !rest.is_empty() {
        rest = if let Some(after) = rest.strip_prefix("%o") {
            offsets_at.push(bytes.len());
            bytes.extend_from_slice(&[0; 8]);
            after
        } else if let Some(quoted) = rest.strip_prefix('"') {
            let (content, after) = quoted.split_once('"').ok_or(JobError::NotParsed)?;
            bytes.extend_from_slice(content.as_bytes());
            after
        } else if let Some(quoted) = rest.strip_prefix('\'') {
            let (path, after) = quoted.split_once('\'').ok_or(JobError::NotParsed)?;
            read(path, environment, &mut bytes)?;
            after
        } else if let Some(digits) = rest.strip_prefix("0x").or_else(|| rest.strip_prefix("0X")) {
            hexadecimal(digits, &mut bytes)?
        } else {
            decimal(rest, &mut bytes)?
        };
        if bytes.len() > MAX_BYTES {
            return Err(JobError::NotParsed);
        }
    }
    if bytes.is_empty() { Err(JobError::NotParsed) } else { Ok(VerifyPattern { bytes, offsets_at }) }
}

fn read(path: &str, environment: &dyn Environment, bytes: &mut Vec<u8>) -> Result<(), JobError> {
    let file = environment.open(Path::new(path)).map_err(|_| JobError::NotParsed)?;
    // Reading one byte more than allowed shows that the file is too long.
    let n_left = (MAX_BYTES + 1).saturating_sub(bytes.len()) as u64;
    file.take(n_left).read_to_end(bytes).map_err(|_| JobError::NotParsed)?;
    Ok(())
}

/// Bytes in the order of their digits; a single digit at the end is a byte of its own, as is the first of an odd number.
fn hexadecimal<'a>(text: &'a str, bytes: &mut Vec<u8>) -> Result<&'a str, JobError> {
    let end = text.find(|character: char| !character.is_ascii_hexdigit()).unwrap_or(text.len());
    // A `0` before an `x` belongs to the next number.
    let begins_next = text[..end].ends_with('0') && text[end..].starts_with(['x', 'X']);
    let (digits, rest) = text.split_at(end - usize::from(begins_next));
    if digits.is_empty() {
        return Err(JobError::NotParsed);
    }
    let (first, pairs) = digits.split_at(digits.len() % 2);
    let byte = |digits: &str| u8::from_str_radix(digits, 16).map_err(|_| JobError::NotParsed);
    if !first.is_empty() {
        bytes.push(byte(first)?);
    }
    for start in (0..pairs.len()).step_by(2) {
        bytes.push(byte(&pairs[start..start + 2])?);
    }
    Ok(rest)
}

/// 32 bits, little endian, without the zero bytes at the end. Blanks are allowed only before the number. The next `0x`
/// ends it, even between two digits.
fn decimal<'a>(text: &'a str, bytes: &mut Vec<u8>) -> Result<&'a str, JobError> {
    let text = text.trim_start();
    let sign = usize::from(text.starts_with('-') || text.starts_with('+'));
    let next_hexadecimal = text[sign..].find("0x").into_iter().chain(text[sign..].find("0X")).min();
    let n_digits = text[sign..].find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len() - sign);
    let n_digits = next_hexadecimal.map_or(n_digits, |start| start.min(n_digits));
    let (number, rest) = text.split_at(sign + n_digits);
    let number: i64 = number.parse().map_err(|_| JobError::NotParsed)?;
    if number < i64::from(i32::MIN) || number > i64::from(i32::MAX) {
        return Err(JobError::NotParsed);
    }
    let all = (number as u32).to_le_bytes();
    let n_bytes = all.iter().rposition(|byte| *byte != 0).map_or(1, |last| last + 1);
    bytes.extend_from_slice(&all[..n_bytes]);
    Ok(rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::World;

    // Expected values: the rows of the reference, and of fio for the others.
    #[test]
    fn patterns_of_all_kinds() {
        let table: [(&str, &[u8]); 11] = [
            ("256", &[0, 1]),
            ("-1", &[0xff; 4]),
            ("0", &[0]),
            ("0xdeadbeef", &[0xde, 0xad, 0xbe, 0xef]),
            ("0xabc", &[0x0a, 0xbc]),
            ("\"ab c\"", b"ab c"),
            ("\"ab\"0x01\"c\"", b"ab\x01c"),
            ("\"x\"1\"y\"-2", b"x\x01y\xfe\xff\xff\xff"),
            ("2147483647", &[0xff, 0xff, 0xff, 0x7f]),
            (" 4", &[4]),
            ("0x12 4", &[0x12, 4]),
        ];
        for (text, expected) in table {
            assert_eq!(parse(text, &World::default()).as_deref(), Ok(expected), "{text}");
        }
    }

    // Expected values as fio 3.41 fills buffers with them; an end-to-end test compares them with a run of fio.
    #[test]
    fn a_hexadecimal_number_begins_within_another_number() {
        let table: [(&str, &[u8]); 15] = [
            ("\"abcd\"-120xdeadface", b"abcd\xf4\xff\xff\xff\xde\xad\xfa\xce"),
            ("-120xde", &[0xf4, 0xff, 0xff, 0xff, 0xde]),
            ("120xde", &[0x0c, 0xde]),
            ("120Xde", &[0x0c, 0xde]),
            ("00x12", &[0x00, 0x12]),
            ("10x12", &[0x01, 0x12]),
            ("-00xde", &[0x00, 0xde]),
            ("0xab0xcd", &[0xab, 0xcd]),
            ("0xab0Xcd", &[0xab, 0xcd]),
            ("0x1230xde", &[0x01, 0x23, 0xde]),
            ("0x12300xde", &[0x12, 0x30, 0xde]),
            ("0x120x34-5", &[0x12, 0x34, 0xfb, 0xff, 0xff, 0xff]),
            ("0x1-120xab", &[0x01, 0xf4, 0xff, 0xff, 0xff, 0xab]),
            ("120x34560x78", &[0x0c, 0x34, 0x56, 0x78]),
            ("\"abcd\"-120xdeadface-3\"x\"", b"abcd\xf4\xff\xff\xff\xde\xad\xfa\xce\xfd\xff\xff\xffx"),
        ];
        for (text, expected) in table {
            assert_eq!(parse(text, &World::default()).as_deref(), Ok(expected), "{text}");
        }
        // fio aborts at the last of them.
        for text in ["-0xde", "12-0x13", "0xa-0xb", "12 0xde", "0xabxcd", "0x", "1x", "-", "0x0x12"] {
            assert!(parse(text, &World::default()).is_err(), "{text}");
        }
    }

    #[test]
    fn offsets_are_eight_bytes() {
        let parsed = parse_with_offsets("0xff%o\"abcd\"%o", &World::default()).unwrap();
        assert_eq!(parsed.bytes, b"\xff\0\0\0\0\0\0\0\0abcd\0\0\0\0\0\0\0\0");
        assert_eq!(parsed.offsets_at, [1, 13]);
    }

    #[test]
    fn what_is_no_pattern() {
        for text in [
            "",
            "xyz",
            " 0x12",
            "4 ",
            "%o",
            "0x",
            "0xfg",
            "\"open",
            "\"\"",
            "'/no/such/file'",
            "2147483648",
            "4294967295",
            "-",
            "1z",
            "1é",
        ] {
            assert!(parse(text, &World::default()).is_err(), "{text}");
        }
    }
}
