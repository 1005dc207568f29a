//! Options of the engine `http`.
//!
//! Must not know: what the engine does with them.

use super::declaration::{number, text, untyped_word};
use crate::syntax::{ANY, Choice, choice};

const HTTPS_WORDS: &[Choice] =
    &[choice("off", "Plain HTTP"), choice("on", "HTTPS"), choice("insecure", "HTTPS, certificates unchecked")];

const HTTP_MODE_WORDS: &[Choice] = &[choice("webdav", "WebDAV"), choice("s3", "S3"), choice("swift", "Swift")];

const HTTP_OBJECT_MODE_WORDS: &[Choice] =
    &[choice("block", "One object a block"), choice("range", "One object a file")];

engine_options! {
    HTTPS: () = untyped_word("https", "TLS off, on, or on without certificate checks", HTTPS_WORDS)
        .default("off");
    HTTP_HOST: &'static str = text("http_host", "Server (S3: bucket host, path style otherwise)")
        .default("localhost")
        .planned();
    HTTP_USER: Option<&'static str> = text("http_user", "Basic auth user").planned();
    HTTP_PASS: Option<&'static str> = text("http_pass", "Basic auth password").planned();
    HTTP_S3_KEY: Option<&'static str> = text("http_s3_key", "S3 secret").planned();
    HTTP_S3_KEYID: Option<&'static str> = text("http_s3_keyid", "S3 access key id").planned();
    HTTP_S3_SECURITY_TOKEN: Option<&'static str> = text("http_s3_security_token", "S3 session token").planned();
    HTTP_SWIFT_AUTH_TOKEN: Option<&'static str> = text("http_swift_auth_token", "Swift token").planned();
    HTTP_S3_REGION: &'static str = text("http_s3_region", "S3 region for signing").default("us-east-1").planned();
    HTTP_S3_SSE_CUSTOMER_KEY: Option<&'static str> =
        text("http_s3_sse_customer_key", "Customer key for server side encryption")
            .planned();
    HTTP_S3_SSE_CUSTOMER_ALGORITHM: &'static str = text("http_s3_sse_customer_algorithm", "Algorithm of that key")
        .default("AES256")
        .planned();
    HTTP_S3_STORAGE_CLASS: &'static str = text("http_s3_storage_class", "Storage class header")
        .default("STANDARD")
        .planned();
    HTTP_MODE: () = untyped_word("http_mode", "Protocol flavour", HTTP_MODE_WORDS).default("webdav");
    HTTP_VERBOSE: i64 = number("http_verbose", "Debug level passed on to curl", ANY).default("0").planned();
    HTTP_OBJECT_MODE: () =
        untyped_word("http_object_mode", "Object per block, or per file with range requests", HTTP_OBJECT_MODE_WORDS)
            .default("block");
}
