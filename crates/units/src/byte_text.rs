//! Text that keeps bytes which are not UTF-8, so that a path passes through code for text as it was written.
//!
//! A byte that belongs to no valid character is represented by one of the last 256 code points. Characters that are
//! such code points themselves are split into bytes, so that no two inputs give the same text. Must not know: the
//! meaning of the text. Start reading at [`from_bytes`] and [`to_os_string`].

use std::borrow::Cow;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

/// Code point of the byte 0.
const FIRST_MARK: u32 = 0x10_ff00;

/// The byte that a character represents.
fn marked(symbol: char) -> Option<u8> {
    u32::from(symbol).checked_sub(FIRST_MARK).and_then(|byte| u8::try_from(byte).ok())
}

/// The text of some bytes. Valid UTF-8 stays as it is.
pub fn from_bytes(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    let mark = |text: &mut String, bytes: &[u8]| {
        text.extend(bytes.iter().filter_map(|byte| char::from_u32(FIRST_MARK + u32::from(*byte))));
    };
    for chunk in bytes.utf8_chunks() {
        for symbol in chunk.valid().chars() {
            if marked(symbol).is_some() {
                mark(&mut text, symbol.encode_utf8(&mut [0; 4]).as_bytes());
            } else {
                text.push(symbol);
            }
        }
        mark(&mut text, chunk.invalid());
    }
    text
}

/// The same as [`from_bytes`], without a copy if the text stays as it is.
pub fn of(bytes: &[u8]) -> Cow<'_, str> {
    // Four-byte characters that begin with another byte are not among the last 256.
    const FIRST_OF_MARKS: u8 = 0xf4;
    match str::from_utf8(bytes) {
        Ok(text) if !bytes.contains(&FIRST_OF_MARKS) => Cow::Borrowed(text),
        _ => Cow::Owned(from_bytes(bytes)),
    }
}

/// The bytes of a text of [`from_bytes`].
pub fn to_os_string(text: &str) -> OsString {
    let mut bytes = Vec::with_capacity(text.len());
    for symbol in text.chars() {
        match marked(symbol) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend_from_slice(symbol.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    OsString::from_vec(bytes)
}

/// The text for people and documents: U+FFFD for each byte that is not UTF-8.
pub fn shown(text: &str) -> Cow<'_, str> {
    if !text.contains(|symbol| marked(symbol).is_some()) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|symbol| marked(symbol).map_or(symbol, |_| char::REPLACEMENT_CHARACTER)).collect())
}

/// The first byte that is not UTF-8, and which one of the bytes it is, counted from 1.
pub fn first_byte(text: &str) -> Option<(usize, u8)> {
    let (at, symbol) = text.char_indices().find(|(_, symbol)| marked(*symbol).is_some())?;
    marked(symbol).map(|byte| (at + 1, byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn bytes_that_are_no_text_are_told() {
        let text = from_bytes(b"caf\xe9 \xc3\xa9");
        assert_eq!(shown(&text), "caf\u{fffd} é");
        assert_eq!(first_byte(&text), Some((4, 0xe9)));
        assert_eq!(from_bytes("é\u{10fefe}".as_bytes()), "é\u{10fefe}");
        assert_eq!(first_byte("é"), None);
    }

    proptest! {
        #[test]
        fn bytes_come_back(bytes: Vec<u8>, symbols in "[a\u{e9}\u{10ff00}-\u{10ffff}]{0,4}") {
            for bytes in [bytes, symbols.into_bytes()] {
                let returned = to_os_string(&from_bytes(&bytes));
                prop_assert_eq!(returned.as_bytes(), &bytes[..]);
                prop_assert_eq!(of(&bytes), from_bytes(&bytes));
            }
        }
    }
}
