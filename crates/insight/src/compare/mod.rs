//! Compares results of runs: what is the same, faster or slower, and what the results cannot tell.
//!
//! Faster and slower rest on repeated results. One run on each side can tell that these two differ, from the course of both, or by a
//! change that is larger than noise; how much a run differs from the next is in neither of them.
//! Must not know: files, how a comparison is shown. Start reading at [`compare`], then [`figures`].

mod compared_figures;
pub(crate) mod kinds;
mod matching;
mod model;
mod options;
mod over_time;
mod ratio;
pub(crate) mod sample;
pub(crate) mod surroundings;
mod verdict;

pub use model::{
    ComparedFact, ComparedFigure, ComparedFinding, ComparedJob, ComparedOption, ComparedSide, Comparison,
    ComparisonBasis, FigureChange,
};
pub use verdict::ComparisonVerdict;

use compared_figures::JobOfBoth;
use ferrio_formats::{IoKind, JobResult, RunResult};
use ferrio_stats::{Finding, Severity};
use sample::JobOfResult;

/// Probability with which an interval covers the true change, percent.
const CONFIDENCE_PERCENT: f64 = 95.0;

/// Compares new results with those of a base. Several results of a side are repeats of the same run. Changes that are certainly
/// below `threshold_percent` count as none.
pub fn compare(base: &[RunResult], new: &[RunResult], threshold_percent: f64) -> Comparison {
    let mut remarks = Vec::new();
    let (first, second) = (distinct(base, &mut remarks), distinct(new, &mut remarks));
    let is_same_result = matches!((&first[..], &second[..]), ([one], [other]) if is_same(one, other));
    if is_same_result {
        remarks.push("Both sides are the same result: this compares nothing.".to_owned());
    }
    let surroundings = surroundings::differences(&first, &second);
    let mut comparison = Comparison {
        confidence_percent: CONFIDENCE_PERCENT,
        threshold_percent,
        base: side(&first),
        new: side(&second),
        surroundings: surroundings.differ,
        known_of_base: surroundings.known_of_base,
        known_of_new: surroundings.known_of_new,
        options: Vec::new(),
        findings: findings(&first, &second),
        jobs: Vec::new(),
        only_in_base: Vec::new(),
        only_in_new: Vec::new(),
        remarks,
    };
    match_jobs(&mut comparison, &first, &second, is_same_result);
    for (results, side) in [(&first, "base"), (&second, "new")] {
        for result in results {
            let of_side = result.remarks.iter().map(|remark| format!("{} ({side}): {remark}", result.name));
            comparison.remarks.extend(of_side);
        }
    }
    comparison
}

/// The same file given twice is no repeat.
fn distinct<'a>(results: &'a [RunResult], remarks: &mut Vec<String>) -> Vec<&'a RunResult> {
    let mut distinct: Vec<&RunResult> = Vec::new();
    for result in results {
        match distinct.iter().find(|known| is_same(known, result)) {
            Some(known) => {
                remarks.push(format!("{} and {} are the same result, which counts once.", known.name, result.name));
            }
            None => distinct.push(result),
        }
    }
    distinct
}

/// The same figures of the same time.
fn is_same(one: &RunResult, other: &RunResult) -> bool {
    one.jobs == other.jobs && one.timestamp_ms == other.timestamp_ms && one.program == other.program
}

fn side(results: &[&RunResult]) -> ComparedSide {
    ComparedSide {
        results: results.iter().map(|result| result.name.clone()).collect(),
        is_audited: results.iter().all(|result| result.audit.is_some()),
    }
}

/// Findings of both sides that are more than remarks, the worst first; each once.
fn findings(base: &[&RunResult], new: &[&RunResult]) -> Vec<ComparedFinding> {
    let mut all: Vec<ComparedFinding> = Vec::new();
    for (results, in_new) in [(base, false), (new, true)] {
        let findings = results.iter().flat_map(|result| result.findings());
        for finding in findings.filter(|finding| finding.severity != Severity::Note) {
            let is_it = |known: &&mut ComparedFinding| known.finding.is_as(finding);
            match all.iter_mut().find(is_it) {
                Some(known) => (known.in_base, known.in_new) = (known.in_base || !in_new, known.in_new || in_new),
                None => all.push(ComparedFinding { in_base: !in_new, in_new, finding: finding.clone() }),
            }
        }
    }
    all.sort_by_key(|finding| finding.finding.severity);
    all
}

/// Finds the jobs of both sides and compares them. The jobs of the first result of a side are those of the side.
fn match_jobs(comparison: &mut Comparison, base: &[&RunResult], new: &[&RunResult], is_same_result: bool) {
    let (Some(first), Some(second)) = (base.first(), new.first()) else { return };
    let pairs = matching::pairs(&first.jobs, &second.jobs);
    if pairs.by_position {
        comparison.remarks.push("No job has the same name on both sides: they are matched by their order.".to_owned());
    }
    let (of_base, of_new) = (repeats(base), repeats(new));
    let mut options = Vec::new();
    let mut with_responses = Vec::new();
    for (index, other) in pairs.both {
        let jobs = JobOfBoth { base: of_base(index), new: of_new(other), is_same_result };
        if jobs.has_responses() {
            with_responses.push((first.jobs[index].name.as_str(), jobs.is_repeated()));
        }
        let (n_base, n_new) = (jobs.base.len(), jobs.new.len());
        if n_base < base.len() || n_new < new.len() {
            let name = &first.jobs[index].name;
            comparison.remarks.push(format!(
                "Job {name:?} is in {n_base} of {} and {n_new} of {} results.",
                base.len(),
                new.len()
            ));
        }
        options.extend(options::differences(&jobs.base, &jobs.new));
        let job = job(&jobs, comparison);
        comparison.jobs.push(job);
    }
    comparison.remarks.extend(which_latencies(&with_responses));
    comparison.options = options::join(options);
    for (results, side) in [(base, "the base"), (new, "the new results")] {
        let differ: Vec<&str> = comparison
            .options
            .iter()
            .filter(|option| if side == "the base" { option.differs_in_base } else { option.differs_in_new })
            .map(|option| option.option.as_str())
            .collect();
        if !differ.is_empty() {
            comparison.remarks.push(format!(
                "The {} results of {side} are no repeats of one run: {} differ among them.",
                results.len(),
                differ.join(", ")
            ));
        }
    }
    comparison.only_in_base = pairs.only_first.iter().map(|index| first.jobs[*index].name.clone()).collect();
    comparison.only_in_new = pairs.only_second.iter().map(|index| second.jobs[*index].name.clone()).collect();
}

/// Which latencies are compared of the jobs that have response latencies. With the name of a job is told whether it has repeated results.
fn which_latencies(jobs: &[(&str, bool)]) -> impl Iterator<Item = String> {
    let told = [
        (true, "response latencies: they begin when an I/O is due by its rate, as the latencies of users do"),
        (
            false,
            "completion latencies. One run does not tell how much its response latencies vary: repeated runs are compared by these",
        ),
    ];
    told.into_iter().filter_map(|(is_repeated, which)| {
        let names: Vec<&str> = jobs.iter().filter(|job| job.1 == is_repeated).map(|job| job.0).collect();
        (!names.is_empty()).then(|| format!("Latencies of {} are {which}.", names.join(", ")))
    })
}

/// For a job of the first result, that job in all results which have it.
pub(crate) fn repeats<'a>(results: &[&'a RunResult]) -> impl Fn(usize) -> Vec<JobOfResult<'a>> {
    let results = results.to_vec();
    let partners: Vec<Vec<Option<usize>>> = results
        .iter()
        .map(|result| {
            let mut partners = vec![None; results[0].jobs.len()];
            for (index, partner) in matching::pairs(&results[0].jobs, &result.jobs).both {
                partners[index] = Some(partner);
            }
            partners
        })
        .collect();
    move |index| {
        let of_result = |(result, partners): (&&'a RunResult, &Vec<Option<usize>>)| {
            let job: &'a JobResult = &result.jobs[(*partners.get(index)?)?];
            Some(JobOfResult { result, job })
        };
        results.iter().zip(&partners).filter_map(of_result).collect()
    }
}

fn job(jobs: &JobOfBoth<'_>, comparison: &Comparison) -> ComparedJob {
    let (base, new) = (jobs.base[0].job, jobs.new[0].job);
    let has = |side: &[JobOfResult<'_>], kind| side.iter().any(|job| job.has(kind));
    let mut compared = ComparedJob {
        name: base.name.clone(),
        new_name: (base.name != new.name).then(|| new.name.clone()),
        group: base.group_index,
        only_in_base: Vec::new(),
        only_in_new: Vec::new(),
        figures: Vec::new(),
    };
    for kind in IoKind::ALL {
        match (has(&jobs.base, kind), has(&jobs.new, kind)) {
            (true, true) => {
                let threshold = comparison.threshold_percent / 100.0;
                compared.figures.extend(compared_figures::figures(jobs, kind, threshold));
            }
            (true, false) => compared.only_in_base.push(kind.name()),
            (false, true) => compared.only_in_new.push(kind.name()),
            (false, false) => {}
        }
    }
    let is_about = |finding: &&ComparedFinding| {
        let Finding { severity, jobs, .. } = &finding.finding;
        let of_side = |is_there: bool, name: &String| is_there && jobs.contains(name);
        *severity == Severity::Wrong
            && (jobs.is_empty() || of_side(finding.in_base, &base.name) || of_side(finding.in_new, &new.name))
    };
    let about: Vec<&ComparedFinding> = comparison.findings.iter().filter(is_about).collect();
    for figure in &mut compared.figures {
        let speaks = |found: &&&ComparedFinding| found.finding.is_about(figure.direction);
        figure.contradicted_by = about.iter().filter(speaks).map(|found| found.finding.id.clone()).collect();
    }
    compared
}

#[cfg(test)]
mod tests;
