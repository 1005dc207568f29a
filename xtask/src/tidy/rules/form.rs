//! Rules about the form of a file: lengths, opening comment, macros that have no place in finished code.

use super::super::Finding;
use super::super::source::Source;
use proc_macro2::TokenTree;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// Most lines of a file, the tests module aside.
const MAX_FILE_LINES: usize = 500;
/// Most lines of a function, signature and braces included.
const MAX_FUNCTION_LINES: usize = 70;
/// Macros of unfinished code.
const FORBIDDEN_MACROS: &[&str] = &["todo", "unimplemented", "dbg"];

/// Lines of the file beyond the limit. A file with the line `// tidy: table` above its first function is exempt.
pub(super) fn file_length(source: &Source<'_>) -> Vec<Finding> {
    let n_lines = source.lines.len() - source.test_lines().len();
    let is_exempt = source.is_table(1, first_function_line(source).unwrap_or(source.lines.len()));
    if n_lines <= MAX_FILE_LINES || is_exempt {
        return Vec::new();
    }
    let message = format!("{n_lines} lines without its tests module, at most {MAX_FILE_LINES}");
    vec![source.finding("file-length", 1, n_lines - MAX_FILE_LINES, message)]
}

fn first_function_line(source: &Source<'_>) -> Option<usize> {
    functions(source).iter().map(|function| function.first).min()
}

/// Lines of functions beyond the limit. A function with the line `// tidy: table` in it is exempt.
pub(super) fn function_length(source: &Source<'_>) -> Vec<Finding> {
    let long = functions(source).into_iter().filter(|function| function.n_lines() > MAX_FUNCTION_LINES);
    let long = long.filter(|function| !source.is_table(function.first, function.last));
    long.map(|function| {
        let n_lines = function.n_lines();
        let message = format!("{} has {n_lines} lines, at most {MAX_FUNCTION_LINES}", function.name);
        source.finding("function-length", function.first, n_lines - MAX_FUNCTION_LINES, message)
    })
    .collect()
}

/// Every file begins with a doc comment on its purpose.
pub(super) fn opening_doc(source: &Source<'_>) -> Vec<Finding> {
    if source.lines.first().is_some_and(|line| line.starts_with("//! ") && line.len() > 8) {
        return Vec::new();
    }
    vec![source.finding("opening-doc", 1, 1, "does not open with `//!` and its purpose".to_owned())]
}

/// No unfinished code.
pub(super) fn forbidden_macro(source: &Source<'_>) -> Vec<Finding> {
    let pairs = source.tokens.windows(2).filter_map(|pair| match pair {
        [TokenTree::Ident(name), TokenTree::Punct(mark)] if mark.as_char() == '!' => Some(name),
        _ => None,
    });
    let forbidden = pairs.filter(|name| FORBIDDEN_MACROS.iter().any(|macro_name| name == macro_name));
    forbidden
        .map(|name| {
            source.finding("forbidden-macro", name.span().start().line, 1, format!("{name}! is unfinished code"))
        })
        .collect()
}

/// A function with its first and last line.
struct Function {
    name: String,
    first: usize,
    last: usize,
}

impl Function {
    fn n_lines(&self) -> usize {
        self.last - self.first + 1
    }
}

/// All functions of a file: free, in impl blocks, in traits, nested; closures belong to their function.
fn functions(source: &Source<'_>) -> Vec<Function> {
    struct Collector(Vec<Function>);
    impl Collector {
        fn take(&mut self, signature: &syn::Signature, end: proc_macro2::Span) {
            let (first, last) = (signature.span().start().line, end.end().line);
            self.0.push(Function { name: signature.ident.to_string(), first, last });
        }
    }
    impl<'ast> Visit<'ast> for Collector {
        fn visit_item_fn(&mut self, node: &'ast syn::ItemFn) {
            self.take(&node.sig, node.block.span());
            visit::visit_item_fn(self, node);
        }
        fn visit_impl_item_fn(&mut self, node: &'ast syn::ImplItemFn) {
            self.take(&node.sig, node.block.span());
            visit::visit_impl_item_fn(self, node);
        }
        fn visit_trait_item_fn(&mut self, node: &'ast syn::TraitItemFn) {
            self.take(&node.sig, node.span());
            visit::visit_trait_item_fn(self, node);
        }
    }
    let mut collector = Collector(Vec::new());
    collector.visit_file(&source.syntax);
    collector.0
}

#[cfg(test)]
mod tests {
    use super::super::lines_found;
    use super::*;

    const PATH: &str = "crates/x/src/a.rs";

    fn function(n_lines: usize) -> String {
        format!("fn long() {{\n{}}}\n", "    work();\n".repeat(n_lines - 2))
    }

    #[test]
    fn a_file_of_the_limit_passes_and_one_more_line_does_not() {
        assert_eq!(lines_found(file_length, PATH, &"\n".repeat(MAX_FILE_LINES)), [0; 0]);
        assert_eq!(lines_found(file_length, PATH, &"\n".repeat(MAX_FILE_LINES + 1)), [1]);
    }

    #[test]
    fn the_tests_module_does_not_count() {
        let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", "\n".repeat(MAX_FILE_LINES));
        assert_eq!(lines_found(file_length, PATH, &tests), [0; 0]);
    }

    #[test]
    fn a_table_may_be_long() {
        let table = format!("// tidy: table\n{}", "\n".repeat(MAX_FILE_LINES));
        assert_eq!(lines_found(file_length, PATH, &table), [0; 0]);
        let only_a_function = format!("fn a() {{\n// tidy: table\n}}\n{}", "\n".repeat(MAX_FILE_LINES));
        assert_eq!(lines_found(file_length, PATH, &only_a_function), [1]);
    }

    #[test]
    fn functions_are_measured_with_signature_and_braces() {
        assert_eq!(lines_found(function_length, PATH, &function(MAX_FUNCTION_LINES)), [0; 0]);
        assert_eq!(lines_found(function_length, PATH, &function(MAX_FUNCTION_LINES + 1)), [1]);
    }

    #[test]
    fn documentation_and_attributes_belong_to_no_function() {
        let text = format!("/// Words.\n#[inline]\n{}", function(MAX_FUNCTION_LINES));
        assert_eq!(lines_found(function_length, PATH, &text), [0; 0]);
    }

    #[test]
    fn functions_of_impls_traits_and_modules_are_found() {
        let long = function(MAX_FUNCTION_LINES + 1).replace("long()", "long(&self)");
        for frame in ["impl A {", "trait A {", "mod a { impl A {"] {
            let close = "}".repeat(frame.matches('{').count());
            assert_eq!(lines_found(function_length, PATH, &format!("{frame}\n{long}{close}")), [2], "{frame}");
        }
    }

    #[test]
    fn a_function_that_holds_a_table_may_be_long() {
        let text = function(MAX_FUNCTION_LINES + 1).replacen("    work();", "    // tidy: table", 1);
        assert_eq!(lines_found(function_length, PATH, &text), [0; 0]);
    }

    #[test]
    fn a_file_opens_with_its_purpose() {
        assert_eq!(lines_found(opening_doc, PATH, "//! What it is for.\n"), [0; 0]);
        assert_eq!(lines_found(opening_doc, PATH, "// A comment.\n"), [1]);
        assert_eq!(lines_found(opening_doc, PATH, "//!\n"), [1]);
        assert_eq!(lines_found(opening_doc, PATH, ""), [1]);
    }

    #[test]
    fn unfinished_code_is_found_in_macros_too_but_not_in_text() {
        let text =
            "// todo!()\nfn a() { let s = \"todo!()\"; }\nfn b() {\n    vec![unimplemented!()]\n}\nfn todo() {}\n";
        assert_eq!(lines_found(forbidden_macro, PATH, text), [4]);
        assert_eq!(lines_found(forbidden_macro, PATH, "fn a() {\n    std::dbg!(1);\n}"), [2]);
    }
}
