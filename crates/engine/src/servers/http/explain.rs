//! What an answer with an error means, in one sentence for the user, with the server's own words.
//!
//! Must not know: connections. Start reading at [`reason`].

use super::answer::{HttpAnswer, plain};
use super::request::Method;

/// Why the server refuses a request; `None`: the status says all.
pub(super) fn reason(method: Method, answer: &HttpAnswer, has_login: bool) -> Option<String> {
    let text = String::from_utf8_lossy(&answer.text);
    let code = element(&text, "Code");
    let advice = match code.as_deref() {
        Some(code) => of_code(code, &text).or_else(|| of_status(method, answer.status, has_login)),
        None => of_status(method, answer.status, has_login),
    };
    let said = code.map(|code| match element(&text, "Message") {
        Some(message) => format!("the server says {code} ({})", message.trim_end_matches('.')),
        None => format!("the server says {code}"),
    });
    match (said, advice) {
        (Some(said), Some(advice)) => Some(format!("{said}: {advice}")),
        (said, advice) => said.or(advice),
    }
}

/// What a code of an S3 server means.
fn of_code(code: &str, text: &str) -> Option<String> {
    Some(
        match code {
            "SignatureDoesNotMatch" => "http_s3_key is not the secret of http_s3_keyid",
            "InvalidAccessKeyId" | "XAdminUserNotFound" => "the server does not know http_s3_keyid",
            "RequestTimeTooSkewed" => {
                "the clock of this machine differs from that of the server by more than 15 minutes"
            }
            "InvalidToken" | "ExpiredToken" | "TokenRefreshRequired" => "see http_s3_security_token",
            "AuthorizationHeaderMalformed" | "InvalidRegion" => {
                let region = element(text, "Region").map(|region| format!("; the server's region is {region}"));
                return Some(format!("see http_s3_region{}", region.unwrap_or_default()));
            }
            "InvalidStorageClass" => "see http_s3_storage_class",
            "NoSuchBucket" => "the bucket in filename does not exist, and no bucket is made",
            "SlowDown" | "ServiceUnavailable" | "ServerBusy" => "the server has more requests than it takes",
            "EntityTooLarge" => "the block is larger than the server takes; see bs",
            _ => return None,
        }
        .to_owned(),
    )
}

fn of_status(method: Method, status: u16, has_login: bool) -> Option<String> {
    Some(
        match status {
            300..=399 => "the server sends the request elsewhere, but not where to",
            401 if has_login => {
                "the server refuses this user and password, or offers no way of authentication that is known"
            }
            401 => "the server asks for a user and a password: see http_user and http_pass",
            403 => "the server does not allow this user to do it",
            404 if method == Method::Put => "the directory, bucket or container of the object does not exist",
            405 => "the server takes no such requests for this object",
            409 => "the directory of the object does not exist, or is in use",
            413 => "the block is larger than the server takes; see bs",
            416 => "the object ends before this block; see size",
            429 | 503 => "the server has more requests than it takes",
            507 => "the server has no space left",
            _ => return None,
        }
        .to_owned(),
    )
}

/// The text of the first XML element of a name, as it may be shown.
pub(super) fn element(text: &str, name: &str) -> Option<String> {
    let start = text.find(&format!("<{name}>"))? + name.len() + 2;
    let length = text[start..].find(&format!("</{name}>"))?;
    let value = plain(&text[start..start + length]);
    let value = value
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#34;", "\"")
        .replace("&#39;", "'")
        .replace("&amp;", "&");
    (!value.is_empty()).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(status: u16, text: &str) -> String {
        let mut answer = HttpAnswer::default();
        answer.status = status;
        answer.text.extend_from_slice(text.as_bytes());
        reason(Method::Put, &answer, false).unwrap_or_default()
    }

    #[test]
    fn the_code_of_the_server_is_told_with_its_meaning() {
        let error = |code: &str, more: &str| {
            said(
                403,
                &format!(
                    "<?xml version=\"1.0\"?>\n<Error><Code>{code}</Code><Message>Some\n  text.</Message>{more}</Error>"
                ),
            )
        };
        assert_eq!(
            error("SignatureDoesNotMatch", ""),
            "the server says SignatureDoesNotMatch (Some text): http_s3_key is not the secret of http_s3_keyid"
        );
        assert!(error("RequestTimeTooSkewed", "").contains("the clock of this machine"));
        assert!(
            error("AuthorizationHeaderMalformed", "<Region>eu-1</Region>").ends_with("the server's region is eu-1")
        );
        assert!(error("Odd", "").ends_with("the server does not allow this user to do it"));
        assert!(error("a\u{7}\u{1b}[31mb", "").starts_with("the server says a [31mb"));
    }

    #[test]
    fn a_status_alone_is_explained_too() {
        assert!(said(503, "<html>busy</html>").contains("more requests"));
        assert!(said(401, "").contains("http_user"));
        assert_eq!(said(418, "teapot"), "");
    }
}
