//! Files that are too small for a block.

use crate::audit_input::AuditedJob;
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use ferrio_spec::{SizeSpec, ZoneSpec};
use ferrio_stats::{Measured, Severity};
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "files-below-block",
    title: "The files are smaller than a block",
    severity: Severity::Wrong,
    what: "The size of a job, the number of its files, among which the size is divided, and its smallest block. It is reported where a file gets less than one block.",
    why: "A file that is smaller than a block takes no I/O at all, so that the job measures nothing, or only the files that are there already.",
    example: "--name=a --directory=/data --rw=randread --nrfiles=100 --size=1m --bs=64k",
    cure: "Give --filesize for each file, or a larger --size: it is that of all files together.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find: |case| case.jobs.iter().filter_map(of_job).collect(),
};

fn of_job(job: &AuditedJob<'_>) -> Option<Observation> {
    let (spec, extent) = (job.spec, &job.spec.extent);
    let n_files = match spec.target.filenames.len() as u64 {
        0 => u64::from(spec.target.nrfiles),
        n_named => n_named,
    };
    let is_plain = extent.filesize.is_none()
        && extent.filesize_split.is_empty()
        && spec.target.opendirs.is_empty()
        && !spec.replay.is_set()
        && spec.zones == ZoneSpec::default();
    let (Some(SizeSpec::Bytes(size)), true) = (extent.size, is_plain && n_files > 1) else { return None };
    let done =
        job.total.as_ref().map_or(0, |total| total.directions.0.iter().map(|one| one.n_completed).max().unwrap_or(0));
    if !job.has_files() || !job.moves_data() || done > 0 {
        return None;
    }
    let used = DataDirection::ALL.into_iter().filter(|direction| job.does(*direction));
    let smallest = used.map(|direction| spec.pattern.block_size[direction].min_bytes).min()?;
    let of_file = size / n_files;
    if of_file >= smallest {
        return None;
    }
    let explanation = format!(
        "size={} of {n_files} files leaves {} for each, which is less than a block of {}.",
        text::bytes(size),
        text::bytes(of_file),
        text::bytes(smallest)
    );
    let evidence = vec![Measured::bytes("size of a file", of_file), Measured::bytes("smallest block", smallest)];
    Some(Observation::of(job, evidence, explanation))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{MIB, TestRun, job};
    use ferrio_spec::{DirectionMix, SizeSpec};

    fn is_told(n_files: u32, filesize: Option<(u64, u64)>) -> bool {
        let mut several = job("a", DirectionMix::Read);
        several.target.nrfiles = n_files;
        several.extent.size = Some(SizeSpec::Bytes(MIB));
        several.extent.filesize = filesize;
        TestRun::new(several).before().found().contains(&RULE.id.to_owned())
    }

    /// 1 MiB has 256 blocks of 4 KiB.
    #[test]
    fn less_than_a_block_for_each_file_is_told() {
        assert!(is_told(257, None));
        assert!(!is_told(256, None));
        assert!(!is_told(257, Some((4096, 4096))));
    }
}
