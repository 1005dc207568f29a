//! What a profile has found: the figures of each part, the rows of its data sheet, and what it does not tell.
//!
//! Must not know: how it is shown. Start reading at [`ProfileOutcome`].

use crate::profile::sheet::{SheetRow, rows};
use crate::profile::{ProfileSection, SECTIONS};
use crate::sweep::OpenLoop;
use crate::sweep::outcome::SweepOutcome;
use ferrio_formats::RunResult;
use ferrio_stats::{Finding, Provenance};
use serde::Serialize;

/// What a part has found.
#[derive(Debug, Clone, Serialize)]
pub struct SectionOutcome {
    /// The part.
    #[serde(flatten)]
    pub section: ProfileSection,
    /// The figures of its points.
    #[serde(flatten)]
    pub figures: SweepOutcome,
    /// The part with the closed loop beside which this one is an open loop, by its index, and its points.
    #[serde(skip)]
    pub beside: Option<(usize, OpenLoop)>,
    /// The run, if its course is part of the answer.
    #[serde(skip)]
    pub course: Option<RunResult>,
}

/// A finding, and the parts in which it stands.
#[derive(Debug, Clone, Serialize)]
pub struct ProfileFinding {
    /// The finding of the first part that has it.
    #[serde(flatten)]
    pub finding: Finding,
    /// Headings of the parts.
    pub sections: Vec<&'static str>,
}

/// The outcome.
#[derive(Debug, Clone, Serialize)]
pub struct ProfileOutcome {
    /// Size of the file, or of the device.
    pub bytes: u64,
    /// The data sheet.
    pub sheet: Vec<SheetRow>,
    /// The parts.
    pub sections: Vec<SectionOutcome>,
    /// What was not measured, a sentence each.
    pub not_measured: Vec<String>,
    /// Findings of all parts, each once, the worst first.
    pub findings: Vec<ProfileFinding>,
    /// The machine.
    #[serde(skip)]
    pub provenance: Option<Box<Provenance>>,
}

/// What no profile measures.
const NEVER_MEASURED: [&str; 5] = [
    "Several files, processes or machines at the same time: one job does all I/O.",
    "Loss of power: whether synced writes survive it (ferrio verify --after-crash).",
    "The state that an SSD has after hours of writes (ferrio precondition), and a fast part of the device that is larger than the file.",
    "Data that compress or repeat: the file has random data.",
    "Opening, making and removing files.",
];

impl ProfileOutcome {
    pub(crate) fn new(sections: Vec<SectionOutcome>, bytes: u64, provenance: Option<Box<Provenance>>) -> Self {
        let is_there = |section: &ProfileSection| sections.iter().any(|one| one.section.id == section.id);
        let left_out = |is_written: bool| {
            let found = SECTIONS.iter().filter(|section| section.is_written == is_written && !is_there(section));
            found.map(|section| section.title).collect::<Vec<_>>()
        };
        let (left_out, too_slow) = (left_out(true), left_out(false));
        let mut not_measured = Vec::new();
        if !left_out.is_empty() {
            not_measured.push(format!("What writes to the device: {}.", left_out.join("; ").to_lowercase()));
        }
        not_measured.extend(too_slow.iter().map(|title| format!("{title}: the storage is too slow for it.")));
        not_measured.extend(NEVER_MEASURED.map(str::to_owned));
        let (sheet, findings) = (rows(&sections), findings(&sections));
        Self { bytes, sheet, sections, not_measured, findings, provenance }
    }
}

/// The findings of all parts, each once.
fn findings(sections: &[SectionOutcome]) -> Vec<ProfileFinding> {
    let mut all: Vec<ProfileFinding> = Vec::new();
    for (one, found) in sections.iter().flat_map(|one| one.figures.findings.iter().map(move |found| (one, found))) {
        let title = one.section.title;
        match all.iter_mut().find(|known| known.finding.is_as(&found.finding)) {
            Some(known) if known.sections.contains(&title) => {}
            Some(known) => known.sections.push(title),
            None => all.push(ProfileFinding { finding: found.finding.clone(), sections: vec![title] }),
        }
    }
    all.sort_by_key(|found| (found.finding.severity, usize::MAX - found.sections.len()));
    all
}
