//! Jobs that measure memory on purpose (`expect=memory`).

use crate::audit_input::{AuditInput, AuditedJob, is_in_memory};
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use ferrio_spec::SyncMode;
use ferrio_stats::{Measured, Severity};
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "memory-as-expected",
    title: "Figures of memory, as expected",
    severity: Severity::Note,
    what: "The option `expect=memory` of the job. Other rules do not tell then that its files are in memory, or that the page cache has answered.",
    why: "The job was written to measure memory, and its figures say nothing about a device.",
    example: "--name=a --directory=/dev/shm --rw=randwrite --size=100m --expect=memory",
    cure: "Take expect=memory away if storage was to be measured: findings then tell what came from memory.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

pub(crate) const NOT_REACHED: FindingRule = FindingRule {
    id: "memory-not-reached",
    title: "The job was to measure memory, and storage did most of the work",
    severity: Severity::Misleading,
    what: "The option `expect=memory` of the job, the bytes that the kernel has read from storage for its workers, and options that pass the page \
           cache by (direct, sync). It is reported where half of the reads or more came from storage, or where each write went to it.",
    why: "The figures are those of the storage: the data was not in the page cache when the job began, or did not fit into it.",
    example: "--name=a --rw=randread --size=100m --expect=memory   (with the default invalidate=1)",
    cure: "Take direct and sync away, and add --pre_read=1 --invalidate=0, so that the files are in the page cache when the job begins; or put them on tmpfs.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &["expect"],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find: find_not_reached,
};

/// From this share of the reads on, storage has answered.
const SHARE: f64 = 0.5;
/// Fewer bytes than this are not worth a word.
const LEAST_BYTES: u64 = 1 << 20;

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    let of_job = |job: &AuditedJob<'_>| {
        let is_so = job.expects_memory() && not_reached(case, job).is_none();
        let where_from = || match job.places.iter().find(|place| is_in_memory(place)) {
            Some(place) => format!("{} is on {}", place.path, place.file_system.as_deref().unwrap_or_default()),
            None => "The page cache may have taken and given all data".to_owned(),
        };
        is_so.then(|| {
            let explanation = format!(
                "{}: these are figures of memory, not of a device, which is what expect=memory asks for.",
                where_from()
            );
            Observation::of(job, Vec::new(), explanation)
        })
    };
    case.jobs.iter().filter_map(of_job).collect()
}

fn find_not_reached(case: &AuditInput<'_>) -> Vec<Observation> {
    let expecting = case.jobs.iter().filter(|job| job.expects_memory());
    expecting.filter_map(|job| not_reached(case, job)).collect()
}

/// What speaks against the expectation.
fn not_reached(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<Observation> {
    let is_kept_in_memory = job.places.iter().all(|place| is_in_memory(place) || case.is_in_memory_below(place));
    if job.places.is_empty() || is_kept_in_memory || !job.has_files() {
        return None;
    }
    let durability = &job.spec.durability;
    let way_past = if durability.direct {
        Some("direct=1")
    } else {
        (durability.sync != SyncMode::None && job.does(DataDirection::Write)).then_some("sync")
    };
    if let Some(option) = way_past {
        let explanation =
            format!("With {option}, the I/Os do not end in the page cache: the storage takes part in each of them.");
        return Some(Observation::of(job, Vec::new(), explanation));
    }
    let claimed = job.figures(DataDirection::Read)?.bytes;
    let stored = job.own_reads(case)?.least.min(claimed);
    if claimed < LEAST_BYTES || (stored as f64) < claimed as f64 * SHARE {
        return None;
    }
    let explanation = format!(
        "Of {} that the job has read, {} came from storage ({}): they were not in the page cache.",
        text::bytes(claimed),
        text::bytes(stored),
        text::percent(stored as f64, claimed as f64)
    );
    let evidence =
        vec![Measured::bytes("read by the job", claimed), Measured::bytes("read from storage for it", stored)];
    Some(Observation::of(job, evidence, explanation).about(DataDirection::Read))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{MIB, TestRun, job, place};
    use ferrio_spec::DirectionMix;

    fn scene(own_read_bytes: Option<u64>) -> TestRun {
        let mut scene = TestRun::new(job("a", DirectionMix::Read));
        scene.jobs[0].durability.expects_memory = true;
        scene.jobs[0].durability.direct = false;
        scene.stats().features.own_read_bytes = own_read_bytes;
        scene
    }

    #[test]
    fn a_page_cache_that_was_expected_is_a_note() {
        let mut cached = scene(Some(0));
        cached.disk_bytes = [0, 0];
        assert_eq!(cached.found(), ["memory-as-expected"]);
        cached.jobs[0].durability.expects_memory = false;
        assert!(cached.found().contains(&"device-did-less".to_owned()), "{:?}", cached.found());
    }

    /// What is expected of one job is not expected of another one on the same device.
    #[test]
    fn other_jobs_are_examined_beside_it() {
        let mut both = TestRun::new(job("a", DirectionMix::Read));
        let mut second = job("b", DirectionMix::Read);
        second.durability.expects_memory = true;
        second.durability.direct = false;
        both.add(second, place("/data/b"));
        both.disk_bytes = [0, 0];
        let expected = ["device-did-less", "memory-as-expected"];
        assert!(expected.iter().all(|id| both.found().contains(&(*id).to_owned())), "{:?}", both.found());
    }

    #[test]
    fn files_in_memory_that_were_expected_are_a_note_before_the_run_too() {
        let mut scene = scene(None);
        (scene.places[0].file_system, scene.places[0].device) = (Some("tmpfs".to_owned()), None);
        assert_eq!(scene.found(), ["memory-as-expected"]);
        assert_eq!(scene.before().found(), ["memory-as-expected"]);
    }

    /// The job of these tests reads 100 MiB.
    #[test]
    fn reads_that_storage_has_answered_are_told() {
        assert_eq!(scene(Some(50 * MIB)).found(), ["memory-not-reached"]);
        assert!(!scene(Some(50 * MIB - 1)).found().contains(&"memory-not-reached".to_owned()));
        let mut direct = scene(None);
        direct.jobs[0].durability.direct = true;
        assert_eq!(direct.found(), ["memory-not-reached"]);
    }
}
