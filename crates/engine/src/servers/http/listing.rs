//! A list of the names of objects: its request, and how many names are in the answer.
//!
//! Must not know: connections, statuses. Start reading at [`write_target`], then [`NameCounter`].

use super::settings::{HttpProtocol, HttpSettings};
use std::fmt::Write as _;

/// Counts names in a list, as its bytes come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct NameCounter {
    /// What stands once for each name. Its first byte occurs in it only once.
    marker: &'static [u8],
    /// Bytes of the marker that have come last.
    n_matched: usize,
    pub(super) n_names: u64,
}

impl NameCounter {
    pub(super) fn new(protocol: &HttpProtocol) -> Self {
        let marker: &[u8] = match protocol {
            HttpProtocol::S3(_) => b"<Key>",
            // A plain text, with a name a line.
            HttpProtocol::Swift(_) => b"\n",
            // The address of the directory, or of something in it; the name of the tag has a prefix of the server's choice.
            HttpProtocol::Webdav => b"href>",
        };
        Self { marker, ..Self::default() }
    }

    pub(super) fn take(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.n_matched = match (self.marker.get(self.n_matched), self.marker.first()) {
                (Some(next), _) if next == byte => self.n_matched + 1,
                (_, Some(first)) if first == byte => 1,
                _ => 0,
            };
            if self.n_matched == self.marker.len() {
                self.n_matched = 0;
                self.n_names += 1;
            }
        }
    }

    /// The number of names, once the answer is whole.
    pub(super) fn count(&self, protocol: &HttpProtocol) -> u64 {
        match protocol {
            // A tag is opened and closed; the first one is that of the directory itself.
            HttpProtocol::Webdav => (self.n_names / 2).saturating_sub(1),
            HttpProtocol::S3(_) | HttpProtocol::Swift(_) => self.n_names,
        }
    }
}

/// Appends the target of a list of what lies beside the object `path`, in the same bucket and directory.
///
/// # Errors
/// Why `path` is in no bucket.
pub(super) fn write_target(settings: &HttpSettings, path: &str, target: &mut String) -> Result<(), &'static str> {
    let directory = path.rfind('/').map_or("", |end| &path[..=end]);
    let query = match settings.protocol {
        HttpProtocol::Webdav => {
            return settings.write_target(target, if directory.is_empty() { "/" } else { directory });
        }
        HttpProtocol::S3(_) => "?list-type=2&max-keys=",
        HttpProtocol::Swift(_) => "?limit=",
    };
    let n_parts = if matches!(settings.protocol, HttpProtocol::S3(_)) { 1 } else { 3 };
    let bucket = match &settings.bucket {
        Some(bucket) => bucket.as_str(),
        None => bucket_of(path, n_parts)?,
    };
    let within = directory.strip_prefix(bucket).ok_or("the object is not in http_bucket; see filename")?;
    settings.write_target(target, bucket)?;
    let _ = write!(target, "{query}{}", settings.n_list_names);
    let prefix = within.trim_start_matches('/');
    if !prefix.is_empty() {
        target.push_str("&prefix=");
        // Writing to a text cannot fail.
        prefix.bytes().for_each(|byte| match byte {
            b'-' | b'_' | b'.' | b'~' => target.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => target.push(char::from(byte)),
            _ => _ = write!(target, "%{byte:02X}"),
        });
    }
    Ok(())
}

/// The first parts of a path, when more follow.
fn bucket_of(path: &str, n_parts: usize) -> Result<&str, &'static str> {
    let mut ends = path.match_indices('/').map(|(at, _)| at).skip(n_parts);
    ends.next()
        .map(|end| &path[..end])
        .ok_or("filename has no bucket, so that there is nothing to list; see http_bucket")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::options::EngineOptions;
    use crate::testing::given;

    fn settings(texts: &[(&str, &str)]) -> HttpSettings {
        HttpSettings::new(&EngineOptions::new(given("http", texts))).expect("options that fit")
    }

    const S3: [(&str, &str); 3] = [("http_mode", "s3"), ("http_s3_key", "k"), ("http_s3_keyid", "i")];

    fn target(texts: &[(&str, &str)], path: &str) -> Result<String, &'static str> {
        let mut target = String::new();
        write_target(&settings(texts), path, &mut target).map(|()| target)
    }

    #[test]
    fn a_list_is_of_the_directory_of_the_object() {
        assert_eq!(target(&S3, "/bucket/o").as_deref(), Ok("/bucket?list-type=2&max-keys=1000"));
        assert_eq!(target(&S3, "/b/a d/o").as_deref(), Ok("/b?list-type=2&max-keys=1000&prefix=a%20d%2F"));
        let in_host = [&S3[..], &[("http_bucket", "/"), ("http_list_keys", "5"), ("http_read_mode", "list")]].concat();
        assert_eq!(target(&in_host, "/dir/o").as_deref(), Ok("/?list-type=2&max-keys=5&prefix=dir%2F"));
        assert!(target(&S3, "/o").is_err_and(|why| why.contains("http_bucket")));
        assert_eq!(target(&[("http_mode", "swift")], "/v1/a/c/d/o").as_deref(), Ok("/v1/a/c?limit=1000&prefix=d%2F"));
        assert_eq!(target(&[], "/dav/x/o").as_deref(), Ok("/dav/x/"));
    }

    #[test]
    fn names_are_counted_however_the_list_is_cut() {
        let count = |texts: &[(&str, &str)], list: &str, piece: usize| {
            let protocol = settings(texts).protocol;
            let mut counter = NameCounter::new(&protocol);
            list.as_bytes().chunks(piece).for_each(|bytes| counter.take(bytes));
            counter.count(&protocol)
        };
        let listed = "<Contents><<Key>a</Key></Contents><Contents><Key>b&lt;Key></Key></Contents>";
        let found = "<D:response><D:href>/d/</D:href></D:response><D:response><D:href>/d/a</D:href></D:response>";
        for piece in [1, 2, 3, 7, 1000] {
            assert_eq!(count(&S3, listed, piece), 2);
            assert_eq!(count(&[("http_mode", "swift")], "a\nb\nc\n", piece), 3);
            assert_eq!(count(&[], found, piece), 1);
        }
    }
}
