//! Workers that have the key and do not do as they should: the run goes on without them, or with what makes sense of them.

use super::{Conduct, FleetReport, PATH, RunKey, Stage, answer, aside, hello, interval, outcome, play, together};
use crate::fleet::outcome::FleetOutcome;
use crate::fleet::wire::FleetOrder;
use ferrio_stats::eta::EtaSnapshot;
use ferrio_stats::{MessageStream, Note};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::mpsc;

/// A run of two honest workers, and a third one with this conduct, which sets the flag when it has done its worst.
fn beside(
    third: impl FnMut(&FleetOrder, &mpsc::Sender<FleetReport>, &Arc<AtomicBool>) + Send + 'static,
) -> (FleetOutcome, Vec<String>, String) {
    let mut third = third;
    let mut stage = Stage::new(3);
    let is_done = Arc::clone(&stage.is_done);
    let third = stage.worker(2, Conduct::new(move |order, says| third(order, says, &is_done)));
    let (first, second) = (stage.honest(0), stage.honest(1));
    let workers = aside(together(vec![Box::pin(first), Box::pin(second), Box::pin(third)]));
    let outcome = stage.run().expect("a run");
    let events = stage.end();
    let endings = workers.join().expect("no panic");
    assert_eq!(endings[..2], ["dismissed: ", "dismissed: "]);
    for host in &outcome.hosts[..2] {
        assert!(host.lost.is_none() && !host.is_partial && host.outcome.record.workers.len() == 1);
    }
    let _ = (outcome.merged(), outcome.session_outcome(outcome.merged()));
    (outcome, events, endings[2].clone())
}

/// What a worker says.
type Reports = fn() -> Vec<FleetReport>;

/// A third worker that answers as it should up to its begin, and then says this.
fn says_at_begin(reports: Reports) -> (FleetOutcome, Vec<String>, String) {
    beside(move |order, says, is_done| match order {
        FleetOrder::Begin { at_ns } => {
            let mut all = vec![FleetReport::Began { at_ns: *at_ns }];
            all.extend(reports());
            let (says, is_done) = (says.clone(), Arc::clone(is_done));
            tokio::spawn(async move {
                for report in all {
                    let _ = says.send(report).await;
                }
                is_done.store(true, Ordering::SeqCst);
            });
        }
        order => answer(order, says, is_done),
    })
}

#[test]
fn reports_that_make_no_sense_are_a_lost_host() {
    let cases: [(Reports, &str); 10] = [
        (|| vec![FleetReport::Interval(Box::new(interval(2)))], "figures of a job that does not run there"),
        (|| vec![FleetReport::Interval(Box::new(interval(0)))], "figures of a job that does not run there"),
        (|| vec![FleetReport::Began { at_ns: 1 }], "a begin that was not ordered"),
        (|| vec![FleetReport::Places(Box::default())], "places of a run that it does not have"),
        (|| vec![FleetReport::Ready], "it is ready for a run that it does not have"),
        (|| vec![FleetReport::AtStage(0)], "a stonewall that it cannot have reached"),
        (|| vec![FleetReport::Refused("late".to_owned())], "a refusal of a run that it does not have"),
        (|| vec![FleetReport::Hello(hello(&RunKey::new().expect("random numbers"), 0))], "a second introduction"),
        (
            || {
                let states = vec!['R', '\u{1b}'];
                vec![FleetReport::Eta(Box::new(EtaSnapshot { states, ..EtaSnapshot::default() }))]
            },
            "the state of a run that it does not have, or one that is none",
        ),
        (
            || {
                let mut outcome = outcome();
                let worker = outcome.record.workers[0].clone();
                outcome.record.workers = vec![worker; 2];
                vec![FleetReport::Over(Box::new(outcome))]
            },
            "an outcome of a run that it does not have",
        ),
    ];
    for (reports, reason) in cases {
        let (outcome, events, ending) = says_at_begin(reports);
        let lost = outcome.hosts[2].lost.as_deref().unwrap_or_default();
        assert!(lost.contains(reason) && outcome.hosts[2].is_partial, "{lost}: {reason}");
        assert!(ending.contains(reason), "{ending}: {reason}");
        assert!(events.iter().any(|event| event.starts_with("lost: host2: ") && event.contains(reason)), "{events:?}");
    }
}

/// The first outcome counts, and the worker is none of the next run.
#[test]
fn a_second_outcome_does_not_count() {
    let twice = || vec![FleetReport::Over(Box::new(outcome())), FleetReport::Over(Box::new(outcome()))];
    let (outcome, _, ending) = says_at_begin(twice);
    assert!(outcome.hosts[2].lost.is_none() && !outcome.hosts[2].is_partial);
    assert!(ending.starts_with("dismissed: "), "{ending}");
}

#[test]
fn an_outcome_before_the_run_is_a_lost_host() {
    let (outcome, ..) = beside(|order, says, is_done| {
        if let FleetOrder::Prepare(_) = order {
            is_done.store(true, Ordering::SeqCst);
            says.try_send(FleetReport::Over(Box::new(super::outcome()))).expect("room");
        }
    });
    assert!(outcome.hosts[2].lost.as_deref().is_some_and(|lost| lost.contains("an outcome of a run")));
}

/// Clocks at the ends of their range: the start is at once, and the times are those of the coordinator.
#[test]
fn clocks_without_sense_move_nobody_else() {
    for (asked, read) in [(0, u64::MAX), (u64::MAX, 0), (1, 1 << 63)] {
        let (outcome, ..) = beside(move |order, says, is_done| match order {
            FleetOrder::ReadClock { .. } => {
                says.try_send(FleetReport::Clock { asked_ns: asked, read_ns: read }).expect("room");
            }
            FleetOrder::Begin { .. } => {
                is_done.store(true, Ordering::SeqCst);
                says.try_send(FleetReport::Began { at_ns: read }).expect("room");
                says.try_send(FleetReport::Over(Box::new(super::outcome()))).expect("room");
            }
            order => answer(order, says, is_done),
        });
        let began_ns = outcome.hosts[2].began_ns.expect("a start");
        // Between the order and the report: with the order for the others.
        let others_ns = outcome.hosts[0].began_ns.expect("a start");
        assert!(began_ns.abs_diff(others_ns) < 60_000_000_000, "{began_ns} {others_ns}");
    }
}

/// Many messages and intervals: some are passed on, and the others have their turn.
#[test]
fn a_flood_of_reports_stops_nobody() {
    let (outcome, events, _) = says_at_begin(|| {
        let message = |_| FleetReport::Message(MessageStream::Info, Note::text("again"));
        let mut reports: Vec<FleetReport> = (0..20_000).map(message).collect();
        reports.extend((0..2_000).map(|_| FleetReport::Interval(Box::new(interval(1)))));
        reports.push(FleetReport::Over(Box::new(outcome())));
        reports
    });
    assert!(outcome.hosts[2].lost.is_none());
    assert_eq!(events.iter().filter(|event| *event == "message").count(), 1_000);
}

#[test]
fn messages_that_are_too_long_are_a_lost_host() {
    let long = || vec![FleetReport::Message(MessageStream::Info, Note::text("x".repeat(5 << 20)))];
    let (outcome, ..) = says_at_begin(long);
    assert!(outcome.hosts[2].lost.as_deref().is_some_and(|lost| lost.contains("too long")));
    // More than any message may have: the connection is closed.
    let (outcome, ..) = says_at_begin(|| vec![FleetReport::Refused("x".repeat(65 << 20))]);
    assert!(
        outcome.hosts[2].lost.as_deref().is_some_and(|lost| lost.contains("too large")),
        "{:?}",
        outcome.hosts[2].lost
    );
}

/// Values that are no reports.
#[test]
fn bytes_that_are_no_reports_are_a_lost_host() {
    for nonsense in [json!("Nonsense"), json!({"Interval": 5}), json!([1, 2]), json!({"Over": {"record": []}})] {
        let mut stage = Stage::new(2);
        let (address, key, is_done) = (stage.address, stage.key.clone(), Arc::clone(&stage.is_done));
        let shown = nonsense.clone();
        let conduct = Conduct::new(move |order: &FleetOrder, says: &mpsc::Sender<Value>| {
            if let FleetOrder::Prepare(_) = order {
                is_done.store(true, Ordering::SeqCst);
                says.try_send(nonsense.clone()).expect("room");
            }
        });
        let first = serde_json::to_value(FleetReport::Hello(hello(&key, 1))).expect("a document");
        let tls = key.worker_tls().expect("certificates");
        let worker = async move { play(address, (tls, 1), PATH, first, conduct).await };
        let workers = aside(together(vec![Box::pin(stage.honest(0)), Box::pin(worker)]));
        let outcome = stage.run().expect("a run");
        let lost = outcome.hosts[1].lost.clone().unwrap_or_default();
        assert!(lost.contains("is no report"), "{shown}: {lost}");
        stage.end();
        let endings = workers.join().expect("no panic");
        assert!(endings[1].contains("is no report"), "{endings:?}");
    }
}

/// A host that says by itself that its run hangs.
#[test]
fn a_run_that_hangs_is_a_lost_host() {
    let (outcome, ..) = says_at_begin(|| vec![FleetReport::Hangs(10_500)]);
    assert!(
        outcome.hosts[2].lost.as_deref().is_some_and(|lost| lost.contains("nothing watches over its jobs for 10 s"))
    );
}
