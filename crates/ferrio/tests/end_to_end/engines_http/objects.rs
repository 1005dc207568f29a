//! Requests for headers and names of objects, and the figures of each kind of request.
//!
//! Start reading at [`requests`].

use super::super::findings::findings_of;
use super::server::{Answer, Asked, Server};
use super::{figure, job};
use crate::counterparts::Counterpart;
use crate::support::{Finished, Program, Run, Scratch};
use serde_json::Value;

const S3: &str = "--http_mode=s3 --http_s3_key=k --http_s3_keyid=i";

/// Kind, count, bytes, absent objects and names of each kind of request.
fn requests(finished: &Finished) -> Vec<(String, [u64; 4])> {
    assert_eq!(finished.code, Some(0), "{}", finished.all());
    let begin = finished.stdout.find("{\n").unwrap_or_else(|| panic!("no document: {}", finished.all()));
    let document: Value = serde_json::from_str(&finished.stdout[begin..]).expect("JSON");
    let all = document["ferrio"]["servers"][0]["requests"].as_array().cloned().unwrap_or_default();
    let figures = |request: &Value| ["count", "bytes", "absent", "names"].map(|key| request[key].as_u64().expect(key));
    let mut all: Vec<_> =
        all.iter().map(|request| (request["kind"].as_str().expect("a kind").to_owned(), figures(request))).collect();
    all.sort_unstable();
    all
}

fn run(server: &Server, options: &str) -> Finished {
    let scratch = Scratch::new("http");
    let common = format!("--name=t --ioengine=http --http_host={} --bs=4k --output-format=json", server.host);
    Run::new(Program::Ferrio, scratch.path(), &format!("{common} {options}")).finish()
}

fn of(kind: &str, figures: [u64; 4]) -> (String, [u64; 4]) {
    (kind.to_owned(), figures)
}

#[test]
fn each_kind_of_request_has_its_figures() {
    let server = Server::start(|_| Answer::Yes);
    let common = format!("--filename=/b/d/o {S3}");
    assert_eq!(requests(&run(&server, &format!("{common} --rw=write --size=16k"))), [of("put", [4, 16_384, 0, 0])]);
    // The object behind the end of the four is not there.
    assert_eq!(requests(&run(&server, &format!("{common} --rw=read --size=20k"))), [of("get", [5, 16_384, 1, 0])]);
    let heads = run(&server, &format!("{common} --rw=read --size=20k --http_read_mode=head"));
    assert_eq!(requests(&heads), [of("head", [5, 0, 1, 0])]);
    let lists = run(&server, &format!("{common} --rw=read --size=8k --http_read_mode=list --http_list_keys=7"));
    assert_eq!(requests(&lists), [of("list", [2, 0, 0, 8])]);
    let last = server.seen().requests.last().cloned().unwrap_or_default();
    assert!(last.starts_with("GET /b?list-type=2&max-keys=7&prefix=d%2F HTTP/1.1\r\n"), "{last}");
    let deletes = run(&server, &format!("{common} --rw=trim --size=20k"));
    assert_eq!(requests(&deletes), [of("delete", [5, 0, 1, 0])]);
    // One connection for all requests of a job: no answer without a body has disturbed the next one.
    assert_eq!(server.seen().n_connections, 5);
}

#[test]
fn a_mix_has_its_shares_and_a_directory_is_listed() {
    let server = Server::start(|_| Answer::Yes);
    let written = run(&server, "--filename=/d/o --rw=write --size=400k");
    assert_eq!(requests(&written), [of("put", [100, 409_600, 0, 0])]);
    let mixed = run(&server, "--filename=/d/o --rw=randread --size=400k --http_read_mode=get/60:head/30:list/10");
    let found = requests(&mixed);
    let count = |kind: &str| found.iter().find(|(other, _)| other == kind).map_or(0, |(_, figures)| figures[0]);
    assert_eq!(count("get") + count("head") + count("list"), 100);
    // Five times the standard deviation of a binomial distribution of 100 draws: 24.5, 22.9 and 15.
    assert!(
        (36..=84).contains(&count("get")) && (8..=52).contains(&count("head")) && (1..=25).contains(&count("list"))
    );
    // The directory itself is no name in it.
    assert_eq!(found.last(), Some(&of("list", [count("list"), 0, 0, 100 * count("list")])));
}

#[test]
fn requests_without_data_are_told_and_not_verified() {
    let server = Server::start(|_| Answer::Yes);
    let scratch = Scratch::new("http");
    let common = format!("--name=t --ioengine=http --http_host={} --filename=/d/o --bs=4k --size=16k", server.host);
    let found = |options: &str| {
        let mut found = findings_of(scratch.path(), &format!("{common} {options}"));
        found.retain(|id| ["absent-objects", "requests-without-data"].contains(&id.as_str()));
        found
    };
    assert_eq!(found("--rw=read"), ["absent-objects"]);
    assert_eq!(found("--rw=write"), Vec::<String>::new());
    assert_eq!(found("--rw=read"), Vec::<String>::new());
    assert_eq!(found("--rw=read --http_read_mode=head"), ["requests-without-data"]);
    for (options, why) in [
        ("--rw=write --verify=crc32c --http_read_mode=head", "only get reads data that can be verified"),
        ("--rw=read --http_read_mode=copy", "copy is no request that reads; allowed: get, head, list"),
        ("--rw=read --http_read_mode=get/50:head/60", "http_read_mode percentages exceed 100%"),
        ("--rw=read --http_read_mode=list --http_mode=swift", "filename has no bucket"),
        ("--rw=read --http_bucket=b", "it has no effect unless http_read_mode has list"),
    ] {
        let refused = Run::new(Program::Ferrio, scratch.path(), &format!("{common} {options}")).finish();
        assert!(refused.code == Some(1) && refused.all().contains(why), "{options}: {}", refused.all());
    }
}

/// The lists of servers of other projects are those of what was written.
#[test]
fn versitygw_lists_what_is_written() {
    let Some(server) = Counterpart::start("versitygw_lists_what_is_written", "s3-versitygw") else { return };
    lists_objects(&server, "");
}

#[test]
fn minio_lists_what_is_written() {
    let Some(server) = Counterpart::start("minio_lists_what_is_written", "s3-minio") else { return };
    lists_objects(&server, &format!("--https=on --http_ca={}", server.setting("CA")));
}

fn lists_objects(server: &Counterpart, tls: &str) {
    let scratch = Scratch::new("http");
    let (host, _) = server.place("S3_ENDPOINT");
    let common = format!(
        "--name=t --ioengine=http --http_mode=s3 --http_host={host} --http_s3_keyid={} --http_s3_key={} {tls} \
         --filename=/{}/dir/o --bs=4k --size=20k --output-format=json",
        server.setting("S3_KEY"),
        server.setting("S3_SECRET"),
        server.setting("S3_BUCKET"),
    );
    let run = |options: &str| Run::new(Program::Ferrio, scratch.path(), &format!("{common} {options}")).finish();
    assert_eq!(requests(&run("--rw=write")), [of("put", [5, 20_480, 0, 0])]);
    assert_eq!(requests(&run("--rw=read --http_read_mode=list")), [of("list", [5, 0, 0, 25])]);
    assert_eq!(requests(&run("--rw=read --http_read_mode=list --http_list_keys=2")), [of("list", [5, 0, 0, 10])]);
    assert_eq!(requests(&run("--rw=read --http_read_mode=head")), [of("head", [5, 0, 0, 0])]);
    assert_eq!(requests(&run("--rw=trim")), [of("delete", [5, 0, 0, 0])]);
    assert_eq!(requests(&run("--rw=read --http_read_mode=head")), [of("head", [5, 0, 5, 0])]);
}

/// Answers of 10 bytes to reads of blocks.
const SHORT: &str = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789";
/// Answers with all of a block of 10 bytes.
const WHOLE: &str = SHORT;
const EMPTY: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

#[test]
fn native_reads_count_with_the_bytes_that_came() {
    let scratch = Scratch::new("http");
    let short = (|_| Answer::Says(SHORT)) as fn(Asked) -> Answer;
    for (answer, n_bytes) in [(short, 100), (|_| Answer::Says(EMPTY), 0)] {
        let server = Server::start(answer);
        let common = format!("--name=t --ioengine=http --http_host={} --filename=/d/o --bs=64k", server.host);
        let options = format!("{common} --rw=read --size=640k");
        let done = Run::new(Program::Ferrio, scratch.path(), &format!("run --json {options}")).finish();
        let document: Value = serde_json::from_str(&done.stdout).expect("JSON");
        let figures = ["bytes", "n_ios", "n_errors"].map(|key| document["jobs"][0][key].as_u64());
        assert_eq!(figures, [Some(n_bytes), Some(10), Some(0)], "{}", done.all());
        let native = Run::new(Program::Ferrio, scratch.path(), &format!("run {options}")).finish();
        assert_eq!(native.code, Some(0), "{}", native.all());
        assert!(native.stdout.contains("10 had fewer bytes"), "{}", native.all());
        // Contents that are checked have to be there.
        let checked = format!("run {common} --rw=read --size=640k --verify=pattern --verify_pattern=0");
        let failed = Run::new(Program::Ferrio, scratch.path(), &checked).finish();
        assert_ne!(failed.code, Some(0), "{}", failed.all());
        assert!(failed.all().contains("bytes that the I/O reads"), "{}", failed.all());
        // fio counts whole blocks.
        let same = Run::new(Program::Ferrio, scratch.path(), &format!("{options} --output-format=json")).finish();
        let figures = ["/read/io_bytes", "/read/total_ios", "/read/short_ios"].map(|path| figure(&same, path));
        assert_eq!(figures, [10 << 16, 10, 0], "{}", same.all());
        let found = findings_of(scratch.path(), &options);
        assert!(found.contains(&"short-objects".to_owned()), "{found:?}");
    }
}

/// The contents of an object that is not there are not zeroes that were checked.
#[test]
fn native_reads_of_absent_objects_count_no_bytes() {
    let scratch = Scratch::new("http");
    let server = Server::start(|asked| if asked.number % 5 == 0 { Answer::Yes } else { Answer::Says(WHOLE) });
    let options = format!("--name=t --ioengine=http --http_host={} --filename=/d/o --bs=10 --size=100", server.host);
    let counts = |document: &Value| ["bytes", "n_ios", "n_errors"].map(|key| document["jobs"][0][key].as_u64());
    let native = Run::new(Program::Ferrio, scratch.path(), &format!("run --json {options} --rw=read")).finish();
    let document: Value = serde_json::from_str(&native.stdout).expect("JSON");
    // Of ten objects, two are not there.
    assert_eq!(counts(&document), [Some(80), Some(10), Some(0)], "{}", native.all());
    assert!(native.stdout.contains("absent-objects") && !native.stdout.contains("short-objects"), "{}", native.all());
    let same = Run::new(Program::Ferrio, scratch.path(), &format!("{options} --rw=read --output-format=json")).finish();
    assert_eq!(["/read/io_bytes", "/read/short_ios"].map(|path| figure(&same, path)), [100, 0], "{}", same.all());
    let checked = format!("run {options} --rw=read --verify=pattern --verify_pattern=0");
    let failed = Run::new(Program::Ferrio, scratch.path(), &checked).finish();
    assert_ne!(failed.code, Some(0), "{}", failed.all());
    assert!(failed.all().contains("the object that the I/O reads is not there"), "{}", failed.all());
}

#[test]
fn a_request_that_is_refused_to_the_end_fails_with_the_refusal() {
    for options in ["--rw=write --size=64k --runtime=1", "--rw=randread --size=64k --time_based --runtime=1"] {
        let (scratch, server) = (Scratch::new("http"), Server::start(|_| Answer::No(503, "")));
        let finished = job(&scratch, &server, &format!("--bs=4k --http_retries=1000 {options}")).finish();
        let what = finished.all();
        assert_eq!(finished.code, Some(1), "{what}");
        assert!(what.contains("failed with HTTP status code 503") && !what.contains("has not answered"), "{what}");
        assert!(what.contains("err=5/file:") && what.contains("func=transfer"), "{what}");
    }
}

#[test]
fn requests_that_meet_a_closed_connection_are_counted() {
    let (scratch, server) = (Scratch::new("http"), Server::start(|_| Answer::Quit));
    let finished = job(&scratch, &server, "--rw=write --bs=4k --size=32k --output-format=json").finish();
    assert_eq!(finished.code, Some(0), "{}", finished.all());
    let document: Value = serde_json::from_str(&finished.stdout[finished.stdout.find('{').unwrap()..]).expect("JSON");
    let steps = &document["ferrio"]["servers"][0];
    // Each request but the first meets the connection that was closed after the one before.
    assert_eq!((&steps["resent"], &steps["retries"]), (&Value::from(7), &Value::from(0)), "{steps}");
}

#[test]
fn objects_may_be_empty() {
    let scratch = Scratch::new("http");
    let server = Server::start(|_| Answer::Yes);
    let objects = "--filename_format=/b/$filenum --nrfiles=20 --filesize_split=0/50:4k/50 --whole_files=1";
    let common = format!("--name=t --ioengine=http --http_host={} --http_object_mode=range {objects}", server.host);
    for (kind, rw) in [("put", "write"), ("get", "read")] {
        let options = format!("{common} --rw={rw} --output-format=json");
        let done = Run::new(Program::Ferrio, scratch.path(), &options).finish();
        let n_bytes: usize = server.seen().objects.values().map(Vec::len).sum();
        let n_empty = server.seen().objects.values().filter(|object| object.is_empty()).count();
        assert!(n_empty > 0 && n_empty < 20, "{n_empty}");
        assert_eq!(requests(&done), [of(kind, [20, n_bytes as u64, 0, 0])]);
    }
    let found = findings_of(scratch.path(), &format!("{common} --rw=read"));
    assert!(!found.contains(&"short-objects".to_owned()), "{found:?}");
}
