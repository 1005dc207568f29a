//! Reports of the same job under both programs: equal lines, equal trees of JSON, equal numbers of terse fields.
//!
//! Start reading at [`REPORTS`].

use crate::outline::{assert_same_outline, outline};
use crate::support::{Program, Run, Scratch, has_peer, peer_too};
use serde_json::Value;
use std::fmt::Write as _;

/// Job files; sections are separated by `|`, options by blanks. A job that begins with `long` runs long enough for samples.
const REPORTS: &[&str] = &[
    "[a] ioengine=null size=64m rw=read",
    "[a] ioengine=null size=64m rw=randrw numjobs=3",
    "[a] ioengine=null size=64m rw=randrw numjobs=3 group_reporting",
    "[global] ioengine=null size=64m | [a] rw=read | [b] rw=write stonewall | [c] rw=randrw new_group numjobs=2",
    "[global] ioengine=null size=64m group_reporting | [a] rw=read | [b] rw=write | [c] rw=randrw stonewall numjobs=2",
    "[global] ioengine=null size=64m group_reporting=1 new_group | [a] rw=read | [b] rw=write group_reporting=0 | [c] rw=rw",
    "[global] ioengine=null size=64m | [a] rw=read | [b] rw=write group_reporting | [c] rw=rw group_reporting",
    "[global] ioengine=null size=64m | [a] rw=read group_reporting | [b] rw=write | [c] rw=rw group_reporting",
    "[global] ioengine=null size=64m | [a] group_reporting numjobs=2 | [b] stonewall numjobs=2 | [c] group_reporting",
    "[a] ioengine=null size=64m rw=trimwrite",
    "[a] ioengine=null size=64m rw=randtrim",
    "[a] ioengine=null size=64m rw=rw gtod_reduce=1",
    "[a] ioengine=null size=64m rw=rw disable_lat=1",
    "[a] ioengine=null size=64m rw=rw disable_clat=1",
    "[a] ioengine=null size=64m rw=rw disable_slat=1 iodepth=4",
    "[a] ioengine=null size=64m rw=rw disable_bw=1",
    "[a] ioengine=null size=64m rw=rw disable_lat=1 disable_clat=1 disable_slat=1 disable_bw=1 iodepth=8",
    "[a] ioengine=null size=64m rw=rw unified_rw_reporting=mixed",
    "[a] ioengine=null size=64m rw=rw unified_rw_reporting=both",
    "[a] ioengine=null size=64m rw=rw unified_rw_reporting=mixed numjobs=2 group_reporting",
    "[a] ioengine=null size=64m rw=read kb_base=1000",
    "[a] ioengine=null size=64m rw=read unit_base=1",
    "[a] ioengine=null size=64m rw=read unit_base=8 kb_base=1000",
    "[a] ioengine=null size=64m rw=read significant_figures=9",
    "[a] ioengine=null size=64m rw=read percentile_list=5:99.999:0.5:50",
    "[a] ioengine=null size=64m rw=read percentile_list=100",
    "[a] ioengine=null size=64m rw=read clat_percentiles=0",
    "[a] ioengine=null size=64m rw=read lat_percentiles=1",
    "[a] ioengine=null size=64m rw=read lat_percentiles=1 clat_percentiles=0",
    "[a] ioengine=null size=64m rw=read lat_percentiles=1 slat_percentiles=1 iodepth=4",
    "[a] ioengine=null size=64m rw=read description=two_words",
    "[a] ioengine=null size=64m rw=read description=first | [b] ioengine=null size=64m rw=read",
    "[a] ioengine=null size=64m rw=read stats=0 | [b] ioengine=null size=64m rw=read",
    "[a] ioengine=null size=64m rw=read thread | [b] ioengine=null size=64m rw=read",
    "[a] ioengine=null size=64m rw=read thread numjobs=2",
    "[a] ioengine=null size=64m rw=read iodepth=32 iodepth_batch=8 iodepth_batch_complete_min=4 iodepth_low=8",
    "[a] ioengine=null size=64m rw=read bs=4k,8k,16k",
    "[a] ioengine=null size=64m rw=randrw bs=4k,8k bs_is_seq_rand=1",
    "[a] ioengine=null size=64m rw=read bsrange=512-128k",
    "[a] ioengine=null size=64m rw=read loops=3",
    "[a] ioengine=null size=64m rw=read continue_on_error=all",
    "[a] ioengine=null size=64m rw=read ignore_error=EIO",
    "[a] ioengine=psync size=1m rw=randrw fsync=8",
    "[a] ioengine=psync size=1m rw=write fdatasync=4 end_fsync=1",
    "[a] ioengine=psync size=1m rw=write overwrite=1",
    "[a] ioengine=psync size=1m rw=write nrfiles=4",
    "[a] ioengine=psync size=1m rw=read nrfiles=4 numjobs=2",
    "[a] ioengine=psync size=1m rw=write iodepth=8",
    "[a] ioengine=sync size=1m rw=write iodepth=8",
    "[a] ioengine=vsync size=1m rw=write iodepth=8",
    "[a] ioengine=pvsync2 size=1m rw=randwrite hipri=0",
    "[a] ioengine=mmap size=1m rw=randwrite",
    "[a] ioengine=libaio size=1m rw=randread iodepth=16 direct=1",
    "[a] ioengine=libaio size=1m rw=randwrite iodepth=4 slat_percentiles=1",
    "[a] ioengine=libaio size=1m rw=randwrite iodepth=8 fsync=16",
    "[a] ioengine=io_uring size=1m rw=randread iodepth=16",
    "[a] ioengine=posixaio size=1m rw=randread iodepth=4",
    "[a] ioengine=psync size=1m rw=write create_only=1",
    "[a] ioengine=psync size=64k rw=write filename=x | [b] ioengine=psync size=64k rw=read filename=x stonewall",
    "[a] ioengine=psync size=1m rw=write file_append=1",
    "[a] ioengine=psync size=1m rw=write disk_util=0",
    "[a] ioengine=psync size=1m rw=randwrite block_error_percentiles=1",
    "[a] ioengine=libaio size=1m rw=randread iodepth=4 cmdprio_percentage=30 lat_percentiles=1",
    "[a] ioengine=io_uring size=1m rw=randrw iodepth=4 cmdprio_bssplit=4k/30/2/3:4k/20 clat_percentiles=0",
    "[a] ioengine=libaio size=1m rw=randrw iodepth=4 cmdprio_percentage=20,30 unified_rw_reporting=both",
    "[global] ioengine=libaio size=1m rw=randread group_reporting | [a] prio=3 | [b] cmdprio_percentage=30 | [c] prioclass=3",
    "long [a] ioengine=psync size=1m rw=randrw time_based runtime=1200ms",
    "long [a] ioengine=psync size=1m rw=write time_based runtime=1200ms numjobs=2 group_reporting",
    "long [a] ioengine=null size=1m rw=read time_based runtime=1200ms disable_bw=1",
    "long [a] ioengine=null size=1m rw=read time_based runtime=1200ms gtod_reduce=1",
    "long [a] ioengine=null size=1m rw=read time_based runtime=1200ms kb_base=1000",
    "long [a] ioengine=null size=1m rw=rw time_based runtime=1200ms unified_rw_reporting=both bwavgtime=200 iopsavgtime=300",
    "long [a] ioengine=null size=1m rw=rw time_based runtime=700ms ramp_time=600ms unified_rw_reporting=mixed",
    "long [a] ioengine=psync size=1m rw=read time_based runtime=20 ss=iops:900% ss_dur=2",
    "long [a] ioengine=psync size=1m rw=read time_based runtime=20 ss=bw:1g ss_dur=2 numjobs=2 group_reporting",
    "long [a] ioengine=psync size=1m rw=read time_based runtime=1200ms ss_dur=4 kb_base=1000",
];

/// A job file of the short form above.
fn job_file(short: &str) -> String {
    short.split_whitespace().filter(|word| *word != "|").map(|word| word.to_owned() + "\n").collect()
}

fn both(case: &str, arguments: &str) -> [String; 2] {
    [Program::Ferrio, Program::Peer].map(|program| {
        let scratch = Scratch::new("reports");
        scratch.write("jobs.fio", job_file(case.trim_start_matches("long ")));
        let run = Run::new(program, scratch.path(), &format!("jobs.fio {arguments}"))
            .with_clock_of_peer()
            .recorded("reports", &[]);
        let run = run.finish().succeeded();
        assert_eq!(run.stderr, "", "{case}: {program:?}");
        run.stdout
    })
}

/// Job files of which a job fails, and the number of jobs that do.
const FAILURES: &[(&str, i32)] = &[
    ("[a] filename=/dev/full size=64k rw=write", 1),
    ("[a] filename=/dev/full size=64k rw=write ignore_error=,ENOSPC", 0),
    ("[a] filename=/dev/full size=64k rw=write ignore_error=,EIO", 1),
    ("[a] filename=/dev/full size=64k rw=write ignore_error=EIO", 1),
    ("[a] filename=/dev/full size=64k rw=write continue_on_error=write", 1),
    ("[a] filename=/dev/full size=64k rw=write continue_on_error=read", 1),
    ("[a] filename=/dev/full size=64k rw=write numjobs=2", 2),
    ("[a] filename=/dev/full size=64k rw=write numjobs=2 group_reporting", 2),
    ("[a] filename=/dev/full size=64k rw=write thread | [b] ioengine=null size=64m", 1),
    ("[a] filename=/dev/full size=64k rw=write | [b] ioengine=null size=64m stonewall", 1),
    ("[a] filename=/dev/full size=64k rw=write fill_device=1", 0),
    ("[a] filename=/dev/full size=64k rw=write ioengine=io_uring iodepth=4", 1),
    ("[a] filename=/dev/zero size=64k rw=write fsync=4", 1),
    ("[a] filename=/dev/zero size=64k rw=write end_fsync=1", 1),
    ("[a] filename=/dev/null size=64k rw=read", 1),
    ("[a] size=64k rw=trim", 1),
    ("[a] size=64k rw=trim continue_on_error=all", 1),
    ("[a] rw=read | [b] ioengine=null size=64m", 1),
    ("[a] rw=read exitall_on_error | [b] ioengine=null size=64m", 1),
];

#[test]
fn reports_of_failures_have_the_lines_of_the_peer() {
    let test = "reports_of_failures_have_the_lines_of_the_peer";
    let programs: &[Program] = if peer_too(test) { &[Program::Ferrio, Program::Peer] } else { &[Program::Ferrio] };
    for (case, n_failed) in FAILURES {
        let mut outlines = Vec::new();
        for program in programs {
            let scratch = Scratch::new("failures");
            scratch.write("jobs.fio", job_file(case));
            let finished = Run::new(*program, scratch.path(), "jobs.fio").recorded("reports", &[]).finish();
            assert_eq!(finished.code, Some(*n_failed), "{case}\n{}", finished.all());
            outlines.push(lines(&finished.stdout, false).into_iter().map(without_place).collect::<Vec<_>>());
        }
        if let [ours, theirs] = &outlines[..] {
            assert_same_outline(case, ours, theirs);
        }
    }
}

/// Removes place in the source, step and words from an error line: in 3.42, tolerated errors have none.
fn without_place(line: String) -> String {
    match line.find("err=N").filter(|_| line.contains("func=") || line.contains("err=N ()")) {
        Some(start) => line[..start].to_owned() + "err=N (error)",
        None => line,
    }
}

/// The outline, but for the notes, which 3.41 has in another place.
fn lines(report: &str, has_samples: bool) -> Vec<String> {
    let is_note = |line: &String| line.starts_with("note: both iodepth >=N and synchronous");
    outline(report, has_samples).into_iter().filter(|line| !is_note(line)).collect()
}

#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn reports_have_the_lines_of_the_peer() {
    if !has_peer("reports_have_the_lines_of_the_peer") {
        return;
    }
    let mut n_bad = 0;
    for case in REPORTS {
        let [ours, theirs] = both(case, "");
        let is_long = case.starts_with("long");
        let compared = std::panic::catch_unwind(|| {
            assert_same_outline(case, &lines(&ours, is_long), &lines(&theirs, is_long));
        });
        n_bad += u32::from(compared.is_err());
    }
    assert_eq!(n_bad, 0, "reports that differ");
}

/// Jobs whose JSON and terse output is compared.
const DATA: &[&str] = &[
    "[a] ioengine=null size=64m rw=read",
    "[global] ioengine=null size=64m | [a] rw=randrw | [b] rw=write numjobs=2 stonewall description=text",
    "[a] ioengine=null size=64m rw=randrw numjobs=3 group_reporting unified_rw_reporting=mixed",
    "[a] ioengine=null size=64m rw=randrw unified_rw_reporting=both lat_percentiles=1",
    "[a] ioengine=null size=64m rw=randrw gtod_reduce=1",
    "[a] ioengine=null size=64m rw=randrw clat_percentiles=0",
    "[a] ioengine=null size=64m rw=randrw iodepth=4 slat_percentiles=1 percentile_list=50:99.9",
    "[a] ioengine=null size=64m rw=trimwrite continue_on_error=all",
    "[a] ioengine=psync size=1m rw=write fsync=16",
    "[a] ioengine=libaio size=1m rw=randread iodepth=16 direct=1 nrfiles=2",
    "[a] ioengine=libaio size=1m rw=randread iodepth=4 cmdprio_percentage=30 cmdprio=4 cmdprio_class=2",
    "[a] ioengine=libaio size=1m rw=randread numjobs=2 group_reporting prio=1 lat_percentiles=1 | [b] size=1m group_reporting lat_percentiles=1",
    "long [a] ioengine=psync size=1m rw=randrw time_based runtime=1200ms ramp_time=100ms",
    "long [a] ioengine=psync size=1m rw=read time_based runtime=20 ss=iops_slope:900% ss_dur=2 numjobs=2",
    "long [a] ioengine=psync size=1m rw=read time_based runtime=1200ms ss=bw:1k ss_dur=4 group_reporting numjobs=2",
];

/// The formats, with the version of terse lines.
const FORMATS: [(&str, u32); 4] = [("json,terse", 2), ("json+,terse", 3), ("terse", 4), ("terse", 5)];

#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn documents_have_the_keys_of_the_peer_and_terse_lines_its_fields() {
    if !has_peer("documents_have_the_keys_of_the_peer_and_terse_lines_its_fields") {
        return;
    }
    let mut complaints = String::new();
    for case in DATA {
        for (format, version) in FORMATS {
            let what = format!("{case} {format} {version}");
            let reports = both(case, &format!("--output-format={format} --terse-version={version}"));
            // Lines come before documents.
            let [ours, theirs] = reports.each_ref().map(|text| text.split_at(text.find("{\n").unwrap_or(text.len())));
            let fields = |text: &str| -> Vec<usize> { text.lines().map(|line| line.split(';').count()).collect() };
            assert!(!theirs.0.is_empty(), "{what}: {theirs:?}");
            assert_eq!(fields(ours.0), fields(theirs.0), "{what}\n{ours:?}\n{theirs:?}");
            let [ours, theirs] = [ours.1, theirs.1].map(|text| {
                assert_eq!(text.is_empty(), format == "terse", "{what}: {text}");
                keys(&what, text)
            });
            complaints += &differences(&what, &ours, &theirs);
        }
    }
    assert!(complaints.is_empty(), "other than the peer:\n{complaints}");
}

/// The paths of a document; none, if there is no document.
fn keys(what: &str, text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    if !text.is_empty() {
        let value: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{what}: {error}\n{text}"));
        tree("", &value, &mut lines);
    }
    lines
}

/// Ends of the paths that 3.42 has and 3.41 has not.
const ADDED_KEYS: [&str; 2] = ["/latency_target_ns integer", "/latency_window_us integer"];

fn is_added(line: &str) -> bool {
    line.starts_with("/ferrio") || ADDED_KEYS.iter().any(|key| line.ends_with(key))
}

/// Paths of all values with their kinds, in the order of the document.
fn tree(path: &str, value: &Value, lines: &mut Vec<String>) {
    match value {
        Value::Object(entries) if path.ends_with("/bins") => lines.push(format!("{path} {{}} {}", entries.is_empty())),
        Value::Object(entries) => {
            lines.push(format!("{path} {{}}"));
            entries.iter().for_each(|(key, value)| tree(&format!("{path}/{key}"), value, lines));
        }
        Value::Array(items) => {
            lines.push(format!("{path} []"));
            items.iter().enumerate().for_each(|(index, item)| tree(&format!("{path}/{index}"), item, lines));
        }
        Value::Number(number) if number.is_f64() => lines.push(format!("{path} float")),
        Value::Number(_) => lines.push(format!("{path} integer")),
        Value::String(_) => lines.push(format!("{path} text")),
        Value::Bool(_) => lines.push(format!("{path} bool")),
        Value::Null => lines.push(format!("{path} null")),
    }
}

/// Lines that only one of the two has, and a first change of order among the others.
fn differences(what: &str, ours: &[String], theirs: &[String]) -> String {
    let mut text = String::new();
    let missing: Vec<&String> = theirs.iter().filter(|line| !ours.contains(line)).collect();
    let added: Vec<&String> = ours.iter().filter(|line| !theirs.contains(line) && !is_added(line)).collect();
    let common = |lines: &[String], others: &[String]| -> Vec<String> {
        lines.iter().filter(|line| others.contains(line)).cloned().collect()
    };
    let (our_order, their_order) = (common(ours, theirs), common(theirs, ours));
    let moved = our_order.iter().zip(&their_order).find(|(ours, theirs)| ours != theirs);
    if !missing.is_empty() || !added.is_empty() || moved.is_some() {
        writeln!(text, "{what}\n  missing {missing:?}\n  added {added:?}\n  moved {moved:?}").expect("a string");
    }
    text
}

/// An engine that waits in its call has all of an I/O's time in the completion latency, also where the call comes after the queueing.
/// fio 3.41 and 3.33 measure it so.
#[test]
fn the_time_in_a_waiting_call_is_completion_latency() {
    let scratch = Scratch::new("waiting-calls");
    for engine in ["psync", "sync", "vsync", "pvsync"] {
        let job =
            format!("--name=a --filename=f --rw=read --bs=256k --size=16m --ioengine={engine} --output-format=json");
        let finished = Run::new(Program::Ferrio, scratch.path(), &job).finish().succeeded();
        let document: Value = serde_json::from_str(&finished.stdout).expect("JSON");
        let mean = |kind: &str| document["jobs"][0]["read"][kind]["mean"].as_f64().expect("a mean");
        // Reading 256 KiB takes microseconds at least, and the rest of an I/O less than a tenth of that.
        assert!(mean("clat_ns") > 1000.0 && mean("clat_ns") >= 0.5 * mean("lat_ns"), "{engine}: {document}");
        assert_eq!(document["jobs"][0]["read"]["slat_ns"]["N"], 0, "{engine}");
    }
}
