//! Limits of the control group for I/O to the device: those that are set, and those that were measured.

use crate::audit_input::{AuditInput, AuditedJob, sum};
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::stack::Level;
use crate::text;
use ferrio_stats::provenance::IoLimit;
use ferrio_stats::{DirectionStats, Measured, Severity};
use ferrio_units::DataDirection;
use ferrio_units::humanize::counted;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "io-limit-measured",
    title: "The figure is the limit of the control group",
    severity: Severity::Misleading,
    what: "The bytes or I/Os a second of the jobs on a device, and the limit of the control group of ferrio for that device, or for \
           the only device below it (io.max, blkio.throttle). It is reported where both differ by less than 5 %, \
           and by what the kernel gives in advance (0.2 s), in jobs of a second or more. Limits of one of several devices below \
           (md, dm) are not examined: the share of the I/O that goes there is not known.",
    why: "The kernel holds I/O back so that the limit is kept. The device was not busy, and its speed is not known after this run.",
    example: "--name=a --rw=randread --direct=1 --ioengine=libaio --iodepth=32 --size=1g",
    cure: "Run outside of the control group, or raise its limit (io.max, blkio.throttle.*).",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find: find_measured,
};

pub(crate) const RULE_BEFORE: FindingRule = FindingRule {
    id: "io-limit-set",
    title: "The control group limits I/O to the device",
    severity: Severity::Note,
    what: "Before a run: the limit of the control group of ferrio for the device of the jobs (io.max, blkio.throttle), for a direction in \
           which they do I/O.",
    why: "The kernel holds I/O back so that the limit is kept: a run can show the limit, and not more.",
    example: "--name=a --rw=randread --direct=1 --ioengine=libaio --iodepth=32 --size=1g",
    cure: "Run outside of the control group, or raise its limit (io.max, blkio.throttle.*).",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find: find_set,
};

pub(crate) const CHANGED: FindingRule = FindingRule {
    id: "io-limit-changed",
    title: "The control group's limit of I/O was changed during the run",
    severity: Severity::Misleading,
    what: "The limits of the control group of ferrio for the devices of the jobs (io.max, blkio.throttle) at the start of the run, and once a \
           second from then on. It is reported where one was set, changed or lifted, for a direction in which the jobs do I/O.",
    why: "The job had one limit for a part of its time and another one, or none, for the rest: its mean rate and its percentiles are those of \
          neither.",
    example: "--name=a --rw=randread --direct=1 --runtime=60 --time_based   (while somebody writes io.max of its group)",
    cure: "Set the limit before the run, or lift it, and repeat the run.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find: find_changed,
};

/// Rates that differ by less than this share are the same.
const SHARE: f64 = 0.05;
/// The kernel counts in slices of 0.1 s and gives up to two in advance, seconds.
const ADVANCE_SECONDS: f64 = 0.2;
/// In a shorter time the advance is most of it.
const LEAST_SECONDS: f64 = 1.0;

fn jobs_of<'c, 'a>(case: &'c AuditInput<'a>, limit: &IoLimit) -> Vec<&'c AuditedJob<'a>> {
    let is_one = |job: &&AuditedJob<'_>| {
        let is_at_top = job.places.iter().any(|place| place.device.as_deref() == Some(&limit.device));
        // All of the job's I/O passes a device below that is alone at its level, as the disk below a loop device.
        let is_only = |level: &Level<'_>| level.len() == 1 && level.contains(&*limit.device);
        let is_there = is_at_top || case.levels(job).iter().any(is_only);
        // A job with a control group of its own has the limits of that.
        is_there && job.does(direction_of(limit)) && job.spec.surroundings.cgroup.name.is_none()
    };
    case.jobs.iter().filter(is_one).collect()
}

fn direction_of(limit: &IoLimit) -> DataDirection {
    if limit.is_write { DataDirection::Write } else { DataDirection::Read }
}

fn find_changed(case: &AuditInput<'_>) -> Vec<Observation> {
    let changed = case.record.evidence.pressure.as_ref().map_or(&[][..], |pressure| &pressure.changed_limits);
    let before = &case.provenance.limits.io;
    let of_limit = |limit: &IoLimit| {
        let jobs = jobs_of(case, limit);
        if jobs.is_empty() {
            return None;
        }
        let is_of_it = |other: &&IoLimit| other.device == limit.device && other.is_write == limit.is_write;
        let explanation = format!(
            "At the start of the run the control group allowed {} of {} to {}, and later {}.",
            allowed(before.iter().find(is_of_it)),
            if limit.is_write { "writes" } else { "reads" },
            limit.device,
            allowed(Some(limit)),
        );
        Some(Observation::of_jobs(jobs, evidence_of(limit), explanation).about(direction_of(limit)))
    };
    changed.iter().filter_map(of_limit).collect()
}

/// `10 MiB a second and 7 I/Os a second`, or `any number`.
fn allowed(limit: Option<&IoLimit>) -> String {
    let bytes = limit.and_then(|limit| limit.bytes_per_sec).map(|bytes| format!("{} a second", text::bytes(bytes)));
    let ios = limit.and_then(|limit| limit.ios_per_sec);
    let ios = ios.map(|ios| format!("{} a second", counted(ios, "I/O", "I/Os")));
    let all: Vec<String> = bytes.into_iter().chain(ios).collect();
    if all.is_empty() { "any number".to_owned() } else { all.join(" and ") }
}

fn find_set(case: &AuditInput<'_>) -> Vec<Observation> {
    let of_limit = |limit: &IoLimit| {
        let jobs = jobs_of(case, limit);
        if jobs.is_empty() || !case.is_before() {
            return None;
        }
        let explanation = format!(
            "The control group allows {} of {} to {}: no run in it can show more.",
            allowed(Some(limit)),
            if limit.is_write { "writes" } else { "reads" },
            limit.device
        );
        Some(Observation::of_jobs(jobs, evidence_of(limit), explanation).about(direction_of(limit)))
    };
    case.provenance.limits.io.iter().filter_map(of_limit).collect()
}

fn find_measured(case: &AuditInput<'_>) -> Vec<Observation> {
    let of_limit = |limit: &IoLimit| {
        let jobs = jobs_of(case, limit);
        let bytes = |figures: &DirectionStats| figures.bytes;
        let ios = |figures: &DirectionStats| figures.n_completed;
        let by_bytes = limit.bytes_per_sec.and_then(|most| rate_at(&jobs, limit, most, bytes));
        let by_ios = || limit.ios_per_sec.and_then(|most| rate_at(&jobs, limit, most, ios));
        let (rate, is_bytes) = by_bytes.map(|rate| (rate, true)).or_else(|| Some((by_ios()?, false)))?;
        let (shown, most) = if is_bytes {
            (text::bytes(rate as u64), text::bytes(limit.bytes_per_sec.unwrap_or_default()))
        } else {
            (text::ios(rate), counted(limit.ios_per_sec.unwrap_or_default(), "I/O", "I/Os"))
        };
        let explanation = format!(
            "The jobs did {shown} a second on {}, and the control group allows {most}: the limit was measured, not the device.",
            limit.device
        );
        let mut evidence = vec![Measured::count("a second, by the jobs", rate)];
        evidence.extend(evidence_of(limit));
        Some(Observation::of_jobs(jobs, evidence, explanation).about(direction_of(limit)))
    };
    case.provenance.limits.io.iter().filter_map(of_limit).collect()
}

/// What one job, or all together, did a second, if that is as much as a limit allows.
fn rate_at(jobs: &[&AuditedJob<'_>], limit: &IoLimit, most: u64, count: fn(&DirectionStats) -> u64) -> Option<f64> {
    let direction = direction_of(limit);
    let most = most as f64;
    let rate = |jobs: &[&AuditedJob<'_>]| {
        let seconds = jobs.iter().map(|job| job.seconds(direction)).fold(0.0, f64::max);
        let n_all = sum(jobs.iter().filter_map(|job| job.figures(direction)).map(count)) as f64;
        let is_limit =
            n_all > most * seconds * (1.0 - SHARE) && n_all < most * (seconds * (1.0 + SHARE) + ADVANCE_SECONDS);
        (seconds >= LEAST_SECONDS && is_limit).then(|| n_all / seconds)
    };
    rate(jobs).or_else(|| jobs.iter().find_map(|job| rate(&[job])))
}

fn evidence_of(limit: &IoLimit) -> Vec<Measured> {
    let bytes = limit.bytes_per_sec.map(|bytes| Measured::bytes("limit of bytes a second", bytes));
    let ios = limit.ios_per_sec.map(|ios| Measured::count("limit of I/Os a second", ios as f64));
    bytes.into_iter().chain(ios).collect()
}

#[cfg(test)]
mod tests {
    use super::IoLimit;
    use crate::rules::testing::{MIB, TestRun, job, layer, place};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::{LayerKind, Pressure, Reading, Stalls, StorageLayer};

    /// 10 MiB and 2,560 I/Os a second.
    fn scene(bytes_per_sec: Option<u64>, ios_per_sec: Option<u64>) -> TestRun {
        let mut scene = TestRun::new(job("a", DirectionMix::Read));
        let limit = IoLimit { device: "vda".to_owned(), is_write: false, bytes_per_sec, ios_per_sec };
        scene.limits.io.push(limit);
        scene
    }

    #[test]
    fn a_rate_at_the_limit_is_the_limit() {
        assert_eq!(scene(Some(10 * MIB), None).found(), ["io-limit-measured"]);
        assert_eq!(scene(None, Some(2_560)).found(), ["io-limit-measured"]);
        // Less than the limit by 4 and by 6 %; more than it by 6 and by 9 %, of which 2 % are the advance in 10 s.
        assert_eq!(scene(Some(MIB * 1000 / 96), None).found(), ["io-limit-measured"]);
        assert_eq!(scene(Some(MIB * 1000 / 94), None).found(), Vec::<String>::new());
        assert_eq!(scene(Some(MIB * 1000 / 106), None).found(), ["io-limit-measured"]);
        assert_eq!(scene(Some(MIB * 1000 / 109), None).found(), Vec::<String>::new());
        let mut short = scene(Some(100 * MIB), None);
        short.stats().directions.0[0].runtime_ns = 999_999_999;
        assert_eq!(short.found(), Vec::<String>::new());
        let finding = scene(Some(10 * MIB), None).finding("io-limit-measured");
        assert!(
            finding.explanation.starts_with("The jobs did 10 MiB a second on vda, and the control group allows 10 MiB")
        );
    }

    #[test]
    fn jobs_share_a_limit() {
        let mut scene = scene(Some(20 * MIB), None);
        assert_eq!(scene.found(), Vec::<String>::new());
        scene.add(job("b", DirectionMix::Read), place("/data/b"));
        assert_eq!(scene.finding("io-limit-measured").jobs, ["a", "b"]);
        scene.limits.io[0].is_write = true;
        assert_eq!(scene.found(), Vec::<String>::new());
        (scene.limits.io[0].is_write, scene.limits.io[0].device) = (false, "vdb".to_owned());
        assert_eq!(scene.found(), Vec::<String>::new());
    }

    #[test]
    fn a_limit_of_the_only_device_below_holds_too() {
        let mut scene = scene(Some(10 * MIB), None);
        scene.limits.io[0].device = "vdb".to_owned();
        scene.device.name = "loop0".to_owned();
        scene.places[0].device = Some("loop0".to_owned());
        let device =
            |name: &str, kind, below: &[&str]| StorageLayer { bytes: Some([100 * MIB, 0]), ..layer(name, kind, below) };
        let top = layer("/data", LayerKind::FileSystem, &["loop0"]);
        let disk = device("vdb", LayerKind::Disk, &[]);
        scene.layers(vec![top.clone(), device("loop0", LayerKind::Loop, &["vdb"]), disk.clone()]);
        assert_eq!(scene.found(), ["io-limit-measured"]);
        // Of two members each has a part of the I/O only.
        let other = device("vdc", LayerKind::Disk, &[]);
        scene.record.evidence = ferrio_stats::Evidence::default();
        scene.layers(vec![top, device("loop0", LayerKind::Stacked, &["vdb", "vdc"]), disk, other]);
        assert_eq!(scene.found(), Vec::<String>::new());
    }

    #[test]
    fn a_limit_that_is_set_in_the_midst_is_told() {
        let changed = |is_write: bool| {
            let limit = IoLimit { device: "vda".to_owned(), is_write, bytes_per_sec: None, ios_per_sec: Some(300) };
            let missing = || Stalls { cpu: Reading::default(), io: Reading::default(), memory: Reading::default() };
            let mut scene = TestRun::new(job("a", DirectionMix::Read));
            let pressure = Pressure { machine: missing(), cgroup: missing(), changed_limits: vec![limit] };
            scene.record.evidence.pressure = Some(pressure);
            scene
        };
        let explanation = changed(false).finding("io-limit-changed").explanation;
        assert_eq!(
            explanation,
            "At the start of the run the control group allowed any number of reads to vda, and later 300 I/Os a second."
        );
        assert_eq!(changed(true).found(), Vec::<String>::new());
    }

    #[test]
    fn before_a_run_a_limit_is_named() {
        let finding = scene(Some(10 * MIB), Some(7)).before().finding("io-limit-set");
        assert_eq!(
            finding.explanation,
            "The control group allows 10 MiB a second and 7 I/Os a second of reads to vda: no run in it can show more."
        );
        let mut other = scene(Some(10 * MIB), None).before();
        other.limits.io[0].is_write = true;
        assert_eq!(other.found(), Vec::<String>::new());
    }
}
