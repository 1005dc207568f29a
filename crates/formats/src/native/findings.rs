//! The outcome of an audit as text and as JSON.
//!
//! Must not know: rules. Start reading at [`audit()`].

use super::wrap::wrap;
use ferrio_stats::{Audit, Finding, Measured, Severity, Unexamined, Unit, wire};
use ferrio_units::humanize::{bytes_text, duration_text, thousands, three_digits};
use ferrio_units::terminal_text::escape_controls;
use serde_json::Value;

/// Escape sequences of a terminal: the start of a colour for each severity, and its end.
const COLOURS: [(Severity, &str); 3] =
    [(Severity::Wrong, "\x1b[1;31m"), (Severity::Misleading, "\x1b[1;33m"), (Severity::Note, "\x1b[1m")];
const END_OF_COLOUR: &str = "\x1b[0m";

/// The outcome of the audit of a run: its findings, or what it means that there are none, and then what could not be examined in this run,
/// without that of which the machine never has evidence. Lines end before the column `width`; colour is for terminals.
pub fn audit(audit: &Audit, width: usize, has_colour: bool) -> String {
    let (shown, others) = audit.findings.split_at(n_shown(audit));
    let mut text = findings(shown, width, has_colour);
    text.extend(of_less_weight(others).map(|line| wrap(&line, "", width)));
    if let Some(first) = audit.findings.first() {
        text.push_str(&wrap(&format!("More about a finding: ferrio help NAME (ferrio help {}).", first.id), "", width));
    }
    text.extend(closing(audit).map(|sentence| wrap(&sentence, "", width)));
    for line in audit.unexamined.iter().filter(|unexamined| !unexamined.is_of_machine).map(unexamined) {
        text.push_str(&wrap(&line, "", width));
    }
    text
}

/// Number of findings that are shown in full: of a run with nothing but notes, the first two.
pub fn n_shown(audit: &Audit) -> usize {
    const MOST_NOTES: usize = 2;
    let has_only_notes = audit.findings.iter().all(|finding| finding.severity == Severity::Note);
    if has_only_notes { audit.findings.len().min(MOST_NOTES) } else { audit.findings.len() }
}

/// One line for the notes beyond those; `None`: there are none.
pub fn of_less_weight(notes: &[Finding]) -> Option<String> {
    let name = |note: &Finding| format!("{}{}", note.id, in_brackets(&note.scope()));
    let names: Vec<String> = notes.iter().map(name).collect();
    (!names.is_empty()).then(|| format!("Notes of less weight: {}.", names.join(", ")))
}

/// What it means that an audit has no findings; `None`: it has some.
pub fn closing(audit: &Audit) -> Option<String> {
    let (n_blind, n_rules) = (audit.n_blind(), audit.n_rules as usize);
    if audit.findings.is_empty() && !audit.is_as_asked() {
        return Some(format!(
            "These figures are not those of what was asked. No rule speaks against them otherwise: {} of {n_rules} rules have looked.",
            n_rules.saturating_sub(n_blind)
        ));
    }
    let sentence = match n_blind {
        _ if !audit.findings.is_empty() => return None,
        // An older version did not tell.
        0 if n_rules == 0 => "Nothing speaks against these figures.".to_owned(),
        0 => format!("Nothing speaks against these figures. All {n_rules} rules have looked."),
        _ if n_blind >= n_rules => "These figures have not been examined.".to_owned(),
        _ if audit.is_all_the_machine_has() => format!(
            "Nothing speaks against these figures. All rules that can look on this machine have looked: {} of {n_rules}.",
            n_rules - n_blind
        ),
        _ => format!(
            "Nothing speaks against these figures as far as they were examined: {} of {n_rules} rules have looked at all of them.",
            n_rules - n_blind
        ),
    };
    Some(sentence)
}

/// A subject that could not be examined, with the reason.
pub fn unexamined(unexamined: &Unexamined) -> String {
    const MOST_JOBS: usize = 5;
    let jobs = match unexamined.jobs.len() {
        0 => String::new(),
        n_jobs if n_jobs > MOST_JOBS => format!(" ({n_jobs} jobs)"),
        _ => format!(" ({})", unexamined.jobs.join(", ")),
    };
    format!("Not examined: {}{jobs}: {}.", unexamined.subject, unexamined.reason)
}

/// All findings, the worst first, each with its explanation, its evidence, and how to avoid it; an empty text if there
/// are none. Lines end before the column `width`; colour is for terminals.
pub fn findings(findings: &[Finding], width: usize, has_colour: bool) -> String {
    let mut text = String::new();
    for finding in findings {
        let word = finding.severity.word().to_uppercase();
        let title = wrap(&format!("{word}: {}{}", finding.title, in_brackets(&finding.scope())), "", width);
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

/// A text in brackets behind another one, as the jobs and the direction of a finding are shown; empty if it is.
pub fn in_brackets(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(" ({text})") }
}

/// A text of this module as a terminal shows it: control characters of names are escaped, and the words of severity keep their colours.
pub fn for_terminal(text: &str) -> String {
    let mut shown = escape_controls(text).into_owned();
    for (severity, begin) in COLOURS {
        let word = severity.word().to_uppercase();
        let coloured = format!("{begin}{word}{END_OF_COLOUR}");
        shown = shown.replace(&*escape_controls(&coloured), &coloured);
    }
    shown
}

fn coloured(title: &str, word: &str, severity: Severity) -> String {
    let begin = COLOURS.iter().find(|(of, _)| *of == severity).map_or("", |(_, begin)| begin);
    title.replacen(word, &format!("{begin}{word}{END_OF_COLOUR}"), 1)
}

/// A measured value: what it is, and how much with its unit.
pub fn measured(measured: &Measured) -> String {
    format!("{} {}", measured.what, value(measured))
}

pub fn value(measured: &Measured) -> String {
    match measured.unit {
        Unit::Bytes => bytes_text(measured.value as u64),
        Unit::Count if measured.value.fract() == 0.0 => thousands(measured.value as u64),
        Unit::Count => three_digits(measured.value),
        Unit::Percent => format!("{} %", three_digits(measured.value)),
        Unit::Seconds => duration_text(measured.value * 1e9),
    }
}

/// The outcome as `ferrio check --json` writes it.
pub fn audit_document(audit: &Audit) -> Value {
    wire::to_value(audit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_units::DataDirection;
    use serde_json::json;

    fn finding() -> Finding {
        Finding {
            hosts: Vec::new(),
            id: "some-rule".to_owned(),
            title: "A title".to_owned(),
            severity: Severity::Wrong,
            jobs: vec!["a".to_owned(), "b".to_owned()],
            direction: Some(DataDirection::Read),
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
        let expected = "WRONG: A title (a, b: read)\n  Why it is so.\n  Measured: moved 3 MiB, iodepth 32, slat of lat 51.2 %, runtime 60.0 s.\n  To do: Do it.\n  [some-rule]\n";
        assert_eq!(findings(&[finding()], 78, false), expected);
        assert_eq!(findings(&[], 78, true), "");
        let of_all = Finding { jobs: vec![], ..finding() };
        assert!(findings(&[of_all], 78, false).starts_with("WRONG: A title (read)\n"));
        let of_job = Finding { direction: None, ..finding() };
        assert!(findings(&[of_job], 78, false).starts_with("WRONG: A title (a, b)\n"));
    }

    #[test]
    fn colour_is_around_the_severity_alone() {
        let text = findings(&[finding()], 78, true);
        assert!(text.starts_with("\x1b[1;31mWRONG\x1b[0m: A title"), "{text:?}");
        assert_eq!(text.matches('\x1b').count(), 2);
    }

    #[test]
    fn a_run_with_notes_alone_shows_two_and_names_the_others() {
        let of = |severity: Severity, ids: &[&str]| {
            let findings = ids.iter().map(|id| Finding { id: (*id).to_owned(), severity, ..finding() }).collect();
            audit(&Audit { findings, ..Audit::default() }, 200, false)
        };
        let text = of(Severity::Note, &["one", "two", "three", "four"]);
        assert_eq!(text.matches("NOTE: ").count(), 2, "{text}");
        assert!(text.contains("\nNotes of less weight: three (a, b: read), four (a, b: read).\n"), "{text}");
        assert!(!of(Severity::Note, &["one", "two"]).contains("less weight"));
        assert_eq!(of(Severity::Wrong, &["one", "two", "three"]).matches("WRONG: ").count(), 3);
    }

    #[test]
    fn json_has_all_of_it() {
        let document = audit_document(&Audit { findings: vec![finding()], ..Audit::default() });
        assert_eq!(document["unexamined"], json!([]));
        assert_eq!(document["findings"][0]["severity"], "wrong");
        assert_eq!(document["findings"][0]["direction"], "read");
        assert_eq!(
            document["findings"][0]["evidence"][0],
            json!({"what": "moved", "value": 3_145_728.0, "unit": "bytes"})
        );
    }

    #[test]
    fn nothing_is_promised_of_what_was_not_examined() {
        let blind = |subject: &str, jobs: &[&str], rules: &[&str]| Unexamined {
            subject: subject.to_owned(),
            reason: "no counters".to_owned(),
            jobs: jobs.iter().map(|&job| job.to_owned()).collect(),
            rules: rules.iter().map(|&rule| rule.to_owned()).collect(),
            is_of_machine: false,
        };
        let text = |n_rules: u32, unexamined: &[Unexamined]| {
            audit(&Audit { findings: vec![], unexamined: unexamined.to_vec(), n_rules, accounts: None }, 200, false)
        };
        assert_eq!(text(80, &[]), "Nothing speaks against these figures. All 80 rules have looked.\n");
        assert_eq!(text(0, &[]), "Nothing speaks against these figures.\n");
        let parts = [blind("heat", &[], &["a"]), blind("devices", &["x", "y"], &["a", "b"])];
        let expected = "Nothing speaks against these figures as far as they were examined: 78 of 80 rules have looked at all of them.\n\
                        Not examined: heat: no counters.\nNot examined: devices (x, y): no counters.\n";
        assert_eq!(text(80, &parts), expected);
        assert_eq!(
            text(2, &[blind("the run", &[], &["a", "b"])]),
            "These figures have not been examined.\nNot examined: the run: no counters.\n"
        );
        // What the machine never has is no line of each run.
        let sensors = Unexamined { is_of_machine: true, ..blind("heat", &[], &["a"]) };
        assert_eq!(
            text(80, std::slice::from_ref(&sensors)),
            "Nothing speaks against these figures. All rules that can look on this machine have looked: 79 of 80.\n"
        );
        let both = text(80, &[sensors, blind("devices", &["x"], &["b"])]);
        assert!(
            both.contains("78 of 80 rules") && both.ends_with("\nNot examined: devices (x): no counters.\n"),
            "{both}"
        );
        let found = Audit {
            findings: vec![finding()],
            unexamined: vec![blind("heat", &[], &["a"])],
            n_rules: 80,
            accounts: None,
        };
        assert!(audit(&found, 78, false).ends_with("  [some-rule]\nMore about a finding: ferrio help NAME (ferrio help some-rule).\nNot examined: heat: no counters.\n"));
    }
}
