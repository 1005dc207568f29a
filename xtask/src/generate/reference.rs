//! docs/options.md: the meaning of every option.

use super::text::{GENERATED, cell, code, codes};
use ferrio_job::options::definition::{OptionDef, Status};
use ferrio_manual::sections::sections;
use ferrio_manual::text::{bounds, status_lines, status_word, syntax};
use std::fmt::Write as _;

const INTRODUCTION: &str = "\
# Option reference

Every option that a job file or the command line can set. How values are written:

- A **size** or number takes the suffixes `k`, `m`, `g`, `t`, `p` (powers of 1024; `kb_base=1000` makes them powers of 1000)
  and `%` where percent are allowed. Hexadecimal numbers begin with `0x`.
  As in fio, `kib`, `mib` and so on mean the other system: powers of 1000, or of 1024 with `kb_base=1000`.
- A **time** takes the suffixes `d`, `h`, `m`, `s`, `ms`, `us`. Without a suffix it counts the unit named beside it.
- Blanks around a number and its suffix do not count. Anything else behind it is refused. Fractions are written as arithmetic: `(1.5g)`.
- Values **for read,write,trim**: one for all, two for reads and for the rest, three for each.
- On the command line an option is written `--name=value`; in a job file `name=value`.

[CONFORMANCE.md](../CONFORMANCE.md) lists which options are built. [Differences from fio](from-fio-differences.md) lists where they
differ from fio, by kind: different result, mended, stricter.
";

pub(super) fn render() -> String {
    let mut text = format!("<!-- {GENERATED} -->\n{INTRODUCTION}");
    for section in sections() {
        // Infallible here and below: writing to a String never fails.
        let _ = write!(text, "\n## {}\n", section.title);
        for def in section.options {
            push_option(&mut text, def);
        }
    }
    text
}

fn push_option(text: &mut String, def: &OptionDef) {
    let _ = write!(text, "\n### `{}`\n\n{}.\n", def.name, def.help.trim_end_matches('.'));
    if !def.long_help.is_empty() {
        let _ = write!(text, "\n{}\n", def.long_help.trim());
    }
    let _ = write!(text, "\n- Value: {}", syntax(def.kind));
    let range = bounds(def.kind);
    if !range.is_empty() {
        let _ = write!(text, "; {range}");
    }
    if let Some(default) = def.default {
        let _ = write!(text, "; default {}", code(default));
    }
    text.push('\n');
    if !def.aliases.is_empty() {
        let _ = writeln!(text, "- Other names: {}", codes(def.aliases.iter().copied()));
    }
    for line in status_lines(def.status) {
        let _ = writeln!(text, "- {line}");
    }
    push_choices(text, def);
}

fn push_choices(text: &mut String, def: &OptionDef) {
    let choices = def.kind.choices().unwrap_or_default();
    if choices.is_empty() {
        return;
    }
    text.push_str("\n| word | meaning |\n|---|---|\n");
    for choice in choices {
        // The words of an option that is not built need not say so again.
        let is_news = def.is_built() && choice.status != Status::Supported;
        let status = if is_news { format!(" ({})", status_word(choice.status)) } else { String::new() };
        let _ = writeln!(text, "| {} | {}{status} |", code(choice.word), cell(choice.help));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_job::options::definition::{Apply, option};
    use ferrio_job::options::kind::{Choice, Kind, between, choice, planned_choice};
    use ferrio_spec::DeviationKind::Mended;

    #[test]
    fn an_entry_holds_what_the_row_holds() {
        let def = option("x", Kind::Int(between(1, 9)), "How many")
            .aliases(&["y"])
            .default("3")
            .deviates(Mended, "Rounds up.");
        let mut text = String::new();
        push_option(&mut text, &def);
        let expected = "\n### `x`\n\nHow many.\n\n- Value: number; 1 to 9; default `3`\n- Other names: `y`\n- Differs from fio (mended): Rounds up.\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn words_are_listed_with_their_state() {
        const WORDS: &[Choice] = &[choice("a", "First"), planned_choice("b", "Second")];
        let mut text = String::new();
        push_choices(&mut text, &option("x", Kind::Choice(WORDS), "").applies(Apply::Nothing));
        assert_eq!(text, "\n| word | meaning |\n|---|---|\n| `a` | First |\n| `b` | Second (planned) |\n");
    }
}
