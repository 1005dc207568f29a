//! Signature version 4 of requests to S3: <https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html>.
//!
//! Must not know: connections, options. Start reading at [`Signer::authorization`].

use super::login::hex;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// Length of a block of SHA-256, bytes.
const HASH_BLOCK_BYTES: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Signer {
    pub(super) key_id: String,
    pub(super) secret: String,
    pub(super) region: String,
    pub(super) service: &'static str,
}

pub(super) struct Signed<'a> {
    pub(super) method: &'a str,
    /// Path, encoded as in the request line.
    pub(super) path: &'a str,
    /// Parameters, encoded, in the order of their names.
    pub(super) query: &'a str,
    /// Names in small letters, in their order, and values.
    pub(super) headers: &'a [(&'static str, String)],
    /// SHA-256 of the body, in digits.
    pub(super) body_hash: &'a str,
    /// The time of the request, as `YYYYMMDDTHHMMSSZ`.
    pub(super) time: &'a str,
}

impl Signer {
    pub(super) fn authorization(&self, signed: &Signed<'_>) -> String {
        let Self { key_id, secret, region, service } = self;
        let mut names = String::new();
        for (name, _) in signed.headers {
            if !names.is_empty() {
                names.push(';');
            }
            names.push_str(name);
        }
        let day = signed.time.get(..8).unwrap_or_default();
        let scope = format!("{day}/{region}/{service}/aws4_request");
        let request = canonical(signed, &names);
        let text = format!("AWS4-HMAC-SHA256\n{}\n{scope}\n{}", signed.time, hash(request.as_bytes()));
        let mut key = hmac(format!("AWS4{secret}").as_bytes(), day.as_bytes());
        for part in [region.as_str(), service, "aws4_request"] {
            key = hmac(&key, part.as_bytes());
        }
        let signature = hex(&hmac(&key, text.as_bytes()));
        format!("AWS4-HMAC-SHA256 Credential={key_id}/{scope},SignedHeaders={names},Signature={signature}")
    }
}

/// The request in the form of which the signature is made.
fn canonical(signed: &Signed<'_>, names: &str) -> String {
    let mut text = format!("{}\n{}\n{}\n", signed.method, signed.path, signed.query);
    for (name, value) in signed.headers {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "{name}:{}", value.trim());
    }
    let _ = write!(text, "\n{names}\n{}", signed.body_hash);
    text
}

/// SHA-256, in digits.
pub(super) fn hash(data: &[u8]) -> String {
    hex(&Sha256::digest(data))
}

/// HMAC with SHA-256 (RFC 2104).
fn hmac(key: &[u8], message: &[u8]) -> [u8; 32] {
    let mut block = [0; HASH_BLOCK_BYTES];
    if key.len() > HASH_BLOCK_BYTES {
        block[..32].copy_from_slice(&Sha256::digest(key));
    } else {
        block[..key.len()].copy_from_slice(key);
    }
    let inner = Sha256::new().chain_update(block.map(|byte| byte ^ 0x36)).chain_update(message).finalize();
    Sha256::new().chain_update(block.map(|byte| byte ^ 0x5c)).chain_update(inner).finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signer(secret: &str, key_id: &str, service: &'static str) -> Signer {
        Signer { key_id: key_id.to_owned(), secret: secret.to_owned(), region: "us-east-1".to_owned(), service }
    }

    fn headers(pairs: &[(&'static str, &str)]) -> Vec<(&'static str, String)> {
        pairs.iter().map(|(name, value)| (*name, (*value).to_owned())).collect()
    }

    /// Case 2 of RFC 4231, and case 6, whose key is longer than a block.
    #[test]
    fn hmacs_are_those_of_the_standard() {
        assert_eq!(
            hex(&hmac(b"Jefe", b"what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        assert_eq!(
            hex(&hmac(&[0xaa; 131], b"Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        );
    }

    /// The examples of the page that is named above.
    #[test]
    fn the_examples_of_s3_have_their_signatures() {
        let signer = signer("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "AKIAIOSFODNN7EXAMPLE", "s3");
        let (time, empty) = ("20130524T000000Z", hash(b""));
        let written = hash(b"Welcome to Amazon S3.");
        let host = ("host", "examplebucket.s3.amazonaws.com");
        let of_nothing = ("x-amz-content-sha256", empty.as_str());
        let date = ("x-amz-date", time);
        for (method, path, query, body_hash, pairs, signature) in [
            (
                "GET",
                "/test.txt",
                "",
                &empty,
                vec![host, ("range", "bytes=0-9"), of_nothing, date],
                "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
            ),
            (
                "PUT",
                "/test%24file.text",
                "",
                &written,
                vec![
                    ("date", "Fri, 24 May 2013 00:00:00 GMT"),
                    host,
                    ("x-amz-content-sha256", written.as_str()),
                    date,
                    ("x-amz-storage-class", "REDUCED_REDUNDANCY"),
                ],
                "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
            ),
            (
                "GET",
                "/",
                "lifecycle=",
                &empty,
                vec![host, of_nothing, date],
                "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
            ),
            (
                "GET",
                "/",
                "max-keys=2&prefix=J",
                &empty,
                vec![host, of_nothing, date],
                "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
            ),
        ] {
            let headers = headers(&pairs);
            let request = Signed { method, path, query, headers: &headers, body_hash, time };
            let value = signer.authorization(&request);
            assert!(value.ends_with(&format!(",Signature={signature}")), "{method} {path}: {value}");
            assert!(
                value.starts_with(
                    "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,SignedHeaders="
                ),
                "{value}"
            );
        }
    }

    /// `get-vanilla` of the published test suite.
    #[test]
    fn the_test_suite_has_its_signature() {
        let signer = signer("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "AKIDEXAMPLE", "service");
        let headers = headers(&[("host", "example.amazonaws.com"), ("x-amz-date", "20150830T123600Z")]);
        let body_hash = &hash(b"");
        let request =
            Signed { method: "GET", path: "/", query: "", headers: &headers, body_hash, time: "20150830T123600Z" };
        let value = signer.authorization(&request);
        assert!(value.ends_with("=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"), "{value}");
    }
}
