//! Options of the engine `http`.
//!
//! Must not know: what the engine does with them.

use super::declaration::{SERVER_TIMEOUT_HELP, number, size, text, word};
use crate::DeviationKind::{Mended, Stricter};
use crate::values::syntax::{ANY, at_least, between};

words! {
    Https {
        Off: "off", "Plain HTTP";
        On: "on", "HTTPS";
        Insecure: "insecure", "HTTPS, certificates unchecked";
    }
}

words! {
    HttpFlavour {
        Webdav: "webdav", "WebDAV";
        S3: "s3", "S3";
        Swift: "swift", "Swift";
    }
}

words! {
    /// The objects that hold the data of a file.
    HttpObjects {
        Block: "block", "One object a block";
        Range: "range", "One object a file";
    }
}

engine_options! {
    HTTPS: Https = word("https", "TLS off, on, or on without certificate checks")
        .long("on: the certificate of the server must be of its name, and signed by an authority that the system trusts, or by one of \
               http_ca.");
    HTTP_HOST: &'static str = text("http_host", "Server (S3: bucket host, path style otherwise)")
        .server()
        .default("localhost")
        .long("NAME, NAME:PORT, or [ADDRESS]:PORT for IPv6. The name of an object (filename) follows it as it is, so that name begins with /.")
        .deviates(Mended, "The proxy of the environment (http_proxy) is not used. A redirection to another server is an error that names \
                           that server; fio follows it.");
    HTTP_USER: Option<&'static str> = text("http_user", "User, for Basic or Digest authentication (webdav)")
        .long("The first request goes without the user; after the answer 401 it is sent again, by the best of the ways that the server \
               offers. Without http_pass, the user is not used.");
    HTTP_PASS: Option<&'static str> = text("http_pass", "Password of the user (webdav)").secret();
    HTTP_S3_KEY: Option<&'static str> = text("http_s3_key", "S3 secret, as in http_s3_key=env:AWS_SECRET_ACCESS_KEY").secret()
        .deviates(Stricter, "http_mode=s3 needs it and http_s3_keyid.");
    HTTP_S3_KEYID: Option<&'static str> = text("http_s3_keyid", "S3 access key id");
    HTTP_S3_SECURITY_TOKEN: Option<&'static str> = text("http_s3_security_token", "S3 session token, as in env:AWS_SESSION_TOKEN").secret();
    HTTP_SWIFT_AUTH_TOKEN: Option<&'static str> = text("http_swift_auth_token", "Swift token").secret();
    HTTP_S3_REGION: &'static str = text("http_s3_region", "S3 region for signing").default("us-east-1");
    HTTP_S3_SSE_CUSTOMER_KEY: Option<&'static str> =
        text("http_s3_sse_customer_key", "Customer key for server side encryption")
            .secret()
            .long("A secret: env:NAME takes it from the environment, file:PATH from a file. The first 32 bytes count; a shorter key is filled with zero bytes. Most servers take it over TLS only.");
    HTTP_S3_SSE_CUSTOMER_ALGORITHM: &'static str =
        text("http_s3_sse_customer_algorithm", "Algorithm of that key").default("AES256");
    HTTP_S3_STORAGE_CLASS: &'static str = text("http_s3_storage_class", "Storage class header").default("STANDARD");
    HTTP_MODE: HttpFlavour = word("http_mode", "Protocol flavour")
        .long("filename is the path of the object: for webdav as it is on the server, for s3 /BUCKET/KEY (or /KEY with the bucket in \
               http_host), for swift /v1/ACCOUNT/CONTAINER/NAME. Buckets and containers are not made.");
    HTTP_VERBOSE: i64 = number("http_verbose", "Debug level passed on to curl", ANY).default("0").planned();
    HTTP_OBJECT_MODE: HttpObjects =
        word("http_object_mode", "Object per block, or per file with range requests")
            .long("block: the object of a block is FILENAME_OFFSET_LENGTH, so another bs reads other objects. range: reads ask for a part \
                   of the object FILENAME; a write replaces the whole object, so write with bs=SIZE.")
            .deviates(Mended, "In webdav mode reads ask for their part too; fio gets the whole object.")
            .deviates(Stricter, "An answer without the part that was asked for is an error.");
    HTTP_READ_MODE: &'static str = text("http_read_mode", "Request of a read: get, head, list, or a mix such as get/70:head/20:list/10")
        .default("get")
        .own()
        .long("An option of ferrio: in fio a read is a GET. head asks for the headers of the object, list for the names of the objects that lie \
               in the same bucket (or container) and directory. Each counts as an I/O of the size bs, though it moves no data of an object: \
               the report has the requests of each kind with their times.");
    HTTP_BUCKET: Option<&'static str> = text("http_bucket", "Path of the bucket that http_read_mode=list lists (default: the beginning of filename)")
        .under("http_read_mode")
        .own()
        .long("An option of ferrio. S3 lists /BUCKET of /BUCKET/KEY, Swift /v1/ACCOUNT/CONTAINER; where http_host has the bucket, say \
               http_bucket=/. webdav has none: the directory of the object is listed.");
    HTTP_LIST_KEYS: i64 = number("http_list_keys", "Most names that http_read_mode=list asks for at once", between(1, 10_000))
        .under("http_read_mode")
        .own()
        .long("An option of ferrio. S3 servers send at most 1000 names. webdav has no such limit.")
        .default("1000");
    HTTP_CA: Option<&'static str> =
        text("http_ca", "File with the certificates of the authorities that https=on trusts")
            .under("https")
            .own()
            .long("An option of ferrio: fio has only the authorities of the system. A file in the form PEM; its authorities are in the place of \
                   those of the system.");
    HTTP_RETRIES: i64 = number("http_retries", "How often a request is sent again, where the server is busy or the connection is lost", between(0, 1000))
        .default("0")
        .own()
        .long("An option of ferrio: fio ends the job. A request is sent again after the status 429, 500, 502, 503 or 504, and after a lost or \
               refused connection; the pause before it is 100 ms at first, doubles from try to try up to 10 s, and is no shorter than the server \
               asks for (Retry-After). Its time is part of the latency of the I/O.");
    HTTP_S3_PART_SIZE: Option<i64> =
        size("http_s3_part_size", "Size of the parts in which larger blocks are written to S3 (default: as a whole)", at_least(1))
            .own()
            .long("An option of ferrio: fio writes each block by one request. A block above this size is one object, written by a multipart upload: \
                   one request begins it, each part is one, and one puts them together. Servers want parts of 5 MiB or more, and at most 10000.");
    HTTP_S3_PARALLEL: i64 =
        number("http_s3_parallel", "Parts of a block that are sent to S3 at the same time", between(1, 256))
            .under("http_s3_part_size")
            .own()
            .long("An option of ferrio. Each part has a connection of its own.")
            .default("1");
    SERVER_TIMEOUT: i64 = number("server_timeout", "Seconds in which a server has to answer something", between(1, 86_400))
        .default("120")
        .own()
        .long(SERVER_TIMEOUT_HELP);
}
