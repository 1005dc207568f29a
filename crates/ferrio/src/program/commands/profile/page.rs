//! The page of a profile, from its outcome.
//!
//! Must not know: how a page is laid out. Start reading at [`page`].

use super::text;
use crate::ui::machine_text::machine_sentence;
use ferrio::profile::{ProfileOutcome, ProfileTarget, SectionOutcome};
use ferrio::session::VERSION;
use ferrio::sweep::outcome::both_loops;
use ferrio_pictures::profile::{ProfilePart, ProfileView};
use ferrio_units::humanize::bytes_text;
use std::path::Path;

pub(super) fn page(outcome: &ProfileOutcome, path: &Path, target: &ProfileTarget) -> String {
    ferrio_pictures::profile::page(&ProfileView {
        title: format!("What {} can do", path.display()),
        answer: text::answer(&outcome.sheet),
        facts: facts(outcome, target),
        columns: text::columns(),
        rows: outcome.sheet.iter().map(|row| (text::cells(row), row.is_believable)).collect(),
        sections: outcome.sections.iter().map(|one| part(one, &outcome.sections)).collect(),
        not_measured: &outcome.not_measured,
        findings: outcome.findings.iter().map(|found| (found.sections.join("; "), &found.finding)).collect(),
    })
}

fn facts(outcome: &ProfileOutcome, target: &ProfileTarget) -> Vec<String> {
    let what = if target.is_written { "A file of" } else { "Reads of a device of" };
    let mut facts = vec![format!(
        "{what} {}, engine {}, direct I/O where nothing else is said. {VERSION}.",
        bytes_text(outcome.bytes),
        target.engine
    )];
    facts.extend(outcome.provenance.as_deref().map(machine_sentence));
    facts
}

fn part<'a>(one: &'a SectionOutcome, all: &'a [SectionOutcome]) -> ProfilePart<'a> {
    ProfilePart {
        title: one.section.title,
        about: one.section.about,
        figures: &one.figures,
        loops: one.beside.as_ref().map(|(closed, beside)| both_loops(&all[*closed].figures, beside, &one.figures)),
        course: one.course.as_ref(),
    }
}
