//! The answers of a sweep in words: the limit that was searched for, and the knees.
//!
//! Must not know: terminals, pages. Start reading at [`answer_text`].

use ferrio::sweep::limit::{LimitAnswer, LimitVerdict, LimitedBy, TriedValue};
use ferrio::sweep::outcome::{SweepOutcome, SweptKnee};
use ferrio_formats::IoKind;
use ferrio_formats::native::{NOTHING, aligned};
use ferrio_insight::knee::KneeKind;
use ferrio_stats::Metric;
use ferrio_units::humanize::{duration_text, thousands, three_digits};
use std::fmt::Write as _;

const MOST_KNEES: usize = 8;

/// The answer of a search for a limit, in a few sentences.
pub(super) fn answer_text(answer: &LimitAnswer) -> String {
    let LimitAnswer { option, limits, bracket, iops, limited_by, contradicted_by, .. } = answer;
    let limits = limits.join(" and ");
    if let (None, Some(value), Some(LimitedBy::Failure)) = (bracket.within, bracket.beyond, limited_by) {
        return format!(
            "{limits}: there is no answer, as a job fails at {option}={value}, and no smaller value holds."
        );
    }
    // Jobs that did not run at the same time have no rate together.
    let [at_within, at_beyond] =
        iops.map(|iops| iops.map_or_else(String::new, |iops| format!(" ({} IOPS)", Metric::Iops.cell(iops))));
    let found = match (bracket.within, bracket.beyond) {
        (Some(within), Some(beyond)) => format!(
            "{limits}: holds up to {option}={within}{at_within}, and certainly not at {option}={beyond}{at_beyond}."
        ),
        (Some(within), None) => {
            let is_last = answer.tried.iter().all(|one| one.value <= within);
            let which = if is_last { "was tried" } else { "certainly decides" };
            format!("{limits}: holds up to {option}={within}{at_within}, the largest value that {which}.")
        }
        (None, Some(beyond)) => format!(
            "{limits}: does not hold at {option}={beyond}{at_beyond}, the smallest value that certainly decides."
        ),
        (None, None) => format!("{limits}: the runs do not decide at any value of {option}.{}", absent_text(answer)),
    };
    let at = |value: Option<u64>| answer.tried.iter().find(|one| Some(one.value) == value);
    let missed = at(bracket.beyond)
        .and_then(|one| one.share_of_rate)
        .map(|share| format!(" There a job does {} of its rate.", share_text(share)));
    let why = missed.unwrap_or_default() + &limited_by.map(|why| format!(" {}", why.sentence())).unwrap_or_default();
    let mut doubts = String::new();
    for (value, names) in [bracket.within, bracket.beyond].into_iter().zip(contradicted_by) {
        if let Some(value) = value.filter(|_| !names.is_empty()) {
            let speak = if names.len() == 1 { "speaks" } else { "speak" };
            let names = names.join(" and ");
            // Writing to a text cannot fail.
            let _ = write!(doubts, " Not certain: {names} {speak} against {option}={value}, see the findings.");
        }
    }
    let certainty = match (doubts.is_empty(), bracket.within, bracket.beyond) {
        (false, ..) => &doubts,
        (true, Some(_), Some(_)) => " The limit is between both in 95 of 100 such searches.",
        (true, None, None) => "",
        _ => " This is right in 95 of 100 such searches.",
    };
    format!("{found}{why}{certainty}{}", undecided_text(answer))
}

/// Which limits are about figures that the jobs do not have; empty: they have all of them.
fn absent_text(answer: &LimitAnswer) -> String {
    let is_absent = |index: usize| {
        let mut latencies = answer.tried.iter().filter_map(|one| one.latencies_ns.get(index)).peekable();
        latencies.peek().is_some() && latencies.all(Option::is_none)
    };
    let absent = answer.limits.iter().enumerate().filter(|(index, _)| is_absent(*index)).map(|(_, limit)| &**limit);
    let absent = absent.collect::<Vec<_>>().join(" or ");
    if absent.is_empty() { String::new() } else { format!(" The jobs have no figure that is meant by {absent}.") }
}

/// Values beside the ends of an answer that remain undecided, and what helps; empty: there are none, or it has no end.
fn undecided_text(answer: &LimitAnswer) -> String {
    let (low, high, place) = match (answer.bracket.within, answer.bracket.beyond) {
        (Some(low), Some(high)) => (low, high, "between them"),
        (Some(low), None) => (low, u64::MAX, "above it"),
        (None, Some(high)) => (0, high, "below it"),
        (None, None) => return String::new(),
    };
    let is_there = |one: &&TriedValue| one.verdict == LimitVerdict::Undecided && one.value >= low && one.value <= high;
    match answer.tried.iter().filter(is_there).count() {
        0 => String::new(),
        1 => format!(" At 1 value {place} the runs differ too much to decide: longer runs tell more."),
        n => format!(" At {n} values {place} the runs differ too much to decide: longer runs tell more."),
    }
}

fn share_text(share: f64) -> String {
    format!("{} %", three_digits(100.0 * share))
}

/// The values that were tried, with the latencies that the limits are about.
pub(super) fn tried(answer: &LimitAnswer) -> String {
    let mut heads =
        vec![answer.option.clone(), "verdict".to_owned(), "runs".to_owned(), Metric::Iops.heading().to_owned()];
    heads.extend(answer.limits.iter().map(|limit| limit.split('=').next().unwrap_or_default().to_owned()));
    let mut rows = vec![heads];
    let has_missed = answer.tried.iter().any(|one| one.share_of_rate.is_some());
    if has_missed {
        rows[0].push("of its rate".to_owned());
    }
    for one in &answer.tried {
        let verdict = match one.verdict {
            LimitVerdict::Within => "holds",
            LimitVerdict::Beyond => "does not hold",
            LimitVerdict::Undecided => "undecided",
        };
        let mut row = vec![
            one.value.to_string(),
            verdict.to_owned(),
            one.n_runs.to_string(),
            Metric::Iops.cell_or(one.iops, NOTHING),
        ];
        row.extend(one.latencies_ns.iter().map(|latency| latency.map_or(NOTHING.to_owned(), duration_text)));
        row.extend(has_missed.then(|| one.share_of_rate.map_or(NOTHING.to_owned(), share_text)));
        rows.push(row);
    }
    aligned(&rows, 2) + "\n"
}

/// The knees, a sentence each; where there are many, those of a job's I/O in one sentence.
pub(super) fn knee_texts(outcome: &SweepOutcome) -> Vec<String> {
    if outcome.knees.len() <= MOST_KNEES {
        return outcome.knees.iter().map(knee_text).collect();
    }
    outcome.jobs().iter().filter_map(|(_, job, kind)| knees_text(outcome, job, *kind)).collect()
}

/// How often each value is the knee of a job's I/O; `None`: it has none.
fn knees_text(outcome: &SweepOutcome, job: &str, kind: IoKind) -> Option<String> {
    let knees: Vec<&SweptKnee> = outcome.knees.iter().filter(|knee| knee.job == job && knee.kind == kind).collect();
    let axis = outcome.axes.iter().find(|axis| axis.name() == knees.first().map_or("", |knee| &knee.option))?;
    let count = |words: &str, is_it: &dyn Fn(&SweptKnee) -> bool| {
        let n = knees.iter().filter(|knee| is_it(knee)).count();
        (n > 0).then(|| format!("{words} ({})", thousands(n as u64)))
    };
    let values = axis.values.iter().map(|parts| parts.join(":"));
    let found = values.filter_map(|value| count(&value, &|knee| knee.is_inside && knee.value == value));
    let others = [
        ("at or below the first value", KneeKind::AtFirst),
        ("none up to the last value", KneeKind::AtLast),
        ("none, as throughput does not rise", KneeKind::NoRise),
        ("none that stands out, as latency grows by a larger share from the first value on", KneeKind::Gradual),
        ("not known", KneeKind::NotKnown),
    ];
    let others = others.into_iter().filter_map(|(words, kind)| count(words, &|knee| knee.kind_of_knee == kind));
    Some(format!(
        "Knees of {} of {job} along {}, for {} combinations of the other parameters: {}. {RULE}",
        kind.name(),
        axis.name(),
        thousands(knees.len() as u64),
        found.chain(others).collect::<Vec<_>>().join(", ")
    ))
}

/// What a knee means.
const RULE: &str =
    "Beyond a knee latency grows by a larger share than throughput: more load costs more than it brings.";

/// Where latency begins to grow faster than throughput, in a few sentences.
fn knee_text(knee: &SweptKnee) -> String {
    let SweptKnee { job, kind, others, option, value, between: [first, last], kind_of_knee, rise, .. } = knee;
    let others = if others.is_empty() { String::new() } else { format!(" ({others})") };
    let of = format!("Knee of {} of {job}{others}", kind.name());
    let grow = format!("IOPS grow {}-fold along {option}", three_digits(*rise));
    match kind_of_knee {
        KneeKind::Found if first == last => format!("{of}: {option}={value}. {RULE}"),
        KneeKind::Found => format!("{of}: {option}={value}, by the intervals between {first} and {last}. {RULE}"),
        KneeKind::AtFirst => format!("{of}: at or below {option}={value}. {RULE}"),
        KneeKind::AtLast => {
            format!(
                "{of}: none up to {option}={value}. Throughput grows by a larger share than latency until there: try larger values."
            )
        }
        KneeKind::NoRise => {
            format!(
                "{of}: none. Throughput does not rise along {option}, so that more load adds latency alone: the first value is enough."
            )
        }
        KneeKind::Gradual => format!(
            "{of}: none that stands out. {grow}, and latency grows by a larger share from the first value on: say which latency you accept (--max p99=2ms)."
        ),
        KneeKind::NotKnown if first == last => {
            format!("{of}: not known, as figures have no intervals: longer runs, or --repeat, tell more.")
        }
        KneeKind::NotKnown => format!(
            "{of}: not known. By their intervals any value from {first} to {last} may be it: longer runs, or --repeat, tell more."
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio::sweep::limit::Bracket;

    #[test]
    fn many_knees_are_counted_and_few_are_told() {
        let axis = ferrio::sweep::space::SweepAxis::parse("iodepth=1..8").expect("an axis");
        let mut outcome = SweepOutcome::empty(vec![axis], 1);
        let knee = |index: usize| SweptKnee {
            job: "a".to_owned(),
            kind: IoKind::Read,
            others: format!("bs={index}k"),
            option: "iodepth".to_owned(),
            value: if index < 7 { "4" } else { "8" }.to_owned(),
            point: 1,
            between: ["4", "4"].map(str::to_owned),
            kind_of_knee: if index < 7 { KneeKind::Found } else { KneeKind::AtLast },
            is_inside: index < 7,
            rise: 4.0,
        };
        outcome.knees = (0..MOST_KNEES).map(knee).collect();
        assert_eq!(knee_texts(&outcome).len(), MOST_KNEES);
        outcome.knees.push(knee(8));
        let text = knees_text(&outcome, "a", IoKind::Read).expect("knees");
        assert!(text.starts_with("Knees of read of a along iodepth, for 9 combinations of the other parameters: 4 (7), none up to the last value (2). "), "{text}");
        assert_eq!(knees_text(&outcome, "a", IoKind::Write), None);
    }

    #[test]
    fn what_is_certain_and_what_is_undecided_is_told() {
        use LimitVerdict::{Beyond, Undecided, Within};
        let tried = |(value, verdict): (u64, LimitVerdict)| TriedValue {
            value,
            verdict,
            n_runs: 10,
            iops: None,
            latencies_ns: Vec::new(),
            share_of_rate: None,
        };
        let answer = |verdicts: &[(u64, LimitVerdict)], bracket: [Option<u64>; 2]| LimitAnswer {
            option: "rate_iops".to_owned(),
            limits: vec!["p99=2ms".to_owned()],
            bracket: Bracket { within: bracket[0], beyond: bracket[1] },
            contradicted_by: Default::default(),
            change: None,
            iops: [None, None],
            limited_by: None,
            tried: verdicts.iter().copied().map(tried).collect(),
        };
        let values = [(1, Undecided), (2, Within), (3, Undecided), (4, Undecided), (5, Beyond), (6, Undecided)];
        let text = answer_text(&answer(&values, [Some(2), Some(5)]));
        assert!(text.ends_with("The limit is between both in 95 of 100 such searches. At 2 values between them the runs differ too much to decide: longer runs tell more."), "{text}");
        assert_eq!(undecided_text(&answer(&values[..2], [Some(2), Some(5)])), "");
        let below = answer_text(&answer(&values[..3], [Some(2), None]));
        assert!(below.ends_with("holds up to rate_iops=2, the largest value that certainly decides. This is right in 95 of 100 such searches. At 1 value above it the runs differ too much to decide: longer runs tell more."), "{below}");
        let above = answer_text(&answer(&values[2..], [None, Some(5)]));
        assert!(above.ends_with("does not hold at rate_iops=5, the smallest value that certainly decides. This is right in 95 of 100 such searches. At 2 values below it the runs differ too much to decide: longer runs tell more."), "{above}");
        let of_one_end = answer_text(&answer(&values[1..2], [Some(2), None]));
        assert!(
            of_one_end.ends_with("the largest value that was tried. This is right in 95 of 100 such searches."),
            "{of_one_end}"
        );
        let mut failed = answer(&values[4..5], [None, Some(5)]);
        failed.limited_by = Some(LimitedBy::Failure);
        let text = "p99=2ms: there is no answer, as a job fails at rate_iops=5, and no smaller value holds.";
        assert_eq!(answer_text(&failed), text);
        let mut doubted = answer(&values[..2], [Some(2), None]);
        doubted.iops[0] = Some(1_234.4);
        doubted.contradicted_by[0] = ["depth-not-reached", "rate-fell"].map(str::to_owned).to_vec();
        let text = "p99=2ms: holds up to rate_iops=2 (1,234 IOPS), the largest value that was tried. \
                    Not certain: depth-not-reached and rate-fell speak against rate_iops=2, see the findings.";
        assert_eq!(answer_text(&doubted), text);
        let mut of_none = answer(&values[..1], [None, None]);
        of_none.tried[0].latencies_ns = vec![Some(2e6)];
        assert_eq!(answer_text(&of_none), "p99=2ms: the runs do not decide at any value of rate_iops.");
        of_none.tried[0].latencies_ns = vec![None];
        let absent = "p99=2ms: the runs do not decide at any value of rate_iops. The jobs have no figure that is meant by p99=2ms.";
        assert_eq!(answer_text(&of_none), absent);
    }
}
