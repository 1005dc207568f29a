//! The size of types: the number of their fields, and whether their methods are in one file.
//!
//! A limit on the length of files is not met by slicing one type over many of them.

use super::Finding;
use crate::tidy::source::Source;
use std::collections::BTreeSet;
use syn::spanned::Spanned;
use syn::{Fields, Item, Type};

const MAX_FIELDS: usize = 15;

/// The crates whose types have their methods in one file. Types of others are vocabulary or records, or wait for their
/// turn.
const GATHERED: &[&str] = &["crates/run", "crates/workload"];

/// A struct with too many fields.
pub(super) fn wide_type(source: &Source<'_>) -> Vec<Finding> {
    let structs = items(source).filter_map(|item| if let Item::Struct(item) = item { Some(item) } else { None });
    let wide = structs.filter_map(|item| {
        let n_fields = if let Fields::Named(fields) = &item.fields { fields.named.len() } else { 0 };
        let n_more = n_fields.checked_sub(MAX_FIELDS).filter(|n_more| *n_more > 0)?;
        let text = format!("`{}` has {n_fields} fields, at most {MAX_FIELDS}", item.ident);
        Some(source.finding("wide-type", item.ident.span().start().line, n_more, text))
    });
    wide.collect()
}

/// Methods of a type that is defined in another file.
pub(super) fn scattered_type(source: &Source<'_>) -> Vec<Finding> {
    if !GATHERED.contains(&source.crate_directory().as_str()) {
        return Vec::new();
    }
    let defined: BTreeSet<String> = items(source).filter_map(name).collect();
    let own_impls = items(source).filter_map(|item| match item {
        Item::Impl(item) if item.trait_.is_none() => Some(item),
        _ => None,
    });
    let scattered = own_impls.filter_map(|item| {
        let Type::Path(path) = &*item.self_ty else { return None };
        let name = path.path.segments.last()?.ident.to_string();
        let line = item.self_ty.span().start().line;
        let text = format!("methods of `{name}`, which is defined in another file");
        (!defined.contains(&name)).then(|| source.finding("scattered-type", line, 1, text))
    });
    scattered.collect()
}

/// The name of the type that an item defines. A macro may define any type, so its words count, too.
fn name(item: &Item) -> Option<String> {
    match item {
        Item::Struct(item) => Some(item.ident.to_string()),
        Item::Enum(item) => Some(item.ident.to_string()),
        Item::Union(item) => Some(item.ident.to_string()),
        Item::Macro(item) => {
            let mut words = item.mac.tokens.clone().into_iter().map(|token| token.to_string());
            words.find(|word| word == "struct" || word == "enum")?;
            words.next()
        }
        _ => None,
    }
}

/// Items of a file, those of modules for tests left out.
fn items<'a>(source: &'a Source<'_>) -> impl Iterator<Item = &'a Item> {
    let is_test = source.path.ends_with("/tests.rs") || source.path.contains("/tests/");
    source.syntax.items.iter().filter(move |_| !is_test)
}

#[cfg(test)]
mod tests {
    use super::super::lines_found;
    use super::*;

    #[test]
    fn fields_are_counted() {
        let of = |n: usize| {
            let fields: Vec<String> = (0..n).map(|index| format!("f{index}: u8")).collect();
            format!("struct Small(u8);\nstruct Large {{ {} }}\n", fields.join(", "))
        };
        assert_eq!(lines_found(wide_type, "crates/run/src/a.rs", &of(15)), [0; 0]);
        assert_eq!(lines_found(wide_type, "crates/run/src/a.rs", &of(16)), [2]);
        assert_eq!(lines_found(wide_type, "crates/spec/src/a.rs", &of(16)), [2]);
        assert_eq!(lines_found(wide_type, "crates/run/src/a/tests.rs", &of(16)), [0; 0]);
    }

    #[test]
    fn methods_stand_beside_their_type() {
        let found = |text: &str| lines_found(scattered_type, "crates/run/src/a.rs", text);
        assert_eq!(found("struct A;\nimpl A { fn f() {} }\nimpl B for A {}\n"), [0; 0]);
        assert_eq!(found("use x::A;\nimpl A { fn f() {} }\n"), [2]);
        assert_eq!(lines_found(scattered_type, "crates/spec/src/a.rs", "use x::A;\nimpl A { fn f() {} }\n"), [0; 0]);
        assert_eq!(found("use x::A;\nimpl<'a> A<'a> { fn f() {} }\n"), [2]);
        assert_eq!(found("use x::A;\nimpl B for A {}\n"), [0; 0]);
        assert_eq!(found("shared! {\n    /// A.\n    pub struct A { a: u8 }\n}\nimpl A { fn f() {} }\n"), [0; 0]);
    }
}
