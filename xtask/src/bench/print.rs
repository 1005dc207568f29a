//! Prints figures: a line per pair, medians with their range beside the goals, one line of the summary.
//!
//! Must not know: how they were measured. Start reading at [`pair_line`] and [`verdict`].

use super::case::{Case, Goal, Work};
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
        Work::PerIo { .. } | Work::PerPass { .. } => ("IOPS", "ns user+system"),
        Work::WholeRun | Work::Quarter { .. } => ("ms", "ms user+system"),
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
    if let Some([[peer, _], [own, _]]) = pair.growth_bytes() {
        let _ = write!(line, ", of a quarter {:.1} and {:.1} MiB", mib(peer as u64), mib(own as u64));
    }
    if let (Some(beside), Some(program)) = (&pair.beside, case.beside_name()) {
        let _ = write!(line, "   {program}: {} ({})", speed_of(case, beside), cost_of(case, beside));
    }
    line
}

fn speed_of(case: &Case, sample: &Sample) -> String {
    match case.work {
        Work::PerIo { .. } | Work::PerPass { .. } => grouped((1e9 / sample.wall_ns) as u64),
        Work::WholeRun | Work::Quarter { .. } => format!("{:.1}", sample.wall_ns / 1e6),
    }
}

fn cost_of(case: &Case, sample: &Sample) -> String {
    match case.work {
        Work::PerIo { .. } | Work::PerPass { .. } => format!("{:.1}+{:.1}", sample.user_ns, sample.system_ns),
        Work::WholeRun | Work::Quarter { .. } => format!("{:.1}+{:.1}", sample.user_ns / 1e6, sample.system_ns / 1e6),
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
    let mut lines: Vec<String> = case.goals.iter().map(|goal| goal_line(case, *goal, figures)).collect();
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
    let bare_clat = figures.clat_lower(|clats| clats.bare);
    if !bare_clat.is_empty() {
        lines.push(format!("  the bare loop's clat: {:.2} ns less than fio's", median(bare_clat)));
    }
    lines.push(format!("  {}", noise.describe()));
    lines.join("\n")
}

/// No goal can ask for a latency much below the bare loop's, which is two stamps and a system call.
fn limit_of_clat(figures: &Figures) -> f64 {
    (median(figures.clat_lower(|clats| clats.bare)) - CLAT_TOLERANCE_NS).round()
}

/// Random difference between the latencies of two programs in two runs.
const CLAT_TOLERANCE_NS: f64 = 5.0;

/// A goal and the measured figures.
struct Reached {
    what: &'static str,
    /// Figures of which the median is compared with the goal; empty if it could not be measured.
    figures: Vec<f64>,
    /// The same figures of fio, for goals that do not compare with fio.
    peer: Vec<f64>,
    goal: String,
    is_met: fn(f64, f64) -> bool,
    bound: f64,
}

impl Reached {
    fn of(case: &Case, goal: Goal, figures: &Figures) -> Self {
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
                Self::at_least("ns less clat", figures.clat_lower(|clats| clats.own), bound.min(limit_of_clat(figures)))
            }
            Goal::LossBelow(bound) => Self::below("loss", figures.pairs.iter().filter_map(Pair::loss).collect(), bound),
            Goal::ExtraTimeBelow(bound) => {
                Self::below("extra time", figures.pairs.iter().filter_map(Pair::extra_time).collect(), bound)
            }
            Goal::SecondsBelow(bound) => Self::both_below("seconds", figures, bound, |sample| sample.wall_ns / 1e9),
            Goal::RateWithin { ios_per_sec, percent } => {
                Self::both_below("% off the rate", figures, percent, |sample| {
                    100.0 * (1e9 / sample.wall_ns / ios_per_sec - 1.0).abs()
                })
            }
            Goal::CoreBelow(bound) => {
                Self::both_below("% of a core", figures, bound, |sample| 100.0 * sample.cpu_ns() / sample.wall_ns)
            }
            Goal::BesideSpeedAtLeast(bound) => {
                Self::at_least("speed to beside", figures.pairs.iter().filter_map(Pair::beside_speed).collect(), bound)
            }
            Goal::GrowthBelow(bound) => Self::growth_below("memory growth", figures, bound, |[few, all]| all / few),
            Goal::RowBytesBelow { bytes, rows_per_io } => {
                let n_rows = case.n_ios_beyond_quarter() * rows_per_io;
                Self::growth_below("bytes a row", figures, bytes, |[few, all]| (all - few) / n_rows)
            }
        }
    }

    /// A figure of each program's runs.
    fn both_below(what: &'static str, figures: &Figures, bound: f64, of: impl Fn(&Sample) -> f64) -> Self {
        Self { peer: figures.all(|pair| of(&pair.peer)), ..Self::below(what, figures.all(|pair| of(&pair.own)), bound) }
    }

    /// A figure of peak memory with a quarter of the I/Os and with all.
    fn growth_below(what: &'static str, figures: &Figures, bound: f64, of: impl Fn([f64; 2]) -> f64) -> Self {
        let grown = || figures.pairs.iter().filter_map(Pair::growth_bytes);
        let peer = grown().map(|[peer, _]| of(peer)).collect();
        Self { peer, ..Self::below(what, grown().map(|[_, own]| of(own)).collect(), bound) }
    }

    fn at_least(what: &'static str, figures: Vec<f64>, bound: f64) -> Self {
        Self {
            what,
            figures,
            peer: Vec::new(),
            goal: format!("at least {bound}"),
            is_met: |figure, bound| figure >= bound,
            bound,
        }
    }

    fn below(what: &'static str, figures: Vec<f64>, bound: f64) -> Self {
        Self {
            what,
            figures,
            peer: Vec::new(),
            goal: format!("below {bound}"),
            is_met: |figure, bound| figure < bound,
            bound,
        }
    }

    /// `None`: it could not be measured.
    fn is_met(&self) -> Option<bool> {
        (!self.figures.is_empty()).then(|| (self.is_met)(median(self.figures.iter().copied()), self.bound))
    }
}

fn goal_line(case: &Case, goal: Goal, figures: &Figures) -> String {
    let reached = Reached::of(case, goal, figures);
    let Some(is_met) = reached.is_met() else {
        return format!(
            "  {:<18} SKIPPED: no valgrind, no control group for memory can be made, no such program, or too noisy",
            reached.what
        );
    };
    let low = reached.figures.iter().copied().fold(f64::INFINITY, f64::min);
    let high = reached.figures.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let peer = if reached.peer.is_empty() { String::new() } else { format!(", fio {:.2}", median(reached.peer)) };
    format!(
        "  {:<18} {:.2} ({low:.2} to {high:.2}){peer}; goal {}: {}",
        reached.what,
        median(reached.figures.iter().copied()),
        reached.goal,
        if is_met { "met" } else { "MISSED" }
    )
}

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
    let goals = case.goals.iter().map(|goal| Reached::of(case, *goal, figures));
    let missed: Vec<&str> =
        goals.filter(|reached| reached.is_met() == Some(false)).map(|reached| reached.what).collect();
    let verdict = if missed.is_empty() { "  goals met".to_owned() } else { format!("  MISSED: {}", missed.join(", ")) };
    let doubt = if noise.complaint().is_some() { "  (too noisy)" } else { "" };
    line + &verdict + doubt
}

#[cfg(test)]
mod tests {
    use super::super::case::{PLAIN, Target};
    use super::super::cases::CASES;
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
        let pairs = [100.0, 50.0, 40.0].map(|own| Pair::of(sample(100.0), sample(own)));
        let figures = Figures { pairs: pairs.into_iter().collect(), bare: None, instructions: None };
        let line = |goal| goal_line(&PLAIN, goal, &figures);
        assert!(line(Goal::SpeedAtLeast(2.0)).ends_with("2.00 (1.00 to 2.50); goal at least 2: met"));
        assert!(line(Goal::CpuBelow(1.0)).ends_with("MISSED"));
        assert!(line(Goal::MemoryBelow(1.0)).contains("SKIPPED"));
        assert!(
            line(Goal::GrowthBelow(1.0)).contains("SKIPPED") && line(Goal::BesideSpeedAtLeast(1.0)).contains("SKIPPED")
        );
        // 100, 50 and 40 ns an I/O are 10, 20 and 25 million a second.
        let rate = line(Goal::RateWithin { ios_per_sec: 20e6, percent: 1.0 });
        assert!(rate.ends_with("25.00 (0.00 to 50.00), fio 50.00; goal below 1: MISSED"), "{rate}");
    }

    #[test]
    fn every_case_is_listed() {
        assert_eq!(list_of(CASES).lines().count(), CASES.len());
        assert!(CASES.iter().any(|case| case.target == Target::None));
    }
}
