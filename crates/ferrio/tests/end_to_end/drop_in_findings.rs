//! Findings in fio's JSON beside those of `ferrio run`: a difference is one of evidence that the document names as not examined.
//!
//! Start reading at [`findings_that_fio_s_json_lacks_are_named_in_it`].

use crate::support::{Finished, Program, Run, Scratch, succeeds_once};
use ferrio_insight::{FindingRule, MeasuredState, RULES};
use serde_json::Value;
use std::collections::BTreeSet;

/// What only `ferrio run` and `--record` look at; docs/formats.md lists it.
const LEFT_OUT: [&str; 6] = [
    "the page cache",
    "holes in the files",
    "the contents of the blocks that were read",
    "the course of the run",
    "earlier runs on the targets",
    "heat",
];

/// Jobs with the file `f`, of which each leaves some of these out.
const JOBS: [&str; 14] = [
    "--ioengine=null --rw=read",
    "--ioengine=null --rw=randrw --rwmixread=30 --fsync=8 --iodepth=8",
    "--ioengine=sim --sim_time=virtual --sim_service=fixed:100us --rw=randread --rate_iops=20000 --time_based --runtime=1",
    "--ioengine=cpuio --cpuload=50 --time_based --runtime=1",
    "--filename=f --rw=read --bs=64k",
    "--filename=f --rw=randread --direct=1",
    "--filename=f --rw=randread --numjobs=3 --group_reporting",
    "--filename=f --rw=write --bs=64k",
    "--filename=f --rw=write --bs=64k --end_fsync=1",
    "--filename=f --rw=randwrite --direct=1 --norandommap --number_ios=50",
    "--filename=f --rw=randwrite --ioengine=libaio --iodepth=16",
    "--filename=f --rw=write --zero_buffers --verify=crc32c",
    "--filename=holes --rw=randread --direct=1",
    "--filename=f --rw=read --stonewall --name=b --filename=g --size=4m --rw=write --fsync=16",
];

/// Rules of which the first speaks where the evidence of the second is left out.
const IN_PLACE_OF: [(&str, &str); 1] = [("device-did-less", "writes-still-dirty")];

/// Names of a finding's rule and jobs, or a subject that was not examined.
type Named = BTreeSet<String>;

struct Found {
    findings: BTreeSet<(String, String)>,
    unexamined: Named,
    /// Rules that could not look, or not at all jobs.
    blind: Named,
}

fn found(run: &Finished, key: Option<&str>) -> Found {
    let start = run.stdout.find('{').unwrap_or_else(|| panic!("{}", run.all()));
    let document: Value =
        serde_json::from_str(&run.stdout[start..]).unwrap_or_else(|error| panic!("{error}: {}", run.all()));
    let part = key.map_or(&document, |key| &document[key]);
    let all = |key: &str| part[key].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().map_or_else(|| panic!("{value}"), str::to_owned);
    let unexamined = all("unexamined");
    let rules = unexamined.iter().flat_map(|one| one["rules"].as_array().cloned().unwrap_or_default());
    Found {
        findings: all("findings").iter().map(|one| (text(&one["id"]), one["jobs"].to_string())).collect(),
        blind: rules.map(|rule| text(&rule)).collect(),
        unexamined: unexamined.iter().map(|one| text(&one["subject"])).collect(),
    }
}

fn rule(id: &str) -> &'static FindingRule {
    RULES.iter().find(|rule| rule.id == id).unwrap_or_else(|| panic!("{id}"))
}

/// What other programs did differs from one run to the next.
fn is_by_chance(id: &str) -> bool {
    !matches!(rule(id).state, MeasuredState::Lasting)
}

/// The differences between both that nothing in them explains.
fn unexplained(run: &Found, drop_in: &Found) -> Vec<String> {
    // The other one of two that speak about the same.
    let yields = |id: &str, to: &Found| {
        let mut others = to.findings.iter().map(|(other, _)| other.as_str());
        others.any(|other| rule(id).yields_to.contains(&other) || IN_PLACE_OF.contains(&(id, other)))
    };
    let without_reason = |of: &Found, to: &Found| {
        let all = of.findings.difference(&to.findings).filter(|(id, _)| !is_by_chance(id));
        let left = all.filter(|(id, _)| !to.blind.contains(id) && !yields(id, to));
        left.map(|(id, jobs)| format!("{id} of {jobs}")).collect::<Vec<String>>()
    };
    let more = drop_in.unexamined.difference(&run.unexamined).filter(|subject| !LEFT_OUT.contains(&subject.as_str()));
    // A sensor or a counter that the machine does not have is missing in both.
    let less = run.unexamined.difference(&drop_in.unexamined);
    let subjects = more.chain(less).map(|subject| format!("not examined: {subject}"));
    [without_reason(run, drop_in), without_reason(drop_in, run)].concat().into_iter().chain(subjects).collect()
}

#[test]
fn findings_that_fio_s_json_lacks_are_named_in_it() {
    for words in JOBS {
        let of = |program: &str, key: Option<&str>| {
            let scratch = Scratch::new("drop-in-findings");
            std::fs::File::create(scratch.path().join("holes")).and_then(|file| file.set_len(4 << 20)).expect("a file");
            let run = Run::new(Program::Ferrio, scratch.path(), &format!("{program} --name=a --size=4m {words}"));
            found(&run.finish().succeeded(), key)
        };
        let mut left = Vec::new();
        assert!(
            succeeds_once(|| {
                left = unexplained(&of("run --json", None), &of("--output-format=json", Some("ferrio")));
                left.is_empty()
            }),
            "{left:?}: {words}"
        );
    }
}

#[test]
fn what_fio_s_json_leaves_out_is_in_the_guide() {
    let guide = include_str!("../../../../docs/formats.md");
    for subject in LEFT_OUT {
        assert!(guide.contains(&format!("| {subject} |")), "{subject}");
    }
}
