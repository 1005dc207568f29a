//! Whole histories: forms, damage, writers, baselines, last runs.
//!
//! `form-N.sqlite` is a database that the first version with that form has written. Start reading at [`older_forms_are_migrated`].

use ferrio::history::{
    HistoryError, HistoryPlace, LastRun, NewRun, RunHistory, RunSelector, RunSummary, StoredForm, TargetState,
    last_runs,
};
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A directory for one test, removed with everything in it.
struct Directory(PathBuf);

impl Directory {
    fn new() -> Self {
        static N_MADE: AtomicU32 = AtomicU32::new(0);
        let number = N_MADE.fetch_add(1, Ordering::Relaxed);
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("history-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a directory");
        Self(path)
    }

    fn place(&self) -> HistoryPlace {
        HistoryPlace::in_directory(&self.0)
    }

    /// The database as another program sees it.
    fn connection(&self) -> Connection {
        Connection::open(self.place().path()).expect("a database")
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn run(name: &str, job: &str) -> NewRun {
    NewRun {
        name: (!name.is_empty()).then(|| name.parse().expect("a name")),
        summary: RunSummary { jobs: vec![job.to_owned()], host: "h".to_owned(), ..RunSummary::default() },
        form: StoredForm::Report,
        origin: "file".to_owned(),
        content: format!("the result of {job}").into_bytes(),
    }
}

fn is_whole(directory: &Directory) -> bool {
    let checked = directory.connection().query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0));
    checked.is_ok_and(|text| text == "ok")
}

#[test]
fn runs_are_found_by_number_name_and_place() {
    let directory = Directory::new();
    assert!(RunHistory::open(&directory.place()).unwrap().is_none());
    let mut history = RunHistory::open_or_make(&directory.place()).unwrap();
    for (number, (name, job)) in (1..).zip([("", "a"), ("n", "b"), ("n", "c"), ("'; DROP TABLE runs; --", "d")]) {
        assert_eq!(history.keep(&run(name, job)).unwrap(), number);
    }
    let number = |word: &str| history.find(&RunSelector::of(word)).map(|run| run.number).ok();
    let words = ["1", "n", "last", "last-2", "'; DROP TABLE runs; --", "5", "last-4", "%", "baseline"];
    let expected = [Some(1), Some(3), Some(4), Some(2), Some(4), None, None, None, None];
    assert_eq!(words.map(number), expected);
    assert_eq!(history.content(2).unwrap(), b"the result of b");
    assert_eq!(history.list().unwrap().iter().map(|run| run.number).collect::<Vec<_>>(), [4, 3, 2, 1]);
    // A number is never given again.
    assert_eq!(history.remove(&[4, 4, 9]).unwrap(), [4]);
    assert_eq!(history.keep(&run("", "e")).unwrap(), 5);
    drop(history);
    assert!(is_whole(&directory));
}

#[test]
fn removed_runs_give_their_room_back() {
    let directory = Directory::new();
    let mut history = RunHistory::open_or_make(&directory.place()).unwrap();
    // Nothing of it can be compressed.
    let noise = |seed: u32| {
        (0..100_000_u32).map(move |number| (number ^ seed << 20).wrapping_mul(2_654_435_761).wrapping_mul(number | 1))
    };
    for seed in 0..20 {
        let content = noise(seed).map(|number| (number >> 24) as u8).collect();
        history.keep(&NewRun { content, ..run("", "a") }).unwrap();
    }
    drop(history);
    let file_bytes = || std::fs::metadata(directory.place().path()).unwrap().len();
    assert!(file_bytes() > 19 * 100_000, "{}", file_bytes());
    let mut history = RunHistory::open_or_make(&directory.place()).unwrap();
    assert_eq!(history.remove(&(2..=20).collect::<Vec<_>>()).unwrap().len(), 19);
    drop(history);
    assert!(file_bytes() < 2 * 100_000, "{}", file_bytes());
    assert!(is_whole(&directory));
}

#[test]
fn baselines_count_for_a_name_and_for_the_same_work() {
    let directory = Directory::new();
    let mut history = RunHistory::open_or_make(&directory.place()).unwrap();
    for (name, job) in [("n", "a"), ("n", "b"), ("", "a"), ("", "c"), ("m", "a")] {
        history.keep(&run(name, job)).unwrap();
    }
    let baselines = |history: &RunHistory| {
        let of = |number| {
            let run = history.find(&RunSelector::Number(number)).unwrap();
            history.baseline_of(&run).unwrap().map(|run| run.number)
        };
        [1, 2, 3, 4, 5].map(of)
    };
    assert_eq!(baselines(&history), [None; 5]);
    let kept = |history: &RunHistory, number| history.find(&RunSelector::Number(number)).unwrap();
    history.set_baseline(&kept(&history, 1)).unwrap();
    // By name, and runs of the job a; the job c has none.
    assert_eq!(baselines(&history), [Some(1), Some(1), Some(1), None, Some(1)]);
    history.set_baseline(&kept(&history, 3)).unwrap();
    assert_eq!(baselines(&history), [Some(1), Some(1), Some(3), None, Some(3)]);
    // Baselines are not removed.
    assert_eq!(history.remove(&[1, 2, 3]).unwrap(), [2]);
    assert_eq!(history.baselines().unwrap(), [1, 3]);
    let third = kept(&history, 3);
    assert!(history.clear_baseline(&third).unwrap() && !history.clear_baseline(&third).unwrap());
    assert_eq!(history.remove(&[3]).unwrap(), [3]);
    assert!(matches!(history.set_baseline(&third), Err(HistoryError::NoRun(_))));
}

#[test]
fn older_forms_are_migrated() {
    let directory = Directory::new();
    let old = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/form-1.sqlite");
    std::fs::copy(old, directory.place().path()).unwrap();
    let mut history = RunHistory::open(&directory.place()).unwrap().unwrap();
    let runs = history.list().unwrap();
    let names: Vec<Option<&str>> = runs.iter().map(|run| run.name.as_deref()).collect();
    assert_eq!(names, [Some("named"), Some("named"), None]);
    for (run, job) in runs.iter().zip(["second", "second", "first"]) {
        assert_eq!(run.summary.jobs, [job]);
        let record = ferrio_formats::record_file::decode(&history.content(run.number).unwrap()).unwrap();
        assert_eq!(record.workers[0].name, job);
    }
    // 256 blocks of 4 KiB, each of which takes 100 us.
    let figures = &runs[2].summary.figures[0];
    assert_eq!((figures.n_ios, figures.bytes, figures.p50_ns.map(|p50_ns| p50_ns / 10_000)), (256, 1 << 20, Some(10)));
    // What the newer form has works for them.
    history.set_baseline(&runs[1]).unwrap();
    assert_eq!(history.baseline_of(&runs[0]).unwrap().map(|run| run.number), Some(2));
    assert_eq!(history.keep(&run("", "new")).unwrap(), 4);
    drop(history);
    let form: i64 = directory.connection().query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    assert_eq!(form, 2);
    assert!(is_whole(&directory));
}

#[test]
fn what_is_no_history_of_this_version_is_left_as_it_is() {
    let directory = Directory::new();
    let place = directory.place();
    drop(RunHistory::open_or_make(&place).unwrap());
    let whole = std::fs::read(place.path()).unwrap();
    let changed = |sql: &str| {
        std::fs::write(place.path(), &whole).unwrap();
        directory.connection().execute_batch(sql).unwrap();
        std::fs::read(place.path()).unwrap()
    };
    let newer = changed("PRAGMA user_version = 99");
    let foreign = changed("PRAGMA application_id = 7");
    let unmarked = changed("PRAGMA user_version = 0; PRAGMA application_id = 0");
    let noise: Vec<u8> = (0..5_000_u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let name = place.path().display();
    let left = format!("{name} is no history of ferrio, and is left as it is");
    let damaged = format!("{name} is damaged, and is left as it is: database disk image is malformed");
    let newer_text =
        format!("{name} has form 99, and this version of ferrio knows forms up to 2: use the later version");
    for (content, expected) in [
        (newer, newer_text),
        (foreign, format!("{left}: it is a database of another program")),
        (unmarked, format!("{left}: it is a database of another program")),
        (noise, format!("{left}: it is no database")),
        (b"text".to_vec(), format!("{left}: it is no database")),
        (whole[..whole.len() / 2].to_vec(), damaged.clone()),
        (whole[..50].to_vec(), damaged),
    ] {
        std::fs::write(place.path(), &content).unwrap();
        let opened = [RunHistory::open(&place).err(), RunHistory::open_or_make(&place).err(), last_runs(&place).err()];
        assert_eq!(opened.map(|error| error.map(|error| error.to_string())), [0; 3].map(|_| Some(expected.clone())));
        assert!(std::fs::read(place.path()).unwrap() == content, "{expected}");
    }
    std::fs::remove_file(place.path()).unwrap();
    std::fs::create_dir(place.path()).unwrap();
    let error = RunHistory::open_or_make(&place).unwrap_err();
    assert!(matches!(error, HistoryError::ForeignFile(_)), "{error}");
}

/// A process that was killed may have left an empty file.
/// Nothing of a stranger's database runs: views in the place of tables, triggers, indexes over expressions.
#[test]
fn tables_of_a_stranger_are_refused() {
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)";
    let cases = [
        (
            format!(
                "PRAGMA foreign_keys = OFF; DROP TABLE runs; CREATE VIEW runs AS {endless} SELECT i AS number FROM n"
            ),
            "its table runs is a view",
        ),
        ("DROP TABLE last_runs".to_owned(), "it has no table last_runs"),
        ("DROP TABLE last_runs; CREATE TABLE last_runs (number)".to_owned(), "its table last_runs has another form"),
        (
            format!(
                "CREATE TRIGGER runs AFTER INSERT ON runs BEGIN DELETE FROM runs WHERE number IN ({endless} SELECT i FROM n); END"
            ),
            "its trigger runs is not from ferrio",
        ),
        ("CREATE INDEX more ON Runs (length(name))".to_owned(), "its index more is not from ferrio"),
    ];
    for (change, what) in cases {
        let directory = Directory::new();
        let mut history = RunHistory::open_or_make(&directory.place()).unwrap();
        history.keep(&run("", "a")).unwrap();
        drop(history);
        directory.connection().execute_batch(&change).unwrap();
        let Err(error) = RunHistory::open(&directory.place()) else { panic!("{change} is not refused") };
        assert!(matches!(error, HistoryError::OtherTables { .. }), "{change}: {error}");
        let text = error.to_string();
        assert!(text.ends_with(&format!("is no history of ferrio, and is left as it is: {what}")), "{text}");
        assert_eq!(text.lines().count(), 1, "{text}");
    }
    // What the user adds for own questions, and what the database itself adds, does no harm.
    let directory = Directory::new();
    RunHistory::open_or_make(&directory.place()).unwrap().keep(&run("", "a")).unwrap();
    let own = "CREATE VIEW names AS SELECT name FROM runs; CREATE TABLE notes (text); ANALYZE";
    directory.connection().execute_batch(own).unwrap();
    assert_eq!(RunHistory::open(&directory.place()).unwrap().expect("a history").list().unwrap().len(), 1);
}

#[test]
fn an_empty_file_becomes_a_history() {
    let directory = Directory::new();
    std::fs::write(directory.place().path(), "").unwrap();
    assert_eq!(RunHistory::open(&directory.place()).unwrap().unwrap().list().unwrap(), []);
}

#[test]
fn a_damaged_result_is_told_with_its_number() {
    let directory = Directory::new();
    let mut history = RunHistory::open_or_make(&directory.place()).unwrap();
    history.keep(&run("", "a")).unwrap();
    directory.connection().execute_batch("UPDATE runs SET content = x'78', jobs = 'no list', verdict = '?'").unwrap();
    let error = history.content(1).unwrap_err().to_string();
    assert!(error.starts_with("the stored result of run 1 is damaged: "), "{error}");
    assert_eq!(history.list().unwrap()[0].summary.jobs, [""; 0]);
}

/// Two connections of one process, as the database sees two processes.
#[test]
fn writers_wait_for_each_other() {
    let directory = Directory::new();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..10 {
                    RunHistory::open_or_make(&directory.place()).unwrap().keep(&run("", "a")).unwrap();
                }
            });
        }
    });
    let runs = RunHistory::open(&directory.place()).unwrap().unwrap().list().unwrap();
    assert_eq!(runs.iter().map(|run| run.number).collect::<Vec<_>>(), (1..=40).rev().collect::<Vec<_>>());
}

fn last_run(name: &str, ended_secs: u64) -> LastRun {
    let path = PathBuf::from(format!("/data/{name}"));
    let target = TargetState { path, device: u64::MAX, inode: 2, size_bytes: 3, modified: (-4, 5) };
    LastRun { target, pattern: "reads".to_owned(), ended_secs }
}

#[test]
fn the_oldest_targets_are_forgotten() {
    let directory = Directory::new();
    let place = directory.place();
    let remember = |runs: &[LastRun]| RunHistory::open_or_make(&place).unwrap().remember(&place, runs).unwrap();
    let all: Vec<LastRun> = (0..=200).map(|number| last_run(&number.to_string(), number)).collect();
    remember(&all);
    assert_eq!(last_runs(&place).unwrap(), all[1..]);
    // A target has one place: that of its last job.
    remember(&[last_run("1", 300), last_run("x", 301), last_run("x", 302)]);
    let known = last_runs(&place).unwrap();
    assert_eq!((known.len(), &known[198..]), (200, &[last_run("1", 300), last_run("x", 302)][..]));
    assert_eq!(known[0], last_run("3", 3));
    assert!(is_whole(&directory));
}

#[test]
fn the_file_of_earlier_versions_is_taken_over_once() {
    let directory = Directory::new();
    let place = directory.place();
    let file = directory.0.join("last-runs.json");
    let text = serde_json::json!({ "targets": [last_run("a", 1), last_run("b", 2)] }).to_string();
    std::fs::write(&file, &text).unwrap();
    assert_eq!(last_runs(&place).unwrap(), [last_run("a", 1), last_run("b", 2)]);
    assert!(!place.path().exists() && file.exists(), "a look changes nothing");
    RunHistory::open_or_make(&place).unwrap().remember(&place, &[last_run("b", 9)]).unwrap();
    assert!(!file.exists());
    assert_eq!(last_runs(&place).unwrap(), [last_run("a", 1), last_run("b", 9)]);
    // An earlier version that still runs may write it again: what is known is newer.
    std::fs::write(&file, &text).unwrap();
    assert_eq!(last_runs(&place).unwrap(), [last_run("a", 1), last_run("b", 9)]);
    // Another content is left as it is.
    std::fs::write(&file, "[1, 2").unwrap();
    RunHistory::open_or_make(&place).unwrap().remember(&place, &[last_run("c", 10)]).unwrap();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "[1, 2");
}
