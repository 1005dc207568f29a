//! `--anonymous`: nothing that a run writes tells which machine it was, and the figures stay.
//!
//! Start reading at [`tells_nothing`].

use crate::support::{Finished, Program, Run, Scratch};
use serde_json::Value;

const JOB: &str = "--name=a --filename=customer.db --size=64k --rw=write --ioengine=psync --write_bw_log=customer";

fn run(scratch: &Scratch, arguments: &str) -> Finished {
    Run::new(Program::Ferrio, scratch.path(), arguments).finish()
}

/// Nothing in a text is the name of a path of the run, of its kernel or of its host.
fn tells_nothing(what: &str, text: &str, scratch: &Scratch) {
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").expect("a release");
    let place = scratch.path().display().to_string();
    for told in ["customer", kernel.trim(), place.as_str()] {
        assert!(!text.contains(told), "{what}: {told}: {text}");
    }
}

#[test]
fn no_output_tells_the_machine() {
    let scratch = Scratch::new("anonymous");
    let place = scratch.path().display().to_string();
    let job = format!("{JOB} --directory={place}");
    let document = run(&scratch, &format!("--anonymous --output-format=json --record=masked.record {job}")).succeeded();
    tells_nothing("document", &document.stdout, &scratch);
    let value: Value = serde_json::from_str(&document.stdout).expect("JSON");
    assert_eq!(value["jobs"][0]["write"]["total_ios"], 16);
    let provenance = &value["ferrio"]["provenance"];
    assert_eq!((&provenance["host_name"], &provenance["command_line"]), (&Value::from(""), &serde_json::json!([])));
    assert!(provenance["memory_bytes"].as_u64().is_some_and(|bytes| bytes > 0), "{provenance}");
    let again = run(&scratch, "report --output-format=json masked.record").succeeded();
    tells_nothing("record", &again.stdout, &scratch);
    let native = run(&scratch, &format!("run --anonymous --json --html=page.html {job}")).succeeded();
    tells_nothing("native", &native.stdout, &scratch);
    tells_nothing("page", &scratch.read("page.html"), &scratch);
    let checked = run(&scratch, &format!("check --anonymous --json {job} --size=4k"));
    tells_nothing("check", &checked.stdout, &scratch);
}

#[test]
fn reports_of_a_record_that_tells_it_do_not() {
    let scratch = Scratch::new("anonymous-report");
    run(&scratch, &format!("--record=run.record --output-format=json,jsonl --output=run.json {JOB}")).succeeded();
    let told = run(&scratch, "report --output-format=json run.record").succeeded();
    assert!(told.stdout.contains("customer"), "{}", told.all());
    let lines = run(&scratch, "report --anonymous --output-format=json,jsonl run.record").succeeded();
    tells_nothing("lines", &lines.stdout, &scratch);
    run(&scratch, "report --anonymous run.record -o page.html").succeeded();
    tells_nothing("page", &scratch.read("page.html"), &scratch);
    let refused = run(&scratch, &format!("--anonymous --output-format=jsonl {JOB}"));
    assert!(refused.stderr.contains("--anonymous and --output-format=jsonl do not go together"), "{}", refused.all());
}

/// Failures name files and hosts in notes of their own, patterns in quotation marks, formats of names as a whole.
#[test]
fn failures_and_patterns_tell_no_names() {
    for options in [
        "--ioengine=net --hostname=customer.invalid --port=8000 --rw=write",
        "--ioengine=net --protocol=unix --hostname=customer.sock --rw=write",
        "--read_iolog=customer.log",
        "--read_iolog=customer.lines",
        "--filename=customer.d/customer.db --rw=read",
        "--filename=/proc/self/cwd/customer.db --rw=read",
        "--filename=customer.seed --rw=read --verify=crc32c",
        "--filename_format=customer.$jobnum --rw=write",
        "--filename=customer.db --rw=write --buffer_pattern='customer.seed'",
    ] {
        let scratch = Scratch::new("anonymous-failures");
        scratch.write("customer.seed", vec![7; 65_536]);
        scratch.write("customer.lines", "fio version 3 iolog\n1 customer.x add\n2 customer.x jump 0 4096\n");
        let job = format!("--name=a --size=64k {options}");
        let document = run(&scratch, &format!("--anonymous --output-format=json --record=masked.record {job}"));
        tells_nothing(options, &document.stdout, &scratch);
        let record = std::fs::read(scratch.join("masked.record")).expect("a record");
        tells_nothing(options, &String::from_utf8_lossy(&record), &scratch);
        let native = run(&scratch, &format!("run --anonymous --json --html=page.html {job}"));
        tells_nothing(options, &native.stdout, &scratch);
        tells_nothing(options, &scratch.read("page.html"), &scratch);
    }
}

/// What variables of the environment put into a job file is on no page and in no record, document or report of one; figures stay.
#[test]
fn values_of_the_environment_are_left_out() {
    let scratch = Scratch::new("anonymous-environment");
    let lines = "description=nightly run of ${WHO}-7 for ${WHO}\nfilename=${WHO}.db\nbuffer_pattern=\"${PATTERN}\"\nbs=${BS}\nioengine=${ENGINE}\n\
                 size=64k\nrw=write\nwrite_bw_log=${WHO}\nname=job-${WHO}\n";
    scratch.write("jobs.fio", format!("[global]\nwrite_iops_log=${{WHO}}\n[a]\n{lines}"));
    let run = |arguments: &str| {
        let run = Run::new(Program::Ferrio, scratch.path(), arguments);
        let variables = [("WHO", "customer"), ("PATTERN", "customer"), ("BS", "8k"), ("ENGINE", "psync")];
        variables.into_iter().fold(run, |run, (name, value)| run.env(name, value)).finish()
    };
    run("--record=told.record --output-format=json,jsonl --output=told.json jobs.fio").succeeded();
    assert!(scratch.read("told.json").contains("nightly run of customer-7 for customer"));
    let document = run("--anonymous --output-format=json --record=masked.record jobs.fio").succeeded();
    tells_nothing("document", &document.stdout, &scratch);
    let value: Value = serde_json::from_str(&document.stdout).expect("JSON");
    let options = &value["jobs"][0]["job options"];
    assert_eq!((&options["bs"], &options["ioengine"]), (&Value::from("8k"), &Value::from("psync")));
    assert!(value["ferrio"]["provenance"]["memory_bytes"].as_u64().is_some_and(|bytes| bytes > 0));
    assert!(document.stdout.contains("nightly run of value-"), "{}", document.stdout);
    let record = std::fs::read(scratch.join("masked.record")).expect("a record");
    tells_nothing("record", &String::from_utf8_lossy(&record), &scratch);
    for arguments in ["run --anonymous --json --html=page.html jobs.fio", "check --anonymous --json jobs.fio"] {
        tells_nothing(arguments, &run(arguments).stdout, &scratch);
    }
    tells_nothing("page", &scratch.read("page.html"), &scratch);
    for arguments in
        ["report --anonymous told.record", "report --anonymous --output-format=json,jsonl,terse,normal told.record"]
    {
        tells_nothing(arguments, &run(arguments).succeeded().stdout, &scratch);
    }
    run("report --anonymous told.record -o report.html").succeeded();
    tells_nothing("report", &scratch.read("report.html"), &scratch);
}
