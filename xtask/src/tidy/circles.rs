//! Files of a folder use each other in one direction: a circle of many files can be read, changed and tested only as a whole.
//!
//! What counts is an import (`use`) of one file of a folder by another, outside of test modules; `mod.rs` stands above its folder and does
//! not count. Must not know: the purpose of the code. Start reading at [`Imports`].

use super::Finding;
use super::source::Source;
use std::collections::{BTreeMap, BTreeSet};
use syn::{Item, UseTree};

const MAX_FILES: usize = 3;

/// Imports between the files of each folder, collected file by file.
#[derive(Default)]
pub(super) struct Imports(BTreeMap<String, Folder>);

/// The files of a folder by their module names, each with the names that it imports from its folder.
type Folder = BTreeMap<String, BTreeSet<String>>;

impl Imports {
    /// Records the imports of a file.
    pub(super) fn take(&mut self, source: &Source<'_>) {
        let Some((folder, file)) = source.path.rsplit_once('/') else { return };
        let Some((_, modules)) = folder.split_once("/src") else { return };
        let Some(name) = file.strip_suffix(".rs").filter(|name| *name != "mod") else { return };
        let from_root = modules.split('/').filter(|module| !module.is_empty());
        let absolute: Vec<&str> = std::iter::once("crate").chain(from_root).collect();
        let mut imported = BTreeSet::new();
        for item in &source.syntax.items {
            if let Item::Use(item) = item {
                add(&item.tree, &[&["super"], &absolute], &mut imported);
            }
        }
        self.0.entry(folder.to_owned()).or_default().insert(name.to_owned(), imported);
    }

    /// The circles with too many files.
    pub(super) fn circles(&self) -> impl Iterator<Item = Finding> {
        self.0.iter().flat_map(|(folder, files)| {
            let large = circles_of(files).into_iter().filter(|circle| circle.len() > MAX_FILES);
            large.map(|circle| {
                let names: Vec<&str> = circle.iter().map(|name| name.as_str()).collect();
                Finding {
                    file: folder.clone(),
                    what: "circle",
                    line: 1,
                    count: circle.len() - MAX_FILES,
                    message: format!("these files use each other in a circle: {}", names.join(", ")),
                }
            })
        })
    }
}

/// Adds the first names behind a prefix. `rests`: what is left of each prefix.
fn add(tree: &UseTree, rests: &[&[&str]], imported: &mut BTreeSet<String>) {
    match tree {
        UseTree::Group(group) => group.items.iter().for_each(|tree| add(tree, rests, imported)),
        UseTree::Path(path) => {
            let name = path.ident.to_string();
            if rests.iter().any(|rest| rest.is_empty()) {
                imported.insert(name.clone());
            }
            let rests: Vec<&[&str]> = rests
                .iter()
                .filter_map(|rest| rest.split_first())
                .filter(|(first, _)| **first == name)
                .map(|(_, rest)| rest)
                .collect();
            add(&path.tree, &rests, imported);
        }
        UseTree::Name(name) if rests.iter().any(|rest| rest.is_empty()) => {
            imported.insert(name.ident.to_string());
        }
        _ => {}
    }
}

/// The sets of files that reach each other.
fn circles_of(files: &Folder) -> BTreeSet<BTreeSet<&String>> {
    let reached: BTreeMap<&String, BTreeSet<&String>> =
        files.keys().map(|name| (name, reached_from(name, files))).collect();
    let circle = |name| {
        let there = reached[name].iter().filter(|other| reached[*other].contains(name));
        there.copied().collect::<BTreeSet<&String>>()
    };
    files.keys().map(circle).filter(|circle| !circle.is_empty()).collect()
}

fn reached_from<'a>(name: &String, files: &'a Folder) -> BTreeSet<&'a String> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&String> = files[name].iter().collect();
    while let Some(next) = open.pop() {
        if let Some((file, imported)) = files.get_key_value(next)
            && reached.insert(file)
        {
            open.extend(imported);
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(files: &[(&str, &str)]) -> Vec<String> {
        let mut imports = Imports::default();
        for (path, text) in files {
            imports.take(&Source::parse(path, text).expect("the sample parses"));
        }
        imports.circles().map(|finding| format!("{} {}", finding.file, finding.message)).collect()
    }

    /// Each file of a folder uses the next one, and the last the first.
    fn ring(names: &[&str], import: &str) -> Vec<String> {
        let paths = (0..names.len()).map(|index| import.replace('*', names[(index + 1) % names.len()]));
        paths.map(|path| format!("use {path};\n")).collect()
    }

    #[test]
    fn a_circle_of_many_files_is_found() {
        let names = ["a", "b", "c", "d"];
        for import in ["super::*", "super::*::x", "super::{*::{x, y}, z}", "crate::e::*::x", "{crate::e::*, std::fmt}"]
        {
            let texts = ring(&names, import);
            let paths = names.map(|name| format!("crates/run/src/e/{name}.rs"));
            let files: Vec<(&str, &str)> =
                paths.iter().map(String::as_str).zip(texts.iter().map(String::as_str)).collect();
            let expected = "crates/run/src/e these files use each other in a circle: a, b, c, d";
            assert_eq!(messages(&files), [expected], "{import}");
            assert_eq!(messages(&files[..3]), [""; 0], "{import}");
        }
    }

    #[test]
    fn small_circles_and_tests_do_not_count() {
        let of = |folder: &'static str, names: &'static [&str], import| {
            let texts = ring(names, import);
            let paths = names.iter().map(move |name| format!("{folder}/{name}.rs"));
            paths.zip(texts).collect::<Vec<_>>()
        };
        for files in [
            of("crates/run/src/e", &["a", "b", "c"], "super::*"),
            of("crates/run/src/e", &["a", "b", "c", "d"], "super::super::*"),
            of("crates/run/src/e", &["a", "b", "c", "d"], "crate::f::*"),
            of("crates/run/tests/e", &["a", "b", "c", "d"], "super::*"),
        ] {
            let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
            assert_eq!(messages(&files), [""; 0], "{files:?}");
        }
    }
}
