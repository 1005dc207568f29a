//! Log files on disk.

use super::*;
use ferrio_stats::histogram::N_BUCKETS;
use ferrio_stats::{LogColumns, LogKind};
use ferrio_units::DataDirection;

/// A directory for a test, removed with it.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("ferrio-logs-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a directory for temporary files");
        Self(path)
    }

    fn file(&self, kind: LogKind) -> LogFile {
        LogFile {
            prefix: self.0.join("p"),
            kind,
            worker_number: Some(3),
            columns: LogColumns::default(),
            coarseness: 6,
            compressed_chunk_bytes: None,
        }
    }

    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).expect("the log is there")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn row(time_ms: u64) -> LogRow {
    LogRow {
        time_ms,
        value: 5,
        maximum: 0,
        direction: DataDirection::Write,
        block_bytes: 4096,
        offset_bytes: 0,
        ioprio: 0,
        issue_ns: 0,
    }
}

// Expected: names that fio 3.41 gives.
#[test]
fn names_say_what_and_whose() {
    let scratch = Scratch::new("names");
    let file = |kind| LogFile { prefix: "a/b".into(), ..scratch.file(kind) };
    let names = LogKind::ALL.map(|kind| path(&file(kind)).display().to_string());
    let expected =
        ["a/b_bw.3.log", "a/b_iops.3.log", "a/b_slat.3.log", "a/b_clat.3.log", "a/b_lat.3.log", "a/b_clat_hist.3.log"];
    assert_eq!(names, expected);
    let shared = LogFile { worker_number: None, ..file(LogKind::Bw) };
    assert_eq!(path(&shared), PathBuf::from("a/b_bw.log"));
    let compressed = LogFile { compressed_chunk_bytes: Some(0), ..file(LogKind::Bw) };
    assert_eq!(path(&compressed), PathBuf::from("a/b_bw.3.log.fz"));
}

#[test]
fn a_log_of_one_worker_is_new_and_a_shared_one_grows() {
    let scratch = Scratch::new("grow");
    for _ in 0..2 {
        let mut files = LogFiles::default();
        let own = files.open(&scratch.file(LogKind::Bw)).expect("opens");
        let shared_file = LogFile { worker_number: None, ..scratch.file(LogKind::Bw) };
        let shared = [files.open(&shared_file).expect("opens"), files.open(&shared_file).expect("opens")];
        files.rows(own, &[row(0), row(1)]).expect("writes");
        files.rows(shared[0], &[row(2)]).expect("writes");
        files.rows(shared[1], &[row(3)]).expect("writes");
        files.rows(shared[0], &[row(4)]).expect("writes");
        for log in [own, shared[0], shared[1]] {
            files.close(log).expect("closes");
        }
        assert!(files.rows(own, &[row(0)]).is_err(), "it is closed");
    }
    assert_eq!(scratch.text("p_bw.3.log"), "0, 5, 1, 4096, 0\n1, 5, 1, 4096, 0\n");
    let once = "2, 5, 1, 4096, 0\n3, 5, 1, 4096, 0\n4, 5, 1, 4096, 0\n";
    assert_eq!(scratch.text("p_bw.log"), once.repeat(2));
}

#[test]
fn histograms_are_text_beside_compressed_rows() {
    let scratch = Scratch::new("histogram");
    let compressed = |kind| LogFile { compressed_chunk_bytes: Some(4096), ..scratch.file(kind) };
    let mut files = LogFiles::default();
    let rows = files.open(&compressed(LogKind::Clat)).expect("opens");
    let histogram = files.open(&compressed(LogKind::ClatHist)).expect("opens");
    files.rows(rows, &vec![row(0); 300]).expect("writes");
    let counts = Box::new([1; N_BUCKETS]);
    let line = HistogramRow { time_ms: 1, direction: DataDirection::Read, block_bytes: 4096, counts };
    files.histogram(histogram, &line).expect("writes");
    files.close(rows).and_then(|()| files.close(histogram)).expect("closes");
    assert_eq!(scratch.text("p_clat_hist.3.log"), format!("1, 0, 4096{}\n", ", 64".repeat(29)));
    let bytes = std::fs::read(scratch.0.join("p_clat.3.log.fz")).expect("the log is there");
    let mut text = Vec::new();
    inflate(&mut bytes.as_slice(), &mut text).expect("inflates");
    assert_eq!(String::from_utf8(text).expect("digits"), "0, 5, 1, 4096, 0\n".repeat(300));
}

#[test]
fn a_log_that_cannot_be_opened_is_an_error() {
    let scratch = Scratch::new("missing");
    let file = LogFile { prefix: scratch.0.join("missing/p"), ..scratch.file(LogKind::Bw) };
    let error = LogFiles::default().open(&file).expect_err("there is no such directory");
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
}

#[test]
fn lines_are_kept_whole() {
    for (written, kept) in [(0, 0), (3, 0), (4, 4), (5, 4), (8, 8), (99, 8)] {
        assert_eq!(whole_lines(b"abc\ndef\n", written), kept);
    }
}
