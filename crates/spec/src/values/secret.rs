//! Values that no output may show: passwords, keys and tokens, and the passwords of URLs.
//!
//! A secret has two texts: the one that is shown, and the value, which is never saved. Must not know: which options have secrets.
//! Start reading at [`Secret`], then [`without_passwords`].

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// What is shown in the place of a secret.
pub const HIDDEN: &str = "***";

/// A value that is not shown. Saved, it is the text that is shown in its place; loaded, it has no value.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    shown: String,
    value: Option<String>,
}

impl Secret {
    /// A secret, and the text in its place: [`HIDDEN`], where it came from (`env:NAME`, `file:PATH`), or an URL without its password.
    pub fn new(shown: impl Into<String>, value: impl Into<String>) -> Self {
        Self { shown: shown.into(), value: Some(value.into()) }
    }

    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// The value; `None`: it was loaded, and has to be given again.
    pub fn value(&self) -> Option<&str> {
        self.value.as_deref()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.shown)
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.shown)
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self { shown: String::deserialize(deserializer)?, value: None })
    }
}

/// The text with [`HIDDEN`] in the place of each password in an URL: `nbd://user:PASSWORD@host`, `iscsi://user%PASSWORD@host`, and
/// parameters whose names end with `password`, `secret` or `token` (`?target_password=...`).
pub fn without_passwords(text: &str) -> Cow<'_, str> {
    hide(text, passwords_in(text))
}

/// Words about a URL, such as the error of a library, without the passwords of the URL, wherever they stand.
pub fn without_passwords_of(url: &str, words: &str) -> String {
    let whole = without_passwords(words).into_owned();
    passwords_in(url).into_iter().fold(whole, |words, (from, to)| words.replace(&url[from..to], HIDDEN))
}

/// Starts and ends of the passwords in the URLs of a text.
fn passwords_in(text: &str) -> Vec<(usize, usize)> {
    let mut hidden = Vec::new();
    if !text.contains("//") {
        return hidden;
    }
    for (at, _) in text.match_indices("//") {
        let scheme = text[..at].trim_end_matches(['\\', ':']);
        if scheme.len() == at {
            continue;
        }
        let start = at + 2;
        let rest = &text[start..];
        let end = start + rest.find(|c: char| "/?#,\"'".contains(c) || c.is_whitespace()).unwrap_or(rest.len());
        hidden.extend(
            password_in(&text[start..end], scheme.ends_with("iscsi")).map(|(from, to)| (start + from, start + to)),
        );
        hidden.extend(parameters(text, end));
    }
    hidden
}

/// As [`without_passwords`], for a server without a scheme before it: `user:PASSWORD@host`.
pub fn without_password_of_server(text: &str) -> Cow<'_, str> {
    if text.contains("//") {
        return without_passwords(text);
    }
    let end = text.find(['/', '?']).unwrap_or(text.len());
    let mut hidden: Vec<_> = password_in(&text[..end], false).into_iter().collect();
    hidden.extend(parameters(text, end));
    hide(text, hidden)
}

/// Start and end of the password before the last `@`.
fn password_in(authority: &str, has_percent: bool) -> Option<(usize, usize)> {
    let end = authority.rfind('@')?;
    let user = &authority[..end];
    let at = user.find(':').or_else(|| user.find('%').filter(|_| has_percent))? + 1;
    (at < end).then_some((at, end))
}

/// Starts and ends of the values of secret parameters behind `?`, from `start` to the next blank or quote.
fn parameters(text: &str, start: usize) -> impl Iterator<Item = (usize, usize)> {
    let rest = &text[start..];
    let length = rest.find(|c: char| c.is_whitespace() || c == '"' || c == '\'').unwrap_or(rest.len());
    let mut at = start;
    rest[..length].split_inclusive(['?', '&']).filter_map(move |part| {
        let (from, whole) = (at, part.trim_end_matches(['?', '&']));
        at += part.len();
        let (name, value) = whole.split_once('=')?;
        let is_secret = ["password", "secret", "token"].iter().any(|word| name.to_ascii_lowercase().ends_with(word));
        (is_secret && !value.is_empty()).then_some((from + name.len() + 1, from + whole.len()))
    })
}

/// Puts [`HIDDEN`] into these places.
fn hide(text: &str, mut places: Vec<(usize, usize)>) -> Cow<'_, str> {
    places.sort_unstable();
    places.dedup();
    if places.is_empty() {
        return Cow::Borrowed(text);
    }
    let (mut shown, mut at) = (String::with_capacity(text.len()), 0);
    for (from, to) in places.into_iter().filter(|(from, to)| from < to) {
        if from < at {
            continue;
        }
        shown.extend([&text[at..from], HIDDEN]);
        at = to;
    }
    shown.push_str(&text[at..]);
    Cow::Owned(shown)
}

/// The words of a command line without these secrets, and without passwords of URLs: a word that is a secret, or that ends with one
/// behind a `=`, shows what stands in its place.
pub fn without_secrets(words: &[String], secrets: &[Secret]) -> Vec<String> {
    let word = |word: &String| {
        let found =
            secrets.iter().filter(|secret| secret.value().is_some_and(|value| !value.is_empty())).find_map(|secret| {
                let before = word.strip_suffix(secret.value()?)?;
                (before.is_empty() || before.ends_with('=')).then(|| format!("{before}{}", secret.shown()))
            });
        found.unwrap_or_else(|| without_passwords(word).into_owned())
    };
    words.iter().map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_of_urls_are_hidden() {
        for (text, expected) in [
            ("nbd://ada:pw@host:10809/disk", "nbd://ada:***@host:10809/disk"),
            ("iscsi\\://ada%pw@host\\:3260/iqn/0", "iscsi\\://ada%***@host\\:3260/iqn/0"),
            (
                "iscsi://ada%pw@h/i/0?target_user=b&target_password=pw",
                "iscsi://ada%***@h/i/0?target_user=b&target_password=***",
            ),
            ("nfs://h/e?auth_token=pw&uid=0", "nfs://h/e?auth_token=***&uid=0"),
            ("--uri=nbds://:p@w@host", "--uri=nbds://:***@host"),
            ("a http://u:p@h and http://v:q@i", "a http://u:***@h and http://v:***@i"),
            ("http://ada@host/a:b@c", "http://ada@host/a:b@c"),
            ("http://host%41@x", "http://host%41@x"),
            ("//a:b@c", "//a:b@c"),
            ("é://ü:ö@ä", "é://ü:***@ä"),
            ("plain: text@x", "plain: text@x"),
            ("a://b:@c", "a://b:@c"),
        ] {
            assert_eq!(without_passwords(text), expected, "{text}");
        }
        let words = "failed to mount nfs://ada:pw@host/x: invalid address:ada:pw@host";
        let hidden = "failed to mount nfs://ada:***@host/x: invalid address:ada:***@host";
        assert_eq!(without_passwords_of("nfs://ada:pw@host/x", words), hidden);
        assert_eq!(without_passwords_of("nfs://host/x", "no answer"), "no answer");
        assert_eq!(without_password_of_server("ada:pw@host:80"), "ada:***@host:80");
        assert_eq!(without_password_of_server("host:80"), "host:80");
    }

    #[test]
    fn words_of_a_command_line_have_no_secrets() {
        let secrets = [Secret::new(HIDDEN, "pw"), Secret::new("env:KEY", "other"), Secret::new(HIDDEN, "")];
        let words =
            ["--http_pass=pw", "pw", "--name=pwx", "--http_s3_key=other", "nbd://u:x@h", "--x="].map(str::to_owned);
        let shown = ["--http_pass=***", "***", "--name=pwx", "--http_s3_key=env:KEY", "nbd://u:***@h", "--x="];
        assert_eq!(without_secrets(&words, &secrets), shown);
    }

    #[test]
    fn no_form_has_the_value() {
        let secret = Secret::new(HIDDEN, "hush");
        assert_eq!(format!("{secret:?}"), HIDDEN);
        let saved = serde_json::to_string(&secret).expect("a text");
        assert_eq!(saved, "\"***\"");
        let loaded: Secret = serde_json::from_str(&saved).expect("a secret");
        assert_eq!((loaded.shown(), loaded.value()), (HIDDEN, None));
    }
}
