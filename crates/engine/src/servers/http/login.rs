//! Authentication by user and password: Basic (RFC 7617) and Digest with MD5 or SHA-256 (RFC 7616).
//!
//! Must not know: connections. Start reading at [`HttpLogin::answer`].

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::Digest as _;
use std::fmt::Write as _;

/// What is sent with each request, once the server has asked for it.
pub(super) enum HttpLogin {
    Basic(String),
    Digest(DigestChallenge),
}

/// What a server wants hashed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct DigestChallenge {
    realm: String,
    nonce: String,
    opaque: Option<String>,
    has_qop: bool,
    is_sha256: bool,
    is_session: bool,
    pub(super) is_stale: bool,
    /// Requests with this nonce.
    n_uses: u32,
}

impl HttpLogin {
    /// The best way that these challenges offer; `None`: none of them is known.
    pub(super) fn answer(challenges: &[String], (user, password): &(String, String)) -> Option<Self> {
        let digests =
            challenges.iter().flat_map(|text| split(text)).filter_map(|challenge| DigestChallenge::parse(&challenge));
        if let Some(digest) = digests.max_by_key(|digest| digest.is_sha256) {
            return Some(Self::Digest(digest));
        }
        let offers_basic = challenges.iter().flat_map(|text| split(text)).any(|(scheme, _)| scheme == "basic");
        offers_basic.then(|| Self::Basic(format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))))
    }

    /// True if the server has only a new nonce to offer: user and password were right.
    pub(super) fn is_stale(&self) -> bool {
        matches!(self, Self::Digest(digest) if digest.is_stale)
    }

    pub(super) fn header(&mut self, login: &(String, String), method: &str, target: &str) -> String {
        match self {
            Self::Basic(value) => value.clone(),
            Self::Digest(digest) => {
                digest.n_uses += 1;
                // A number that no other client has drawn.
                let cnonce = format!("{:016x}", ferrio_units::random::system_seed());
                digest.header(login, method, target, &cnonce)
            }
        }
    }
}

impl DigestChallenge {
    fn parse((scheme, parameters): &(String, Vec<(String, String)>)) -> Option<Self> {
        if scheme != "digest" {
            return None;
        }
        let value = |name: &str| parameters.iter().find(|(other, _)| other == name).map(|(_, value)| value.clone());
        let algorithm = value("algorithm").unwrap_or_default().to_ascii_lowercase();
        let (is_sha256, is_session) = match algorithm.as_str() {
            "" | "md5" => (false, false),
            "md5-sess" => (false, true),
            "sha-256" => (true, false),
            "sha-256-sess" => (true, true),
            _ => return None,
        };
        let qop = value("qop");
        let has_auth =
            qop.as_ref().is_some_and(|qop| qop.split(',').any(|word| word.trim().eq_ignore_ascii_case("auth")));
        if qop.is_some() && !has_auth {
            return None;
        }
        Some(Self {
            realm: value("realm").unwrap_or_default(),
            nonce: value("nonce")?,
            opaque: value("opaque"),
            has_qop: has_auth,
            is_sha256,
            is_session,
            is_stale: value("stale").is_some_and(|stale| stale.eq_ignore_ascii_case("true")),
            n_uses: 0,
        })
    }

    fn hash(&self, text: &str) -> String {
        if self.is_sha256 { hex(&sha2::Sha256::digest(text)) } else { hex(&md5::Md5::digest(text)) }
    }

    fn header(&self, (user, password): &(String, String), method: &str, target: &str, cnonce: &str) -> String {
        let Self { realm, nonce, .. } = self;
        let mut first = self.hash(&format!("{user}:{realm}:{password}"));
        if self.is_session {
            first = self.hash(&format!("{first}:{nonce}:{cnonce}"));
        }
        let second = self.hash(&format!("{method}:{target}"));
        let count = format!("{:08x}", self.n_uses);
        let response = if self.has_qop {
            self.hash(&format!("{first}:{nonce}:{count}:{cnonce}:auth:{second}"))
        } else {
            self.hash(&format!("{first}:{nonce}:{second}"))
        };
        let mut value = format!(
            "Digest username=\"{}\", realm=\"{}\", nonce=\"{nonce}\", uri=\"{target}\", response=\"{response}\"",
            quoted(user),
            quoted(realm)
        );
        let algorithm = match (self.is_sha256, self.is_session) {
            (false, false) => "MD5",
            (false, true) => "MD5-sess",
            (true, false) => "SHA-256",
            (true, true) => "SHA-256-sess",
        };
        // Writing to a text cannot fail.
        let _ = write!(value, ", algorithm={algorithm}");
        if self.has_qop {
            let _ = write!(value, ", qop=auth, nc={count}, cnonce=\"{cnonce}\"");
        } else if self.is_session {
            let _ = write!(value, ", cnonce=\"{cnonce}\"");
        }
        if let Some(opaque) = &self.opaque {
            let _ = write!(value, ", opaque=\"{}\"", quoted(opaque));
        }
        value
    }
}

fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// Two digits a byte.
pub(super) fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// The challenges of a header: schemes in small letters, each with its parameters.
fn split(text: &str) -> Vec<(String, Vec<(String, String)>)> {
    let mut challenges: Vec<(String, Vec<(String, String)>)> = Vec::new();
    for part in parts(text) {
        let before_value = part.split('=').next().unwrap_or_default();
        // "Scheme", "Scheme name=value" and "name=value" are told apart by the blank in front of the name.
        let (scheme, rest) = match before_value.trim().split_once(char::is_whitespace) {
            Some((scheme, _)) => (Some(scheme), part.trim()[scheme.len()..].trim()),
            None if !part.contains('=') => (Some(part.trim()), ""),
            None => (None, part.trim()),
        };
        if let Some(scheme) = scheme {
            challenges.push((scheme.to_ascii_lowercase(), Vec::new()));
        }
        if let (Some((name, value)), Some((_, parameters))) = (rest.split_once('='), challenges.last_mut()) {
            parameters.push((name.trim().to_ascii_lowercase(), unquoted(value.trim())));
        }
    }
    challenges
}

/// The parts of a header between commas outside of quotes.
fn parts(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut is_quoted, mut is_escaped) = (Vec::new(), 0, false, false);
    for (at, character) in text.char_indices() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts.retain(|part| !part.trim().is_empty());
    parts
}

fn unquoted(value: &str) -> String {
    let Some(inner) = value.strip_prefix('"').map(|rest| rest.strip_suffix('"').unwrap_or(rest)) else {
        return value.to_owned();
    };
    let (mut text, mut is_escaped) = (String::with_capacity(inner.len()), false);
    for character in inner.chars() {
        if character == '\\' && !is_escaped {
            is_escaped = true;
        } else {
            is_escaped = false;
            text.push(character);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn login(user: &str, password: &str) -> (String, String) {
        (user.to_owned(), password.to_owned())
    }

    /// The example of RFC 7616, 3.9.1, with both of its algorithms.
    #[test]
    fn the_example_of_the_standard_has_its_responses() {
        let login = login("Mufasa", "Circle of Life");
        for (algorithm, response) in [
            ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
            ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
        ] {
            let text = format!(
                "Digest realm=\"http-auth@example.org\", qop=\"auth, auth-int\", algorithm={algorithm}, \
                 nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\""
            );
            let Some(HttpLogin::Digest(mut digest)) = HttpLogin::answer(&[text], &login) else { panic!("a digest") };
            digest.n_uses = 1;
            let header =
                digest.header(&login, "GET", "/dir/index.html", "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ");
            assert!(header.contains(&format!("response=\"{response}\"")), "{header}");
            assert!(header.contains("qop=auth, nc=00000001, cnonce=\"f2/wE"), "{header}");
        }
    }

    #[test]
    fn the_best_way_is_taken() {
        let login = login("Aladdin", "open sesame");
        let basic = || "Basic realm=\"a, b\"".to_owned();
        match HttpLogin::answer(&[basic()], &login) {
            // The example of RFC 7617.
            Some(HttpLogin::Basic(value)) => assert_eq!(value, "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
            _ => panic!("basic"),
        }
        let both = format!("{}, Digest realm=\"x\\\"y\", nonce=\"n\", stale=TRUE", basic());
        match HttpLogin::answer(&[both], &login) {
            Some(HttpLogin::Digest(digest)) => assert_eq!((digest.realm.as_str(), digest.is_stale), ("x\"y", true)),
            _ => panic!("digest"),
        }
        assert!(
            HttpLogin::answer(&["Negotiate".to_owned(), "Digest nonce=x, algorithm=Q".to_owned()], &login).is_none()
        );
        assert!(HttpLogin::answer(&[], &login).is_none());
    }
}
