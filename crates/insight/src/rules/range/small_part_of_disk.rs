//! A file that covers a small part of a turning disk.

use crate::audit_input::{AuditInput, AuditedJob, is_for_files};
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use ferrio_stats::{Measured, Severity};

pub(crate) const RULE: FindingRule = FindingRule {
    id: "small-part-of-disk",
    title: "The files cover a small part of a turning disk",
    severity: Severity::Note,
    what: "The size of the files of a job with random I/O, and the size of the disk under them, where the kernel calls it rotational. It \
           is reported below a tenth.",
    why: "The head of the disk moves within a small range, so seeks are shorter than over the whole disk, and IOPS higher.",
    example: "--name=a --rw=randread --size=1g --direct=1 --directory=/mnt/disk",
    cure: "Use a file as large as the data will be, or the device itself (a test that writes destroys what is on it).",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

const SHARE: f64 = 0.1;

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    let of_job = |job: &AuditedJob<'_>| {
        let place = job.places.iter().find(|place| is_for_files(place) && place.now.size_bytes > 0)?;
        let device = case.device(place.device.as_deref()?)?;
        // Disks of virtual machines and of servers are called rotational whatever they are.
        let is_virtual = ["vd", "xvd", "nbd"].iter().any(|prefix| device.name.starts_with(prefix));
        let disk_bytes = device.size_bytes.filter(|_| device.rotational == Some(true) && !is_virtual)?;
        let size_bytes = place.now.size_bytes;
        if job.has_more_files || !job.spec.pattern.random || size_bytes as f64 >= disk_bytes as f64 * SHARE {
            return None;
        }
        let explanation = format!(
            "The files have {} of the {} of {}: seeks are shorter than over the whole disk.",
            text::bytes(size_bytes),
            text::bytes(disk_bytes),
            device.name
        );
        let evidence =
            vec![Measured::bytes("size of the files", size_bytes), Measured::bytes("size of the disk", disk_bytes)];
        Some(Observation::of(job, evidence, explanation))
    };
    case.jobs.iter().filter_map(of_job).collect()
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{MIB, TestRun, job};
    use ferrio_spec::DirectionMix;

    #[test]
    fn turning_disks_alone_seek() {
        let on = |name: &str, rotational: bool, random: bool, disk_bytes: u64| {
            let mut scene = TestRun::new(job("a", DirectionMix::Read)).before();
            name.clone_into(&mut scene.device.name);
            scene.places[0].device = Some(name.to_owned());
            (scene.device.rotational, scene.device.size_bytes) = (Some(rotational), Some(disk_bytes));
            scene.jobs[0].pattern.random = random;
            scene.found()
        };
        let scene = |rotational, random, disk_bytes| on("sda", rotational, random, disk_bytes);
        assert_eq!(scene(true, true, 1001 * MIB), ["small-part-of-disk"]);
        // A loop device is what the disk of its file is.
        assert_eq!(on("loop0", true, true, 1001 * MIB), ["small-part-of-disk"]);
        assert_eq!(on("nbd0", true, true, 1001 * MIB), Vec::<String>::new());
        for (rotational, random, disk_bytes) in
            [(false, true, 1001 * MIB), (true, false, 1001 * MIB), (true, true, 1000 * MIB)]
        {
            assert_eq!(scene(rotational, random, disk_bytes), Vec::<String>::new());
        }
    }
}
