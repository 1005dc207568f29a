//! Tests of the page as text.

use super::*;
use ferrio_formats::{Figures, JobResult, LatencyFigures, SteadyOutcome};
use ferrio_stats::{Audit, Finding, Severity};
use ferrio_units::DataDirection;

#[test]
fn no_text_of_a_result_becomes_markup() {
    let hostile = "</script><script>alert(1)</script><img src=x onerror=alert(2)>".to_owned();
    let series =
        ferrio_formats::TimeSeries::new(ferrio_formats::Quantity::Iops, ferrio_units::DataDirection::Read, 1_000_000);
    let mut series = series;
    series.add(0, 1.0, 10);
    let job = JobResult {
        name: hostile.clone(),
        options: vec![(hostile.clone(), hostile.clone())],
        series: vec![series],
        ..JobResult::default()
    };
    let result = RunResult {
        name: hostile.clone(),
        program: hostile.clone(),
        jobs: vec![job],
        remarks: vec![hostile],
        ..RunResult::default()
    };
    let page = page(&[result]);
    assert_eq!(page.matches("<script").count(), 3);
    assert!(!page.contains("<img") && page.contains("&lt;img"));
}

#[test]
fn a_page_without_results_is_a_page() {
    assert!(page(&[]).contains("No results"));
}

#[test]
fn the_page_itself_is_small() {
    assert!(page(&[]).len() < 300_000);
}

/// A job of a second with this number of reads of 10 us, from a start on.
fn job(name: &str, start_ms: u64, n_ios: u64) -> JobResult {
    let clat = LatencyFigures {
        n_samples: n_ios,
        max_ns: 10_000,
        mean_ns: 10_000.0,
        bins: vec![(10_000, n_ios)],
        ..LatencyFigures::default()
    };
    let read = Figures { n_ios, runtime_ns: 1_000_000_000, clat: Some(clat), ..Figures::default() }.with_rates();
    let mut job = JobResult { name: name.to_owned(), ..JobResult::default() };
    job.directions[DataDirection::Read] = Some(read);
    job.reach_ns = Some((start_ms * 1_000_000, (start_ms + 1_000) * 1_000_000));
    job
}

fn of(jobs: Vec<JobResult>) -> String {
    page(&[RunResult { name: "r".to_owned(), jobs, ..RunResult::default() }])
}

/// What users wait for has a row of its own, where it was measured.
#[test]
fn response_latencies_stand_below_those_of_the_device() {
    let mut with_response = job("users", 0, 1000);
    let response =
        LatencyFigures { max_ns: 9_000_000, mean_ns: 2_000_000.0, bins: vec![(9_000_000, 1000)], ..Default::default() };
    with_response.directions[DataDirection::Read].as_mut().expect("reads").response = Some(response);
    let page = of(vec![with_response]);
    let row = "<td>read (response)</td><td></td><td></td><td>2.00 ms</td><td>9.00 ms</td><td>9.00 ms</td><td>9.00 ms</td><td>9.00 ms</td>";
    assert!(page.contains(row) && page.contains("(response): from the time"), "{page:.9000}");
    assert!(page.contains("p99 10.0 us, p99 of responses 9.00 ms."), "{page:.9000}");
    let page = of(vec![job("other", 0, 1000)]);
    assert!(!page.contains("(response)") && page.contains("p99 10.0 us."), "{page:.9000}");
}

#[test]
fn a_hundred_clones_are_one_row_that_opens() {
    let from_json = of((0..100).map(|_| job("c", 0, 1000)).collect());
    // A record has the clones within their job.
    let clones: Vec<JobResult> = (0..100).map(|_| job("c", 0, 1000)).collect();
    let from_record = of(vec![JobResult { clones, ..job("c", 0, 100_000) }]);
    for page in [from_json, from_record] {
        let button = "aria-expanded=\"true\" aria-controls=\"clones-0-0\">100 clones</button>";
        assert_eq!(page.matches(button).count(), 1, "{page:.9000}");
        assert!(page.contains("<td>read</td><td data-value=\"100000\">100,000</td>"));
        let clones = page.split("id=\"clones-0-0\"").nth(1).and_then(|rest| rest.split("</tbody>").next());
        let clones = clones.expect("the clones");
        assert_eq!(clones.matches("<tr>").count(), 100);
        assert!(clones.contains("c (100)") && clones.contains("<td>10.0 us</td>"), "{clones:.900}");
        // One set of options, and no sum beside the row of the clones.
        assert!(page.contains("aria-label=\"Job file\">[c]\n") && !page.contains("\n[c]\n"));
        assert!(!page.contains("class=\"total\""));
        assert!(page.contains("100 jobs, which ran at the same time: 100,000 reads in 1.00 s, 100,000 IOPS"));
    }
}

#[test]
fn totals_are_those_of_jobs_that_ran_at_the_same_time() {
    let total = |page: &str| {
        let rows = page.split("<tbody class=\"total\">").nth(1).and_then(|rest| rest.split("</tbody>").next());
        rows.map(str::to_owned)
    };
    let both = total(&of(vec![job("a", 0, 1000), job("b", 0, 3000)])).expect("a total");
    assert!(both.contains("all 2 jobs") && both.contains("data-value=\"4000\"") && both.contains("4,000"), "{both}");
    let page = of(vec![job("a", 0, 1000), job("b", 0, 1000), job("late", 1_000, 3000)]);
    let two = total(&page).expect("a total of two");
    assert!(two.contains("2 jobs: a, b") && two.contains("data-value=\"2000\""), "{two}");
    assert!(page.contains("3 jobs, not all at the same time.") && page.contains("are not added"));
    assert!(!page.contains("data-value=\"5000\""));
    assert_eq!(total(&of(vec![job("a", 0, 1000), job("b", 1_000, 1000)])), None);
    // A report without times, in which one job waits.
    let mut unknown = vec![job("a", 0, 1000), job("b", 0, 1000)];
    for job in &mut unknown {
        job.reach_ns = None;
    }
    unknown[1].options.push(("startdelay".to_owned(), "3".to_owned()));
    let page = of(unknown);
    assert!(total(&page).is_none() && page.contains("it is not known which ran at the same time"));
}

#[test]
fn findings_have_the_words_of_the_terminal_and_lead_to_their_rules() {
    let finding = |id: &str| Finding {
        hosts: Vec::new(),
        id: id.to_owned(),
        title: "A title".to_owned(),
        severity: Severity::Wrong,
        jobs: vec!["a".to_owned()],
        direction: None,
        evidence: vec![ferrio_stats::Measured::count("things", 3.0), ferrio_stats::Measured::count("others", 4.0)],
        explanation: "Why.".to_owned(),
        cure: "Do it.".to_owned(),
        page: String::new(),
    };
    let findings = vec![finding("stalls"), finding("stalls"), finding("of-a-later-version")];
    let result = |number| RunResult {
        number,
        audit: Some(Audit { findings: findings.clone(), ..Audit::default() }),
        ..RunResult::default()
    };
    let page = page(&[result(0), result(1)]);
    for anchor in
        ["finding-0-stalls", "finding-0-stalls-2", "finding-1-stalls", "finding-1-of-a-later-version", "rule-stalls"]
    {
        assert_eq!(page.matches(&format!("id=\"{anchor}\"")).count(), 1, "{anchor}");
    }
    for text in ["Measured: things 3, others 4.", "To do: </strong>Do it.", "WRONG</span>: A title (a)"] {
        assert!(page.contains(text), "{text}: {page:.9000}");
    }
    let stalls = ferrio_insight::RULES.iter().find(|rule| rule.id == "stalls").expect("the rule");
    assert!(page.contains(stalls.why) && page.contains("href=\"#rule-stalls\"") && !page.contains("#rule-of-a"));
}

#[test]
fn a_steady_state_is_told() {
    let state = |is_attained| SteadyOutcome {
        job: "a".to_owned(),
        criterion: "iops:10%".to_owned(),
        window_secs: 5,
        is_attained,
        measured: "2.3%".to_owned(),
        mean_ios_per_sec: None,
    };
    let steady = vec![state(true), state(false)];
    let page = page(&[RunResult { steady, jobs: vec![job("a", 0, 10)], ..RunResult::default() }]);
    assert!(
        page.contains("a: iops:10% over 5 s was <strong>reached</strong>; the last window had 2.3%."),
        "{page:.9000}"
    );
    assert!(page.contains("<strong>not reached</strong>"));
}
