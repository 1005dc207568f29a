//! Numbers without a unit that are far smaller or larger than what they look like.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::measures::given::value_of;
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use ferrio_stats::{Measured, Severity};
use ferrio_units::DataDirection;
use ferrio_units::humanize::thousands;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "size-without-unit",
    title: "The blocks have a few bytes",
    severity: Severity::Misleading,
    what: "The option bs, as it was written. It is reported where it is a number without a unit, a power of two up to 128, and the job goes through the page cache.",
    why: "A size without a unit is in bytes: bs=4 is no 4 KiB. Each I/O then moves a few bytes between the job and the page cache, and its rate is that of system calls.",
    example: "--name=a --rw=write --size=64k --bs=4",
    cure: "Write the unit: bs=4k.",
    needs: &[],
    looks_at_reports: true,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find: |case| case.jobs.iter().filter_map(|job| of_blocks(case, job)).collect(),
};

pub(crate) const TIME: FindingRule = FindingRule {
    id: "time-without-unit",
    title: "A time without a unit is another one than it looks",
    severity: Severity::Note,
    what: "Times, as they were written. It is reported where they are numbers without a unit: thinktime up to 50, max_latency up to 100 and latency_target up to 20; and before a run \
           runtime from 1000 and ramp_time and startdelay from 500 on, if they are round and no number of minutes.",
    why: "Without a unit thinktime, max_latency and latency_target are in microseconds, and runtime, ramp_time and startdelay in seconds: thinktime=10 is no 10 ms, and \
          runtime=2000 no 2 s.",
    example: "--name=a --rw=randread --size=1g --thinktime=10",
    cure: "Write the unit: us, ms or s. If it is what you mean, it may stay.",
    needs: &[],
    looks_at_reports: true,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &["runtime-without-time-based", "ramp-outlasts-job", "job-failed"],
    find: |case| case.jobs.iter().filter_map(|job| of_times(case, job)).collect(),
};

/// The largest size of blocks that nobody writes in bytes.
const LARGEST: u64 = 128;

/// The value of an option that is a number without a unit.
fn plain<'c>(case: &'c AuditInput<'_>, job: &AuditedJob<'c>, name: &str) -> Option<(&'c str, u64)> {
    let value = value_of(case, job, name)?;
    let is_plain = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    Some((value, value.parse().ok().filter(|_| is_plain)?))
}

fn of_blocks(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<Observation> {
    let (written, bytes) = plain(case, job, "bs")?;
    let is_it = |direction: DataDirection| {
        let size = job.spec.pattern.block_size[direction];
        !job.does(direction) || (size.min_bytes == bytes && size.max_bytes == bytes)
    };
    let is_told = bytes.is_power_of_two()
        && bytes <= LARGEST
        && DataDirection::ALL.into_iter().all(is_it)
        && (job.is_buffered() && job.moves_data() && !job.spec.replay.is_set() && !job.expects_memory());
    let explanation = format!("bs={written} is {bytes} bytes an I/O: a number without a unit is in bytes.");
    let evidence = vec![Measured::bytes("size of an I/O", bytes)];
    is_told.then(|| Observation {
        cure: Some(format!("Write the unit: bs={written}k.")),
        ..Observation::of(job, evidence, explanation)
    })
}

/// An option, the values that are misread, and the unit that they have.
struct Misread {
    name: &'static str,
    unit: &'static str,
    meant: &'static str,
    is_it: fn(u64) -> bool,
    only_before: bool,
}

const TIMES: [Misread; 6] = [
    Misread { name: "thinktime", unit: "us", meant: "ms", is_it: |us| (1..=50).contains(&us), only_before: false },
    Misread { name: "max_latency", unit: "us", meant: "ms", is_it: |us| (1..=100).contains(&us), only_before: false },
    Misread { name: "latency_target", unit: "us", meant: "ms", is_it: |us| (1..=20).contains(&us), only_before: false },
    Misread { name: "runtime", unit: "s", meant: "ms", is_it: |s| is_round(s, 1000), only_before: true },
    Misread { name: "ramp_time", unit: "s", meant: "ms", is_it: |s| is_round(s, 500), only_before: true },
    Misread { name: "startdelay", unit: "s", meant: "ms", is_it: |s| is_round(s, 500), only_before: true },
];

/// Seconds are given in hundreds, and not in minutes.
fn is_round(seconds: u64, least: u64) -> bool {
    seconds >= least && seconds.is_multiple_of(100) && !seconds.is_multiple_of(60)
}

fn of_times(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<Observation> {
    let (time, written, value) = TIMES.iter().find_map(|time| {
        let (written, value) = plain(case, job, time.name)?;
        ((time.is_it)(value) && (case.is_before() || !time.only_before)).then_some((time, written, value))
    })?;
    let Misread { name, unit, meant, .. } = time;
    let long = if *unit == "s" { format!(" ({} minutes)", text::short(value as f64 / 60.0)) } else { String::new() };
    let explanation =
        format!("{name}={written} is {} {unit}{long}: without a unit it is in {}.", thousands(value), full(unit));
    let cure =
        format!("If {meant} are meant, write {name}={written}{meant}; {name}={written}{unit} says what it is now.");
    Some(Observation { cure: Some(cure), ..Observation::of(job, Vec::new(), explanation) })
}

fn full(unit: &str) -> &'static str {
    if unit == "us" { "microseconds" } else { "seconds" }
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;

    fn scene(name: &str, value: &str) -> TestRun {
        let mut scene = TestRun::new(job("a", DirectionMix::Read));
        scene.jobs[0].given_options = vec![(name.to_owned(), value.to_owned())];
        scene
    }

    #[test]
    fn blocks_of_a_few_bytes_are_told_without_a_unit() {
        let is_told = |value: &str, bytes: u64, direct: bool| {
            let mut scene = scene("bs", value);
            for size in &mut scene.jobs[0].pattern.block_size.0 {
                (size.min_bytes, size.max_bytes) = (bytes, bytes);
            }
            scene.jobs[0].durability.direct = direct;
            scene.found().contains(&"size-without-unit".to_owned())
        };
        assert!(is_told("4", 4, false) && is_told("128", 128, false));
        assert!(!is_told("4b", 4, false), "somebody has written a unit");
        assert!(!is_told("100", 100, false), "records of a log");
        assert!(!is_told("512", 512, false) && !is_told("4k", 4096, false));
        assert!(!is_told("4", 4, true), "another rule says that direct I/O has no such blocks");
    }

    #[test]
    fn times_in_another_unit_are_told() {
        let is_told = |scene: TestRun| scene.found().contains(&"time-without-unit".to_owned());
        for (name, value) in [("thinktime", "10"), ("max_latency", "50"), ("latency_target", "2")] {
            assert!(is_told(scene(name, value)) && is_told(scene(name, value).before()), "{name}");
        }
        for (name, value) in [("runtime", "2000"), ("ramp_time", "500"), ("startdelay", "1000")] {
            assert!(is_told(scene(name, value).before()), "{name}");
            assert!(!is_told(scene(name, value)), "{name}: the run has shown it");
        }
        for (name, value) in [
            ("thinktime", "10us"),
            ("thinktime", "0"),
            ("thinktime", "1000"),
            ("runtime", "3600"),
            ("runtime", "1800"),
            ("runtime", "60"),
            ("ramp_time", "600"),
            ("latency_target", "500"),
        ] {
            assert!(!is_told(scene(name, value).before()), "{name}={value}");
        }
    }

    #[test]
    fn the_time_is_told_with_its_unit() {
        let finding = scene("runtime", "2000").before().finding("time-without-unit");
        assert_eq!(finding.explanation, "runtime=2000 is 2,000 s (33.3 minutes): without a unit it is in seconds.");
        let finding = scene("thinktime", "10").before().finding("time-without-unit");
        assert_eq!(finding.explanation, "thinktime=10 is 10 us: without a unit it is in microseconds.");
        assert_eq!(finding.cure, "If ms are meant, write thinktime=10ms; thinktime=10us says what it is now.");
    }
}
