//! Text that roff reads as text.

/// Escapes characters that have a meaning in roff: backslashes, hyphens, and a control character at the start of a
/// line.
pub(super) fn escape(text: &str) -> String {
    let escaped = text.replace('\\', "\\e").replace('-', "\\-");
    let lines: Vec<String> = escaped.lines().map(|line| protect_start(line.trim_start())).collect();
    lines.join("\n")
}

fn protect_start(line: &str) -> String {
    if line.starts_with(['.', '\'']) { format!("\\&{line}") } else { line.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roff_reads_nothing_of_ours_as_its_own() {
        assert_eq!(escape("a-b\\c"), "a\\-b\\ec");
        assert_eq!(escape(".x\n'y\n z"), "\\&.x\n\\&'y\nz");
    }
}
