//! Tests of the engine `http` against answers that break the protocol. Whole jobs are in the end-to-end tests.

use crate::contract::options::EngineOptions;
use crate::contract::parts::Complaint;
use crate::contract::{Cancellation, Engine, EngineFile, IoUnit, OpenTarget, Queued};
use crate::registry;
use crate::testing::{BLOCK, given, nowhere, setup};
use ferrio_sys::clock::Clock;
use ferrio_units::Direction;
use proptest::prelude::*;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;

/// What the engine makes of a server that sends these bytes, one piece for each request, and then closes the connection: the
/// result of a unit, the complaint about it, and the requests.
fn exchanged(
    answers: Vec<Vec<u8>>,
    direction: Direction,
    options: &[(&str, &str)],
) -> (i64, Option<Complaint>, Vec<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let server = std::thread::spawn(move || {
        let mut stream = listener.accept().unwrap().0;
        drop(listener);
        let mut requests = Vec::new();
        for answer in answers {
            let (mut text, mut byte) = (Vec::new(), [0]);
            while !text.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|n_bytes| n_bytes > 0) {
                text.push(byte[0]);
            }
            let text = String::from_utf8(text).unwrap();
            if text.starts_with("PUT") {
                let _ = stream.read_exact(&mut [0; BLOCK]);
            }
            requests.push(text);
            let _ = stream.write_all(&answer);
        }
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let _ = stream.read_to_end(&mut Vec::new());
        requests
    });
    let texts = [&[("http_host", host.as_str())], options].concat();
    let prepared = registry::find("http").unwrap().io().unwrap()(&EngineOptions::new(given("http", &texts))).unwrap();
    let mut engine = prepared.start(setup(1, &Clock::new_virtual())).unwrap();
    while !matches!(
        engine.server().unwrap().connect(Cancellation::new(&|| false)).unwrap(),
        crate::contract::parts::Connection::Made
    ) {}
    open(engine.as_mut());
    let result = result_of(engine.as_mut(), &nowhere(direction));
    let complaint = engine.server().unwrap().take_complaint();
    drop(engine);
    (result, complaint, server.join().unwrap())
}

fn open(engine: &mut dyn Engine) {
    let target = OpenTarget::Name(Path::new("/d/o"));
    let file = EngineFile {
        index: 0,
        target,
        writable: true,
        range_start: 0,
        range_bytes: 1 << 20,
        random: false,
        cancellation: Cancellation::ENDLESS,
    };
    engine.open_file(&file).unwrap();
}

fn result_of(engine: &mut dyn Engine, unit: &IoUnit) -> i64 {
    if let Queued::Completed(result) = engine.queue(0, unit) {
        return result.number();
    }
    let mut completions = Vec::with_capacity(1);
    while completions.is_empty() {
        engine.reap(1, 1, &mut completions).unwrap();
    }
    completions[0].result.number()
}

fn why(complaint: Option<Complaint>) -> String {
    complaint.and_then(|complaint| complaint.why).unwrap_or_default()
}

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

#[test]
fn requests_are_those_of_the_mode() {
    let host = |text: &str| text.lines().filter(|line| !line.starts_with("Host: ")).collect::<Vec<_>>().join("|");
    for (direction, options, expected) in [
        (Direction::Write, vec![], "PUT /d/o_0_4096 HTTP/1.1|Accept: */*|Content-Length: 4096|"),
        (Direction::Read, vec![], "GET /d/o_0_4096 HTTP/1.1|Accept: */*|"),
        (Direction::Trim, vec![], "DELETE /d/o_0_4096 HTTP/1.1|Accept: */*|"),
        (Direction::Read, vec![("http_object_mode", "range")], "GET /d/o HTTP/1.1|Range: bytes=0-4095|Accept: */*|"),
        (Direction::Write, vec![("http_object_mode", "range")], "PUT /d/o HTTP/1.1|Accept: */*|Content-Length: 4096|"),
    ] {
        let (result, _, requests) = exchanged(vec![OK.to_vec()], direction, &options);
        assert_eq!(result, BLOCK as i64, "{expected}");
        assert_eq!(host(&requests[0]), expected);
    }
}

#[test]
fn requests_to_s3_are_signed() {
    let names = |head: &str| -> Vec<String> {
        let names = head.lines().skip(1).filter_map(|line| line.split_once(':'));
        names.map(|(name, _)| name.to_ascii_lowercase()).collect()
    };
    let keys = [("http_mode", "s3"), ("http_s3_key", "secret"), ("http_s3_keyid", "ID"), ("http_s3_region", "here")];
    let (result, _, requests) = exchanged(vec![OK.to_vec()], Direction::Read, &keys);
    assert_eq!(result, BLOCK as i64);
    let head = &requests[0];
    assert!(head.starts_with("GET /d/o_0_4096 HTTP/1.1\r\n"), "{head}");
    let expected = ["host", "x-amz-content-sha256", "x-amz-date", "x-amz-storage-class", "authorization"];
    assert_eq!(names(head), expected);
    // SHA-256 of nothing.
    assert!(head.contains(": e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\r\n"), "{head}");
    assert!(
        head.contains("x-amz-storage-class: STANDARD\r\nAuthorization: AWS4-HMAC-SHA256 Credential=ID/20"),
        "{head}"
    );
    let signed =
        "/here/s3/aws4_request,SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-storage-class,Signature=";
    assert!(head.contains(signed), "{head}");
    let more = [
        ("http_s3_security_token", "token"),
        ("http_s3_sse_customer_key", "k"),
        ("http_s3_storage_class", "COLD"),
        ("http_object_mode", "range"),
    ];
    let (_, _, requests) = exchanged(vec![OK.to_vec()], Direction::Read, &[&keys[..], &more].concat());
    let sse = "x-amz-server-side-encryption-customer-";
    let signed = format!(
        "=host;x-amz-content-sha256;x-amz-date;x-amz-security-token;{sse}algorithm;{sse}key;{sse}key-md5;x-amz-storage-class,"
    );
    assert!(requests[0].contains(&signed) && requests[0].contains("x-amz-storage-class: COLD\r\n"), "{}", requests[0]);
    assert!(requests[0].contains("\r\nRange: bytes=0-4095\r\n"), "{}", requests[0]);
}

#[test]
fn the_password_is_sent_when_the_server_asks_for_it_and_once() {
    let login = [("http_user", "Aladdin"), ("http_pass", "open sesame")];
    let asks = b"HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 2\r\n\r\nno";
    let (result, _, requests) = exchanged(vec![asks.to_vec(), OK.to_vec()], Direction::Write, &login);
    assert_eq!(result, BLOCK as i64);
    assert!(!requests[0].contains("Authorization"));
    assert!(requests[1].contains("\r\nAuthorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n"));
    let (result, complaint, _) = exchanged(vec![asks.to_vec(), asks.to_vec()], Direction::Write, &login);
    assert_eq!(result, -5);
    assert!(why(complaint).contains("refuses this user and password"));
    let (_, complaint, requests) = exchanged(vec![asks.to_vec()], Direction::Write, &login[..1]);
    assert_eq!(requests.len(), 1);
    assert!(why(complaint).contains("asks for a user and a password"));
}

#[test]
fn redirections_are_followed_on_the_same_server_and_not_for_ever() {
    let to = |place: &str| format!("HTTP/1.1 307 X\r\nLocation: {place}\r\nContent-Length: 0\r\n\r\n").into_bytes();
    let (result, _, requests) = exchanged(vec![to("/there#x"), OK.to_vec()], Direction::Read, &[]);
    assert_eq!(result, BLOCK as i64);
    assert!(requests[1].starts_with("GET /there "), "{}", requests[1]);
    let (result, complaint, _) = exchanged(vec![to("https://other/x")], Direction::Read, &[]);
    assert_eq!(result, -5);
    assert!(why(complaint).contains("to https://other/x"));
    let (result, complaint, requests) = exchanged(vec![to("/again"); 11], Direction::Read, &[]);
    assert_eq!((result, requests.len()), (-5, 11));
    assert!(why(complaint).contains("without an end"));
}

#[test]
fn another_part_of_the_object_is_no_data() {
    let body = vec![7; BLOCK];
    let part = |head: &str| [format!("HTTP/1.1 {head}\r\nContent-Length: {BLOCK}\r\n\r\n").as_bytes(), &body].concat();
    let range = [("http_object_mode", "range")];
    let (result, ..) = exchanged(vec![part("206 X\r\nContent-Range: bytes 0-4095/9999")], Direction::Read, &range);
    assert_eq!(result, BLOCK as i64);
    let (result, complaint, _) =
        exchanged(vec![part("206 X\r\nContent-Range: bytes 10-4105/9999")], Direction::Read, &range);
    assert_eq!(result, -5);
    assert!(why(complaint).contains("from byte 10 on instead of byte 0"));
    let (result, complaint, _) = exchanged(vec![part("206 X")], Direction::Read, &[]);
    assert_eq!((result, complaint.unwrap().line.unwrap().as_str()), (-5, "DDIR_READ failed with HTTP status code 206"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_answer_makes_the_client_panic(
        head in prop_oneof![Just(""), Just("HTTP/1.1 200 OK\r\n\r\n"), Just("HTTP/1.1 401 X\r\nWWW-Authenticate: ")],
        bytes in proptest::collection::vec(any::<u8>(), 0..100),
        direction in prop_oneof![Just(Direction::Read), Just(Direction::Write), Just(Direction::Trim)],
    ) {
        let login = [("http_user", "u"), ("http_pass", "p")];
        let (result, ..) = exchanged(vec![[head.as_bytes(), &bytes].concat()], direction, &login);
        prop_assert!([-5, BLOCK as i64].contains(&result));
    }
}
