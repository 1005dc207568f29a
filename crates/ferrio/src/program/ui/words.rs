//! Options that stand among those of fio, taken out of the words of a command.

use anyhow::anyhow;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// True if a switch was among the arguments.
pub(crate) fn take_switch(words: &mut Vec<OsString>, name: &str) -> bool {
    let n_words = words.len();
    words.retain(|word| word != name);
    words.len() < n_words
}

/// Takes `NAME=VALUE` or `NAME VALUE` out of the arguments.
///
/// # Errors
/// There is no value behind it, or an empty one; the error says what is needed.
pub(crate) fn take_value(words: &mut Vec<OsString>, name: &str, needed: &str) -> anyhow::Result<Option<OsString>> {
    let value_of = |word: &OsString| match word.as_bytes().strip_prefix(name.as_bytes()) {
        Some([]) => Some(None),
        Some([b'=', value @ ..]) => Some(Some(OsString::from_vec(value.to_vec()))),
        _ => None,
    };
    let Some((index, value)) = words.iter().zip(0_usize..).find_map(|(word, index)| Some((index, value_of(word)?)))
    else {
        return Ok(None);
    };
    words.remove(index);
    let value = match value {
        Some(value) => value,
        None if index < words.len() => words.remove(index),
        None => OsString::new(),
    };
    if value.is_empty() { Err(anyhow!("{name} needs {needed}")) } else { Ok(Some(value)) }
}

/// Takes the value of an option as text.
///
/// # Errors
/// As of [`take_value`], or it is no UTF-8.
pub(crate) fn take_text(words: &mut Vec<OsString>, name: &str, needed: &str) -> anyhow::Result<Option<String>> {
    take_value(words, name, needed)?.map(text_of).transpose()
}

/// A word as a plan keeps it.
pub(crate) fn text_of(word: OsString) -> anyhow::Result<String> {
    word.into_string().map_err(|word| anyhow!("{} is no UTF-8, which a plan cannot keep", word.display()))
}
