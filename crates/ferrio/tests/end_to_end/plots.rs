//! `ferrio plot`: pictures of ferrio's and fio's results and logs.
//!
//! Start reading at [`logs_of_fio_become_a_picture`].

use crate::support::{Finished, Program, Run, Scratch, old_peer_too};

fn run(scratch: &Scratch, arguments: &str) -> Finished {
    Run::new(Program::Ferrio, scratch.path(), arguments).finish()
}

/// Width and height of a PNG file, from its head.
fn png_size(scratch: &Scratch, name: &str) -> (u32, u32) {
    let bytes = std::fs::read(scratch.path().join(name)).expect("a file");
    assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n") && bytes.ends_with(b"IEND\xaeB`\x82"), "{name}");
    let number = |at: usize| bytes[at..at + 4].iter().fold(0, |number, byte| number << 8 | u32::from(*byte));
    (number(16), number(20))
}

/// A job of a fifth of a second with logs and a report of all figures.
const JOB: &str = "--size=1m --rw=randrw --runtime=1 --time_based --write_bw_log=run --write_iops_log=run \
                   --write_lat_log=run --log_avg_msec=100 --output-format=json+ --output=run.json --name=a --name=b";

fn all_kinds(program: Program) {
    let scratch = Scratch::new("plot");
    Run::new(program, scratch.path(), JOB).finish().succeeded();
    // Two names, three logs of rates or total latency each: a line for each job and direction.
    let told = run(&scratch, "plot run_bw.1.log run_bw.2.log -o bw.svg").succeeded();
    assert_eq!(told.stdout, "bw.svg: Bandwidth over time (over-time)\n");
    let svg = scratch.read("bw.svg");
    for text in
        ["run (job 1): read", "run (job 2): write", "Bandwidth over time", "time since the start of the job (s)"]
    {
        assert!(svg.contains(&format!("\n{text}\n</text>")), "{text}: {svg}");
    }
    for (kind, text) in [
        ("by-job", "completion latency, logarithmic"),
        ("histogram", "share of the I/Os (%)"),
        ("percentiles", "share of the I/Os that took no longer (%)"),
    ] {
        run(&scratch, &format!("plot run.json --kind {kind}")).succeeded();
        let svg = scratch.read(&format!("{kind}.svg"));
        assert!(svg.contains(&format!("\n{text}\n</text>")), "{kind}: {svg}");
        run(&scratch, &format!("plot run.json --kind {kind} -o {kind}.png --size 900x1200 --title Mine")).succeeded();
        assert_eq!(png_size(&scratch, &format!("{kind}.png")), (900, 1200));
    }
}

#[test]
fn logs_and_results_of_ferrio_become_pictures() {
    all_kinds(Program::Ferrio);
}

#[test]
fn logs_of_fio_become_a_picture() {
    if old_peer_too("logs_of_fio_become_a_picture") {
        all_kinds(Program::OldPeer);
    }
}

/// Runs that differ in iodepth and numjobs are a table, and what they have in common is said by the options of the report.
fn heat_map(program: Program) {
    let scratch = Scratch::new("plot");
    for (depth, number) in [(1, 1), (1, 2), (4, 1), (4, 2)] {
        let job = format!(
            "--name=j --ioengine=null --size=1m --rw=read --iodepth={depth} --numjobs={number} --output-format=json \
             --output=d{depth}-n{number}.json"
        );
        Run::new(program, scratch.path(), &job).finish().succeeded();
    }
    let told = run(&scratch, "plot d1-n1.json d1-n2.json d4-n1.json d4-n2.json").succeeded();
    assert_eq!(told.stdout, "heat-map.svg: iodepth and numjobs (heat-map)\n");
    let svg = scratch.read("heat-map.svg");
    assert!(svg.contains("\niodepth\n") && svg.contains("\nnumjobs\n"), "{svg}");
    let report: serde_json::Value = serde_json::from_str(&scratch.read("d4-n1.json")).expect("JSON");
    let iops = report["jobs"][0]["read"]["iops"].as_f64().expect("a rate").round() as u64;
    assert!(svg.contains(&format!("\n{}\n", ferrio_units::humanize::thousands(iops))), "{iops}: {svg}");
    let told = run(&scratch, "plot d1-n1.json d4-n1.json").succeeded();
    assert_eq!(told.stdout, "compare.svg: Comparison of results (compare)\n");
    let svg = scratch.read("compare.svg");
    assert!(svg.contains("\nd1-n1\n") && svg.contains("\nd4-n1\n"), "{svg}");
}

#[test]
fn runs_of_several_depths_are_a_table() {
    heat_map(Program::Ferrio);
}

#[test]
fn runs_of_fio_of_several_depths_are_a_table() {
    if old_peer_too("runs_of_fio_of_several_depths_are_a_table") {
        heat_map(Program::OldPeer);
    }
}

#[test]
fn results_of_the_same_name_are_told_apart_by_their_folders() {
    let scratch = Scratch::new("plot");
    for folder in ["before", "after"] {
        std::fs::create_dir(scratch.path().join(folder)).expect("a folder");
        let job =
            format!("--name=j --ioengine=null --size=1m --rw=read --output-format=json --output={folder}/run.json");
        run(&scratch, &job).succeeded();
        scratch.write(&format!("{folder}/x_bw.1.log"), "500, 1000, 0, 0, 0\n1000, 2000, 0, 0, 0\n");
    }
    run(&scratch, "plot before/run.json after/run.json -o compare.svg").succeeded();
    run(&scratch, "plot before/x_bw.1.log after/x_bw.1.log -o logs.svg").succeeded();
    for (file, texts) in [("compare.svg", ["before/run", "after/run"]), ("logs.svg", ["before: read", "after: read"])] {
        let svg = scratch.read(file);
        assert!(texts.iter().all(|text| svg.contains(&format!("\n{text}\n</text>"))), "{svg}");
    }
}

#[test]
fn a_million_rows_keep_their_maximum() {
    let scratch = Scratch::new("plot");
    let row = |ms: u64| format!("{ms}, {}, 0, 0, 0\n", if ms == 765_432 { 9_000_000 } else { 1000 });
    scratch.write("long_bw.1.log", (0..1_000_000).map(row).collect::<String>());
    run(&scratch, "plot long_bw.1.log -o long.svg").succeeded();
    let svg = scratch.read("long.svg");
    // 9,000,000 KiB/s are 9.2 GB/s: the axis reaches up to 10.
    assert!(svg.contains("\nbandwidth (GB/s)\n") && svg.contains("\n10\n"), "{svg}");
    assert!(svg.len() < 300_000, "{}", svg.len());
}

#[test]
fn an_error_names_file_and_reason_and_leaves_no_picture() {
    let scratch = Scratch::new("plot");
    scratch.write("log_bw.1.log", "0, 1, 0, 4096, 0\n1, x, 0, 4096, 0\n");
    scratch.write("good_bw.1.log", "0, 1, 0, 0, 0\n1000, 2, 0, 0, 0\n");
    scratch.write("old.svg", "before");
    for (arguments, expected) in [
        ("log_bw.1.log -o old.svg", "ferrio plot: log_bw.1.log:2: column 2 is \"x\""),
        ("missing.json -o old.svg", "missing.json: it cannot be read: No such file"),
        ("good_bw.1.log -o old.svg --kind heat-map", "differ in iodepth or numjobs"),
        ("good_bw.1.log -o old.svg --kind histogram", "--output-format=json+"),
        ("good_bw.1.log -o old.svg --kind pie", "\"pie\" is no kind of picture"),
        ("good_bw.1.log -o old.svg --size 1200", "such as 1200x600"),
        ("good_bw.1.log -o old.pdf", "has to end in .svg or .png"),
        ("good_bw.1.log -o no/such/new.svg", "cannot write no/such/new.svg: No such file"),
    ] {
        let finished = run(&scratch, &format!("plot {arguments}"));
        assert_eq!(finished.code, Some(2), "{}", finished.all());
        assert!(finished.stderr.contains(expected), "{}", finished.all());
        assert_eq!(scratch.read("old.svg"), "before", "{arguments}");
        assert_eq!(scratch.names(), ["good_bw.1.log", "log_bw.1.log", "old.svg"], "{arguments}");
    }
    run(&scratch, "plot good_bw.1.log -o old.svg").succeeded();
    assert!(scratch.read("old.svg").starts_with("<svg"));
}
