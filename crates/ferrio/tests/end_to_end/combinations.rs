//! The parts of an output and their order, by the switches that choose formats.
//!
//! Start reading at [`parts`].

use crate::json_stream::documents;
use crate::support::{Program, Run, Scratch, peer_too};

/// Switches, and the parts: `s` start-up lines, `t` a line of terse, `d` a line of a description, `j` JSON, `J` JSON with
/// bins, `n` text for people.
const SWITCHES: &[(&str, &str)] = &[
    ("", "sn"),
    ("--output-format=normal", "sn"),
    ("--output-format=terse", "t"),
    ("--output-format=minimal", "t"),
    ("--output-format=csv", "t"),
    ("--output-format=json", "j"),
    ("--output-format=json+", "J"),
    ("--output-format=json,json+", "J"),
    ("--output-format=json+,json", "J"),
    ("--output-format=normal,json", "sjn"),
    ("--output-format=json,normal", "sjn"),
    ("--output-format=normal,terse", "stn"),
    ("--output-format=terse,json", "tj"),
    ("--output-format=json+,terse", "tJ"),
    ("--output-format=normal,json,terse", "stjn"),
    ("--output-format=json+,normal,terse", "stJn"),
    ("--output-format=json --output-format=terse", "t"),
    ("--output-format=terse --output-format=normal", "sn"),
    ("--minimal", "t"),
    ("--minimal --output-format=json", "j"),
    ("--output-format=json --minimal", "t"),
    ("--append-terse", "stn"),
    ("--append-terse --output-format=json", "j"),
    ("--output-format=json --append-terse", "tj"),
    ("--output-format=terse --append-terse", "t"),
    ("--minimal --append-terse", "t"),
    ("--minimal --terse-version=2", "t"),
    ("--minimal --terse-version=4", "t"),
    ("--minimal --terse-version=5", "t"),
    ("--minimal --terse-version=2 --description=text", "td"),
    ("--minimal --terse-version=3 --description=text", "t"),
    ("--output-format=terse,json --terse-version=2 --description=text", "tdj"),
    ("--output-format=normal,terse --terse-version=5 --eta=never", "stn"),
];

/// The parts in their order. Text between them that is none of them shows as `?`.
fn parts(output: &str, what: &str) -> String {
    let (before, rest) = output.split_at(output.find("{\n").unwrap_or(output.len()));
    let (json, after) = rest.split_at(rest.find("\n}\n").map_or(0, |end| end + 3));
    let mut parts = lines(before);
    if !json.is_empty() {
        let all = documents(json, what);
        parts.push(if all[0].pointer("/jobs/0/read/clat_ns/bins").is_some() { 'J' } else { 'j' });
    }
    parts + &lines(after)
}

fn lines(text: &str) -> String {
    let mut parts = String::new();
    for line in text.lines() {
        let part = match line {
            _ if parts.ends_with('n') => 'n',
            "" => continue,
            _ if line.starts_with("a: (g=0): rw=read") || line.starts_with("fio-") => 's',
            _ if line.starts_with("Starting 1 process") => 's',
            _ if line.starts_with("a: (groupid=0, jobs=1): err= 0: pid=") => 'n',
            _ if line.starts_with(';') => 'd',
            _ if line.starts_with(['2', '3', '4', '5']) && line.contains(";a;0;0;") => 't',
            _ => '?',
        };
        if !parts.ends_with(part) {
            parts.push(part);
        }
    }
    parts
}

#[test]
fn outputs_have_their_parts_in_order() {
    let test = "outputs_have_their_parts_in_order";
    let programs: &[Program] = if peer_too(test) { &[Program::Ferrio, Program::Peer] } else { &[Program::Ferrio] };
    for (switches, expected) in SWITCHES {
        for program in programs {
            let scratch = Scratch::new(test);
            // The description belongs to the job, so it has to follow the job's name.
            let (before, behind) = switches.split_once("--description").unwrap_or((switches, ""));
            let behind = if behind.is_empty() { String::new() } else { format!("--description{behind}") };
            let job = format!("{before} --name=a --ioengine=null --size=64k {behind}");
            let to_stdout =
                Run::new(*program, scratch.path(), &job).recorded("combinations", &[]).finish().succeeded().quiet();
            let what = to_stdout.all();
            assert_eq!(parts(&to_stdout.stdout, &what), *expected, "{what}");
            let to_file = Run::new(*program, scratch.path(), &format!("--output=report {job}"))
                .recorded("combinations", &["report"])
                .finish()
                .succeeded();
            assert_eq!((to_file.stdout.as_str(), to_file.stderr.as_str()), ("", ""), "{}", to_file.all());
            assert_eq!(parts(&scratch.read("report"), &what), *expected, "{what}");
        }
    }
}

/// Texts that fio prints as they are, which makes its documents invalid.
const TEXTS: [&str; 9] = [
    "quo\"te",
    "back\\slash\\",
    "\\\"",
    "\x01\x1b[31m\x7f.",
    "tab\there",
    "caf\u{e9} \u{1f4be} \u{2028}",
    "{\"a\":[",
    "</script>",
    "per%cent%s%n",
];

#[test]
fn texts_of_all_kinds_survive_in_documents() {
    let scratch = Scratch::new("texts");
    let long = "long".repeat(2_000);
    for text in TEXTS.iter().copied().chain([long.as_str()]) {
        scratch.write("a.fio", format!("[a]\nioengine=null\nsize=4k\ndescription={text}\n"));
        let run = Run::new(Program::Ferrio, scratch.path(), "a.fio --output-format=json+,terse,normal").finish();
        let output = run.succeeded().quiet().stdout;
        let start = output.find("{\n").expect("a document");
        let end = output.find("\n}\n").expect("its end") + 3;
        let document = &documents(&output[start..end], text)[0];
        assert_eq!(document["jobs"][0]["desc"], text);
        assert_eq!(document["jobs"][0]["job options"]["description"], text);
        assert!(output.contains(&format!(";{text}\n")) && output.contains(&format!("[{text}]\n")), "{output}");
    }
}

#[test]
fn names_of_all_kinds_survive_in_documents() {
    let scratch = Scratch::new("names");
    let long = "n".repeat(250);
    for name in TEXTS.iter().copied().chain([long.as_str()]) {
        scratch.write("a.fio", format!("[{name}]\nioengine=null\nsize=4k\n"));
        let run = Run::new(Program::Ferrio, scratch.path(), "a.fio --output-format=json").finish();
        let output = run.succeeded().quiet().stdout;
        // A bracket ends the name.
        let name = name.split(']').next().expect("a name");
        assert_eq!(documents(&output, name)[0]["jobs"][0]["jobname"], name);
    }
}
