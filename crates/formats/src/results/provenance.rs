//! Provenance in documents and lines.
//!
//! Must not know: what it says. Start reading at [`provenance`].

use crate::results::error::ReadErrorKind;
use crate::results::figure::impossible;
use ferrio_stats::Provenance;
use serde_json::Value;
use serde_json::value::RawValue;

/// Most bytes of its text: a value takes up to 32 bytes for two of them.
const MOST_BYTES: usize = 16 << 20;

/// Options that jobs share stand once in a document, and are kept for each job: most bytes of them all.
const MOST_SHARED_BYTES: usize = 256 << 20;

/// The provenance, if the text is one.
///
/// # Errors
/// It is longer than that of any run.
pub(crate) fn of_text(text: &RawValue) -> Result<Option<Provenance>, ReadErrorKind> {
    let n_bytes = text.get().len();
    if n_bytes > MOST_BYTES {
        return Err(impossible("the length of its provenance", &format!("{n_bytes} bytes")));
    }
    Ok(serde_json::from_str(text.get()).ok().and_then(provenance))
}

/// The provenance, if the value is one.
pub(crate) fn provenance(value: Value) -> Option<Provenance> {
    let n_jobs = value["jobs"].as_array().map_or(0, Vec::len);
    let shared = &value["common_options"];
    let is_small = shared.is_null() || shared.to_string().len().saturating_mul(n_jobs) <= MOST_SHARED_BYTES;
    if is_small { Provenance::from_document(value).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn long_texts_are_refused_before_they_take_memory() {
        let of_length = |n_elements: usize| {
            let text = RawValue::from_string(format!("[{}0]", "0,".repeat(n_elements))).expect("JSON");
            of_text(&text)
        };
        assert_eq!(of_length(10), Ok(None));
        let error = of_length(MOST_BYTES / 2).expect_err("long");
        assert_eq!(error.to_string(), "the length of its provenance is 16777219 bytes, which is impossible");
    }

    #[test]
    fn shared_options_do_not_multiply_without_bound() {
        let of_jobs = |n_jobs: usize, n_bytes: usize| {
            let mut document = Provenance::default().to_document();
            let job = json!({ "name": "j", "group": 0, "first_number": 1, "n_clones": 1, "options": {} });
            document["jobs"] = Value::Array(vec![job; n_jobs]);
            document["common_options"] = json!({ "description": "x".repeat(n_bytes) });
            provenance(document)
        };
        let found = of_jobs(3, 10).expect("provenance");
        let spec = found.jobs[2].options.as_ref().expect("a specification");
        assert_eq!(spec.description, Some("x".repeat(10)));
        // 2 MB whose options would become 40 GB.
        assert!(of_jobs(20_000, 2_000_000).is_none());
    }
}
