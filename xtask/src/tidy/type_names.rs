//! A name means one type: a type that is visible outside of its file is called like no other type of the crates.
//!
//! Types in test modules do not count, nor do types of the same name that are all private to their files. Must not
//! know: the meaning of types.
//! Start reading at [`TypeNames`].

use super::Finding;
use super::source::Source;
use std::collections::BTreeMap;
use syn::{Ident, Item, Visibility};

/// Definitions of types by name, collected file by file.
#[derive(Default)]
pub(super) struct TypeNames(BTreeMap<String, Vec<Definition>>);

struct Definition {
    file: String,
    line: usize,
    is_visible: bool,
}

impl TypeNames {
    /// Records the definitions of a file.
    pub(super) fn take(&mut self, source: &Source<'_>) {
        let is_tests = source.path.ends_with("tests.rs") || source.path.contains("/tests/");
        if is_tests || !source.path.starts_with("crates/") {
            return;
        }
        for (name, is_visible) in source.syntax.items.iter().filter_map(defined) {
            let definition = Definition { file: source.path.to_owned(), line: name.span().start().line, is_visible };
            self.0.entry(name.to_string()).or_default().push(definition);
        }
    }

    /// The definitions of a name after its first, where one of them is visible.
    pub(super) fn given_twice(&self) -> impl Iterator<Item = Finding> {
        let visible = self.0.iter().filter(|(_, all)| all.iter().any(|definition| definition.is_visible));
        visible.flat_map(|(name, all)| {
            all.iter().skip(1).map(move |definition| Finding {
                file: definition.file.clone(),
                what: "name-twice",
                line: definition.line,
                count: 1,
                message: format!("`{name}` is a type of {} too", all[0].file),
            })
        })
    }
}

/// The name of the type that an item defines, and whether other files see it.
fn defined(item: &Item) -> Option<(&Ident, bool)> {
    let (name, visibility) = match item {
        Item::Struct(item) => (&item.ident, &item.vis),
        Item::Enum(item) => (&item.ident, &item.vis),
        Item::Union(item) => (&item.ident, &item.vis),
        Item::Trait(item) => (&item.ident, &item.vis),
        _ => return None,
    };
    Some((name, !matches!(visibility, Visibility::Inherited)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<(String, usize)> {
        let mut names = TypeNames::default();
        for (path, text) in files {
            names.take(&Source::parse(path, text).expect("the sample parses"));
        }
        names.given_twice().map(|finding| (finding.file, finding.line)).collect()
    }

    #[test]
    fn a_visible_name_is_given_once() {
        let first = ("crates/a/src/a.rs", "pub struct Stream;\nstruct Running;\n");
        let again = |text| found(&[first, ("crates/b/src/b.rs", text)]);
        let at = |line| vec![("crates/b/src/b.rs".to_owned(), line)];
        assert_eq!(again("\nenum Stream {}\n"), at(2));
        assert_eq!(again("pub(crate) trait Stream {}\n"), at(1));
        assert_eq!(again("pub(super) struct Running;\n"), at(1));
        assert_eq!(again("struct Running;\nstruct Other;\n"), []);
    }

    #[test]
    fn tests_and_chores_do_not_count() {
        let first = ("crates/a/src/a.rs", "pub struct Stream;\n#[cfg(test)]\nmod tests {\n    pub struct Stream;\n}\n");
        let others = ["crates/b/src/b/tests.rs", "crates/b/tests/run/c.rs", "xtask/src/d.rs"];
        for path in others {
            assert_eq!(found(&[first, (path, "pub struct Stream;\n")]), [], "{path}");
        }
    }
}
