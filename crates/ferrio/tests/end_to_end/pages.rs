//! `ferrio report RESULT... -o PAGE.html` and `ferrio run --html`: pages of ferrio's and fio's results.
//!
//! Start reading at [`a_page_shows_the_figures_of_the_report`].

use crate::support::{Finished, Program, Run, Scratch};

fn run(scratch: &Scratch, arguments: &str) -> Finished {
    Run::new(Program::Ferrio, scratch.path(), arguments).finish()
}

#[test]
fn a_page_shows_the_figures_of_the_report() {
    let scratch = Scratch::new("page");
    let job = "--name=a --ioengine=null --size=64m --rw=randrw --output-format=json+ --output=run.json";
    run(&scratch, job).succeeded();
    run(&scratch, "report run.json -o page.html").succeeded();
    let page = scratch.read("page.html");
    let report: serde_json::Value = serde_json::from_str(&scratch.read("run.json")).expect("JSON");
    for direction in ["read", "write"] {
        let iops = report["jobs"][0][direction]["iops"].as_f64().expect("a rate");
        assert!(page.contains(&format!("data-value=\"{iops}\"")), "{direction} {iops}");
    }
    assert!(page.contains("\"id\":\"cumulative\""));
}

#[test]
fn a_run_makes_its_own_page() {
    let scratch = Scratch::new("page");
    let job = "run --html=page.html --name=a --ioengine=null --size=1g --rw=read";
    let finished = run(&scratch, job).succeeded();
    assert!(finished.stdout.contains("IOPS"), "{}", finished.all());
    let page = scratch.read("page.html");
    assert!(page.contains("\"id\":\"cumulative\"") && page.contains("<h3>Findings</h3>"));
    let refused = run(&scratch, "run --html=no/such/page.html --name=a --ioengine=null --size=1g --rw=read");
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("cannot write the page no/such/page.html: "), "{}", refused.all());
}

/// A job that fails before its first I/O has no figures, against which nothing would speak.
#[test]
fn a_page_without_figures_judges_none() {
    let scratch = Scratch::new("page-none");
    let job = "run --html=page.html --name=a --ioengine=null --size=0";
    assert_eq!(run(&scratch, job).code, Some(1));
    let page = scratch.read("page.html");
    assert!(page.contains("There are no figures that could be judged.") && !page.contains("Nothing speaks against"));
}

#[test]
fn what_is_no_result_is_an_error_with_file_and_line() {
    let scratch = Scratch::new("page");
    scratch.write("log_bw.1.log", "0, 1, 0, 4096, 0\n1, x, 0, 4096, 0\n");
    scratch.write("text.txt", "hello\n");
    scratch.write("cut.json", "{ \"fio version\" : \"fio-3.33\",\n  \"jobs\" : [ {");
    for (file, expected) in [
        ("log_bw.1.log", "log_bw.1.log:2: column 2 is \"x\""),
        ("text.txt", "text.txt: it is no result"),
        ("cut.json", "cut.json:2: its JSON cannot be read"),
        ("missing", "missing: it cannot be read: No such file"),
    ] {
        let finished = run(&scratch, &format!("report {file} -o page.html"));
        assert_eq!(finished.code, Some(2), "{}", finished.all());
        assert!(finished.stderr.contains(expected), "{}", finished.all());
        assert!(!scratch.names().contains(&"page.html".to_owned()), "{file}");
    }
}

/// The data of the charts of a page.
fn charts(page: &str) -> serde_json::Value {
    let start = page.find("id=\"data\">").expect("the data") + "id=\"data\">".len();
    serde_json::from_str(&page[start..start + page[start..].find("</script>").expect("its end")]).expect("JSON")
}

/// Where the horizontal values of a chart begin and end.
fn reach(page: &str, id: &str) -> (f64, f64) {
    let charts = charts(page);
    let chart = charts[0].as_array().expect("charts").iter().find(|chart| chart["id"] == id).expect("this chart");
    let x = chart["content"]["lines"][0]["x"].as_array().expect("values");
    let at = |value: Option<&serde_json::Value>| value.and_then(serde_json::Value::as_f64).expect("a number");
    (at(x.first()), at(x.last()))
}

#[test]
fn compressed_logs_and_times_of_the_clock_are_read() {
    let scratch = Scratch::new("page");
    let job = "--name=a --ioengine=null --rw=read --time_based --runtime=1 --rate_iops=1000 --size=1g";
    let stored = "--write_lat_log=z --log_compression=1m --log_store_compressed=1";
    run(&scratch, &format!("{job} {stored}")).succeeded();
    run(&scratch, "report z_clat.1.log.fz -o z.html").succeeded();
    let (start, end) = reach(&scratch.read("z.html"), "latency");
    assert!(start < 0.1 && (0.9..1.1).contains(&end), "{start} to {end}");
    run(&scratch, &format!("{job} --write_lat_log=e --write_iops_log=e --log_unix_epoch=1")).succeeded();
    run(&scratch, "report e_clat.1.log e_iops.1.log -o e.html").succeeded();
    for chart in ["latency", "iops"] {
        let (start, end) = reach(&scratch.read("e.html"), chart);
        assert!(start < 1.0 && (0.8..3.0).contains(&end), "{chart}: {start} to {end}");
    }
    scratch.write("broken_lat.1.log.fz", "no stream");
    let broken = run(&scratch, "report broken_lat.1.log.fz -o b.html");
    assert!(broken.stderr.contains("broken_lat.1.log.fz: it cannot be inflated"), "{}", broken.all());
}

#[test]
fn documents_of_native_commands_and_lines_are_read() {
    let scratch = Scratch::new("page");
    let job = "--name=a --ioengine=null --rw=randrw --time_based --runtime=1 --rate_iops=1000 --size=1g";
    let document = run(&scratch, &format!("run --json {job}")).succeeded().stdout;
    scratch.write("native.json", &document);
    run(&scratch, "report native.json -o n.html").succeeded();
    let document: serde_json::Value = serde_json::from_str(&document).expect("JSON");
    for row in document["jobs"].as_array().expect("rows") {
        let iops = row["ios_per_sec"].as_f64().expect("a rate");
        assert!(scratch.read("n.html").contains(&format!("data-value=\"{iops}\"")), "{row}");
    }
    run(&scratch, &format!("{job} --output-format=jsonl --status-interval=100ms --output=run.jsonl")).succeeded();
    run(&scratch, "report run.jsonl -o l.html").succeeded();
    let (start, end) = reach(&scratch.read("l.html"), "iops");
    assert!(start < 1.0 && (0.8..3.0).contains(&end), "{start} to {end}");
    // A run that was cut off.
    let lines = scratch.read("run.jsonl");
    let cut: Vec<&str> = lines.lines().filter(|line| !line.starts_with("{\"record\":\"job\"")).take(6).collect();
    scratch.write("cut.jsonl", &(cut.join("\n") + "\n{\"record\":\"inter"));
    run(&scratch, "report cut.jsonl -o c.html").succeeded();
    assert!(scratch.read("c.html").contains("The run was cut off"), "a remark");
}

#[test]
fn a_record_has_the_course_of_its_run() {
    let scratch = Scratch::new("page");
    let job = "--name=a --ioengine=null --rw=read --time_based --runtime=1 --rate_iops=1000 --size=1g --record=r";
    run(&scratch, job).succeeded();
    run(&scratch, "report r -o r.html").succeeded();
    for chart in ["iops", "bandwidth", "latency"] {
        let (start, end) = reach(&scratch.read("r.html"), chart);
        assert!(start < 1.0 && (0.8..3.0).contains(&end), "{chart}: {start} to {end}");
    }
    assert!(!scratch.read("r.html").contains("by host"), "the run was one of a single host");
}

/// A pipe that nobody writes to is not waited for, and no device is read to its end.
#[test]
fn what_is_no_file_is_refused() {
    let scratch = Scratch::new("page");
    let made = std::process::Command::new("mkfifo").arg(scratch.join("pipe")).status();
    assert!(made.is_ok_and(|status| status.success()));
    std::os::unix::fs::symlink("/dev/zero", scratch.join("endless_bw.1.log")).expect("a link");
    for arguments in [
        "report pipe -o page.html",
        "report pipe",
        "report endless_bw.1.log -o page.html",
        "report / -o page.html",
        "compare pipe pipe",
        "plot endless_bw.1.log -o plot.svg",
    ] {
        let finished = run(&scratch, arguments);
        assert!(finished.code != Some(0) && finished.stderr.contains("it is no regular file"), "{}", finished.all());
    }
}

/// Two jobs that ran one after the other, each with its logs of windows that the next job's do not meet.
fn stonewalled(scratch: &Scratch) {
    let jobs = "[global]\nioengine=null\nsize=1g\nrw=read\ntime_based\nruntime=1\nwrite_iops_log=s\nlog_avg_msec=100\n\
                [one]\nrate_iops=1000\n[two]\nstonewall\nrate_iops=3000\n";
    scratch.write("s.fio", jobs);
    run(scratch, "s.fio --record=s.record --output=s.json --output-format=json").succeeded();
}

/// The values of the first line of a chart in a view of the page.
fn values(view: &serde_json::Value, id: &str) -> Vec<f64> {
    let chart = view.as_array().expect("charts").iter().find(|chart| chart["id"] == id).expect("this chart");
    let y = chart["content"]["lines"][0]["y"].as_array().expect("values");
    y.iter().map(|value| value.as_f64().expect("a number")).collect()
}

/// Two jobs one after the other are together never faster than the faster of them, and lie behind each other. (On a busy machine each
/// catches up with its rate in bursts.)
#[test]
fn jobs_that_ran_one_after_another_are_not_added() {
    let scratch = Scratch::new("page");
    stonewalled(&scratch);
    for inputs in ["s.json s_iops.1.log s_iops.2.log", "s.record"] {
        run(&scratch, &format!("report {inputs} -o s.html")).succeeded();
        let page = scratch.read("s.html");
        assert!(page.contains("all 2 jobs together"), "{inputs}");
        let views = charts(&page);
        let views = views.as_array().expect("views");
        assert_eq!(views.len(), 3, "all together, and each alone");
        let highest = |view| values(view, "iops").into_iter().fold(0.0, f64::max);
        let (together, alone) = (highest(&views[0]), highest(&views[1]).max(highest(&views[2])));
        assert!(together > 0.0 && together <= alone * 1.001, "{inputs}: {together} and {alone}");
        let (start, end) = reach(&page, "iops");
        assert!(start < 0.3 && end > 1.7, "{inputs}: {start} to {end}");
    }
}

/// Logs whose times count from the start of their job do not say which jobs ran together.
#[test]
fn logs_without_their_report_are_not_added() {
    let scratch = Scratch::new("page");
    stonewalled(&scratch);
    run(&scratch, "report s_iops.1.log s_iops.2.log -o l.html").succeeded();
    let page = scratch.read("l.html");
    assert!(page.contains("it is unknown when each of them began"), "a note");
    let all = charts(&page);
    let names: Vec<&str> = all[0][0]["content"]["lines"]
        .as_array()
        .expect("lines")
        .iter()
        .map(|line| line["name"].as_str().expect("a name"))
        .collect();
    assert_eq!(names, ["s (job 1): read", "s (job 2): read"]);
}

/// Logs never have syncs; the intervals of a record do.
#[test]
fn syncs_are_drawn_over_time() {
    let scratch = Scratch::new("page-syncs");
    let job = "--name=a --size=256k --bs=4k --rw=write --fdatasync=2";
    Run::new(Program::Ferrio, scratch.path(), &format!("--record=run.record {job}")).finish().succeeded();
    for arguments in ["report run.record -o page.html", "plot run.record --kind over-time -o plot.svg"] {
        Run::new(Program::Ferrio, scratch.path(), arguments).finish().succeeded();
    }
    let (page, picture) = (scratch.read("page.html"), scratch.read("plot.svg"));
    for expected in ["\"id\":\"syncs\"", "\"id\":\"sync-latency\"", "\"name\":\"sync max\""] {
        assert!(page.contains(expected), "{expected}");
    }
    assert!(picture.contains("Latency of syncs over time, sync") && picture.contains("Syncs per second over time"));
}
