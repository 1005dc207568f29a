//! The checked-in list of exceptions, which may only shrink.
//!
//! Must not know: the rules. Start reading at [`Ratchet::compare`].

use super::{Counts, Finding};
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::fmt::Write as _;
use std::path::Path;

const HEADER: &str = "\
# Exceptions to the house rules, as `cargo xtask tidy` counts them. A count may only shrink: `cargo xtask tidy --update`
# lowers it. A new exception is written by hand, with its reason in `why`, and needs a reviewer who agrees.
";

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Exception {
    file: String,
    what: String,
    count: usize,
    why: Option<String>,
}

/// All exceptions.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Ratchet {
    #[serde(default)]
    exception: Vec<Exception>,
}

impl Ratchet {
    /// Reads the list; a duplicate entry is an error.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        Self::parse(&text).with_context(|| format!("in {}", path.display()))
    }

    fn parse(text: &str) -> Result<Self> {
        let ratchet: Self = toml::from_str(text)?;
        for (index, one) in ratchet.exception.iter().enumerate() {
            if ratchet.exception[..index].iter().any(|other| (&other.file, &other.what) == (&one.file, &one.what)) {
                bail!("{} {} stands twice", one.file, one.what);
            }
        }
        Ok(ratchet)
    }

    pub(super) fn len(&self) -> usize {
        self.exception.len()
    }

    /// Every difference between counts and exceptions, as lines for the reader.
    pub(super) fn compare(&self, counts: &Counts, findings: &[Finding]) -> Vec<String> {
        let mut complaints = Vec::new();
        for ((file, what), &count) in counts {
            let allowed = self.allowed(file, what);
            if count > allowed {
                let found = findings.iter().filter(|finding| finding.file == *file && finding.what == what);
                complaints
                    .extend(found.map(|finding| format!("  {file}:{}: {what}: {}", finding.line, finding.message)));
                if allowed > 0 {
                    complaints.push(format!("  {file}: {what}: {count}, but the ratchet allows {allowed}"));
                }
            }
        }
        for one in &self.exception {
            let count = counts.get(&(one.file.clone(), one.what.clone())).copied().unwrap_or(0);
            if count < one.count {
                let Exception { file, what, count: allowed, .. } = one;
                complaints.push(format!(
                    "  {file}: {what}: {count}, better than the {allowed} of the ratchet; run `cargo xtask tidy --update`"
                ));
            }
        }
        complaints
    }

    fn allowed(&self, file: &str, what: &str) -> usize {
        self.exception.iter().find(|one| one.file == file && one.what == what).map_or(0, |one| one.count)
    }

    /// Takes the smaller of each exception and its count, drops the zeros, and returns how many changed.
    pub(super) fn lower(&mut self, counts: &Counts) -> usize {
        let mut n_lowered = 0;
        for one in &mut self.exception {
            let count = counts.get(&(one.file.clone(), one.what.clone())).copied().unwrap_or(0);
            if count < one.count {
                one.count = count;
                n_lowered += 1;
            }
        }
        self.exception.retain(|one| one.count > 0);
        n_lowered
    }

    /// The list in the order of the checked-in file: by file and rule.
    pub(super) fn to_toml(&self) -> String {
        let mut sorted = self.exception.clone();
        sorted.sort_by(|a, b| (&a.file, &a.what).cmp(&(&b.file, &b.what)));
        let mut text = HEADER.to_owned();
        for Exception { file, what, count, why } in sorted {
            // Infallible: writing to a String never fails.
            let _ = write!(text, "\n[[exception]]\nfile = {file:?}\nwhat = {what:?}\ncount = {count}\n");
            if let Some(why) = why {
                let _ = writeln!(text, "why = {}", toml::Value::String(why));
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = "
[[exception]]
file = \"b.rs\"
what = \"rule\"
count = 3
why = \"an old \\\"debt\\\"\"
[[exception]]
file = \"a.rs\"
what = \"rule\"
count = 2
";

    fn counts(entries: &[(&str, usize)]) -> Counts {
        entries.iter().map(|&(file, count)| ((file.to_owned(), "rule".to_owned()), count)).collect()
    }

    fn finding(file: &str, count: usize) -> Finding {
        Finding { file: file.to_owned(), what: "rule", line: 7, count, message: "too much".to_owned() }
    }

    #[test]
    fn equal_counts_are_silent() {
        let ratchet = Ratchet::parse(TWO).expect("parses");
        assert_eq!(ratchet.compare(&counts(&[("a.rs", 2), ("b.rs", 3)]), &[]), Vec::<String>::new());
    }

    #[test]
    fn a_rise_is_shown_with_its_findings() {
        let ratchet = Ratchet::parse(TWO).expect("parses");
        let complaints =
            ratchet.compare(&counts(&[("a.rs", 3), ("b.rs", 3)]), &[finding("a.rs", 3), finding("b.rs", 3)]);
        assert_eq!(complaints, ["  a.rs:7: rule: too much", "  a.rs: rule: 3, but the ratchet allows 2"]);
    }

    #[test]
    fn a_new_count_is_shown() {
        let ratchet = Ratchet::default();
        assert_eq!(ratchet.compare(&counts(&[("c.rs", 1)]), &[finding("c.rs", 1)]), ["  c.rs:7: rule: too much"]);
    }

    #[test]
    fn a_fall_asks_for_an_update() {
        let ratchet = Ratchet::parse(TWO).expect("parses");
        let complaints = ratchet.compare(&counts(&[("b.rs", 1)]), &[]);
        assert_eq!(complaints.len(), 2);
        assert!(complaints[0].starts_with("  b.rs: rule: 1, better than the 3"), "{complaints:?}");
        assert!(complaints[1].starts_with("  a.rs: rule: 0, better than the 2"), "{complaints:?}");
    }

    #[test]
    fn lowering_never_raises_and_keeps_the_reason() {
        let mut ratchet = Ratchet::parse(TWO).expect("parses");
        assert_eq!(ratchet.lower(&counts(&[("a.rs", 9), ("b.rs", 1)])), 1);
        let again = Ratchet::parse(&ratchet.to_toml()).expect("its own output parses");
        assert_eq!(again.allowed("a.rs", "rule"), 2);
        assert_eq!(again.allowed("b.rs", "rule"), 1);
        assert_eq!(again.exception[1].why.as_deref(), Some("an old \"debt\""));
    }

    #[test]
    fn what_is_gone_is_dropped() {
        let mut ratchet = Ratchet::parse(TWO).expect("parses");
        assert_eq!(ratchet.lower(&counts(&[])), 2);
        assert_eq!(ratchet.to_toml(), HEADER);
    }

    #[test]
    fn twice_the_same_is_an_error() {
        let twice = "[[exception]]\nfile='a'\nwhat='r'\ncount=1\n".repeat(2);
        assert!(Ratchet::parse(&twice).is_err());
    }
}
