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
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("cannot write the page"), "{}", refused.all());
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
        assert_eq!(finished.code, Some(1), "{}", finished.all());
        assert!(finished.stderr.contains(expected), "{}", finished.all());
        assert!(!scratch.names().contains(&"page.html".to_owned()), "{file}");
    }
}
