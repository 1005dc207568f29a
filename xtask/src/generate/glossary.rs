//! docs/glossary.md: the words of the reports, which `ferrio help TOPIC` explains too.

use super::text::GENERATED;
use ferrio_manual::topics::TOPICS;
use std::fmt::Write as _;

const INTRODUCTION: &str = "\
# Glossary

The words of ferrio's and fio's reports. `ferrio help WORD` shows the same texts. Every line of fio's report is explained in
[fio's report, line by line](fio-report.md).
";

pub(super) fn render() -> String {
    let mut text = format!("<!-- {GENERATED} -->\n{INTRODUCTION}");
    for topic in TOPICS {
        // Infallible here and below: writing to a String never fails.
        let _ =
            write!(text, "\n## {}\n\n{}{}.\n", topic.name, topic.meaning()[..1].to_uppercase(), &topic.meaning()[1..]);
        for paragraph in topic.paragraphs() {
            let _ = write!(text, "\n{paragraph}\n");
        }
        let others: Vec<String> = topic.aliases.iter().map(|alias| format!("`{alias}`")).collect();
        let _ = write!(text, "\nOther words for it: {}.\n", others.join(", "));
    }
    text
}
