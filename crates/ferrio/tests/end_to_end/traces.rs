//! Traces of blktrace: writing them for tests, and merging them into one. Replays are in `replays`.
//!
//! Start reading at [`Event`].

use crate::support::{Finished, Program, Run, Scratch};

/// A record of blktrace by the header of Linux, queued on device 8:0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) sequence: u32,
    pub(crate) time_ns: u64,
    pub(crate) sector: u64,
    pub(crate) bytes: u32,
    /// Properties in the upper half of the action: 1 read, 2 write, 4 flush, 0x400 notify, 0x2000 discard.
    pub(crate) category: u32,
    /// The event in the lower half: 1 queued, 2 and 3 merged, 8 complete.
    pub(crate) kind: u32,
    /// Major and minor number.
    pub(crate) device: (u32, u32),
    pub(crate) n_data: u16,
}

pub(crate) const READ: u32 = 1;
pub(crate) const WRITE: u32 = 2;
pub(crate) const FLUSH: u32 = 4;
pub(crate) const NOTIFY: u32 = 0x400;
pub(crate) const DISCARD: u32 = 0x2000;

impl Event {
    pub(crate) fn new(sequence: u32, time_ns: u64, category: u32) -> Self {
        let sector = 8 * u64::from(sequence);
        Self { sequence, time_ns, sector, bytes: 4096, category, kind: 1, device: (8, 0), n_data: 0 }
    }

    pub(crate) fn to_bytes(self) -> Vec<u8> {
        let mut out = [0x6561_7407, self.sequence].map(u32::to_ne_bytes).concat();
        out.extend([self.time_ns, self.sector].map(u64::to_ne_bytes).concat());
        let device = self.device.0 << 20 | self.device.1;
        out.extend([self.bytes, self.category << 16 | self.kind, 1234, device, 3].map(u32::to_ne_bytes).concat());
        out.extend([0, self.n_data].map(u16::to_ne_bytes).concat());
        out.extend(vec![b'd'; self.n_data.into()]);
        out
    }
}

pub(crate) fn trace(events: &[Event]) -> Vec<u8> {
    events.iter().flat_map(|event| event.to_bytes()).collect()
}

/// A directory with the traces `a` and `b`, and a text.
fn traces(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    let data = Event { n_data: 20, ..Event::new(2, 3000, WRITE) };
    scratch.write("a", trace(&[Event::new(1, 1000, READ), data]));
    scratch.write("b", trace(&[Event::new(3, 1500, DISCARD | WRITE), Event::new(4, 3000, READ)]));
    scratch.write("text", "fio version 3 iolog\n1 f add\n2 f open\n3 f read 0 4096\n4 f close\n");
    scratch
}

fn ferrio(scratch: &Scratch, arguments: &str) -> Finished {
    Run::new(Program::Ferrio, scratch.path(), &format!("--name=j --merge_blktrace_file=m {arguments}")).finish()
}

#[test]
fn traces_are_merged_by_time() {
    let scratch = traces("merge");
    let finished = ferrio(&scratch, "--read_iolog=a:b --merge-blktrace-only");
    assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""), "{}", finished.all());
    let [first, second, third, last] = [(1, 1000, READ), (3, 1500, DISCARD | WRITE), (2, 3000, WRITE), (4, 3000, READ)]
        .map(|(sequence, time_ns, category)| Event::new(sequence, time_ns, category));
    let merged = || std::fs::read(scratch.join("m")).expect("the merged trace");
    assert_eq!(merged(), trace(&[first, second, third, last]));
    let finished = ferrio(
        &scratch,
        "--read_iolog=a:b --merge-blktrace-only --merge_blktrace_scalars=50:100 --merge_blktrace_iters=2:1",
    );
    assert_eq!(finished.code, Some(0), "{}", finished.all());
    let at = |event: Event, time_ns| Event { time_ns, ..event };
    let expected = [at(first, 500), second, at(third, 1500), at(first, 2000), last, at(third, 3000)];
    // The second of those at 1500 is of the first trace, which comes first.
    let expected = [expected[0], expected[2], expected[1], expected[3], expected[5], expected[4]];
    assert_eq!(merged(), trace(&expected));
}

#[test]
fn what_is_replayed_is_the_merged_trace() {
    let scratch = traces("merge-replay");
    let finished = ferrio(
        &scratch,
        "--read_iolog=a:b --replay_redirect=f --ioengine=null --numjobs=2 --output-format=json --merge_blktrace_iters=3:1",
    );
    assert_eq!(finished.code, Some(0), "{}", finished.all());
    let document: serde_json::Value = serde_json::from_str(&finished.stdout).expect("a document");
    let jobs = document["jobs"].as_array().expect("jobs");
    assert_eq!(jobs.len(), 2);
    for job in jobs {
        let counts = ["read", "write", "trim"].map(|direction| job[direction]["total_ios"].as_u64());
        assert_eq!(counts, [Some(4), Some(3), Some(1)]);
    }
}

#[test]
fn what_cannot_be_merged_is_left_alone() {
    let scratch = traces("merge-refused");
    let damaged = [trace(&[Event::new(1, 1, READ)]), vec![1; 60]].concat();
    scratch.write("damaged", damaged);
    for (arguments, text) in [
        ("--read_iolog=a:text", "fio: j: file is not a blktrace: text"),
        ("--read_iolog=a:missing", "fio: j: could not open file: missing: No such file or directory"),
        ("--read_iolog=a:damaged", "fio: j: fio: bad magic in blktrace data: 1010101 (at byte 48)"),
        ("--read_iolog=a:b --merge_blktrace_file=b", "fio: j: b is one of the traces that are merged to it"),
        ("--read_iolog=a:b --merge_blktrace_file=/dev/null", "fio: j: /dev/null is no regular file"),
        ("--read_iolog=a:b --name=k --read_iolog=a --merge_blktrace_file=m", "fio: k: m is what another job merges"),
        ("--read_iolog=a:b --merge_blktrace_scalars=50", "fio: merge_blktrace_scalars(1) != nr_logs(2)"),
        ("--size=1m", "fio: j: merge_blktrace_file needs read_iolog"),
    ] {
        let finished = ferrio(&scratch, &format!("{arguments} --merge-blktrace-only"));
        assert_eq!(finished.code, Some(1), "{}", finished.all());
        assert!(finished.stderr.contains(text), "{}", finished.all());
        let is_whole = scratch.names() == ["a", "b", "damaged", "text"]
            || (arguments.contains("--name=k") && scratch.names().contains(&"m".to_owned()));
        assert!(is_whole, "{:?}", scratch.names());
        let _ = std::fs::remove_file(scratch.join("m"));
    }
    let none = Run::new(Program::Ferrio, scratch.path(), "--name=j --size=1m --merge-blktrace-only").finish();
    assert!(none.code == Some(1) && none.stderr.contains("no job has read_iolog"), "{}", none.all());
}
