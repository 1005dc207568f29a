//! Outputs are opened in one place (`ferrio_sys::output`), which spares inputs, data of jobs and block devices.

use super::super::Finding;
use super::super::source::Source;
use proc_macro2::TokenTree;

/// Crates that open files for texts, and the places where files that are no outputs are opened for writing, with the reason.
const CRATES: [&str; 6] =
    ["crates/ferrio", "crates/formats", "crates/run", "crates/engine", "crates/formats", "crates/pictures"];
const NO_OUTPUTS: [&str; 4] = [
    // The data of the profile's jobs, cut to what was written.
    "crates/ferrio/src/profile/profiling.rs",
    // The data of the engine's jobs.
    "crates/engine/src/file_system/e4defrag.rs",
    "crates/engine/src/testing.rs",
    // A copy of a trace, in a new file without a name.
    "crates/run/src/replay/source.rs",
];

/// Functions of the standard library that open a file for writing, or give the means for it.
const OPENERS: [(&str, &str); 5] =
    [("File", "create"), ("File", "create_new"), ("File", "options"), ("OpenOptions", "new"), ("fs", "write")];

/// A file that is opened for writing elsewhere.
pub(super) fn opened_elsewhere(source: &Source<'_>) -> Vec<Finding> {
    if !source.path.contains("/src/")
        || !CRATES.contains(&source.crate_directory().as_str())
        || source.path.ends_with("/tests.rs")
        || NO_OUTPUTS.contains(&source.path)
    {
        return Vec::new();
    }
    let (tests, tokens) = (source.test_lines(), &source.tokens);
    let found = tokens.windows(4).filter_map(|window| {
        let [TokenTree::Ident(of), TokenTree::Punct(one), TokenTree::Punct(two), TokenTree::Ident(name)] = window
        else {
            return None;
        };
        let is_path = one.as_char() == ':' && two.as_char() == ':';
        let line = of.span().start().line;
        let is_opener = OPENERS.iter().any(|(owner, function)| of == owner && name == function);
        (is_path && is_opener && !tests.contains(&line)).then_some((line, format!("{of}::{name}")))
    });
    let message = |what| format!("{what} opens a file: an output is opened by ferrio_sys::output");
    found.map(|(line, what)| source.finding("output-elsewhere", line, 1, message(what))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::lines_found;
    use super::*;

    #[test]
    fn each_way_of_opening_a_file_is_found() {
        let text = "fn a() {\n    File::create(b);\n    std::fs::write(b, c);\n    OpenOptions::new();\n    File::open(b);\n    file.create(b);\n}\n\
                    #[cfg(test)]\nmod tests {\n    fn a() {\n        File::create(b);\n    }\n}\n";
        assert_eq!(lines_found(opened_elsewhere, "crates/ferrio/src/program/a.rs", text), [2, 3, 4]);
        assert_eq!(lines_found(opened_elsewhere, "crates/sys/src/a.rs", text), [0; 0]);
        assert_eq!(lines_found(opened_elsewhere, "crates/run/src/replay/source.rs", text), [0; 0]);
    }
}
