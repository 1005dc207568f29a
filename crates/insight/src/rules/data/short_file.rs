//! A job only reads, and one of its files is shorter than the job needs.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use crate::unexamined::EvidenceKind;
use ferrio_stats::{LaidOver, Measured, Severity};

pub(crate) const RULE: FindingRule = FindingRule {
    id: "short-file",
    title: "A file with data is shorter than the job reads",
    severity: Severity::Misleading,
    what: "The files of a job that only reads, before its layout. It is reported of files that held data and are shorter than the job needs.",
    why: "Such a file is deleted by fio, and by ferrio with fio's command line, which make a new one of the whole size: what it held is lost, although the job only reads. \
          ferrio's own commands keep it, and add what is missing at its end. Either way a part of what is read was written by the layout a moment before.",
    example: "--name=a --filename=backup.tar --rw=read --size=10g   (backup.tar holds 7 GiB)",
    cure: "Leave out size and filesize, so that the job reads what the file holds, or name a file that may be written.",
    needs: &[EvidenceKind::Targets],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find: |case: &AuditInput<'_>| case.jobs.iter().filter_map(|job| of_job(case, job)).collect(),
};

fn of_job(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<Observation> {
    let is_its = |file: &&LaidOver| file.job_index == job.index;
    let mut files = case.record.evidence.laid_over.iter().filter(is_its);
    let first = files.next()?;
    let n_more = files.count();
    let others = match n_more {
        0 => String::new(),
        1 => " The job has one more such file.".to_owned(),
        _ => format!(" The job has {n_more} more such files."),
    };
    let wanted = first.wanted_bytes.map_or("until its device is full".to_owned(), text::bytes);
    let then = match (case.is_before(), first.is_replaced) {
        (true, _) => {
            "A run with fio's command line replaces its content by new data; ferrio run keeps it, and adds what is missing at its end."
        }
        (false, true) => "Its content was replaced by new data.",
        (false, false) => "It was kept, and what was missing was added at its end.",
    };
    let explanation =
        format!("{} holds {}, and the job reads {wanted}. {then}{others}", first.path, text::bytes(first.held_bytes));
    let mut evidence = vec![Measured::bytes("held", first.held_bytes)];
    evidence.extend(first.wanted_bytes.map(|bytes| Measured::bytes("needed", bytes)));
    Some(Observation::of(job, evidence, explanation))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;

    fn told(is_replaced: bool) -> String {
        let mut scene = TestRun::new(job("a", DirectionMix::Read));
        let file = LaidOver {
            job_index: 0,
            path: "p".to_owned(),
            held_bytes: 1 << 20,
            wanted_bytes: Some(2 << 20),
            is_replaced,
        };
        scene.record.evidence.laid_over = vec![file.clone(), LaidOver { path: "q".to_owned(), ..file }];
        scene.finding(RULE.id).explanation
    }

    #[test]
    fn what_became_of_the_data_is_told() {
        assert!(
            told(true).starts_with("p holds 1 MiB, and the job reads 2 MiB. Its content was replaced"),
            "{}",
            told(true)
        );
        assert!(
            told(false)
                .ends_with("It was kept, and what was missing was added at its end. The job has one more such file."),
            "{}",
            told(false)
        );
    }
}
