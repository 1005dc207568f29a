//! Tests of the page as text.

use super::*;
use ferrio_formats::{Figures, JobResult, RunResult};
use ferrio_insight::compare::compare;
use ferrio_stats::{Audit, Finding, Severity};
use ferrio_units::PerDirection;

fn result(text: &str, ios_per_sec: f64) -> RunResult {
    let read = Figures { n_ios: 1, ios_per_sec, ..Figures::default() };
    let job = JobResult {
        name: text.to_owned(),
        options: vec![(format!("{text}{ios_per_sec}"), text.to_owned())],
        directions: PerDirection([Some(read), None, None]),
        ..JobResult::default()
    };
    let finding = Finding {
        hosts: Vec::new(),
        id: text.to_owned(),
        title: text.to_owned(),
        severity: Severity::Wrong,
        jobs: vec![text.to_owned()],
        direction: None,
        evidence: Vec::new(),
        explanation: text.to_owned(),
        cure: text.to_owned(),
        page: text.to_owned(),
    };
    RunResult {
        name: text.to_owned(),
        program: format!("{text}{ios_per_sec}"),
        jobs: vec![job],
        audit: Some(Audit { findings: vec![finding], ..Audit::default() }),
        remarks: vec![text.to_owned()],
        ..RunResult::default()
    }
}

#[test]
fn no_text_of_a_result_becomes_markup() {
    let hostile = "\"'></title><script>alert(1)</script><img src=x onerror=alert(2)>";
    let page = page(&[compare(&[result(hostile, 1.0)], &[result(hostile, 2.0)], 1.0)]);
    assert!(!page.contains("<script") && !page.contains("<img"), "{page}");
    assert!(page.contains("&lt;script&gt;") && page.matches("</title>").count() == 1);
}

#[test]
fn facts_of_one_side_are_a_sentence() {
    let mut comparison = compare(&[result("a", 1000.0)], &[result("a", 1000.0)], 1.0);
    assert_eq!(words::one_sided(&comparison), Vec::<String>::new());
    comparison.known_of_base = vec!["kernel 6.1".to_owned(), "device vda (rotational true)".to_owned()];
    let expected = "The base alone has these facts: kernel 6.1; device vda (rotational true).";
    assert_eq!(words::one_sided(&comparison), [expected]);
}

#[test]
fn the_page_says_what_is_known() {
    let base = [result("a", 1000.0), result("a", 1010.0), result("a", 990.0)];
    let new = [result("a", 1500.0), result("a", 1510.0), result("a", 1490.0)];
    let page = page(&[compare(&base, &new, 1.0)]);
    for expected in ["+50.0 %", "faster (!)", "fill=\"var(--better)\"", "To do: ", "WRONG, ", "read iops"] {
        assert!(page.contains(expected), "{expected}: {page}");
    }
    // The answer is the first sentence: rates of 1,000 and 1,500 a second, each known to about 1 %.
    let answer = page.split("class=\"answer\">").nth(1).and_then(|rest| rest.split("</p>").next()).expect("an answer");
    assert!(answer.starts_with("Faster: a read iops +50.0 % (+"), "{answer}");
    assert!(page.find("class=\"answer\"") < page.find("<h3>"), "{page}");
    assert!(super::page(&[]).contains("0 comparisons"));
    // The change of 50 % fits on its scale; one to five times as much does not.
    assert!(!page.contains("<polygon"), "{page}");
    let far = [result("a", 5000.0), result("a", 5010.0), result("a", 4990.0)];
    let page = super::page(&[compare(&base, &far, 1.0)]);
    assert!(page.contains("<polygon") && page.contains(words::CUT), "{page}");
}

#[test]
fn one_run_beside_one_run_differs_and_is_told_how_to_learn_more() {
    let page = page(&[compare(&[result("a", 36_060.0)], &[result("a", 2_000.0)], 1.0)]);
    for expected in
        ["verdict differs", "Different (read iops): noise between two runs", "--against B1 B2 B3", "<td>1, 1</td>"]
    {
        assert!(page.contains(expected), "{expected}: {page}");
    }
    assert!(!page.contains("verdict faster") && !page.contains("verdict slower"), "{page}");
}
