//! Options of the engine `http`.
//!
//! Rows only; the effect of a row is in its `apply` function. Must not know: how values are parsed.

use crate::options::definition::{OptionDef, option};
use crate::options::kind::{ANY, Choice, Kind, choice};

const HTTPS: &[Choice] =
    &[choice("off", "Plain HTTP"), choice("on", "HTTPS"), choice("insecure", "HTTPS, certificates unchecked")];

const HTTP_MODE: &[Choice] = &[choice("webdav", "WebDAV"), choice("s3", "S3"), choice("swift", "Swift")];

const HTTP_OBJECT_MODE: &[Choice] = &[choice("block", "One object a block"), choice("range", "One object a file")];

/// The rows.
pub(crate) const OPTIONS: &[OptionDef] = &[
    option("https", Kind::Choice(HTTPS), "TLS off, on, or on without certificate checks")
        .default("off")
        .of_engines(&["http"]),
    option("http_host", Kind::Text, "Server (S3: bucket host, path style otherwise)")
        .default("localhost")
        .of_engines(&["http"]),
    option("http_user", Kind::Text, "Basic auth user").of_engines(&["http"]),
    option("http_pass", Kind::Text, "Basic auth password").of_engines(&["http"]),
    option("http_s3_key", Kind::Text, "S3 secret").of_engines(&["http"]),
    option("http_s3_keyid", Kind::Text, "S3 access key id").of_engines(&["http"]),
    option("http_s3_security_token", Kind::Text, "S3 session token").of_engines(&["http"]),
    option("http_swift_auth_token", Kind::Text, "Swift token").of_engines(&["http"]),
    option("http_s3_region", Kind::Text, "S3 region for signing").default("us-east-1").of_engines(&["http"]),
    option("http_s3_sse_customer_key", Kind::Text, "Customer key for server side encryption").of_engines(&["http"]),
    option("http_s3_sse_customer_algorithm", Kind::Text, "Algorithm of that key")
        .default("AES256")
        .of_engines(&["http"]),
    option("http_s3_storage_class", Kind::Text, "Storage class header").default("STANDARD").of_engines(&["http"]),
    option("http_mode", Kind::Choice(HTTP_MODE), "Protocol flavour").default("webdav").of_engines(&["http"]),
    option("http_verbose", Kind::Int(ANY), "Debug level passed on to curl").default("0").of_engines(&["http"]),
    option("http_object_mode", Kind::Choice(HTTP_OBJECT_MODE), "Object per block, or per file with range requests")
        .default("block")
        .of_engines(&["http"]),
];
