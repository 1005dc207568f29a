//! Records: every line is by the schema, intervals sum up to the jobs, and nothing else is among them.
//!
//! Start reading at [`Records`].

use crate::json_stream::documents;
use crate::support::{Finished, Program, Run, Scratch, send, skip, tool};
use serde_json::Value;

const SCHEMA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/ferrio-jsonl.schema.json");

fn run(scratch: &Scratch, arguments: &str) -> Finished {
    Run::new(Program::Ferrio, scratch.path(), arguments).finish()
}

/// The records of a stream, each a line.
struct Records(Vec<Value>);

impl Records {
    fn read(stream: &str) -> Self {
        let parse = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let records = Self(stream.lines().map(parse).collect());
        records.check_frame();
        records
    }

    fn of(&self, kind: &str) -> Vec<&Value> {
        self.0.iter().filter(|record| record["record"] == kind).collect()
    }

    fn check_frame(&self) {
        let kinds: Vec<&str> = self.0.iter().filter_map(|record| record["record"].as_str()).collect();
        assert_eq!((kinds.first(), kinds.last()), (Some(&"run"), Some(&"end")), "{kinds:?}");
        assert_eq!((self.of("run").len(), self.of("end").len()), (1, 1));
        self.of("job").into_iter().for_each(|job| self.check_job(job));
        self.of("clones_job").into_iter().for_each(|clones| self.check_clones(clones));
    }

    /// The sums of clones are those of their own records, in the intervals as in the end.
    fn check_clones(&self, clones: &Value) {
        let (first, n_clones) =
            (clones["job_number"].as_u64().expect("a number"), clones["n_clones"].as_u64().expect("a number"));
        let is_one = |record: &Value| (first..first + n_clones).contains(&record["job_number"].as_u64().unwrap_or(0));
        for direction in ["read", "write", "trim"] {
            for path in ["/ios", "/bytes", "/clat_ns/n", "/clat_ns/sum"] {
                let sum = |kind: &str| -> u64 {
                    self.of(kind)
                        .into_iter()
                        .filter(|record| is_one(record))
                        .map(|record| at(record, direction, path))
                        .sum()
                };
                let whole = at(clones, direction, path);
                assert_eq!((sum("job"), sum("clones_interval")), (whole, whole), "{direction}{path}");
            }
        }
    }

    /// The intervals of a job follow each other without gaps, and their sum is the job's record.
    fn check_job(&self, job: &Value) {
        let intervals = self.of("interval");
        let own: Vec<_> = intervals.into_iter().filter(|record| record["job_number"] == job["job_number"]).collect();
        assert!(own.windows(2).all(|pair| pair[0]["end_ms"] == pair[1]["start_ms"]), "{job}");
        for direction in ["read", "write", "trim"] {
            let sum = |path: &str| own.iter().map(|record| at(record, direction, path)).sum::<u64>();
            for path in [
                "/ios",
                "/issued",
                "/bytes",
                "/clat_ns/n",
                "/clat_ns/sum",
                "/lat_ns/n",
                "/slat_ns/sum",
                "/response_ns/n",
                "/response_ns/sum",
            ] {
                assert_eq!(sum(path), at(job, direction, path), "{direction}{path}");
            }
            let in_histograms: u64 = own.iter().map(|record| n_in_histogram(record, direction)).sum();
            assert_eq!(in_histograms, n_in_histogram(job, direction), "{direction}");
            assert_eq!(in_histograms, at(job, direction, "/clat_ns/n"), "{direction}");
        }
    }
}

fn at(record: &Value, direction: &str, path: &str) -> u64 {
    record.pointer(&format!("/{direction}{path}")).and_then(Value::as_u64).unwrap_or(0)
}

fn n_in_histogram(record: &Value, direction: &str) -> u64 {
    let pairs = record.pointer(&format!("/{direction}/clat_ns/histogram")).and_then(Value::as_array);
    pairs.into_iter().flatten().filter_map(|pair| pair[1].as_u64()).sum()
}

/// Checks the lines of a file against the schema, if Python and its `jsonschema` are there.
fn check_schema(test: &str, scratch: &Scratch, file: &str) {
    scratch.write("probe.py", "from jsonschema import Draft202012Validator\n");
    if tool(&format!("python3 {}", scratch.join("probe.py").display())).is_none() {
        return skip(test, "no python3 with jsonschema");
    }
    scratch.write(
        "check.py",
        "import json, sys\nfrom jsonschema import Draft202012Validator as Validator\n\
         schema = json.load(open(sys.argv[1]))\nValidator.check_schema(schema)\nvalidator = Validator(schema)\n\
         for line in open(sys.argv[2]):\n    validator.validate(json.loads(line))\n",
    );
    let command = format!("python3 {} {SCHEMA} {}", scratch.join("check.py").display(), scratch.join(file).display());
    assert!(tool(&command).is_some(), "{command}\n{}", scratch.read(file));
}

#[test]
fn records_of_jobs_of_all_kinds() {
    const TEST: &str = "records_of_jobs_of_all_kinds";
    let cases = [
        "--name=a --rw=randrw --size=1m --time_based --runtime=300ms --numjobs=2 --group_reporting",
        "--name=a --ioengine=null --size=1g --rw=trimwrite --name=b --stonewall --ioengine=null --size=1g --thread",
        "--name=a --rw=write --size=1m --fsync=4 --ramp_time=50ms --time_based --runtime=150ms --lat_percentiles=1",
        "--name=a --ioengine=null --size=1g --gtod_reduce=1 --percentile_list=1:99.999",
        "--name=a --ioengine=null --size=1g --time_based --runtime=200ms --rate_iops=1000 --rate_latency=response",
        "--name=none --stats=0 --ioengine=null --size=1m --name=a --ioengine=null --size=64k",
    ];
    for arguments in cases {
        let scratch = Scratch::new("jsonl");
        run(&scratch, &format!("{arguments} --status-interval=100ms --output-format=jsonl --output=out")).succeeded();
        let records = Records::read(&scratch.read("out"));
        assert!(!records.of("interval").is_empty() && !records.of("job").is_empty(), "{arguments}");
        assert!(records.of("job").iter().all(|job| job["job"] != "none"));
        let n_clones = usize::from(arguments.contains("numjobs"));
        assert_eq!(records.of("clones_job").len(), n_clones, "{arguments}");
        check_schema(TEST, &scratch, "out");
    }
}

#[test]
fn native_runs_write_lines_with_their_findings() {
    const TEST: &str = "native_runs_write_lines_with_their_findings";
    let scratch = Scratch::new("jsonl-native");
    let job = "--name=a --rw=randread --size=1m --numjobs=3 --ioengine=psync --iodepth=8 --time_based --runtime=250ms";
    let given = format!("run {job} --output-format jsonl --status-interval=100ms --output=out");
    run(&scratch, &given).succeeded();
    let records = Records::read(&scratch.read("out"));
    let (clones, audits) = (records.of("clones_job"), records.of("audit"));
    assert_eq!((clones.len(), &clones[0]["n_clones"], audits.len()), (1, &3.into(), 1));
    let ids: Vec<&str> =
        audits[0]["findings"].as_array().expect("a list").iter().filter_map(|one| one["id"].as_str()).collect();
    assert!(ids.contains(&"depth-of-synchronous-engine"), "{ids:?}");
    // The note about the depth has no name of fio.
    let texts: Vec<_> = records.of("message").iter().map(|record| record["text"].to_string()).collect();
    assert!(!texts.is_empty() && texts.iter().all(|text| !text.contains("fio: ")), "{texts:?}");
    check_schema(TEST, &scratch, "out");
    for refused in ["--json", "--csv", "--anonymous"] {
        let finished =
            run(&scratch, &format!("run {refused} --output-format=jsonl --name=a --ioengine=null --size=4k"));
        assert_eq!((finished.code, finished.stdout.as_str()), (Some(2), ""), "{refused}");
        assert!(finished.stderr.contains("--output-format=jsonl"), "{}", finished.stderr);
    }
}

#[test]
fn intervals_have_their_syncs() {
    let scratch = Scratch::in_memory("jsonl-syncs");
    let job = "--name=a --rw=write --size=1m --fsync=4 --time_based --runtime=400ms";
    let finished = run(&scratch, &format!("{job} --status-interval=100ms --output-format=jsonl")).succeeded();
    let records = Records::read(&finished.stdout);
    let number = |value: &Value| value.as_u64().unwrap_or_default();
    let sum = |of: &dyn Fn(&Value) -> u64| -> u64 {
        records.of("interval").iter().map(|interval| of(&interval["sync"])).sum()
    };
    let whole = &records.of("job")[0]["sync"];
    assert!(number(&whole["issued"]) > 0, "{whole}");
    assert_eq!(sum(&|sync| number(&sync["issued"])), number(&whole["issued"]));
    for member in ["n", "sum"] {
        assert_eq!(sum(&|sync| number(&sync["lat_ns"][member])), number(&whole["lat_ns"][member]), "{member}");
    }
    let with_p99 = |interval: &&Value| interval["sync"]["lat_ns"]["percentiles"]["99"].is_u64();
    assert!(records.of("interval").into_iter().any(|interval| with_p99(&interval)));
}

#[test]
fn failures_and_messages_are_records() {
    const TEST: &str = "failures_and_messages_are_records";
    let scratch = Scratch::new("jsonl-fails");
    let arguments = "--name=a --rw=write --size=64k --iodepth=4 --filename=/dev/full --output-format=jsonl";
    let finished = run(&scratch, arguments);
    assert_eq!(finished.code, Some(1));
    let records = Records::read(&finished.stdout);
    let texts: Vec<_> = records.of("message").iter().map(|record| record["text"].to_string()).collect();
    assert!(texts[0].contains("note: both iodepth") && texts.iter().any(|text| text.contains("No space")), "{texts:?}");
    assert_eq!((&records.of("job")[0]["error"], &records.of("end")[0]["exit"]), (&28.into(), &1.into()));
    scratch.write("out", &finished.stdout);
    check_schema(TEST, &scratch, "out");
}

#[test]
fn documents_follow_the_records() {
    let scratch = Scratch::new("jsonl-json");
    let finished = run(&scratch, "--name=a --ioengine=null --size=64k --output-format=json,jsonl").succeeded();
    let all = documents(&finished.stdout, &finished.stdout);
    let (document, records) = all.split_last().expect("there are some");
    assert!(records.iter().all(|record| record["record"].is_string()) && records.len() >= 4);
    assert_eq!(document["jobs"][0]["read"]["total_ios"], 16);
    assert_eq!(at(&records[records.len() - 2], "read", "/ios"), 16);
}

/// A killed job has intervals, and its record is their sum.
#[test]
fn a_killed_job_and_a_signal() {
    let scratch = Scratch::new("jsonl-killed");
    let arguments = "--name=a --ioengine=null --size=1g --time_based --runtime=60 --numjobs=2 \
                     --status-interval=50ms --output-format=jsonl --output=out";
    let mut running = Run::new(Program::Ferrio, scratch.path(), arguments).start();
    running.wait_until("intervals of both jobs", |_| {
        let out = scratch.read("out");
        // The last line may be in the making.
        let records: Vec<Value> = out.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        [1, 2]
            .iter()
            .all(|job| records.iter().any(|record| record["job_number"] == *job && at(record, "read", "/ios") > 0))
    });
    let victim = running.jobs()[0];
    send(victim, rustix::process::Signal::KILL);
    running.wait_until("the end of the job", |_| scratch.read("out").contains("\"record\":\"job\""));
    send(running.pid(), rustix::process::Signal::INT);
    let finished = running.finish();
    // The killed job has failed.
    assert_eq!(finished.code, Some(128 + 1), "{}", finished.all());
    let records = Records::read(&scratch.read("out"));
    let killed: Vec<_> = records.of("job").into_iter().filter(|job| job["pid"] == victim).cloned().collect();
    assert_eq!((killed[0]["signal"].as_i64(), records.of("end")[0]["signal"].as_i64()), (Some(9), Some(2)));
    assert!(at(&killed[0], "read", "/ios") > 0);
    check_schema("a_killed_job_and_a_signal", &scratch, "out");
}
