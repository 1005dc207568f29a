//! Data faster than the link to its device.

use crate::audit_input::{AuditInput, AuditedJob, sum};
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use ferrio_stats::{DeviceLink, Measured, Severity};
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "faster-than-link",
    title: "The data was faster than the link to the device",
    severity: Severity::Wrong,
    what: "The bandwidth of a job in one direction, and the speed of the slowest link on the way to the lowest devices below its files: \
           PCIe, SATA, USB, as /sys shows them; of several devices the sum. Links of a virtual machine bound nothing and are left out. It \
           is reported from 2 % above the link on, where the counters of the devices do not already show it.",
    why: "No data can pass a link faster than the link is, so a part of the I/O has not reached the device, or the clock is wrong.",
    example: "--name=a --rw=read --bs=1m --size=1g --ioengine=psync   (on a SATA disk, from the page cache)",
    cure: "Add --direct=1, and compare the time of the run with another clock.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &["memory-as-expected", "device-did-less", "lower-device-did-less"],
    find,
};

/// Times are measured more precisely than this.
const SHARE: f64 = 1.02;

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    case.jobs.iter().filter_map(|job| of_job(case, job)).collect()
}

fn of_job(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<Observation> {
    let lowest = case.levels(job).pop()?;
    let links: Option<Vec<&DeviceLink>> = lowest.iter().map(|name| case.layer(name)?.link.as_ref()).collect();
    let links = links?;
    let bound = sum(links.iter().map(|link| link.bytes_per_sec));
    let directions = [(DataDirection::Read, "read"), (DataDirection::Write, "written")];
    let rate = |(direction, did)| {
        let seconds = job.seconds(direction);
        (seconds > 0.0)
            .then(|| (job.figures(direction).map_or(0.0, |figures| figures.bytes as f64) / seconds, direction, did))
    };
    let (rate, direction, did) = directions.into_iter().filter_map(rate).max_by(|a, b| a.0.total_cmp(&b.0))?;
    if bound == 0 || rate <= bound as f64 * SHARE {
        return None;
    }
    let names = links.iter().map(|link| link.name.as_str()).collect::<Vec<_>>().join(" and ");
    let devices = lowest.iter().copied().collect::<Vec<_>>().join(" and ");
    let explanation = format!(
        "The job has {did} {} a second, and the link to {devices} ({names}) carries at most {}.",
        text::bytes(rate as u64),
        text::bytes(bound)
    );
    let evidence =
        vec![Measured::bytes(&format!("{did} a second"), rate as u64), Measured::bytes("limit of the link", bound)];
    Some(Observation::of(job, evidence, explanation).about(direction))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{MIB, TestRun, job, layer};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::{DeviceLink, LayerKind};

    /// A job that reads 10 MiB a second from devices with a link each; they have read as much as it.
    fn scene(links: &[Option<u64>], device_bytes: u64) -> Vec<String> {
        let mut scene = TestRun::new(job("a", DirectionMix::Read));
        let names = ["sda", "sdb"];
        let mut layers = vec![layer("/data", LayerKind::FileSystem, &names[..links.len()])];
        for (name, link) in names.into_iter().zip(links) {
            let mut disk = layer(name, LayerKind::Disk, &[]);
            disk.bytes = Some([device_bytes, 0]);
            disk.link = link.map(|bytes_per_sec| DeviceLink { name: "SATA".to_owned(), bytes_per_sec });
            layers.push(disk);
        }
        scene.layers(layers);
        scene.found()
    }

    #[test]
    fn a_rate_above_the_links_is_told() {
        assert_eq!(scene(&[Some(10 * MIB)], 100 * MIB), Vec::<String>::new());
        assert_eq!(scene(&[Some(10 * MIB * 100 / 103)], 100 * MIB), ["faster-than-link"]);
        assert_eq!(scene(&[Some(6 * MIB), Some(6 * MIB)], 50 * MIB), Vec::<String>::new());
        assert_eq!(scene(&[Some(4 * MIB), Some(4 * MIB)], 50 * MIB), ["faster-than-link"]);
        assert_eq!(scene(&[Some(4 * MIB), None], 50 * MIB), Vec::<String>::new());
    }

    #[test]
    fn counters_of_the_device_say_more() {
        assert_eq!(scene(&[Some(MIB)], 0), ["device-did-less"]);
    }
}
