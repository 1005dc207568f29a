//! The file of `--csv`: a row for each figure that was measured, so that a reader can compute the medians again.
//!
//! Must not know: goals. Start reading at [`Raw::pair`].

use super::case::{Case, Work};
use super::figures::Pair;
use super::measure::Sample;
use anyhow::{Context, Result};
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// The heads of the columns. Times are nanoseconds of one I/O or of a run; `peak_bytes` is empty where memory was not measured.
const HEADS: &str = "case,pair,program,variant,per,wall_ns,user_ns,system_ns,peak_bytes";

/// The file, or nothing.
pub(super) struct Raw<W = File>(Option<W>);

impl Raw {
    /// Opens a new file and writes the facts of the machine as comments.
    pub(super) fn create(path: Option<&Path>, machine: &str) -> Result<Self> {
        let Some(path) = path else { return Ok(Self(None)) };
        let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
        let mut raw = Self(Some(file));
        raw.head(machine)?;
        Ok(raw)
    }
}

impl<W: Write> Raw<W> {
    fn head(&mut self, machine: &str) -> Result<()> {
        let comments: Vec<String> = machine.lines().map(|line| format!("# {line}")).collect();
        self.write(&format!("{}\n{HEADS}", comments.join("\n")))
    }

    pub(super) fn pair(&mut self, case: &Case, index: usize, pair: &Pair) -> Result<()> {
        let mut rows = vec![("fio", "whole", pair.peer), ("ferrio", "whole", pair.own)];
        if let Some([peer, own]) = pair.plain {
            rows.extend([("fio", "without", peer), ("ferrio", "without", own)]);
        }
        if let Some([peer, own]) = pair.quarter {
            rows.extend([("fio", "quarter", peer), ("ferrio", "quarter", own)]);
        }
        rows.extend(case.beside_name().zip(pair.beside).map(|(name, sample)| (name, "whole", sample)));
        rows.into_iter()
            .try_for_each(|(program, variant, sample)| self.write(&row(case, index, program, variant, &sample)))
    }

    /// The rows of the bare loop, one for each time that it ran.
    pub(super) fn bare(&mut self, case: &Case, samples: &[Sample]) -> Result<()> {
        let mut rows = (1..).zip(samples);
        rows.try_for_each(|(index, sample)| self.write(&row(case, index, "bare loop", "whole", sample)))
    }

    fn write(&mut self, line: &str) -> Result<()> {
        let Some(file) = &mut self.0 else { return Ok(()) };
        writeln!(file, "{line}").context("cannot write the file of --csv")
    }
}

fn row(case: &Case, index: usize, program: &str, variant: &str, sample: &Sample) -> String {
    let per = match case.work {
        Work::PerIo { .. } | Work::PerPass { .. } => "io",
        Work::WholeRun | Work::Quarter { .. } => "run",
    };
    let Sample { wall_ns, user_ns, system_ns, peak_bytes } = sample;
    let peak = peak_bytes.map_or_else(String::new, |bytes| bytes.to_string());
    format!("{},{index},{program},{variant},{per},{wall_ns:.1},{user_ns:.1},{system_ns:.1},{peak}", case.name)
}

#[cfg(test)]
mod tests {
    use super::super::case::PLAIN;
    use super::*;

    #[test]
    fn a_pair_has_a_row_for_each_figure() {
        let sample = |wall_ns| Sample { wall_ns, user_ns: 2.0, system_ns: 3.04, peak_bytes: Some(4096) };
        let case = Case { name: "some", beside: Some("dd if=x"), ..PLAIN };
        let mut pair = Pair::of(sample(10.0), sample(5.0));
        pair.beside = Some(sample(7.0));
        let mut raw = Raw(Some(Vec::new()));
        raw.head("machine: one\npeer: two").unwrap();
        raw.pair(&case, 3, &pair).unwrap();
        raw.bare(&case, &[Sample { peak_bytes: None, ..sample(1.0) }]).unwrap();
        let rows = [
            "# machine: one",
            "# peer: two",
            HEADS,
            "some,3,fio,whole,run,10.0,2.0,3.0,4096",
            "some,3,ferrio,whole,run,5.0,2.0,3.0,4096",
            "some,3,dd,whole,run,7.0,2.0,3.0,4096",
            "some,1,bare loop,whole,run,1.0,2.0,3.0,",
        ];
        assert_eq!(String::from_utf8(raw.0.unwrap()).unwrap(), rows.join("\n") + "\n");
    }
}
