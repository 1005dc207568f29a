//! `xtask generate`: the documents that follow from the tables of the program.
//!
//! A document is one function of no arguments; it reads tables and nothing else, so that the same tables always give the
//! same text. Start reading at [`DOCUMENTS`].

mod conformance;
mod differences;
mod findings;
mod fio_report;
mod glossary;
mod reference;
mod switches;
mod text;

use anyhow::{Context, Result, bail};
use std::path::Path;

/// A generated document.
struct Document {
    /// Path relative to the root of the repository.
    path: &'static str,
    render: fn() -> String,
}

/// All generated documents.
const DOCUMENTS: &[Document] = &[
    Document { path: "CONFORMANCE.md", render: conformance::render },
    Document { path: "docs/from-fio-differences.md", render: differences::render },
    Document { path: "docs/options.md", render: reference::render },
    Document { path: "docs/glossary.md", render: glossary::render },
    Document { path: "docs/fio-report.md", render: fio_report::render },
    Document { path: "docs/findings/README.md", render: findings::index },
];

/// Path and text of all documents, with the pages of which there is one for each row of a table.
fn documents() -> Vec<(String, String)> {
    let fixed = DOCUMENTS.iter().map(|document| (document.path.to_owned(), (document.render)()));
    fixed.chain(findings::pages()).collect()
}

/// Writes the documents that differ from their tables.
pub(crate) fn write(root: &Path) -> Result<String> {
    let stale = stale_documents(root);
    for (path, text) in &stale {
        let path = root.join(path);
        if let Some(directory) = path.parent() {
            std::fs::create_dir_all(directory).with_context(|| format!("cannot make {}", directory.display()))?;
        }
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    let names: Vec<_> = stale.iter().map(|(path, _)| path.as_str()).collect();
    Ok(format!("generate: {} of {} written {}", stale.len(), documents().len(), names.join(" ")))
}

/// Fails when a checked-in document differs from its tables.
pub(crate) fn check(root: &Path) -> Result<String> {
    let stale = stale_documents(root);
    if stale.is_empty() {
        return Ok(format!("generate: {} documents are as the tables say", documents().len()));
    }
    let names: Vec<_> = stale.iter().map(|(path, _)| path.as_str()).collect();
    bail!("generate: run `cargo xtask generate`; these differ from the tables: {}", names.join(" "))
}

/// Path and new text of every document that is absent or different.
fn stale_documents(root: &Path) -> Vec<(String, String)> {
    let is_stale =
        |(path, text): &(String, String)| std::fs::read_to_string(root.join(path)).ok().as_ref() != Some(text);
    documents().into_iter().filter(is_stale).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_document_ends_with_one_newline_and_has_no_trailing_blanks() {
        for (path, text) in documents() {
            assert!(text.ends_with('\n') && !text.ends_with("\n\n"), "{path}");
            let trailing = text.lines().find(|line| line.ends_with([' ', '\t']));
            assert_eq!(trailing, None, "{path}");
        }
    }

    #[test]
    fn no_document_stands_twice() {
        let documents = documents();
        for (index, (path, _)) in documents.iter().enumerate() {
            assert!(documents[..index].iter().all(|(other, _)| other != path), "{path}");
        }
    }
}
