//! How figures are shown: a line a pair, medians with their range beside the goals, one line of the summary.
//!
//! Must not know: how they were measured. Start reading at [`pair_line`] and [`verdict`].

use super::cases::{Case, Goal, Work};
use super::figures::{Figures, Pair, median};
use super::machine::Noise;
use super::measure::Sample;
use std::fmt::Write as _;

/// Names and subjects of all cases.
pub(super) fn list_of(cases: &[Case]) -> String {
    let lines: Vec<String> = cases.iter().map(|case| format!("  {:<22} {}", case.name, case.about)).collect();
    lines.join("\n")
}

/// The heads of the columns of [`pair_line`].
pub(super) fn pair_header(case: &Case) -> String {
    let (speed, cost) = match case.work {
        Work::PerIo { .. } => ("IOPS", "ns user+system"),
        Work::WholeRun => ("ms", "ms user+system"),
    };
    format!(
        "  {:>4}  {:>12} {:>12} {:>6}   {:>17} {:>17} {:>6}",
        "pair",
        format!("fio {speed}"),
        format!("ferrio {speed}"),
        "speed",
        format!("fio {cost}"),
        "ferrio",
        "CPU"
    )
}

/// One pair: both programs, and the ratios.
pub(super) fn pair_line(case: &Case, index: usize, pair: &Pair) -> String {
    let mut line = format!(
        "  {index:>4}  {:>12} {:>12} {:>6.2}   {:>17} {:>17} {:>6.2}",
        speed_of(case, &pair.peer),
        speed_of(case, &pair.own),
        pair.speed(),
        cost_of(case, &pair.peer),
        cost_of(case, &pair.own),
        pair.cpu()
    );
    if let Some([peer, own]) = &pair.plain {
        let _ = write!(line, "   without: {} and {}", speed_of(case, peer), speed_of(case, own));
    }
    if let (Some(peer), Some(own)) = (pair.peer.peak_bytes, pair.own.peak_bytes) {
        // Writing into a text cannot fail.
        let _ = write!(line, "   peak memory {:.1} and {:.1} MiB", mib(peer), mib(own));
    }
    line
}

fn speed_of(case: &Case, sample: &Sample) -> String {
    match case.work {
        Work::PerIo { .. } => grouped((1e9 / sample.wall_ns) as u64),
        Work::WholeRun => format!("{:.1}", sample.wall_ns / 1e6),
    }
}

fn cost_of(case: &Case, sample: &Sample) -> String {
    match case.work {
        Work::PerIo { .. } => format!("{:.1}+{:.1}", sample.user_ns, sample.system_ns),
        Work::WholeRun => format!("{:.1}+{:.1}", sample.user_ns / 1e6, sample.system_ns / 1e6),
    }
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

/// Digits in groups of three.
fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Medians and ranges beside the goals, the limit of the machine, and whether the machine was quiet.
pub(super) fn verdict(case: &Case, figures: &Figures, noise: &Noise) -> String {
    let mut lines: Vec<String> = case.goals.iter().map(|goal| goal_line(*goal, figures)).collect();
    if let Some([peer, own]) = figures.instructions {
        lines.push(format!("  instructions per I/O: fio {peer}, ferrio {own}"));
    }
    if let Some(bare) = &figures.bare {
        let own = figures.median(|pair| pair.own.cpu_ns());
        let peer = figures.median(|pair| pair.peer.cpu_ns());
        lines.push(format!(
            "  bare loop: {} IOPS, {} ns; ferrio needs {:.2} times its CPU, fio {:.2} times",
            speed_of(case, bare),
            cost_of(case, bare),
            own / bare.cpu_ns(),
            peer / bare.cpu_ns()
        ));
    }
    lines.push(format!("  {}", noise.describe()));
    lines.join("\n")
}

/// A goal with what was reached.
struct Reached {
    what: &'static str,
    /// What is judged by its median; empty if it could not be measured.
    figures: Vec<f64>,
    goal: String,
    is_met: fn(f64, f64) -> bool,
    bound: f64,
}

impl Reached {
    fn of(goal: Goal, figures: &Figures) -> Self {
        let memory = || figures.pairs.iter().filter_map(Pair::memory).collect();
        match goal {
            Goal::SpeedAtLeast(bound) => Self::at_least("speed", figures.all(Pair::speed), bound),
            Goal::UserCpuBelow(bound) => Self::below("user CPU", vec![figures.user_cpu()], bound),
            Goal::CpuBelow(bound) => Self::below("CPU", figures.all(Pair::cpu), bound),
            Goal::InstructionsBelow(bound) => {
                Self::below("user instructions", figures.instructions().into_iter().collect(), bound)
            }
            Goal::MemoryBelow(bound) => Self::below("peak memory", memory(), bound),
            Goal::GigabytesAtLeast { gigabytes, block_bytes } => {
                Self::at_least("GB/s", figures.all(|pair| block_bytes / pair.own.wall_ns), gigabytes)
            }
            Goal::BareCpuBelow(bound) => {
                let bare = figures.bare.iter().map(Sample::cpu_ns);
                let parts = bare.flat_map(|bare| figures.all(move |pair| pair.own.cpu_ns() / bare)).collect();
                Self::below("CPU to bare loop", parts, bound)
            }
            Goal::BareSpeedAtLeast(bound) => {
                let bare = figures.bare.iter().map(|bare| bare.wall_ns);
                let parts = bare.flat_map(|bare| figures.all(move |pair| bare / pair.own.wall_ns)).collect();
                Self::at_least("speed to bare loop", parts, bound)
            }
            Goal::ClatLowerBy(bound) => {
                let lower = figures.pairs.iter().filter_map(|pair| pair.mean_clat_ns).map(|[peer, own]| peer - own);
                Self::at_least("ns less clat", lower.collect(), bound)
            }
            Goal::LossBelow(bound) => Self::below("loss", figures.pairs.iter().filter_map(Pair::loss).collect(), bound),
            Goal::ExtraTimeBelow(bound) => {
                Self::below("extra time", figures.pairs.iter().filter_map(Pair::extra_time).collect(), bound)
            }
            Goal::SecondsBelow(bound) => Self::below("seconds", figures.all(|pair| pair.own.wall_ns / 1e9), bound),
        }
    }

    fn at_least(what: &'static str, figures: Vec<f64>, bound: f64) -> Self {
        Self { what, figures, goal: format!("at least {bound}"), is_met: |figure, bound| figure >= bound, bound }
    }

    fn below(what: &'static str, figures: Vec<f64>, bound: f64) -> Self {
        Self { what, figures, goal: format!("below {bound}"), is_met: |figure, bound| figure < bound, bound }
    }

    /// `None`: it could not be measured.
    fn is_met(&self) -> Option<bool> {
        (!self.figures.is_empty()).then(|| (self.is_met)(median(self.figures.iter().copied()), self.bound))
    }
}

fn goal_line(goal: Goal, figures: &Figures) -> String {
    let reached = Reached::of(goal, figures);
    let Some(is_met) = reached.is_met() else {
        return format!(
            "  {:<18} SKIPPED: no valgrind, no control group for memory can be made, or too noisy",
            reached.what
        );
    };
    let low = reached.figures.iter().copied().fold(f64::INFINITY, f64::min);
    let high = reached.figures.iter().copied().fold(0.0, f64::max);
    format!(
        "  {:<18} {:.2} ({low:.2} to {high:.2}); goal {}: {}",
        reached.what,
        median(reached.figures.iter().copied()),
        reached.goal,
        if is_met { "met" } else { "MISSED" }
    )
}

/// The case in one line.
pub(super) fn summary_line(case: &Case, figures: &Figures, noise: &Noise) -> String {
    let mut line = format!(
        "  {:<22} speed {:>5.2}  CPU {:>5.2}",
        case.name,
        figures.median(Pair::speed),
        figures.median(Pair::cpu)
    );
    if let Some(ratio) = figures.instructions() {
        let _ = write!(line, "  instructions {ratio:>5.2}");
    }
    let memory: Vec<f64> = figures.pairs.iter().filter_map(Pair::memory).collect();
    if !memory.is_empty() {
        let _ = write!(line, "  memory {:>5.2}", median(memory));
    }
    let goals = case.goals.iter().map(|goal| Reached::of(*goal, figures));
    let missed: Vec<&str> =
        goals.filter(|reached| reached.is_met() == Some(false)).map(|reached| reached.what).collect();
    let verdict = if missed.is_empty() { "  goals met".to_owned() } else { format!("  MISSED: {}", missed.join(", ")) };
    let doubt = if noise.complaint().is_some() { "  (too noisy)" } else { "" };
    line + &verdict + doubt
}

#[cfg(test)]
mod tests {
    use super::super::cases::{CASES, Target};
    use super::*;

    #[test]
    fn digits_are_grouped() {
        let table = [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")];
        for (value, text) in table {
            assert_eq!(grouped(value), text);
        }
    }

    #[test]
    fn goals_are_judged_by_the_median() {
        let sample = |wall_ns| Sample { wall_ns, user_ns: 1.0, system_ns: 0.0, peak_bytes: None };
        let pairs = [100.0, 50.0, 40.0].map(|own| Pair {
            peer: sample(100.0),
            own: sample(own),
            plain: None,
            mean_clat_ns: None,
        });
        let figures = Figures { pairs: pairs.into_iter().collect(), bare: None, instructions: None };
        assert!(goal_line(Goal::SpeedAtLeast(2.0), &figures).ends_with("2.00 (1.00 to 2.50); goal at least 2: met"));
        assert!(goal_line(Goal::CpuBelow(1.0), &figures).ends_with("MISSED"));
        assert!(goal_line(Goal::MemoryBelow(1.0), &figures).contains("SKIPPED"));
    }

    #[test]
    fn every_case_is_listed() {
        assert_eq!(list_of(CASES).lines().count(), CASES.len());
        assert!(CASES.iter().any(|case| case.target == Target::None));
    }
}
