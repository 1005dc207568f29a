//! Ends of connections that are no workers of the run: they get nowhere, and the run of the others goes on.

use super::{Conduct, FleetReport, PROTOCOL, RunKey, Stage, aside, hello, play, together};
use crate::fleet::wire::Hello;
use crate::fleet::wire::service::PATH;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Runs two honest workers and, meanwhile, strangers; what the strangers were told, and what the coordinator says.
fn besides<R: Send + 'static>(strangers: impl FnOnce(&Stage) -> std::thread::JoinHandle<R>) -> (R, Vec<String>) {
    let mut stage = Stage::new(2);
    let honest = aside(together(vec![Box::pin(stage.honest(0)), Box::pin(stage.honest(1))]));
    let strangers = strangers(&stage);
    let is_done = Arc::clone(&stage.is_done);
    let told = std::thread::spawn(move || {
        let told = strangers.join();
        is_done.store(true, Ordering::SeqCst);
        told
    });
    let outcome = stage.run().expect("a run");
    let told = told.join().expect("no panic").expect("no panic");
    assert!(outcome.hosts.iter().all(|host| host.lost.is_none() && !host.is_partial));
    assert_eq!(outcome.merged().workers.iter().map(|worker| worker.stats.directions.0[0].n_completed).sum::<u64>(), 14);
    let events = stage.end();
    assert_eq!(honest.join().expect("no panic"), ["dismissed: ", "dismissed: "]);
    (told, events)
}

#[test]
fn bytes_of_other_protocols_get_no_answer() {
    let (answers, events) = besides(|stage| {
        let address = stage.address;
        std::thread::spawn(move || {
            let all: [&[u8]; 4] = [
                b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
                b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0",
                b"\x16\x03\x01\xff\xff\x01\xff\xff\xff\x03\x03",
                b"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
            ];
            let ask = |bytes: &[u8]| {
                let mut stream = TcpStream::connect(address).expect("a connection");
                stream.write_all(bytes).expect("bytes");
                stream.shutdown(std::net::Shutdown::Write).expect("its end");
                let mut answer = Vec::new();
                let _ = stream.read_to_end(&mut answer);
                answer
            };
            all.map(ask)
        })
    });
    assert!(answers.iter().all(|answer| answer.len() < 16), "an alert of TLS at most: {answers:?}");
    // The first is told; the next line would be that of the tenth.
    assert_eq!(events, ["turned: a connection from 127.0.0.1 has not shown that it has the key of this run"]);
}

#[test]
fn without_the_key_of_the_run_there_is_no_call() {
    let (told, events) = besides(|stage| {
        let (address, key) = (stage.address, stage.key.clone());
        aside(async move {
            let other = RunKey::new().expect("random numbers");
            let tls = [other.worker_tls().expect("certificates"), key.tls_without_certificate()];
            let mut told = Vec::new();
            for tls in tls {
                let conduct = Conduct::new(|_, _| panic!("no order is for a stranger"));
                told.push(play(address, (tls, 1), PATH, FleetReport::Hello(hello(&key, 0)), conduct).await);
            }
            // With the certificate, but at another path.
            let tls = key.worker_tls().expect("certificates");
            let conduct = Conduct::new(|_, _| panic!("no order is for a stranger"));
            told.push(
                play(address, (tls, 1), "/ferrio.Fleet/Other", FleetReport::Hello(hello(&key, 0)), conduct).await,
            );
            told
        })
    });
    assert!(told[0].contains("the coordinator is not that of this run"), "{told:?}");
    assert!(told[1].contains("has refused") || told[1].contains("has gone"), "{told:?}");
    assert!(told[2].contains("there is no such call"), "{told:?}");
    assert!(events.iter().all(|event| event.starts_with("turned: a connection from 127.0.0.1")), "{events:?}");
}

/// Makes an introduction one that does not fit.
type Change = fn(&mut Hello, &RunKey);

/// What introductions are answered, by workers that have the key.
#[test]
fn introductions_that_do_not_fit_are_refused_with_a_reason() {
    let cases: [(Change, &str); 7] = [
        (|hello, _| hello.token = vec![0; 32], "no token of this run"),
        (|hello, key| hello.token = key.token(1), "no token of this run for rank 0"),
        (|hello, key| (hello.rank, hello.token) = (7, key.token(7)), "rank 7, and there are 2 hosts"),
        (|hello, _| hello.protocol = PROTOCOL - 1, "all hosts need the same version"),
        (|hello, _| hello.version = "0.0".to_owned(), "all hosts need the same version"),
        (|hello, _| hello.host = "a\x1b[2J".to_owned(), "has not said who it is"),
        (|hello, _| hello.host = "a".repeat(100_000), "has not said who it is"),
    ];
    let (told, events) = besides(|stage| {
        let workers = cases.map(|(change, _)| {
            let mut hello = hello(&stage.key, 0);
            change(&mut hello, &stage.key);
            stage.introduced(hello, Conduct::new(|_, _| panic!("no order is for a stranger")))
        });
        aside(async move {
            let mut told = Vec::new();
            for worker in workers {
                told.push(worker.await);
            }
            told
        })
    });
    for (told, (_, reason)) in told.iter().zip(cases) {
        assert!(told.starts_with("dismissed: ") && told.contains(reason), "{told}: {reason}");
        assert!(events.iter().any(|event| event.starts_with("turned: ") && event.contains(reason)), "{events:?}");
    }
}

#[test]
fn a_worker_that_does_not_introduce_itself_is_refused() {
    let (told, _) = besides(|stage| {
        let (address, key) = (stage.address, stage.key.clone());
        aside(async move {
            let conduct = || Conduct::new(|_, _| panic!("no order is for a stranger"));
            let tls = key.worker_tls().expect("certificates");
            let ready = play(address, (tls, 1), PATH, FleetReport::Ready, conduct()).await;
            let tls = key.worker_tls().expect("certificates");
            let conduct = Conduct::new(|_, _| panic!("no order is for a stranger"));
            let large = serde_json::json!({"Hello": {"token": vec![0; 1_000_000]}});
            [ready, play(address, (tls, 1), PATH, large, conduct).await]
        })
    });
    assert!(told.iter().all(|told| told.contains("has not said who it is")), "{told:?}");
}

/// Connections that never speak: more than may wait. Workers that come behind them get in.
#[test]
fn silent_connections_keep_nobody_out() {
    ferrio_sys::limits::raise_limit(ferrio_sys::limits::Resource::Nofile, 4_096);
    let mut stage = Stage::new(2);
    let address = stage.address;
    let silent: Vec<TcpStream> = (0..1_000).filter_map(|_| TcpStream::connect(address).ok()).collect();
    assert!(silent.len() > 900, "{}", silent.len());
    let honest = aside(together(vec![Box::pin(stage.honest(0)), Box::pin(stage.honest(1))]));
    stage.is_done.store(true, Ordering::SeqCst);
    let outcome = stage.run().expect("a run");
    assert!(outcome.hosts.iter().all(|host| !host.is_partial));
    let events = stage.end();
    assert_eq!(honest.join().expect("no panic"), ["dismissed: ", "dismissed: "]);
    assert!(events.iter().any(|event| event.contains("has not shown that it has the key")), "{events:?}");
    drop(silent);
}
