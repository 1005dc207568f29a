//! Findings as text and as JSON.
//!
//! Must not know: rules. Start reading at [`findings()`].

use super::wrap::wrap;
use ferrio_stats::{Finding, Measured, Severity, Unit};
use ferrio_units::glance::{bytes_text, duration_text, thousands, three_digits};
use serde_json::{Value, json};

/// Escape sequences of a terminal: the start of a colour for each severity, and its end.
const COLOURS: [(Severity, &str); 3] =
    [(Severity::Wrong, "\x1b[1;31m"), (Severity::Misleading, "\x1b[1;33m"), (Severity::Note, "\x1b[1m")];
const END_OF_COLOUR: &str = "\x1b[0m";

/// All findings, the worst first, each with its explanation, its evidence, and how to avoid it; an empty text if there
/// are none. Lines end before the column `width`; colour is for terminals.
pub fn findings(findings: &[Finding], width: usize, has_colour: bool) -> String {
    let mut text = String::new();
    for finding in findings {
        let word = finding.severity.word().to_uppercase();
        let jobs = if finding.jobs.is_empty() { String::new() } else { format!(" ({})", finding.jobs.join(", ")) };
        let title = wrap(&format!("{word}: {}{jobs}", finding.title), "", width);
        text.push_str(&if has_colour { coloured(&title, &word, finding.severity) } else { title });
        text.push_str(&wrap(&finding.explanation, "  ", width));
        if !finding.evidence.is_empty() {
            let list: Vec<String> = finding.evidence.iter().map(measured).collect();
            text.push_str(&wrap(&format!("Measured: {}.", list.join(", ")), "  ", width));
        }
        text.push_str(&wrap(&format!("To do: {}", finding.cure), "  ", width));
        text.push_str(&wrap(&format!("[{}]", finding.id), "  ", width));
    }
    text
}

fn coloured(title: &str, word: &str, severity: Severity) -> String {
    let begin = COLOURS.iter().find(|(of, _)| *of == severity).map_or("", |(_, begin)| begin);
    title.replacen(word, &format!("{begin}{word}{END_OF_COLOUR}"), 1)
}

/// A measured value: what it is, and how much with its unit.
pub fn measured(measured: &Measured) -> String {
    let value = match measured.unit {
        Unit::Bytes => bytes_text(measured.value as u64),
        Unit::Count if measured.value.fract() == 0.0 => thousands(measured.value as u64),
        Unit::Count => three_digits(measured.value),
        Unit::Percent => format!("{} %", three_digits(measured.value)),
        Unit::Seconds => duration_text(measured.value * 1e9),
    };
    format!("{} {value}", measured.what)
}

/// All findings as `ferrio check --json` writes them.
pub fn findings_document(findings: &[Finding]) -> Value {
    // Cannot fail: texts and numbers under names that are texts.
    json!({ "findings": serde_json::to_value(findings).unwrap_or_default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding() -> Finding {
        Finding {
            id: "some-rule".to_owned(),
            title: "A title".to_owned(),
            severity: Severity::Wrong,
            jobs: vec!["a".to_owned(), "b".to_owned()],
            evidence: vec![
                Measured::bytes("moved", 3 << 20),
                Measured::count("iodepth", 32.0),
                Measured::percent("slat of lat", 51.25),
                Measured::seconds("runtime", 60.0),
            ],
            explanation: "Why it is so.".to_owned(),
            cure: "Do it.".to_owned(),
            page: "docs/findings/some-rule.md".to_owned(),
        }
    }

    #[test]
    fn a_finding_says_what_why_and_what_to_do() {
        let expected = "WRONG: A title (a, b)\n  Why it is so.\n  Measured: moved 3 MiB, iodepth 32, slat of lat 51.2 %, runtime 60.0 s.\n  To do: Do it.\n  [some-rule]\n";
        assert_eq!(findings(&[finding()], 78, false), expected);
        assert_eq!(findings(&[], 78, true), "");
    }

    #[test]
    fn colour_is_around_the_severity_alone() {
        let text = findings(&[finding()], 78, true);
        assert!(text.starts_with("\x1b[1;31mWRONG\x1b[0m: A title"), "{text:?}");
        assert_eq!(text.matches('\x1b').count(), 2);
    }

    #[test]
    fn json_has_all_of_it() {
        let document = findings_document(&[finding()]);
        assert_eq!(document["findings"][0]["severity"], "wrong");
        assert_eq!(
            document["findings"][0]["evidence"][0],
            json!({"what": "moved", "value": 3_145_728.0, "unit": "bytes"})
        );
    }
}
