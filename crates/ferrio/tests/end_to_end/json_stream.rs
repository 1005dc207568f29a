//! With JSON and without text for people, the stream of the documents contains nothing else, whatever messages a run
//! has.
//!
//! Start reading at [`documents`].

use crate::support::{Finished, LoopDevice, Program, Run, Scratch, has_programs, is_root, skip};
use serde_json::Value;

/// All documents of a stream; fails if there is anything else in it.
pub(crate) fn documents(stream: &str, what: &str) -> Vec<Value> {
    let all = serde_json::Deserializer::from_str(stream).into_iter::<Value>().collect::<Result<_, _>>();
    all.unwrap_or_else(|error| panic!("{error}: {what}\n{stream}"))
}

/// `info: text` and `error: text` of each message.
pub(crate) fn messages(document: &Value) -> Vec<String> {
    let list = document["ferrio"]["messages"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().expect("a string").to_owned();
    list.iter().map(|message| text(&message["stream"]) + ": " + &text(&message["text"])).collect()
}

fn run(scratch: &Scratch, arguments: &str) -> Finished {
    Run::new(Program::Ferrio, scratch.path(), arguments).finish()
}

/// Arguments, exit code, and the beginning of each message.
const CASES: &[(&str, i32, &[&str])] = &[
    ("--name=a --ioengine=null --size=64k", 0, &[]),
    ("--name=a --rw=write --size=64k --iodepth=8", 0, &["info: note: both iodepth >= 1 and synchronous I/O engine"]),
    ("--name=a --rw=read --size=64k", 0, &[]),
    (
        "--name=a --rw=write --size=64k --filename=/dev/full",
        1,
        &["error: fio: io_u error on file /dev/full: No space left on device", "info: fio: pid="],
    ),
    ("--name=a --rw=read --size=64k --filename=/dev/null/x", 1, &["error: ", "error: fio: pid=0, err=20/file:"]),
    ("--name=a --ioengine=null --size=64k --unified_rw_reporting=1", 0, &[]),
];

#[test]
fn messages_are_in_the_document() {
    for (arguments, code, expected) in CASES {
        for format in ["json", "json+"] {
            for output in ["", "--output=report"] {
                let scratch = Scratch::new("json-stream");
                let finished = run(&scratch, &format!("{arguments} --output-format={format} {output}"));
                let what = finished.all();
                assert_eq!(finished.code, Some(*code), "{what}");
                let stream = if output.is_empty() { finished.stdout } else { scratch.read("report") };
                let [document] = &documents(&stream, &what)[..] else { panic!("one document: {what}") };
                let found = messages(document);
                assert_eq!(found.len(), expected.len(), "{found:?}\n{what}");
                let is_as_expected = found.iter().zip(*expected).all(|(found, begin)| found.starts_with(begin));
                assert!(is_as_expected, "{found:?}\n{what}");
                assert_eq!(document["ferrio"].get("messages").is_some(), !expected.is_empty(), "{what}");
                // Errors are written twice: into the document, and to the standard error for a person who watches.
                let errors: Vec<&str> = found.iter().filter_map(|message| message.strip_prefix("error: ")).collect();
                assert_eq!(finished.stderr.trim_end(), errors.join("\n"), "{what}");
            }
        }
    }
}

#[test]
fn with_text_for_people_everything_is_as_in_fio() {
    let scratch = Scratch::new("json-and-text");
    let finished = run(&scratch, "--name=a --rw=write --size=64k --iodepth=8 --output-format=normal,json").succeeded();
    let (before, rest) = finished.stdout.split_at(finished.stdout.find("{\n").expect("a document"));
    assert!(before.contains("note: both iodepth >= 1") && before.contains("Starting 1 process\n"), "{before}");
    let (document, after) = rest.split_at(rest.find("\n}\n").expect("the end of the document") + 3);
    assert_eq!(documents(document, "the document")[0]["ferrio"].get("messages"), None);
    assert!(after.starts_with("\na: (groupid=0, jobs=1): err= 0: pid="), "{after}");
}

#[test]
fn terse_lines_stand_before_the_document_and_nothing_else() {
    let scratch = Scratch::new("json-and-terse");
    let finished = run(&scratch, "--name=a --rw=write --size=64k --iodepth=8 --output-format=terse,json").succeeded();
    let (terse, document) = finished.stdout.split_at(finished.stdout.find("{\n").expect("a document"));
    assert!(terse.starts_with("3;fio-") && terse.lines().count() == 1, "{terse}");
    assert_eq!(messages(&documents(document, "the document")[0]).len(), 1);
}

#[test]
fn the_eta_line_never_shares_a_stream_with_documents() {
    let scratch = Scratch::new("json-eta");
    let job = "--name=a --ioengine=null --size=64k --time_based --runtime=1 --eta=always --eta-interval=250ms";
    let finished = run(&scratch, &format!("{job} --output-format=json")).succeeded().quiet();
    assert_eq!(documents(&finished.stdout, "no line").len(), 1);
    // The document is in the file: the line has the standard output for itself.
    let finished = run(&scratch, &format!("{job} --output-format=json --output=report")).succeeded().quiet();
    assert!(finished.stdout.starts_with("Jobs: 1 (f="), "{}", finished.all());
    assert_eq!(documents(&scratch.read("report"), "no line").len(), 1);
}

#[test]
fn lines_of_debug_stand_before_the_document() {
    let scratch = Scratch::new("json-debug");
    let job = "--name=a --ioengine=null --size=64k --debug=io,file,process";
    let finished = run(&scratch, &format!("{job} --output-format=json")).succeeded().quiet();
    let (lines, document) = finished.stdout.split_once("\n{").expect("lines and a document");
    assert!(lines.contains(" complete: io_u "), "{lines}");
    assert!(messages(&documents(&format!("{{{document}"), "a document behind the lines")[0]).is_empty(), "{document}");
    let finished = run(&scratch, &format!("{job} --output-format=json --output=report")).succeeded().quiet();
    assert_eq!(finished.stdout.lines().filter(|line| !line.starts_with("fio: set debug option ")).count(), 0);
    assert!(scratch.read("report").split_once("\n{").is_some_and(|(lines, _)| lines.contains(" complete: io_u ")));
    // Each line is a record; there are no lines between them.
    let finished = run(&scratch, &format!("{job} --output-format=jsonl")).succeeded();
    assert!(finished.stdout.lines().all(|line| line.starts_with('{')), "{}", finished.all());
    assert!(finished.stderr.contains(" complete: io_u "), "{}", finished.all());
}

#[test]
fn a_job_that_writes_to_the_standard_output_leaves_the_standard_error_to_documents() {
    let scratch = Scratch::new("json-stdout");
    let job = "--name=a --rw=write --size=8k --filename=- --iodepth=2 --output-format=json";
    let finished = run(&scratch, &format!("{job} --name=b --filename=/dev/full --size=4k --rw=write"));
    assert_eq!((finished.code, finished.stdout.contains('{')), (Some(2), false), "{}", finished.stderr);
    let all = documents(&finished.stderr, "documents alone");
    let found = messages(&all[0]);
    assert!(found.iter().any(|message| message.contains("failed to get file size of -")), "{}", finished.stderr);
}

#[test]
fn a_run_that_cannot_begin_gives_a_document() {
    let test = "a_run_that_cannot_begin_gives_a_document";
    if !is_root(test) || !has_programs(test, &["losetup", "mkfs.ext4", "mount"]) {
        return;
    }
    let scratch = Scratch::new(test);
    let Some(mut device) = LoopDevice::new(&scratch, 8 << 20) else { return skip(test, "no loop device") };
    if device.mount(&scratch, "mkfs.ext4 -q").is_none() {
        return skip(test, "no ext4 here");
    }
    let arguments = format!("--name=a --size=1m --rw=write --filename={} --output-format=json", device.path());
    let finished = run(&scratch, &arguments);
    assert_eq!(finished.code, Some(1), "{}", finished.all());
    let message = format!("fio: {} appears mounted, and 'allow_mounted_write' isn't set. Aborting.", device.path());
    assert_eq!(finished.stderr.trim_end(), message);
    let [document] = &documents(&finished.stdout, "documents alone")[..] else { panic!("{}", finished.all()) };
    // The peer lists the jobs, with zeros, as if nothing were wrong.
    assert_eq!(document["jobs"].as_array().map(Vec::len), Some(1), "{}", finished.all());
    assert_eq!((&document["jobs"][0]["error"], &document["jobs"][0]["write"]["io_bytes"]), (&16.into(), &0.into()));
    assert_eq!(messages(document), [format!("error: {message}")]);
}
