//! Tests of the page of a fit.
//!
//! Start reading at [`limits_stand_with_values_and_words`].

use super::*;
use std::sync::LazyLock;

static SOURCE: LazyLock<LimitSource> = LazyLock::new(|| LimitSource {
    title: "Book".to_owned(),
    url: "https://example.org/?a=1&b=2".to_owned(),
    year: 2026,
    says: "So.".to_owned(),
});

fn row(metric: Metric, limit: f64, values: &[f64], verdict: FitVerdict) -> FitRow<'_> {
    let mean = values.first().copied().unwrap_or_default();
    FitRow {
        subject: format!("read.{} of r (load reads)", metric.name()),
        metric,
        verdict,
        bound: Some(if metric.is_latency() { FitBound::Most(limit) } else { FitBound::Least(limit) }),
        limit_text: "a limit".to_owned(),
        values,
        mean: (mean, "a mean".to_owned()),
        interval: (!values.is_empty()).then_some([mean / 1.1, mean * 1.1]),
        distance: "2.00 times better than the limit".to_owned(),
        reason: (verdict != FitVerdict::Fits).then(|| "Users wait.".to_owned()),
        source: &SOURCE,
    }
}

fn view(limits: Vec<FitRow<'_>>) -> FitView<'_> {
    FitView {
        headline: "DOES NOT FIT: /data is not good enough for log.".to_owned(),
        verdict: Some(FitVerdict::DoesNotFit),
        facts: vec!["4 runs.".to_owned()],
        limits,
        missed: Vec::new(),
        about: "It reads.".to_owned(),
        loads: vec![FitLoadView {
            name: "reads",
            about: "100 reads a second.",
            jobs: "[r]\nrw=randread\n",
            columns: vec!["job", "", "IOPS"],
            rows: vec![["r", "read", "100"].map(str::to_owned).to_vec()],
            spreads: Vec::new(),
            headroom: None,
        }],
        traces: Vec::new(),
        findings: Vec::new(),
    }
}

fn count(page: &str, part: &str) -> usize {
    page.matches(part).count()
}

/// The places of a page's pictures are numbers within them.
fn assert_places(page: &str) {
    assert!(!page.contains("NaN") && !page.contains("inf%") && !page.contains("=\"inf"), "{page}");
    let mut n_places = 0;
    for part in page.split("=\"").skip(1) {
        if let Some((number, _)) = part.split_once("%\"").filter(|(number, _)| number.len() < 20) {
            let place: f64 = number.parse().unwrap_or(f64::NAN);
            assert!((0.0..=100.0).contains(&place), "{number}");
            n_places += 1;
        }
    }
    assert!(n_places > 0, "{page}");
}

#[test]
fn limits_stand_with_values_and_words() {
    let limits = vec![
        row(Metric::P99, 1e7, &[14e6, 13e6, 15e6, 14e6], FitVerdict::DoesNotFit),
        row(Metric::P50, 1e7, &[4e6, 4e6, 4e6, 4e6], FitVerdict::Fits),
        row(Metric::Iops, 50.0, &[150.0, 149.0, 151.0, 150.0], FitVerdict::Fits),
    ];
    let page = page(&view(limits));
    assert!(page.contains("<h1>DOES NOT FIT: /data is not good enough for log.</h1>"), "{page}");
    // Latencies share a scale; rates have one of their own.
    assert_eq!((count(&page, "<figure class=\"limits\">"), count(&page, "aria-hidden=\"true\"><text")), (2, 2));
    assert_eq!((count(&page, "class=\"told\""), count(&page, "fill=\"url(#beyond)\"")), (12, 3));
    assert!(page.contains("◂ a limit") && page.contains("a limit ▸"), "{page}");
    assert!(page.contains("Latencies: less is better") && page.contains("I/Os a second: more is better"), "{page}");
    // A limit that holds needs no reason.
    assert_eq!((count(&page, "<p>Users wait.</p>"), count(&page, "What this means")), (1, 1));
    assert_eq!(count(&page, "<a href=\"https://example.org/?a=1&amp;b=2\">Book</a>, 2026"), 4);
    assert!(!page.contains("<script"), "{page}");
    assert_places(&page);
}

#[test]
fn texts_of_a_recipe_are_no_markup() {
    const EVIL: &str = "<script>alert(1)</script>\"'&<img src=x onerror=alert(1)>";
    let mut limit = row(Metric::P99, 1e7, &[14e6, 15e6], FitVerdict::DoesNotFit);
    limit.subject = EVIL.to_owned();
    limit.limit_text = EVIL.to_owned();
    limit.mean.1 = EVIL.to_owned();
    limit.distance = EVIL.to_owned();
    limit.reason = Some(EVIL.to_owned());
    let url = "javascript:alert(1)".to_owned();
    let source = LimitSource { title: EVIL.to_owned(), url, year: 2026, says: EVIL.to_owned() };
    limit.source = &source;
    let mut shown = view(vec![limit]);
    shown.headline = EVIL.to_owned();
    shown.facts = vec![EVIL.to_owned()];
    shown.about = EVIL.to_owned();
    shown.missed = vec![FitMissed { mark: FitVerdict::CantTell, verdict: EVIL, words: EVIL.to_owned() }];
    shown.loads = vec![FitLoadView {
        name: EVIL,
        about: EVIL,
        jobs: EVIL,
        columns: vec![EVIL],
        rows: vec![vec![EVIL.to_owned()]],
        spreads: vec![FitSpread {
            heading: EVIL.to_owned(),
            percentiles: vec![(Metric::P50, 1e6, EVIL.to_owned())],
            limits: vec![(Metric::P50, 2e6, true)],
        }],
        headroom: Some(FitHeadroom { fits_times: 1.0, breaks_times: None, words: EVIL.to_owned() }),
    }];
    shown.traces = vec![FitTraceView {
        heading: EVIL.to_owned(),
        how: EVIL,
        rows: vec![[EVIL, EVIL, EVIL].map(str::to_owned)],
        differences: vec![EVIL],
    }];
    let page = page(&shown);
    assert!(!page.contains("<script") && !page.contains("<img") && !page.contains("\"'&"), "{page}");
    assert!(!page.contains("href=\"javascript") && page.contains("(javascript:alert(1))"), "{page}");
}

#[test]
fn a_limit_without_values_has_words_alone() {
    let page = page(&view(vec![row(Metric::P99, 1e7, &[], FitVerdict::CantTell)]));
    assert!(page.contains("a limit; not measured") && page.contains("Users wait."), "{page}");
    assert_eq!((count(&page, "<svg class=\"fluid"), count(&page, "<circle")), (0, 0));
}

#[test]
fn a_load_that_is_not_carried_is_told_where_all_limits_hold() {
    let mut shown = view(vec![row(Metric::P99, 1e7, &[4e6; 4], FitVerdict::Fits)]);
    assert_eq!(count(&page(&shown), "Rates of the load"), 0);
    shown.missed =
        vec![FitMissed { mark: FitVerdict::DoesNotFit, verdict: "not carried", words: "The rate of r.".to_owned() }];
    let page = page(&shown);
    assert_eq!((count(&page, "Rates of the load"), count(&page, "<p>The rate of r.</p>")), (1, 1), "{page}");
    assert!(page.contains("not carried</p>"), "{page}");
}

#[test]
fn all_values_have_places() {
    let (short, long) = (1.0, 1e12);
    for (limit, values) in [
        (short, vec![long; 4]),
        (long, vec![short; 4]),
        (short, vec![short; 4]),
        (short, vec![short, long]),
        (long, vec![0.0, 0.0]),
        (long, vec![f64::NAN, f64::INFINITY, -1.0]),
        (f64::MIN_POSITIVE, vec![f64::MAX]),
    ] {
        for metric in [Metric::P99, Metric::Iops, Metric::Bandwidth] {
            let mut one = row(metric, limit, &values, FitVerdict::CantTell);
            // Two values that differ much make an interval of any width.
            one.interval = Some([0.0, f64::INFINITY]);
            assert_places(&page(&view(vec![one])));
        }
    }
}

#[test]
fn headroom_is_between_two_factors() {
    let mut shown = view(vec![row(Metric::P99, 1e7, &[4e6; 4], FitVerdict::Fits)]);
    let words = "Headroom of reads: between 4 and 5 times this load.".to_owned();
    shown.loads[0].headroom = Some(FitHeadroom { fits_times: 4.0, breaks_times: Some(5.0), words });
    let broken = page(&shown);
    assert!(broken.contains(">does not fit<") && broken.contains("between 4 and 5 times"), "{broken}");
    assert_places(&broken);
    shown.loads[0].headroom =
        Some(FitHeadroom { fits_times: 32.0, breaks_times: None, words: "at least 32 times".to_owned() });
    let whole = page(&shown);
    assert!(!whole.contains(">does not fit<") && whole.contains("at least 32 times"), "{whole}");
    assert_places(&whole);
}

#[test]
fn percentiles_stand_with_the_limits_of_some() {
    let mut shown = view(Vec::new());
    let percentile = |(metric, latency_ns): (Metric, f64)| (metric, latency_ns, format!("{latency_ns} ns"));
    let all = [(Metric::P50, 1e6), (Metric::P99, 9e6), (Metric::Max, 0.0)].map(percentile);
    let limits = vec![(Metric::P99, 1e7, true), (Metric::P9999, 1e7, true)];
    shown.loads[0].spreads = vec![FitSpread { heading: "r: read".to_owned(), percentiles: all.to_vec(), limits }];
    let page = page(&shown);
    // A limit of a percentile that is not known has no row.
    assert_eq!((count(&page, "<circle"), count(&page, "stroke-width=\"3\"")), (3, 1));
    assert!(page.contains("p99 9000000 ns") && page.contains("r: read"), "{page}");
    assert_places(&page);
}

#[test]
fn a_recipe_without_limits_has_its_load_alone() {
    let mut shown = view(Vec::new());
    shown.verdict = None;
    shown.traces = vec![FitTraceView {
        heading: "Compared with a trace of log 1".to_owned(),
        how: "By strace.",
        rows: vec![["writes a second", "147.5", "150.1"].map(str::to_owned)],
        differences: vec!["It syncs in pairs."],
    }];
    let page = page(&shown);
    assert!(!page.contains("<h2>Limits</h2>") && !page.contains("What this means"), "{page}");
    for part in ["<td>100</td>", "rw=randread", "147.5", "It syncs in pairs.", "contradicts no figure"] {
        assert!(page.contains(part), "{part}: {page}");
    }
}
