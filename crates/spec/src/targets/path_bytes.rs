//! Paths in records and documents, without loss: a path is a sequence of bytes and need not be text.
//!
//! A path that is a text is written as it, any other as the list of its bytes.
//! Every field of a specification with a path names one of these modules. Must not know: which paths there are.
//! Start reading at [`PathForm`].

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

#[derive(Serialize)]
#[serde(transparent)]
struct PathForm<'a>(#[serde(serialize_with = "one::serialize")] &'a Path);

#[derive(Deserialize)]
#[serde(transparent)]
struct ReadPath(#[serde(deserialize_with = "one::deserialize")] PathBuf);

#[derive(Deserialize)]
#[serde(untagged)]
enum ReadForm {
    Text(String),
    Bytes(Vec<u8>),
}

/// For a `PathBuf`.
pub(crate) mod one {
    use super::{
        Deserialize, Deserializer, Error, OsStrExt, OsString, OsStringExt, Path, PathBuf, ReadForm, Serialize,
        Serializer,
    };

    pub(crate) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        match path.to_str() {
            Some(text) => serializer.serialize_str(text),
            None => path.as_os_str().as_bytes().serialize(serializer),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        let bytes = match ReadForm::deserialize(deserializer)? {
            ReadForm::Text(text) => text.into_bytes(),
            ReadForm::Bytes(bytes) => bytes,
        };
        // No path of the system has a zero in it.
        if bytes.contains(&0) {
            return Err(D::Error::custom("a path with a zero byte"));
        }
        Ok(OsString::from_vec(bytes).into())
    }
}

/// For an `Option<PathBuf>`.
pub(crate) mod optional {
    use super::{Deserialize, Deserializer, PathBuf, PathForm, ReadPath, Serialize, Serializer};

    #[expect(clippy::ref_option, reason = "serde calls it with a reference to the field")]
    pub(crate) fn serialize<S: Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
        path.as_deref().map(PathForm).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<PathBuf>, D::Error> {
        Ok(Option::<ReadPath>::deserialize(deserializer)?.map(|path| path.0))
    }
}

/// For a `Vec<PathBuf>`.
pub(crate) mod list {
    use super::{Deserialize, Deserializer, PathBuf, PathForm, ReadPath, Serializer};

    pub(crate) fn serialize<S: Serializer>(paths: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(paths.iter().map(|path| PathForm(path)))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<PathBuf>, D::Error> {
        Ok(Vec::<ReadPath>::deserialize(deserializer)?.into_iter().map(|path| path.0).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::JobSpec;

    fn path(bytes: &[u8]) -> PathBuf {
        OsString::from_vec(bytes.to_vec()).into()
    }

    /// A job with a path of its own in each place.
    fn job() -> JobSpec {
        let mut job = JobSpec::default();
        job.target.directories = vec![path(b"/tmp/\xff"), path(b"/tmp/text")];
        job.target.opendirs = vec![path(b"\xfe")];
        job.write_iolog = Some(path(b"\xc3("));
        job.logs.bw = Some(path(b"bw\x80"));
        job.replay.redirect = Some(path(b"\xf0\x9f"));
        let verify = crate::VerifySpec::of(crate::VerifyMethod::Crc32c);
        job.verify = Some(crate::VerifySpec { crash_log: Some(path(b"log\xff")), ..verify });
        job
    }

    #[test]
    fn any_path_survives_json() {
        let job = job();
        let text = serde_json::to_string(&job).expect("it serialises");
        assert!(text.contains("[[47,116,109,112,47,255],\"/tmp/text\"]"), "{text}");
        assert_eq!(serde_json::from_str::<JobSpec>(&text).expect("it reads back"), job);
        let value = serde_json::to_value(&job).expect("it serialises");
        assert_eq!(serde_json::from_value::<JobSpec>(value).expect("it reads back"), job);
    }

    #[test]
    fn a_specification_of_another_version_has_defaults_where_it_says_nothing() {
        let read: JobSpec = serde_json::from_str(r#"{"name":"a","target":{"nrfiles":3},"of_later":1}"#).expect("JSON");
        let mut expected = JobSpec { name: "a".to_owned(), ..JobSpec::default() };
        expected.target.nrfiles = 3;
        assert_eq!(read, expected);
    }

    #[test]
    fn a_zero_in_a_path_is_refused() {
        assert!(serde_json::from_str::<JobSpec>(r#"{"write_iolog":[97,0]}"#).is_err());
        assert!(serde_json::from_str::<JobSpec>(r#"{"write_iolog":"a\u0000"}"#).is_err());
        assert!(serde_json::from_str::<JobSpec>(r#"{"write_iolog":[256]}"#).is_err());
    }

    #[test]
    fn every_field_with_a_path_is_kept_without_loss() {
        for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src")).expect("sources") {
            let path = entry.expect("an entry").path();
            let text = if path.is_file() { std::fs::read_to_string(&path).expect("a text") } else { String::new() };
            let lines: Vec<&str> = text.lines().map(str::trim).collect();
            for [before, field] in lines.array_windows() {
                if field.starts_with("pub ") && field.contains(": ") && field.contains("PathBuf") {
                    assert!(before.contains("path_bytes::"), "{}: {field}", path.display());
                }
            }
        }
    }
}
