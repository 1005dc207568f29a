//! `ioengine=http`: against a server of the tests, that can be slow, silent, wrong or gone, and against real ones.
//!
//! Start reading at [`run`]. No test waits for a time.

mod objects;
mod real;
mod server;

use super::findings::findings_of;
use crate::support::{Finished, Program, Run, Running, Scratch, send};
use rustix::process::Signal;
use serde_json::Value;
use server::{Answer, Asked, Server, header};
use std::time::Duration;

/// The run of a job on a server.
fn job(scratch: &Scratch, server: &Server, options: &str) -> Run {
    let common = format!("--name=t --ioengine=http --http_host={} --filename=/d/o", server.host);
    Run::new(Program::Ferrio, scratch.path(), &format!("{common} {options}"))
}

/// A job on a server that answers in this way, and the server.
fn run(answer: fn(Asked) -> Answer, options: &str) -> (Finished, Server) {
    let scratch = Scratch::new("http");
    let server = Server::start(answer);
    (job(&scratch, &server, options).finish(), server)
}

/// A number of the job in a document.
fn figure(finished: &Finished, path: &str) -> u64 {
    let text = &finished.stdout;
    let begin = text.find("{\n").unwrap_or_else(|| panic!("no document: {}", finished.all()));
    let document: Value = serde_json::from_str(&text[begin..]).expect("JSON");
    document["jobs"][0].pointer(path).and_then(Value::as_u64).unwrap_or_else(|| panic!("{path}: {text}"))
}

#[test]
fn each_block_is_an_object_and_is_read_back() {
    let options = "--rw=write --bs=4k --size=32k --verify=crc32c --output-format=json --iodepth=8";
    let (finished, server) = run(|_| Answer::Yes, options);
    assert_eq!(finished.code, Some(0), "{}", finished.all());
    assert_eq!((figure(&finished, "/write/total_ios"), figure(&finished, "/read/total_ios")), (8, 8));
    assert!(finished.all().contains("queue depth will be capped at 1"), "{}", finished.all());
    // The time of submission is no part of a synchronous I/O.
    assert_eq!(figure(&finished, "/write/slat_ns/N"), 0);
    let seen = server.seen();
    let names: Vec<String> = seen.objects.keys().cloned().collect();
    let mut expected: Vec<String> = (0..8).map(|block| format!("/d/o_{}_4096", block * 4096)).collect();
    expected.sort();
    assert_eq!(names, expected);
    assert!(seen.objects.values().all(|object| object.len() == 4096));
    // One connection, which is kept.
    assert_eq!((seen.n_connections, seen.requests.len()), (1, 16));
}

#[test]
fn a_file_is_an_object_in_range_mode() {
    let scratch = Scratch::new("http");
    let server = Server::start(|_| Answer::Yes);
    let options = "--http_object_mode=range --size=64k --verify=crc32c --verify_interval=4k --output-format=json";
    let written = job(&scratch, &server, &format!("{options} --rw=write --bs=64k --do_verify=0")).finish();
    assert_eq!(written.code, Some(0), "{}", written.all());
    assert_eq!(server.seen().objects.keys().collect::<Vec<_>>(), ["/d/o"]);
    let read = job(&scratch, &server, &format!("{options} --rw=randread --bs=4k")).finish();
    assert_eq!((read.code, figure(&read, "/read/total_ios")), (Some(0), 16), "{}", read.all());
    let seen = server.seen();
    assert_eq!(seen.requests.iter().filter(|head| header(head, "range").is_some()).count(), 16);
    assert!(seen.requests.iter().any(|head| header(head, "range").as_deref() == Some("bytes=61440-65535")));
}

#[test]
fn trims_delete_and_other_requests_keep_their_methods() {
    let options = "--rw=trimwrite --bs=4k --size=16k --output-format=json";
    let (finished, server) = run(|_| Answer::Yes, options);
    assert_eq!(finished.code, Some(0), "{}", finished.all());
    // Each block is trimmed, then written.
    assert_eq!((figure(&finished, "/trim/total_ios"), figure(&finished, "/write/total_ios")), (4, 4));
    let seen = server.seen();
    let methods: Vec<&str> = seen.requests.iter().filter_map(|head| head.split(' ').next()).collect();
    assert_eq!(methods, ["DELETE", "PUT"].repeat(4));
    assert_eq!(seen.objects.len(), 4);
}

#[test]
fn a_missing_object_reads_as_zeroes() {
    let options = "--rw=read --bs=4k --size=16k --verify=pattern --verify_pattern=0";
    let (finished, _) = run(|_| Answer::Yes, options);
    assert_eq!(finished.code, Some(0), "{}", finished.all());
    let (finished, _) = run(|_| Answer::Yes, &options.replace("pattern=0", "pattern=1"));
    assert_eq!(finished.code, Some(1), "{}", finished.all());
}

#[test]
fn the_last_block_goes_beyond_a_size_that_is_no_multiple() {
    let (finished, server) = run(|_| Answer::Yes, "--rw=write --bs=4k --size=10000");
    assert_eq!(finished.code, Some(0), "{}", finished.all());
    assert!(server.seen().objects.contains_key("/d/o_8192_4096"));
    let (finished, _) = run(|_| Answer::Yes, "--rw=write --bs=4k");
    assert!(finished.all().contains("you need to specify size="), "{}", finished.all());
}

/// Checks the end of a job that fails at its third request, with fio's lines and the reason in words.
fn fails(answer: fn(Asked) -> Answer, options: &str, line: &str, why: &str) {
    let (finished, _) = run(answer, &format!("--bs=4k --size=64k {options}"));
    let what = format!("{line} {why}: {}", finished.all());
    assert_eq!(finished.code, Some(1), "{what}");
    assert!(finished.all().contains(line) && finished.all().contains(why), "{what}");
    assert!(what.contains("err=5/file:") && what.contains("func=transfer, error=Input/output error"), "{what}");
    assert!(!what.contains("io_u error"), "{what}");
    assert!(what.contains("total=3,0,0,0") || what.contains("total=0,3,0,0"), "{what}");
}

/// The third request is answered like this, and all others well.
macro_rules! third {
    ($answer:expr) => {
        |asked: Asked| if asked.number == 2 { $answer } else { Answer::Yes }
    };
}

#[test]
fn a_status_of_an_error_ends_the_job() {
    let line = "DDIR_WRITE failed with HTTP status code 403";
    fails(third!(Answer::No(403, "")), "--rw=write", line, "does not allow this user");
    fails(
        third!(Answer::No(403, "<Error><Code>RequestTimeTooSkewed</Code><Message>Too late.</Message></Error>")),
        "--rw=write",
        line,
        "the server says RequestTimeTooSkewed (Too late): the clock of this machine differs",
    );
    fails(third!(Answer::No(500, "")), "--rw=read", "DDIR_READ failed with HTTP status code 500", "");
    fails(third!(Answer::No(503, "")), "--rw=read", "code 503", "more requests than it takes");
    fails(third!(Answer::No(413, "")), "--rw=write", "code 413", "larger than the server takes");
    fails(third!(Answer::No(401, "")), "--rw=write", "code 401", "see http_user and http_pass");
}

#[test]
fn a_broken_answer_ends_the_job() {
    for (answer, why) in [
        (third!(Answer::Says("SSH-2.0-x\r\n\r\n")) as fn(Asked) -> Answer, "no answer of HTTP"),
        (third!(Answer::Says("HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n")), "longer than the block"),
        (third!(Answer::Endless("HTTP/1.1 200 OK\r\n\r\n", "xxxxxxxxxxxxxxxx")), "longer than the block"),
        (third!(Answer::Endless("HTTP/1.1 200 OK\r\n", "Header: value\r\n")), "headers of the answer are longer"),
        (third!(Answer::Endless("", "HTTP/1.1 100 Continue\r\n\r\n")), "interim answers without an end"),
        (
            third!(Answer::Endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "3\r\nabc\r\n")),
            "longer than the block",
        ),
    ] {
        fails(answer, "--rw=read", "", why);
    }
}

#[test]
fn an_answer_that_is_cut_ends_the_job_and_a_short_one_does_not() {
    let cut = third!(Answer::SaysLast("HTTP/1.1 200 OK\r\nContent-Length: 4096\r\n\r\nabc"));
    fails(cut, "--rw=read", "", "in the middle of its answer: 3 of 4096 bytes have come");
    let short = third!(Answer::Says("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc"));
    let (finished, server) = run(short, "--rw=read --bs=4k --size=64k --output-format=json");
    assert_eq!((finished.code, figure(&finished, "/read/io_bytes")), (Some(0), 65_536), "{}", finished.all());
    assert_eq!(server.seen().n_connections, 1);
}

#[test]
fn an_error_page_without_an_end_is_not_read_for_ever() {
    let page = third!(Answer::Endless("HTTP/1.1 500 X\r\n\r\n", "<p>sorry</p>"));
    fails(page, "--rw=write", "DDIR_WRITE failed with HTTP status code 500", "");
}

#[test]
fn the_steps_of_requests_are_figures() {
    let options = "--rw=write --bs=4k --size=32k --output-format=json+";
    let (finished, _) = run(|asked| if asked.number == 4 { Answer::Quit } else { Answer::Yes }, options);
    assert_eq!(finished.code, Some(0), "{}", finished.all());
    let document: Value = serde_json::from_str(&finished.stdout[finished.stdout.find('{').unwrap()..]).expect("JSON");
    let steps = &document["ferrio"]["servers"][0];
    // The connection was closed once in the middle; the request after that was sent twice, but answered once.
    assert_eq!((&steps["connections"], &steps["reconnects"]), (&Value::from(2), &Value::from(1)), "{steps}");
    let n = |step: &str| steps[step]["N"].as_u64();
    assert_eq!(
        (n("connect_ns"), n("tls_ns"), n("first_byte_ns"), n("body_ns")),
        (Some(2), None, Some(8), Some(8)),
        "{steps}"
    );
    assert!(steps["first_byte_ns"]["percentile"]["50.000000"].is_u64(), "{steps}");
}

#[test]
fn a_connection_that_the_server_closes_is_made_again() {
    for answer in [(|_| Answer::Last) as fn(Asked) -> Answer, |_| Answer::Quit] {
        let (finished, server) = run(answer, "--rw=write --bs=4k --size=32k --verify=crc32c");
        assert_eq!(finished.code, Some(0), "{}", finished.all());
        let seen = server.seen();
        assert_eq!((seen.n_connections, seen.objects.len()), (16, 8));
    }
}

#[test]
fn a_server_that_is_cut_ends_the_job() {
    // The request is sent once more over a new connection, as the server may have closed the old one while it was idle.
    let answer = |asked: Asked| if asked.number < 10 { Answer::Yes } else { Answer::Cut };
    let (finished, server) = run(answer, "--rw=read --bs=4k --size=64k");
    let what = finished.all();
    assert_eq!(finished.code, Some(1), "{what}");
    assert!(what.contains("closed the connection without an answer") && what.contains("err=5/file:"), "{what}");
    assert_eq!(server.seen().n_connections, 2);
}

#[test]
fn a_silent_server_does_not_hold_a_stopped_job() {
    let scratch = Scratch::new("http");
    let server = Server::start(|asked| if asked.number < 5 { Answer::Yes } else { Answer::Never });
    let options = "--rw=randread --bs=4k --size=1m --time_based --runtime=100000";
    let mut running: Running = job(&scratch, &server, options).start();
    running.wait_until("requests", |_| server.seen().requests.len() >= 6);
    send(running.pid(), Signal::INT);
    let finished = running.finish();
    let what = finished.all();
    assert_eq!(finished.code, Some(128), "{what}");
    assert!(what.contains("err= 0: pid="), "{what}");
    // The request without an answer does not count.
    assert!(what.contains("issued rwts: total=5,0,0,0"), "{what}");
}

#[test]
fn a_silent_server_does_not_hold_a_job_whose_runtime_is_over() {
    let silent = |asked: Asked| if asked.number < 5 { Answer::Yes } else { Answer::Never };
    let (finished, _) = run(silent, "--rw=randread --bs=4k --size=1m --time_based --runtime=1");
    let what = finished.all();
    assert_eq!(finished.code, Some(1), "{what}");
    assert!(what.contains("err=110 (") || what.contains("err=110/"), "{what}");
    assert!(what.contains("issued rwts: total=5,0,0,0"), "{what}");
}

/// A kind of server, and its answers.
type AnswersLike = (&'static str, fn(Asked) -> Answer);

/// Whatever of an answer is missing: a byte now and then is none, in the head or in the body.
#[test]
fn a_silent_server_does_not_hold_a_job_beyond_its_time() {
    let answers: [AnswersLike; 4] = [
        ("silent", |asked| if asked.number < 5 { Answer::Yes } else { Answer::Never }),
        ("half a head", |asked| if asked.number < 5 { Answer::Yes } else { Answer::Says("HTTP/1.1 200 OK\r\nConte") }),
        ("dripping head", |asked| match asked.number {
            0..5 => Answer::Yes,
            _ => Answer::Drips("HTTP/1.1 200 OK\r\nX-Long: "),
        }),
        ("dripping body", |asked| match asked.number {
            0..5 => Answer::Yes,
            _ => Answer::Drips("HTTP/1.1 200 OK\r\nContent-Length: 4096\r\n\r\n"),
        }),
    ];
    for (what, answer) in answers {
        for (options, n_reads) in
            [("--runtime=300ms", 5), ("--runtime=300ms --thread", 5), ("--runtime=300ms --ramp_time=200ms", 0)]
        {
            let common = "--rw=randread --bs=4k --size=1m --time_based --output-format=json";
            let (finished, _) = run(answer, &format!("{common} {options}"));
            let what = format!("{what} {options}: {}", finished.all());
            assert_eq!((finished.code, figure(&finished, "/error")), (Some(1), 110), "{what}");
            // What was answered counts, and the wait for the rest is no part of the rates.
            let expected = if n_reads > 0 { [n_reads, 300] } else { [0, 0] };
            assert_eq!(["/read/total_ios", "/read/runtime"].map(|name| figure(&finished, name)), expected, "{what}");
        }
    }
}

/// A job without a runtime waits for as long as it allows a server to be silent, whatever of an answer has come, or of a write was sent.
#[test]
fn a_silent_server_does_not_hold_a_job_without_a_runtime() {
    let silent = |asked: Asked| if asked.number < 5 { Answer::Yes } else { Answer::Never };
    let half = |asked: Asked| if asked.number < 5 { Answer::Yes } else { Answer::Says("HTTP/1.1 200 OK\r\nConte") };
    for (answer, rw) in [(silent as fn(Asked) -> Answer, "read"), (half, "read"), (silent, "write")] {
        let options = format!("--rw={rw} --bs=4k --size=64k --server_timeout=1 --output-format=json");
        let (finished, _) = run(answer, &options);
        let what = format!("{rw}: {}", finished.all());
        assert_eq!((finished.code, figure(&finished, "/error")), (Some(1), 110), "{what}");
        assert_eq!(figure(&finished, &format!("/{rw}/io_bytes")), 5 << 12, "{what}");
        assert!(what.contains("the server has answered nothing for as long as server_timeout allows"), "{what}");
    }
}

/// The same of writes in parts, whichever of their requests has no answer: their begin, all parts, one part, their end.
#[test]
fn a_silent_server_does_not_hold_a_write_in_parts() {
    const BEGUN: Answer = Answer::Says("HTTP/1.1 200 OK\r\nContent-Length: 23\r\n\r\n<UploadId>u1</UploadId>");
    const TAKEN: Answer = Answer::Says("HTTP/1.1 200 OK\r\nETag: \"e\"\r\nContent-Length: 0\r\n\r\n");
    let answers: [AnswersLike; 4] = [
        ("begin", |_| Answer::Never),
        ("parts", |asked| if asked.number == 0 { BEGUN } else { Answer::Never }),
        ("part", |asked| match asked.number {
            0 => BEGUN,
            1 => Answer::Never,
            _ => TAKEN,
        }),
        ("end", |asked| match asked.number {
            0 => BEGUN,
            _ if asked.is_put => TAKEN,
            _ => Answer::Never,
        }),
    ];
    let common = "--rw=write --bs=64k --size=64k --http_mode=s3 --http_s3_keyid=k --http_s3_key=s --http_s3_part_size=16k --http_s3_parallel=2";
    for (silent, answer) in answers {
        for (options, words) in [
            ("--server_timeout=1", "the server has answered nothing for as long as server_timeout allows"),
            ("--time_based --runtime=300ms", "the server has not answered the I/Os in flight"),
        ] {
            let (finished, server) = run(answer, &format!("{common} --output-format=json {options}"));
            let what = format!("{silent}: {}", finished.all());
            assert_eq!((finished.code, figure(&finished, "/error")), (Some(1), 110), "{what}");
            assert!(what.contains(words), "{what}");
            let requests = &server.seen().requests;
            assert_eq!(requests.len() > 1, silent != "begin", "{what}");
            let is_at_end = |head: &String| head.starts_with("POST /d/o_0_65536?uploadId=u1 ");
            assert_eq!(requests.iter().any(is_at_end), silent == "end", "{what}");
        }
    }
}

#[test]
fn a_dripping_server_does_not_hold_a_stopped_job() {
    let answers: [fn(Asked) -> Answer; 2] = [
        |_| Answer::Drips("HTTP/1.1 200 OK\r\nX-Long: "),
        |_| Answer::Drips("HTTP/1.1 200 OK\r\nContent-Length: 4096\r\n\r\n"),
    ];
    for answer in answers {
        let scratch = Scratch::new("http");
        let server = Server::start(answer);
        let options = "--rw=randread --bs=4k --size=1m --time_based --runtime=100000";
        let mut running: Running = job(&scratch, &server, options).start();
        running.wait_until("a request", |_| !server.seen().requests.is_empty());
        send(running.pid(), Signal::INT);
        let finished = running.finish();
        assert_eq!(finished.code, Some(128), "{}", finished.all());
        assert!(finished.stderr.contains("the server has not answered the I/Os in flight"), "{}", finished.all());
    }
}

#[test]
fn the_time_of_a_slow_server_is_latency() {
    let slow = |asked: Asked| if asked.is_put { Answer::Yes } else { Answer::Later(Duration::from_millis(150)) };
    let (finished, _) = run(slow, "--output-format=json --rw=read --bs=4k --size=8k");
    assert_eq!(finished.code, Some(0), "{}", finished.all());
    assert!(figure(&finished, "/read/clat_ns/min") >= 150_000_000, "{}", finished.all());
}

#[test]
fn what_the_engine_cannot_do_is_an_error() {
    let (finished, _) = run(|_| Answer::Yes, "--rw=write --bs=4k --size=16k --fsync=2");
    let what = finished.all();
    assert_eq!(finished.code, Some(1), "{what}");
    assert!(what.contains("WARNING: Only DDIR_READ/DDIR_WRITE/DDIR_TRIM are supported!"), "{what}");
    assert!(what.contains("err=5/file:") && what.contains("func=transfer"), "{what}");
    let (finished, _) = run(|_| Answer::Yes, "--rw=write --bs=4k --size=16k --end_fsync=1");
    let what = finished.all();
    assert!(finished.code == Some(1) && what.contains("fio: end_fsync failed for file /d/o"), "{what}");
    for (option, why) in [
        ("--filename=o", "the name of an object begins with /"),
        ("--filename=/a\u{7f}b", "a blank or a control character"),
    ] {
        let scratch = Scratch::new("http");
        let server = Server::start(|_| Answer::Yes);
        let finished = job(&scratch, &server, &format!("--rw=write --bs=4k --size=16k {option}")).finish();
        let what = format!("{option}: {}", finished.all());
        assert!(finished.code == Some(1) && what.contains(why) && what.contains("err=5/file:"), "{what}");
    }
}

#[test]
fn places_without_a_server_are_errors() {
    let scratch = Scratch::new("http");
    for (host, why) in [
        ("127.0.0.1:1", "no connection to 127.0.0.1:1: connection refused"),
        ("no-such-host.invalid", "the host no-such-host.invalid is not found"),
        ("http://h", "http: option http_host=http://h"),
    ] {
        let options = format!("--name=t --ioengine=http --http_host={host} --filename=/o --rw=read --size=4k");
        let finished = Run::new(Program::Ferrio, scratch.path(), &options).finish();
        assert_eq!(finished.code, Some(1), "{host}: {}", finished.all());
        assert!(finished.all().contains(why), "{host}: {}", finished.all());
    }
}

#[test]
fn requests_to_swift_have_a_token_and_the_sum_of_what_is_written() {
    let options = "--http_mode=swift --http_swift_auth_token=AUTH_tk --rw=write --bs=4k --size=8k --verify=crc32c";
    let (finished, server) = run(|_| Answer::Yes, options);
    assert_eq!(finished.code, Some(0), "{}", finished.all());
    let seen = server.seen();
    assert_eq!(seen.requests.len(), 4);
    for head in &seen.requests {
        assert_eq!(header(head, "x-auth-token").as_deref(), Some("AUTH_tk"), "{head}");
        assert_eq!(header(head, "accept"), None, "{head}");
        let path = head.split(' ').nth(1).expect("a path");
        let sum = ferrio_units::checksum::md5::md5(&seen.objects[path]).map(|byte| format!("{byte:02x}")).concat();
        assert_eq!(header(head, "etag"), head.starts_with("PUT").then_some(sum), "{head}");
    }
}

#[test]
fn s3_needs_its_keys() {
    for (options, why) in
        [("--http_s3_keyid=id", "option http_s3_key="), ("--http_s3_key=secret", "option http_s3_keyid=")]
    {
        let (finished, server) =
            run(|_| Answer::Yes, &format!("--http_mode=s3 --rw=write --bs=4k --size=8k {options}"));
        let what = format!("{options}: {}", finished.all());
        assert!(finished.code == Some(1) && what.contains(why), "{what}");
        assert_eq!(server.seen().requests.len(), 0);
    }
}

#[test]
fn requests_are_sent_again_as_often_as_the_job_allows() {
    // Of each three requests the first two are refused or lost.
    let busy: [fn(Asked) -> Answer; 3] = [
        |asked| if asked.number % 3 == 2 { Answer::Yes } else { Answer::No(503, "") },
        |asked| if asked.number % 3 == 2 { Answer::Yes } else { Answer::No(429, "") },
        |asked| if asked.number % 3 == 2 { Answer::Yes } else { Answer::No(500, "") },
    ];
    for answer in busy {
        let options = "--rw=write --bs=4k --size=8k";
        let (finished, server) = run(answer, &format!("{options} --http_retries=2"));
        assert_eq!(finished.code, Some(0), "{}", finished.all());
        let n_seen = server.n_seen();
        assert_eq!(n_seen, (6, 2));
        let (finished, server) = run(answer, &format!("{options} --http_retries=1"));
        assert_eq!((finished.code, server.seen().requests.len()), (Some(1), 2), "{}", finished.all());
    }
    let cut = |asked: Asked| if asked.number == 3 { Answer::Yes } else { Answer::Cut };
    let (finished, _) = run(cut, "--rw=write --bs=4k --size=4k --http_retries=3");
    assert_eq!(finished.code, Some(0), "{}", finished.all());
}

/// The findings are those of what the server did, and none of a server that did what it should.
#[test]
fn findings_tell_what_the_server_did() {
    let scratch = Scratch::new("http");
    let of_network = ["throttled", "requests-sent-again", "lost-connections", "delayed-replies"];
    let found = |answer: fn(Asked) -> Answer, options: &str| {
        let server = Server::start(answer);
        let common = format!("--name=t --ioengine=http --http_host={} --filename=/d/o --bs=4k", server.host);
        let mut found = findings_of(scratch.path(), &format!("{common} {options}"));
        found.retain(|id| of_network.contains(&id.as_str()));
        found.sort_unstable();
        found
    };
    let retries = "--rw=write --size=16k --http_retries=2";
    assert_eq!(found(|_| Answer::Yes, retries), Vec::<String>::new());
    let busy = |asked: Asked| if asked.number == 1 { Answer::No(503, "") } else { Answer::Yes };
    assert_eq!(found(busy, retries), ["requests-sent-again", "throttled"]);
    let cut = |asked: Asked| if asked.number == 2 { Answer::Cut } else { Answer::Yes };
    // A request that the server has closed an idle connection on is no second try of it.
    assert_eq!(found(cut, retries), ["lost-connections"]);
    let late = |_: Asked| Answer::Later(Duration::from_millis(41));
    assert_eq!(found(late, "--rw=write --size=160k"), ["delayed-replies"]);
}

#[test]
fn a_pause_before_a_retry_does_not_hold_a_stopped_job() {
    let scratch = Scratch::new("http");
    let server = Server::start(|_| Answer::Says("HTTP/1.1 503 X\r\nRetry-After: 100000\r\nContent-Length: 0\r\n\r\n"));
    let mut running = job(&scratch, &server, "--rw=write --bs=4k --size=4k --http_retries=1000").start();
    running.wait_until("requests", |_| !server.seen().requests.is_empty());
    send(running.pid(), Signal::INT);
    let finished = running.finish();
    assert_eq!(finished.code, Some(128), "{}", finished.all());
}

#[test]
fn errors_that_are_allowed_are_counted() {
    let options = "--rw=write --bs=4k --size=16k --continue_on_error=all --output-format=json";
    let (finished, server) = run(|_| Answer::No(500, ""), options);
    assert_eq!((figure(&finished, "/total_err"), server.seen().requests.len()), (4, 4), "{}", finished.all());
}
