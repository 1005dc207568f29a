//! No checked-in file names a path of a developer's machine: such a path works nowhere else.

use super::Finding;
use std::path::Path;

/// Beginnings of home directories; joined here so that this file does not name one.
const HOMES: &[&[&str]] = &[&["home"], &["root"], &["Users"]];

/// Beginnings of paths that no file may name: home directories, and the directory of this checkout.
pub(super) fn forbidden_paths(root: &Path) -> Vec<String> {
    let homes = HOMES.iter().map(|parts| format!("/{}/", parts.join("/")));
    homes.chain(root.to_str().map(str::to_owned)).collect()
}

/// One finding for each line that names a forbidden path.
pub(super) fn check(file: &str, text: &str, forbidden: &[String]) -> Vec<Finding> {
    let named = |line: &str| forbidden.iter().find(|path| names(line, path)).cloned();
    let lines = text.lines().enumerate().filter_map(|(index, line)| Some((index + 1, named(line)?)));
    lines
        .map(|(line, path)| Finding {
            file: file.to_owned(),
            what: "developer-path",
            line,
            count: 1,
            message: format!("names {path}, which exists on one machine only"),
        })
        .collect()
}

/// Does the line hold the path, not merely as the tail of a longer one?
fn names(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        before.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '.' | '_' | '-' | '}' | '*'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<usize> {
        let forbidden = forbidden_paths(Path::new("/srv/checkout"));
        check("f", text, &forbidden).iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn homes_and_the_checkout_are_found() {
        let home = format!("see /{}/jane/notes\nfine\n\"/{}/x\"\n/srv/checkout/a\n", "home", "root");
        assert_eq!(lines(&home), [1, 3, 4]);
    }

    #[test]
    fn the_tail_of_another_path_is_none() {
        assert_eq!(lines(&format!("https://example.org/{}/page, a/{}/b, $X/{}/", "home", "root", "Users")), [0; 0]);
    }
}
