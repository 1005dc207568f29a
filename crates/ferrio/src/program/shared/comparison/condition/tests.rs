//! Tests of conditions about comparisons made by hand.

use super::*;
use ferrio_insight::compare::{ComparisonBasis, FigureChange, compare};

fn figure(direction: &'static str, metric: Metric, percent: f64, verdict: ComparisonVerdict) -> ComparedFigure {
    let is_known = verdict != ComparisonVerdict::Unknown;
    let change = FigureChange {
        percent,
        absolute: 1e6 * percent,
        interval_percent: None,
        interval_absolute: None,
        bounds_percent: is_known.then_some([percent - 0.05, percent + 0.05]),
    };
    ComparedFigure {
        latency: None,
        direction,
        metric,
        base: Some(1e8),
        new: Some(1e8),
        change: Some(change),
        n: [3, 3],
        n_intervals: None,
        p: None,
        verdict,
        basis: ComparisonBasis::Repeats,
        reason: String::new(),
        contradicted_by: Vec::new(),
    }
}

/// Job a: reads 10 % slower, writes 3 % faster; job b: p99 twice as long, or so it seems.
fn comparison() -> Comparison {
    use ComparisonVerdict::{Faster, Same, Slower, Unknown};
    use Metric::{Bandwidth, Iops, P99, P999};
    let job = |name: &str, figures| ComparedJob {
        name: name.to_owned(),
        new_name: None,
        group: 0,
        only_in_base: Vec::new(),
        only_in_new: Vec::new(),
        figures,
    };
    let of_a = vec![
        figure("read", Iops, -10.0, Slower),
        figure("read", P999, 0.2, Same),
        figure("write", Bandwidth, 3.0, Faster),
    ];
    let of_b = vec![figure("read", Iops, -0.1, Same), figure("read", P99, 100.0, Unknown)];
    Comparison { jobs: vec![job("a", of_a), job("b", of_b)], ..compare(&[], &[], 1.0) }
}

fn holds(text: &str) -> bool {
    outcome(text) == ConditionOutcome::Met
}

fn outcome(text: &str) -> ConditionOutcome {
    Condition::parse(text).expect(text).judge(&[comparison()]).expect(text).outcome
}

#[test]
fn conditions_hold_where_all_their_terms_do() {
    for text in [
        "read.iops < -5%",
        "iops<=-9.9%",
        "read.p99.9 > 0.1%",
        "a:read.iops < -5 %",
        "write.bw > 2MB/s",
        "read.iops < -5% and write.bw is faster",
        "read.iops is faster or any.iops is slower",
        "p99 is unknown",
        "read.iops is same and b:read.p99 is unknown",
        "read.iops < -1000000 iops",
        "any is slower",
        "any < -9%",
        "a:iops is slower and b:iops is same",
    ] {
        assert!(holds(text), "{text}");
    }
    for text in [
        "read.iops < -11%",
        "read.iops > 5%",
        "b:read.iops < -5%",
        // Seems to be so, and is not certain.
        "read.p99 > 5%",
        // Not in the same job.
        "read.iops < -5% and p99 is unknown",
        "write.bw is slower or write.bw > 5%",
    ] {
        assert!(!holds(text), "{text}");
    }
}

#[test]
fn what_cannot_be_told_is_named() {
    let judged = Condition::parse("read.p99 > 5% or iops < -5%").expect("a condition").judge(&[comparison()]);
    let judged = judged.expect("there are such figures");
    assert_eq!(
        (judged.outcome, &judged.jobs[..], &judged.unknown[..]),
        (ConditionOutcome::Met, &["a".to_owned()][..], &["b read.p99".to_owned()][..])
    );
}

/// Expected: the interval of the reads of job a is -10.05 to -9.95 %, of 1e8.
#[test]
fn the_interval_decides() {
    for (text, expected) in [
        ("a:read.iops < -9.9%", ConditionOutcome::Met),
        ("a:read.iops < -10%", ConditionOutcome::Undecided),
        ("a:read.iops < -10.1%", ConditionOutcome::NotMet),
        ("a:read.iops < -10000000 iops", ConditionOutcome::Undecided),
        ("b:read.p99 > 5%", ConditionOutcome::Undecided),
        ("b:read.p99 > 5% or a:read.iops is slower", ConditionOutcome::Met),
        ("b:read.p99 > 5% and a:read.iops is faster", ConditionOutcome::NotMet),
        ("b:read.p99 is slower", ConditionOutcome::Undecided),
        ("b:read.p99 is unknown", ConditionOutcome::Met),
        ("a:read.iops is differs", ConditionOutcome::Met),
    ] {
        assert_eq!(outcome(text), expected, "{text}");
    }
    let differs = ComparisonVerdict::Differs;
    assert_eq!(of_verdicts(ComparisonVerdict::Slower, differs), ConditionOutcome::Undecided);
    assert_eq!(of_verdicts(differs, differs), ConditionOutcome::Met);
    assert_eq!(of_verdicts(ComparisonVerdict::Same, differs), ConditionOutcome::NotMet);
}

#[test]
fn what_is_no_condition_is_an_error() {
    for (text, reason) in [
        ("", "no <"),
        ("read.iops", "no <"),
        ("read.iops < fast", "has a unit"),
        ("read.iops < 5", "has a unit"),
        ("read.iops < nan%", "is no number"),
        ("read.iops < 5us", "not that of the figure"),
        ("read.p99 > 5MB/s", "not that of the figure"),
        ("read.p42 > 5%", "\"p42\" is no figure"),
        ("any > 5us", "in percent alone"),
        ("iops is quick", "a verdict is"),
        ("iops < -5% and", "has a unit"),
        ("\u{1F600} < 5%", "no figure"),
    ] {
        let error = Condition::parse(text).expect_err(text);
        assert!(error.to_string().contains(reason), "{text}: {error}");
    }
    let missing = Condition::parse("trim.iops < 0%").expect("a condition").judge(&[comparison()]);
    assert!(missing.expect_err("no trims").to_string().contains("no job has such a figure"));
}
