//! docs/fio-report.md: a report with numbered notes, and the other outputs of fio, which `ferrio help WORD` explains too.

use super::text::GENERATED;
use ferrio_manual::outputs::{JOB_FILE, OutputSection, REPORT, SECTIONS};
use ferrio_manual::terse;
use std::fmt::Write as _;

const INTRODUCTION: &str = "\
# fio's report, line by line

`ferrio JOBFILE`, without the word run, writes the report that fio writes. Here is a real one, of two jobs with random reads and writes; the
numbers at its left are those of the notes below. In the terminal `ferrio help WORD` has the same texts: `ferrio help ctx`,
`ferrio help \"IO depths\"`, `ferrio help cpu-line`. The [glossary](glossary.md) has the words that ferrio's own reports use.

The job file, which was run with `ferrio --eta=always --idle-prof=percpu mixed.fio`:
";

pub(super) fn render() -> String {
    let mut text = format!(
        "<!-- {GENERATED} -->\n{INTRODUCTION}\n```ini\n{JOB_FILE}```\n\n```text\n{}```\n\n## Notes\n",
        numbered_report()
    );
    let (noted, others): (Vec<&OutputSection>, Vec<&OutputSection>) =
        SECTIONS.iter().partition(|section| section.line_of_report().is_some());
    for (index, section) in noted.into_iter().enumerate() {
        push_section(&mut text, &format!("### {}. ", index + 1), section);
    }
    for section in others {
        push_section(&mut text, "## ", section);
    }
    text
}

/// The report, with the number of its note before each line at which a section begins.
fn numbered_report() -> String {
    let begins: Vec<usize> = SECTIONS.iter().filter_map(OutputSection::line_of_report).collect();
    let mut text = String::new();
    for (line, words) in REPORT.lines().enumerate() {
        let number = begins.iter().position(|begin| *begin == line).map(|index| format!("({})", index + 1));
        // Infallible here and below: writing to a String never fails.
        let _ = writeln!(text, "{}", format!("{:<5}{words}", number.unwrap_or_default()).trim_end());
    }
    text
}

fn push_section(text: &mut String, heading: &str, section: &OutputSection) {
    let (first, rest) = section.page.meaning().split_at(1);
    let _ = write!(text, "\n{heading}{}\n\n{}{rest}.\n", section.page.name, first.to_uppercase());
    for paragraph in section.paragraphs() {
        let _ = write!(text, "\n{paragraph}\n");
    }
    for (index, entry) in section.entries().enumerate() {
        let words: Vec<String> = entry.words.iter().map(|word| format!("`{word}`")).collect();
        let _ = writeln!(text, "{}- {}: {}", if index == 0 { "\n" } else { "" }, words.join(", "), entry.text);
    }
    if section.page.name == "terse" {
        let _ = write!(text, "\n```text\n{}```\n", terse::table());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_of_the_report_has_its_note() {
        let page = render();
        let n_noted = SECTIONS.iter().filter(|section| section.line_of_report().is_some()).count();
        for number in 1..=n_noted {
            assert_eq!(page.matches(&format!("\n({number})")).count(), 1, "{number}");
            assert_eq!(page.matches(&format!("\n### {number}. ")).count(), 1, "{number}");
        }
        assert!(page.contains("\n(10)   cpu          : usr="), "{page}");
        assert!(page.contains("\n### 10. cpu-line\n"), "{page}");
    }
}
