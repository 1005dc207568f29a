//! CPUs or drives that were slowed down because they were hot.

use crate::audit_input::AuditInput;
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use crate::unexamined::EvidenceKind;
use ferrio_stats::{Heat, Measured, Severity};

pub(crate) const RULE: FindingRule = FindingRule {
    id: "slowed-by-heat",
    title: "Heat slowed the CPUs or a drive down",
    severity: Severity::Misleading,
    what: "The time for which the kernel counts a CPU as slowed down because of heat, and the temperature of the drives under the files \
           before and after the run, against the one from which the drive warns. It is reported from 1 % of the time of the run on, and where \
           a drive has reached that temperature. Most virtual machines show neither.",
    why: "A hot CPU or drive works more slowly until it has cooled down, so the figures depend on the weather of the machine and on the runs \
          before.",
    example: "--name=a --filename=/dev/nvme0n1 --rw=read --bs=1m --direct=1 --runtime=10m --time_based --size=1g",
    cure: "Improve the cooling, or let the machine cool down between runs; for the steady state of a hot drive, warm it up with --ramp_time.",
    needs: &[EvidenceKind::Heat],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

const SHARE: f64 = 0.01;

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    let heat = case.record.evidence.heat.as_ref();
    let about = |heat: &Heat| about_cpus(case, heat).into_iter().chain(about_drives(heat)).collect();
    heat.map(about).unwrap_or_default()
}

fn about_cpus(case: &AuditInput<'_>, heat: &Heat) -> Option<Observation> {
    let (slow, all) = (heat.cpu_throttled_ms? as f64 / 1e3, case.record.elapsed_ns as f64 / 1e9);
    if all <= 0.0 || slow < all * SHARE {
        return None;
    }
    let explanation = format!("A CPU was slowed down by heat for {} of the run.", text::percent(slow.min(all), all));
    let evidence = vec![Measured::seconds("slowed down", slow), Measured::seconds("length of the run", all)];
    Some(Observation::of_run(evidence, explanation))
}

fn about_drives(heat: &Heat) -> Vec<Observation> {
    let hot = heat.drives.iter().filter(|drive| drive.now >= drive.limit);
    let degrees = |thousandths: i64| text::short(thousandths as f64 / 1e3);
    let observation = |drive: &ferrio_stats::DriveHeat| {
        let explanation = format!(
            "{} had {} degrees Celsius before the run and {} after it; it warns, and slows down, from {} on.",
            drive.name,
            degrees(drive.before),
            degrees(drive.now),
            degrees(drive.limit)
        );
        Observation::of_run(Vec::new(), explanation)
    };
    hot.map(observation).collect()
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::{DriveHeat, Heat};

    fn scene(heat: Heat) -> TestRun {
        let mut scene = TestRun::new(job("a", DirectionMix::Read));
        scene.record.elapsed_ns = 10_000_000_000;
        scene.record.evidence.heat = Some(heat);
        scene
    }

    #[test]
    fn a_hundredth_of_the_run_is_enough() {
        let slow = |cpu_throttled_ms| scene(Heat { cpu_throttled_ms, ..Heat::default() });
        let finding = slow(Some(2500)).finding("slowed-by-heat");
        assert_eq!(finding.explanation, "A CPU was slowed down by heat for 25 % of the run.");
        assert_eq!(slow(Some(100)).found(), ["slowed-by-heat"]);
        assert_eq!(slow(Some(99)).found(), Vec::<String>::new());
        assert_eq!(slow(None).found(), Vec::<String>::new());
    }

    #[test]
    fn a_drive_at_its_limit_is_told() {
        let warm = |now: i64| {
            let drive = DriveHeat { name: "nvme0n1".to_owned(), before: 40_000, now, limit: 81_800 };
            scene(Heat { drives: vec![drive], ..Heat::default() })
        };
        let explanation = warm(81_800).finding("slowed-by-heat").explanation;
        assert!(
            explanation.starts_with("nvme0n1 had 40 degrees Celsius before the run and 81.8 after it"),
            "{explanation}"
        );
        assert_eq!(warm(81_799).found(), Vec::<String>::new());
    }
}
