//! Figures that are no numbers: fio prints `nan`, `-nan` and `inf`, which JSON has not, where it divides by zero. A program that
//! writes such a report anew has words of its own for them: Python's are `NaN` and `Infinity`.
//!
//! Must not know: keys. Start reading at [`with_zeroes`].

use std::borrow::Cow;

/// Words that C and Python print for what is no finite number.
const WORDS: [&[u8]; 7] = [b"-nan", b"nan", b"-inf", b"inf", b"NaN", b"-Infinity", b"Infinity"];

/// The document with a zero in the place of each such word outside of texts, and their number. All other bytes keep their places.
pub(super) fn with_zeroes(bytes: &[u8]) -> (Cow<'_, [u8]>, usize) {
    let mut document = Cow::Borrowed(bytes);
    let (mut n_words, mut is_text, mut at) = (0, false, 0);
    while at < bytes.len() {
        match bytes[at] {
            // The byte behind a backslash is no end of the text.
            b'\\' if is_text => at += 1,
            b'"' => is_text = !is_text,
            b'-' | b'n' | b'i' | b'N' | b'I' if !is_text => {
                if let Some(length) = length_of_word(bytes, at) {
                    let place = &mut document.to_mut()[at..at + length];
                    place.fill(b' ');
                    place[0] = b'0';
                    n_words += 1;
                    at += length - 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    (document, n_words)
}

/// Length of the word here, if it is a value: behind a colon, a comma or a bracket, and before the end of one.
fn length_of_word(bytes: &[u8], at: usize) -> Option<usize> {
    let word = WORDS.iter().find(|word| bytes[at..].starts_with(word))?;
    let before = bytes[..at].iter().rev().find(|byte| !byte.is_ascii_whitespace());
    let behind = bytes[at + word.len()..].iter().find(|byte| !byte.is_ascii_whitespace());
    let is_value = matches!(before, Some(b':' | b',' | b'[')) && matches!(behind, Some(b',' | b'}' | b']'));
    is_value.then_some(word.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_are_no_numbers_are_zero() {
        for (text, expected, n_words) in [
            (r#"{"a" : nan, "b" : -nan}"#, r#"{"a" : 0  , "b" : 0   }"#, 2),
            ("[inf,-inf]", "[0  ,0   ]", 2),
            ("[NaN,Infinity,-Infinity]", "[0  ,0       ,0        ]", 3),
            (r#"{"nan" : "a: nan, \": inf,", "b" : -1}"#, r#"{"nan" : "a: nan, \": inf,", "b" : -1}"#, 0),
            ("{nan}", "{nan}", 0),
            (r#"{"a" : nano}"#, r#"{"a" : nano}"#, 0),
            ("", "", 0),
        ] {
            let (bytes, found) = with_zeroes(text.as_bytes());
            assert_eq!((String::from_utf8_lossy(&bytes).as_ref(), found), (expected, n_words), "{text}");
        }
    }
}
