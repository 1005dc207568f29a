//! Passwords, keys and tokens stand in no output.
//!
//! A marker is the value of every secret option of the table, and the password of every URL; no output and no file has it.
//! Start reading at [`no_output_has_a_secret`].

use crate::support::{Program, Run, Scratch};
use ferrio_spec::Secrecy;
use ferrio_spec::engines::options::TABLES;
use std::path::Path;

/// What no output may have.
const MARKER: &str = "hush4711";

/// Options that are secrets, of engines that are built.
fn secret_options() -> Vec<String> {
    let defs = TABLES.iter().flat_map(|table| table.options).filter(|def| def.secrecy == Secrecy::Secret);
    defs.map(|def| format!("{}={MARKER}", def.name)).collect()
}

/// A job of `http` with all of its secrets, whose server is not there.
fn lines_of_http() -> Vec<String> {
    let mut lines = vec!["ioengine=http".to_owned()];
    lines.extend(secret_options());
    let server = format!("http_host=ada:{MARKER}@127.0.0.1:1");
    lines.extend(
        ["filename=/b/o", "rw=read", "size=4k", "http_mode=s3", "http_s3_keyid=id", &server].map(str::to_owned),
    );
    lines
}

fn job_file(name: &str, lines: &[String]) -> String {
    format!("[{name}]\n{}\n", lines.join("\n"))
}

fn words(lines: &[String]) -> String {
    lines.iter().fold(String::new(), |words, line| words + " --" + line)
}

/// No file below the directory has the marker, but those that the test wrote.
fn look_into(directory: &Path, what: &str) {
    for entry in std::fs::read_dir(directory).expect("the directory").flatten() {
        let path = entry.path();
        if path.is_dir() {
            look_into(&path, what);
        } else if path.extension().is_none_or(|extension| extension != "fio" && extension != "key") {
            let bytes = std::fs::read(&path).expect("a file");
            let has_marker = bytes.windows(MARKER.len()).any(|window| window == MARKER.as_bytes());
            assert!(!has_marker, "{what}: {} has it", path.display());
        }
    }
}

#[test]
fn no_output_has_a_secret() {
    let scratch = Scratch::new("secrets");
    assert!(secret_options().len() >= 5, "{:?}", secret_options());
    let http = lines_of_http();
    scratch.write("http.fio", job_file("a", &http));
    let nbd = vec![
        "ioengine=nbd".to_owned(),
        format!("uri=nbd://ada:{MARKER}@127.0.0.1:1/d"),
        "rw=read".into(),
        "size=4k".into(),
    ];
    scratch.write("nbd.fio", job_file("n", &nbd));
    let iscsi = vec![
        "ioengine=libiscsi".to_owned(),
        format!("filename=iscsi\\://ada%{MARKER}@127.0.0.1\\:1/iqn.a/0?target_password={MARKER}"),
        "rw=read".into(),
        "size=4k".into(),
    ];
    scratch.write("iscsi.fio", job_file("i", &iscsi));
    let (of_http, of_nbd) = (words(&http), words(&nbd));
    let runs = [
        "http.fio".to_owned(),
        "nbd.fio".to_owned(),
        "iscsi.fio".to_owned(),
        "--output-format=json,normal,terse,json+ http.fio".to_owned(),
        "--output-format=jsonl --output=lines.jsonl http.fio".to_owned(),
        "--output-format=json --record=http.record http.fio".to_owned(),
        "--anonymous --output-format=json http.fio".to_owned(),
        "--anonymous --output-format=json iscsi.fio".to_owned(),
        "--showcmd http.fio".to_owned(),
        "--showcmd iscsi.fio".to_owned(),
        "--debug=all http.fio".to_owned(),
        "--debug=all nbd.fio".to_owned(),
        "--debug=all iscsi.fio".to_owned(),
        format!("--output-format=json --record=words.record --name=w{of_http}"),
        format!("--debug=all --name=w{of_nbd}"),
        format!("--name=w{of_http} --bs=x"),
        format!("run --json --html=page.html --name=w{of_http}"),
        format!("run --csv --keep=kept --name=w{of_nbd}"),
        "run --record=iscsi.record iscsi.fio".to_owned(),
        format!("run --keep --name=w{of_http}"),
        "check http.fio".to_owned(),
        "check --json iscsi.fio".to_owned(),
        format!("check --name=w{of_nbd}"),
        "report http.record -o of-record.html".to_owned(),
        "report --anonymous words.record -o anonymous.html".to_owned(),
        "report --output-format=json iscsi.record".to_owned(),
        "history list".to_owned(),
        "history show 1".to_owned(),
        "history export".to_owned(),
        "compare http.record words.record".to_owned(),
        format!("sweep --over=bs=4k,8k -o swept --name=w{of_http}"),
    ];
    for arguments in runs {
        let run = Run::new(Program::Ferrio, scratch.path(), &arguments).without_env("FERRIO_STATE");
        let finished = run.env("XDG_STATE_HOME", &scratch.join("state").display().to_string()).finish();
        let said = format!("{}{}", finished.stdout, finished.stderr);
        assert!(!said.contains(MARKER), "{arguments}: {said}");
        assert!(!said.contains("unrecognized option") && !said.contains("unexpected argument"), "{arguments}: {said}");
        look_into(scratch.path(), &arguments);
    }
}

/// A secret may come from the environment or a file; outputs show where from.
#[test]
fn secrets_come_from_elsewhere() {
    let scratch = Scratch::new("secret-sources");
    scratch.write("pass.key", format!("{MARKER}\n"));
    let job = "--output-format=json --name=w --ioengine=http --filename=/b/o --rw=read --size=4k --http_host=127.0.0.1:1 \
               --http_user=ada --http_pass=file:pass.key --http_s3_key=env:FERRIO_TEST_KEY";
    let finished = Run::new(Program::Ferrio, scratch.path(), job).env("FERRIO_TEST_KEY", MARKER).finish();
    let said = format!("{}{}", finished.stdout, finished.stderr);
    assert!(said.contains("\"http_pass\" : \"file:pass.key\"") && said.contains("env:FERRIO_TEST_KEY"), "{said}");
    assert!(!said.contains(MARKER) && said.contains("refused"), "{said}");
    let absent = Run::new(Program::Ferrio, scratch.path(), job).finish();
    assert_eq!(absent.code, Some(1), "{}", absent.all());
    assert!(
        absent.stderr.contains("http_s3_key=env:FERRIO_TEST_KEY: the environment has no such variable"),
        "{}",
        absent.all()
    );
}
