//! `ferrio compare`: results of ferrio and fio, in all outputs, and its exit codes.
//!
//! Start reading at [`the_course_of_two_runs_is_compared`].

use crate::support::{Finished, Program, Run, Scratch, has_old_peer, has_peer};
use serde_json::{Value, json};

fn run(scratch: &Scratch, arguments: &str) -> Finished {
    Run::new(Program::Ferrio, scratch.path(), arguments).finish()
}

/// With a condition, whose blanks are no ends of arguments.
fn fail_if(scratch: &Scratch, arguments: &str, condition: &str) -> Finished {
    let script = format!("exec \"$0\" \"$@\" --fail-if '{condition}'");
    Run::new(Program::Ferrio, scratch.path(), &format!("compare {arguments}")).in_shell(&script).finish()
}

/// The figures of the first comparison's first job, by name.
fn figure(document: &Value, name: &str) -> Value {
    let figures = document["comparisons"][0]["jobs"][0]["figures"].as_array().cloned().unwrap_or_default();
    let is_it = |figure: &Value| {
        let word = |key: &str| figure[key].as_str().unwrap_or_default().to_owned();
        format!("{}.{}", word("direction"), word("metric")) == name
    };
    figures.into_iter().find(is_it).unwrap_or_else(|| panic!("no {name}: {document:#}"))
}

fn compared(scratch: &Scratch, arguments: &str) -> Value {
    let finished = run(scratch, &format!("compare --json {arguments}")).succeeded();
    serde_json::from_str(&finished.stdout).unwrap_or_else(|error| panic!("{error}: {}", finished.all()))
}

/// A log of rates: one window of 500 ms a row, with a simple pattern of +-1 %.
fn log(scratch: &Scratch, name: &str, level: u32) {
    let rows: Vec<String> =
        (1..=80).map(|row: u32| format!("{}, {}, 0, 0, 0", row * 500, level + level / 100 * (row * row % 3))).collect();
    scratch.write(name, rows.join("\n") + "\n");
}

/// A report of fio with one job that reads.
fn report(scratch: &Scratch, name: &str, job: &str, iops: &str) {
    let text = format!(
        r#"{{ "fio version": "fio-3.41", "timestamp": 1795177401, "jobs": [ {{ "jobname": {job:?}, "groupid": 0,
        "job options": {{ "rw": "read", "bs": "4k" }}, "read": {{ "io_bytes": 40960, "bw_bytes": 4096000, "iops": {iops},
        "runtime": 40000, "total_ios": 10, "clat_ns": {{ "min": 100, "max": 900, "mean": 500.0, "N": 10,
        "percentile": {{ "50.000000": 500, "99.000000": 900 }} }} }} }} ] }}"#
    );
    scratch.write(name, text);
}

#[test]
fn the_course_of_two_runs_is_compared() {
    let scratch = Scratch::new("compare");
    log(&scratch, "a_iops.1.log", 10_000);
    log(&scratch, "b_iops.1.log", 9_000);
    let finished = run(&scratch, "compare a_iops.1.log b_iops.1.log").succeeded();
    let row = finished.stdout.lines().find(|line| line.contains("iops")).unwrap_or_default();
    assert!(row.ends_with("differs") && row.contains("-10.0 %") && row.contains("1, 1  <0.001"), "{}", finished.all());
    let document = compared(&scratch, "a_iops.1.log b_iops.1.log");
    let change = &figure(&document, "read.iops")["change"];
    let [low, high] = [0, 1].map(|end| change["interval_percent"][end].as_f64().expect("a number"));
    assert!(low < -10.0 && -10.0 < high && high < -9.0 && low > -11.0, "{change}");
}

/// Logs of a report stand behind it.
#[test]
fn logs_belong_to_the_report_before_them() {
    let scratch = Scratch::new("compare");
    for (name, level) in [("a", 10_000), ("b", 10_500)] {
        log(&scratch, &format!("{name}_iops.1.log"), level);
        report(&scratch, &format!("{name}.json"), "job", &level.to_string());
    }
    let document = compared(&scratch, "a.json a_iops.1.log b.json b_iops.1.log");
    assert_eq!(figure(&document, "read.iops")["verdict"], "differs", "{document:#}");
    // What has neither course nor repeats.
    let p99 = figure(&document, "read.p99");
    assert_eq!((&p99["verdict"], &p99["change"]["interval_percent"]), (&json!("unknown"), &Value::Null));
    assert!(p99["reason"].as_str().is_some_and(|reason| reason.contains("what chance makes of it")), "{p99}");
}

#[test]
fn repeats_are_compared_and_each_result_with_the_first() {
    let scratch = Scratch::new("compare");
    for (name, iops) in [("a1", "1000"), ("a2", "1010"), ("a3", "990"), ("b1", "900"), ("b2", "905"), ("b3", "895")] {
        report(&scratch, &format!("{name}.json"), "job", iops);
    }
    let document = compared(&scratch, "a1.json a2.json a3.json --against b1.json b2.json b3.json");
    let iops = figure(&document, "read.iops");
    assert_eq!((&iops["verdict"], &iops["change"]["percent"]), (&json!("slower"), &json!(-10.0)), "{iops}");
    let document = compared(&scratch, "a1.json a2.json a3.json");
    assert_eq!(document["comparisons"].as_array().map(Vec::len), Some(2));
    assert_eq!(figure(&document, "read.iops")["verdict"], "unknown");
}

/// Options of `[global]` are those of each job, in every form of a result.
#[test]
fn options_for_all_jobs_are_compared() {
    let scratch = Scratch::new("compare-global");
    for (name, depth) in [("a", 1), ("b", 2)] {
        let global = format!("ioengine=sim\nsim_service=fixed:1ms\niodepth={depth}\nsize=64k");
        scratch.write(name, format!("[global]\n{global}\n[j]\nrw=randread\n"));
        for (format, option) in [("json", "--output-format=json"), ("jsonl", "--output-format=jsonl")] {
            run(&scratch, &format!("{option} --output={name}.{format} {name}")).succeeded();
        }
        run(&scratch, &format!("--record={name}.record {name}")).succeeded();
    }
    for (base, new) in
        [("json", "json"), ("jsonl", "jsonl"), ("record", "record"), ("json", "jsonl"), ("jsonl", "record")]
    {
        let document = compared(&scratch, &format!("a.{base} b.{new}"));
        let options =
            document["options"].as_array().or(document["comparisons"][0]["options"].as_array()).expect("a list");
        let told: Vec<_> = options.iter().map(|option| (&option["option"], &option["base"], &option["new"])).collect();
        assert_eq!(told, [(&json!("iodepth"), &json!("1"), &json!("2"))], "{base} {new}");
    }
}

#[test]
fn exit_codes_tell_conditions_from_errors() {
    let scratch = Scratch::new("compare");
    log(&scratch, "a_iops.1.log", 10_000);
    log(&scratch, "b_iops.1.log", 9_000);
    report(&scratch, "a.json", "job", "1000");
    report(&scratch, "b.json", "job", "500");
    report(&scratch, "c.json", "job", "55");
    let logs = "a_iops.1.log b_iops.1.log";
    for (arguments, condition, code, said) in [
        (logs, "read.iops < -5%", 1, "met in a (job 1)"),
        (logs, "iops < -5% and iops is differs", 1, "met"),
        (logs, "read.iops < -15%", 0, ""),
        // Its interval reaches to both sides of it.
        (logs, "read.iops < -10%", 3, "the results do not decide a (job 1) read.iops"),
        (logs, "read.iops is slower", 3, "--allow-unknown"),
        (logs, "read.iops > 0%", 0, ""),
        (logs, "write.iops < -5%", 2, "no job has such a figure"),
        (logs, "read.iops < -5", 2, "has a unit"),
        // A change that may be chance is not decided, and that fails.
        ("a.json b.json", "read.iops < -5%", 3, "the results do not decide job read.iops"),
        ("a.json b.json", "any is unknown", 1, "met in job"),
        ("a.json b.json", "max > 1%", 3, "job read.max"),
        // One that no noise explains is decided.
        ("a.json c.json", "read.iops < -5%", 1, "met in job"),
        ("a.json c.json", "read.iops < -99%", 0, ""),
        ("--allow-unknown a.json b.json", "read.iops < -5%", 0, "the results do not decide"),
        ("a.json missing.json", "read.iops < -5%", 2, "missing.json: it cannot be read"),
    ] {
        let finished = fail_if(&scratch, arguments, condition);
        assert!(finished.code == Some(code) && finished.stderr.contains(said), "{condition}: {}", finished.all());
    }
    assert_eq!(run(&scratch, "compare --help").code, Some(0));
    let unwritable = run(&scratch, "compare a.json b.json --html no/such/page.html");
    assert!(unwritable.code == Some(2) && unwritable.stderr.contains("cannot write"), "{}", unwritable.all());
}

#[test]
fn bad_inputs_are_errors_with_file_and_line() {
    let scratch = Scratch::new("compare");
    report(&scratch, "good.json", "job", "1000");
    report(&scratch, "word.json", "job", "many");
    report(&scratch, "negative.json", "job", "-1.5");
    report(&scratch, "endless.json", "job", "1e999");
    scratch.write("half.json", "{\"fio version\": \"fio-3.41\",\n \"jobs\": [ {");
    scratch.write("empty.json", "");
    scratch.write("none.json", "{\"fio version\": \"fio-3.41\", \"jobs\": []}");
    scratch.write("x_iops.1.log", "500, 1, 0, 0, 0\n1000, -1, 0, 0, 0\n");
    for (arguments, reason) in [
        ("good.json half.json", "half.json:2: its JSON cannot be read"),
        ("good.json word.json", "word.json:2: its JSON cannot be read"),
        ("good.json negative.json", "negative.json: iops is -1.5"),
        ("good.json endless.json", "endless.json:2: its JSON cannot be read"),
        ("good.json empty.json", "empty.json: it is empty"),
        ("good.json none.json", "none.json: it is JSON without"),
        ("good.json x_iops.1.log good.json", "x_iops.1.log:2: column 2"),
        ("good.json", "two are needed"),
        ("--no-such-option", "--no-such-option"),
        ("good.json good.json --threshold=-1", "a percentage from 0"),
    ] {
        let finished = run(&scratch, &format!("compare {arguments}"));
        assert!(finished.code == Some(2) && finished.stderr.contains(reason), "{}", finished.all());
        assert!(finished.stdout.is_empty(), "{}", finished.all());
    }
}

#[test]
fn figures_at_the_edges_are_shown_without_a_verdict() {
    let scratch = Scratch::new("compare");
    report(&scratch, "zero.json", "job", "0");
    report(&scratch, "one.json", "job", "1");
    report(&scratch, "huge.json", "job", "1e30");
    report(&scratch, "tiny.json", "job", "4e-320");
    for pair in ["zero.json one.json", "one.json zero.json", "tiny.json huge.json", "huge.json tiny.json"] {
        for form in ["--json", "--markdown", "--html=page.html"] {
            run(&scratch, &format!("compare {pair} {form}")).succeeded().quiet();
        }
        assert_eq!(figure(&compared(&scratch, pair), "read.iops")["verdict"], "unknown", "{pair}");
    }
    report(&scratch, "absurd.json", "job", "1.7e308");
    let refused = run(&scratch, "compare one.json absurd.json");
    assert!(
        refused.code == Some(2) && refused.stderr.contains("iops is 1.7e308, which is impossible"),
        "{}",
        refused.all()
    );
    let same = compared(&scratch, "one.json one.json");
    assert_eq!(figure(&same, "read.iops")["verdict"], "same");
    let remark = same["comparisons"][0]["remarks"][0].as_str().unwrap_or_default();
    assert!(remark.contains("this compares nothing"), "{same:#}");
}

/// Names come from files that anyone may have written.
#[test]
fn no_text_of_a_result_steers_what_shows_it() {
    let scratch = Scratch::new("compare");
    let hostile = "</td><script>alert(1)</script> | `x` @all";
    report(&scratch, "a.json", hostile, "1000");
    report(&scratch, "b.json", hostile, "1001");
    run(&scratch, "compare a.json b.json --html page.html").succeeded();
    let page = scratch.read("page.html");
    assert!(!page.contains("<script") && page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "{page}");
    let markdown = run(&scratch, "compare a.json b.json --markdown").succeeded().stdout;
    assert!(markdown.contains("`</td><script>alert(1)</script> \\| 'x' @all`"), "{markdown}");
    scratch.write("c.json", scratch.read("a.json").replace("@all", "\\u001b[2J"));
    let text = run(&scratch, "compare c.json c.json").succeeded().stdout;
    assert!(text.contains(r"\x1b[2J") && !text.contains('\u{1b}'), "{text}");
}

#[test]
fn other_options_and_other_programs_are_told_first() {
    let scratch = Scratch::new("compare");
    let of_ferrio = "--name=a --ioengine=null --size=1g --rw=randread --output-format=json";
    run(&scratch, &format!("{of_ferrio} --bs=4k --output=a.json")).succeeded();
    run(&scratch, &format!("{of_ferrio} --bs=8k --iodepth=4 --output=b.json")).succeeded();
    report(&scratch, "fio.json", "a", "1000");
    let text = run(&scratch, "compare a.json b.json").succeeded().stdout;
    let place = |part: &str| text.find(part).unwrap_or_else(|| panic!("no {part}: {text}"));
    assert!(place("bs: 4k -> 8k (other work)") < place("verdict"), "{text}");
    assert!(place("iodepth: not given -> 4 (other work)") < place("verdict"), "{text}");
    assert!(!text.contains("Different machine"), "{text}");
    let text = run(&scratch, "compare fio.json a.json").succeeded().stdout;
    assert!(
        text.contains("program: fio-3.41 -> ferrio")
            && text.contains("The new result alone has these facts: ")
            && text.contains("kernel "),
        "{text}"
    );
    assert!(text.contains("The base has not been audited"), "{text}");
}

/// The record of a drop-in holds the evidence, and nobody has looked at it yet.
#[test]
fn records_are_audited() {
    let scratch = Scratch::new("compare");
    let job = "--name=a --ioengine=psync --filename=data --rw=read --bs=64k --output=/dev/null";
    scratch.write("data", vec![7_u8; 8 << 20]);
    for name in ["a", "b"] {
        run(&scratch, &format!("{job} --size=8m --record={name}")).succeeded();
    }
    let document = compared(&scratch, "a b");
    let comparison = &document["comparisons"][0];
    assert_eq!((&comparison["base"]["is_audited"], &comparison["new"]["is_audited"]), (&json!(true), &json!(true)));
    assert_eq!(comparison["surroundings"], json!([]), "{document:#}");
}

#[test]
fn the_precision_of_native_runs_is_used() {
    let scratch = Scratch::new("compare");
    let job = "--name=s --ioengine=sim --sim_time=virtual --rw=randread --size=64m --time_based --runtime=4";
    for (name, service) in [("a", "exponential:300us"), ("b", "exponential:600us")] {
        let finished = run(&scratch, &format!("run --json {job} --sim_service={service}")).succeeded();
        scratch.write(&format!("{name}.json"), finished.stdout);
    }
    let document = compared(&scratch, "a.json b.json");
    for name in ["read.iops", "read.bw", "read.mean", "read.p50"] {
        let figure = figure(&document, name);
        // On a machine that is very busy there may be no interval; there is a reason then, and a change by a factor of 3 needs none.
        let is_known = figure["change"]["interval_percent"].is_array() || figure["basis"] == "size";
        let is_slower = figure["verdict"] == "differs" && is_known;
        let has_reason = figure["verdict"] == "unknown" && figure["reason"].as_str().is_some_and(|why| why.len() > 10);
        assert!(is_slower || has_reason, "{figure:#}");
    }
}

/// Reports and logs of both versions of fio.
#[test]
fn results_of_the_peer_are_compared() {
    const NAME: &str = "compare::results_of_the_peer_are_compared";
    let newest = has_peer(NAME).then_some(Program::Peer);
    for peer in newest.into_iter().chain(has_old_peer(NAME).then_some(Program::OldPeer)) {
        let scratch = Scratch::new("compare");
        for (name, rate) in [("a", 1000), ("b", 800)] {
            let arguments = format!(
                "--name=job --ioengine=null --size=1g --rw=randrw --rate_iops={rate} --runtime=3 --time_based --thread \
                 --output-format=json+ --output={name}.json --write_iops_log={name} --write_lat_log={name} --log_avg_msec=100"
            );
            Run::new(peer, scratch.path(), &arguments).finish().succeeded();
        }
        let logs = |name: &str| format!("{name}.json {name}_iops.1.log {name}_clat.1.log");
        let document = compared(&scratch, &format!("{} {}", logs("a"), logs("b")));
        for direction in ["read", "write"] {
            let figure = figure(&document, &format!("{direction}.iops"));
            assert_eq!(figure["verdict"], "differs", "{peer:?} {figure:#}");
            // On a busy machine a job stays below its rate, so the change is that of the two reports.
            let [base, new] = ["a.json", "b.json"].map(|name| {
                let text = scratch.read(name);
                let report: Value = serde_json::from_str(&text[text.find('{').expect("a report")..]).expect("JSON");
                report["jobs"][0][direction]["iops"].as_f64().expect("a rate")
            });
            let percent = figure["change"]["percent"].as_f64().expect("a number");
            assert!((percent - 100.0 * (new / base - 1.0)).abs() < 0.001, "{peer:?} {base} {new} {figure:#}");
        }
        let options = document["comparisons"][0]["options"].as_array().cloned().unwrap_or_default();
        assert!(
            options.iter().any(|option| option["option"] == "rate_iops" && option["base"] == "1000"),
            "{options:?}"
        );
    }
}
