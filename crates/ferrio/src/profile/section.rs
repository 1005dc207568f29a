//! The parts of a profile, as options of jobs and parameters.
//!
//! Must not know: files, times, engines. Start reading at [`SECTIONS`].

use ferrio_formats::IoKind;
use serde::Serialize;

/// A part of a profile.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ProfileSection {
    /// Its name in JSON.
    pub id: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// What is measured, and what it is for.
    pub about: &'static str,
    /// Options of its job.
    pub words: &'static str,
    /// Its parameters, as `--over` of a sweep.
    pub over: &'static [&'static str],
    /// The part, by its name, whose fastest point it runs once more in an open loop; its parameters follow from that.
    #[serde(skip)]
    pub open_loop_of: Option<&'static str>,
    /// Its part of the time, thousandths; 0: it ends by itself.
    #[serde(skip)]
    pub share: u32,
    /// The kind of I/O whose latencies stand for it.
    #[serde(skip)]
    pub kind: IoKind,
    /// The kinds of I/O whose rates add up to its rate.
    #[serde(skip)]
    pub moved: &'static [IoKind],
    /// It changes the contents of the target.
    pub is_written: bool,
    /// How its figures change over time is part of the answer.
    pub has_course: bool,
}

impl ProfileSection {
    const fn reads(id: &'static str, title: &'static str, words: &'static str, share: u32) -> Self {
        let (about, over, open_loop_of) = ("", &[] as &[&str], None);
        let (kind, moved) = (IoKind::Read, &[IoKind::Read]);
        Self { id, title, about, words, over, open_loop_of, share, kind, moved, is_written: false, has_course: false }
    }

    const fn writes(id: &'static str, title: &'static str, words: &'static str, share: u32) -> Self {
        let (kind, moved) = (IoKind::Write, &[IoKind::Write]);
        Self { kind, moved, is_written: true, ..Self::reads(id, title, words, share) }
    }

    /// Reads and writes: the rates are those of both, the latencies those of the reads.
    const fn reads_and_writes(id: &'static str, title: &'static str, words: &'static str, share: u32) -> Self {
        let (kind, moved) = (IoKind::Read, &[IoKind::Read, IoKind::Write]);
        Self { kind, moved, is_written: true, ..Self::reads(id, title, words, share) }
    }

    const fn about(mut self, about: &'static str) -> Self {
        self.about = about;
        self
    }

    const fn over(mut self, over: &'static [&'static str]) -> Self {
        self.over = over;
        self
    }

    const fn in_open_loop_of(mut self, id: &'static str) -> Self {
        self.open_loop_of = Some(id);
        self
    }

    const fn with_course(mut self) -> Self {
        self.has_course = true;
        self
    }
}

const SIZES_AND_DEPTHS: &[&str] = &["bs=4k,16k,64k,256k,1m", "iodepth=1,4,16,64"];

/// The parts in their order. The first one makes the file; reads follow before the file is overwritten at random.
pub const SECTIONS: [ProfileSection; 14] = [
    ProfileSection::writes("first-write", "First write", "--rw=write --bs=1m --iodepth=8 --end_fsync=1 --fallocate=none", 0)
        .about("A new file is written in order, which is also its preparation.")
        .with_course(),
    ProfileSection::reads("read-alone", "One read at a time", "--rw=randread --bs=4k --iodepth=1", 40)
        .about("Random reads of 4 KiB, each when the one before is done: what a lookup waits for."),
    ProfileSection::reads("reads", "Random reads by block size and depth", "--rw=randread", 140)
        .about("How many reads the storage does at once, and what each then waits.")
        .over(SIZES_AND_DEPTHS),
    ProfileSection::reads("reads-of-users", "Random reads of users who do not wait for each other", "--rw=randread", 60)
        .about("The fastest of the points above once more, but users come at random times, at 10 to 95 % of its rate: an open loop.")
        .in_open_loop_of("reads"),
    ProfileSection::reads("sequential-reads", "Reads in order", "--rw=read --bs=1m", 30)
        .about("Reads of 1 MiB in order: a scan, a backup, a video.")
        .over(&["iodepth=1,8"]),
    ProfileSection::reads("reads-through-cache", "Reads in order, past the page cache and through it", "--rw=read --bs=64k --ioengine=psync --iodepth=1", 30)
        .about("The page cache is empty of the file at the beginning; the kernel reads ahead for the job that reads through it.")
        .over(&["direct=1,0"]),
    ProfileSection::reads("reads-over-time", "Random reads over time", "--rw=randread --bs=4k --iodepth=32", 120)
        .about("One long run: how its rate and its slowest reads change.")
        .with_course(),
    ProfileSection::writes("write-alone", "One write at a time", "--rw=randwrite --bs=4k --iodepth=1", 40)
        .about("Random writes of 4 KiB, each when the one before is done. A write that is done may still be in a cache of the device."),
    ProfileSection {
        kind: IoKind::Sync,
        ..ProfileSection::writes("syncs", "Writes that must last", "--rw=write --bs=4k --iodepth=1", 60)
            .about("Each write of 4 KiB is followed by fdatasync or fsync: what a transaction waits for. The latencies are those of the sync.")
            .over(&["fdatasync:fsync=1:0,0:1"])
    },
    ProfileSection::reads_and_writes("mixed", "70 % reads and 30 % writes", "--rw=randrw --rwmixread=70 --bs=4k", 60)
        .about("Random I/Os of 4 KiB. The rates are those of reads and writes together, the latencies those of the reads; the table has both apart.")
        .over(&["iodepth=1,4,16,64"]),
    ProfileSection::writes("sequential-writes", "Writes in order", "--rw=write --bs=1m --end_fsync=1", 30)
        .about("Writes of 1 MiB in order, with one sync at the end.")
        .over(&["iodepth=1,8"]),
    ProfileSection::writes("writes-through-cache", "Writes in order, past the page cache and through it", "--rw=write --bs=64k --ioengine=psync --iodepth=1 --end_fsync=1", 30)
        .about("Writes through the page cache are done when memory has them; the sync at the end is part of the time.")
        .over(&["direct=1,0"]),
    ProfileSection::writes("writes", "Random writes by block size and depth", "--rw=randwrite", 140)
        .about("How many writes the storage does at once, and what each then waits.")
        .over(SIZES_AND_DEPTHS),
    ProfileSection::writes("writes-over-time", "Random writes over time: burst, then sustained", "--rw=randwrite --bs=4k --iodepth=32 --norandommap", 220)
        .about("One long run: what caches and credits give first, and what stays.")
        .with_course(),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_share_the_time() {
        assert_eq!(SECTIONS.iter().map(|section| section.share).sum::<u32>(), 1_000);
        // Only what makes the file ends by itself, and a device that is only read needs none of it.
        assert!(SECTIONS.iter().skip(1).all(|section| section.share > 0) && SECTIONS[0].is_written);
        let names: std::collections::BTreeSet<&str> = SECTIONS.iter().map(|section| section.id).collect();
        assert_eq!(names.len(), SECTIONS.len());
        for (index, of) in
            SECTIONS.iter().enumerate().filter_map(|(index, section)| Some((index, section.open_loop_of?)))
        {
            assert!(SECTIONS[..index].iter().any(|section| section.id == of && !section.is_written));
        }
    }
}
