//! What options mean where their words are often misread: shares that count I/Os, sizes that files divide, rates that each direction has.
//!
//! Must not know: findings. These are facts about what was asked, and no fault. Start reading at [`of`].

use super::asked::Asked;
use crate::audit_input::{AuditInput, AuditedJob};
use crate::measures::asked::{is_depth_in_vain, mean_depth, syncs_on_device};
use crate::measures::given::given;
use crate::text;
use ferrio_spec::{DirectionMix, RandomDistribution, SizeSpec, ZoneSpec};
use ferrio_stats::{OptionAccount, OptionOutcome, TargetKind};
use ferrio_units::DataDirection;
use ferrio_units::humanize::thousands;

/// A share of I/Os and the share of bytes that goes with it are told from this difference on, as parts of 1.
const FAR_SHARE: f64 = 0.25;
/// A depth is told from this many times the mean number of I/Os in flight on.
const FAR_DEPTH: f64 = 4.0;
/// `io_size` is told up to this part of `size`.
const SMALL_PART: f64 = 0.02;

/// The sentences about a job, each without its name. `options`: what became of its options, as far as that is known.
pub(super) fn of(case: &AuditInput<'_>, job: &AuditedJob<'_>, options: &[OptionAccount]) -> Vec<String> {
    let meaning = |(name, value)| {
        let asked = Asked { case, job, name, value, findings: &[] };
        match name {
            "bssplit" => shares_of_bytes(&asked),
            "rw" => mix_of_bytes(&asked).or_else(|| files_of_its_own(&asked)),
            "rate" | "rate_iops" => rate_of_each(&asked),
            "size" => size_of_all(&asked),
            "io_size" => small_amount(&asked),
            "iodepth" => depth_beside_rate(&asked),
            "sync_file_range" => pages_only(&asked),
            "fsync" | "fdatasync" if asked.is_on() => next_file_synced(&asked),
            "zonesize" => passes_of_window(&asked),
            "startdelay" => ran_behind(&asked),
            "norandommap" => blocks_left_out(&asked),
            "percentage_random" => in_order_all_the_same(&asked),
            "create_only" if asked.is_on() => Some("create_only=1 makes the files, and no I/O is done.".to_owned()),
            _ => None,
        }
    };
    of_each_clone(case, job, options).into_iter().chain(given(case, job).filter_map(meaning)).collect()
}

/// Options that each clone has for itself, so that all together do many times as much.
fn of_each_clone(case: &AuditInput<'_>, job: &AuditedJob<'_>, options: &[OptionAccount]) -> Option<String> {
    const OF_CLONE: [&str; 6] = ["rate", "rate_iops", "size", "io_size", "number_ios", "iodepth"];
    let is_missed = |name: &str| {
        options.iter().any(|option| option.option == name && matches!(option.outcome, OptionOutcome::NotAsAsked(_)))
    };
    // A share of a file, and a depth of 1, are misread by nobody.
    // Clones on the files of one name have one size together.
    let has_own_files = job.spec.target.filenames.is_empty();
    let is_one = |(name, value): &(&str, &str)| {
        (*name != "size" || has_own_files)
            && OF_CLONE.contains(name)
            && !value.contains('%')
            && !matches!(*value, "" | "0" | "1")
            && !is_missed(name)
    };
    let given: Vec<String> = given(case, job).filter(is_one).map(|(name, value)| format!("{name}={value}")).collect();
    let n_clones = job.n_clones;
    let all = if given.len() > 1 { "each of these" } else { "that" };
    (n_clones > 1 && !given.is_empty()).then(|| {
        let given = given.join(", ");
        format!("Each of the {n_clones} jobs (numjobs) has {given} for itself: together {n_clones} times {all}.")
    })
}

fn shares_of_bytes(asked: &Asked<'_, '_>) -> Option<String> {
    asked.used().find_map(|direction| {
        let split = &asked.spec().pattern.block_split[direction];
        let of = |percent: u32, bytes: u64| f64::from(percent) * bytes as f64;
        let all: f64 = split.iter().map(|block| of(block.percent, block.block_bytes)).sum();
        let all_percent: u32 = split.iter().map(|block| block.percent).fold(0, u32::saturating_add);
        let largest = split.iter().max_by_key(|block| block.block_bytes)?;
        let bytes = of(largest.percent, largest.block_bytes);
        let is_far = bytes / all - f64::from(largest.percent) / f64::from(all_percent.max(1)) >= FAR_SHARE;
        is_far.then(|| {
            format!(
                "bssplit counts I/Os: blocks of {} are {} of them and {} of the bytes.",
                text::bytes(largest.block_bytes),
                text::percent(f64::from(largest.percent), f64::from(all_percent)),
                text::percent(bytes, all)
            )
        })
    })
}

/// Reads and writes of different sizes.
fn mix_of_bytes(asked: &Asked<'_, '_>) -> Option<String> {
    let pattern = &asked.spec().pattern;
    if pattern.mix != DirectionMix::ReadWrite || asked.spec().verify.is_some() || pattern.bs_is_seq_rand {
        return None;
    }
    let size_of = |direction: DataDirection| {
        let size = &pattern.block_size[direction];
        (size.min_bytes == size.max_bytes).then_some(size.max_bytes as f64)
    };
    let share = f64::from(pattern.rwmix_read.min(100)) / 100.0;
    let reads = share * size_of(DataDirection::Read)?;
    let all = reads + (1.0 - share) * size_of(DataDirection::Write)?;
    ((reads / all - share).abs() >= FAR_SHARE).then(|| {
        let (of_ios, of_bytes) = (text::percent(share, 1.0), text::percent(reads, all));
        format!("rwmixread counts I/Os: reads are {of_ios} of them and {of_bytes} of the bytes.")
    })
}

fn rate_of_each(asked: &Asked<'_, '_>) -> Option<String> {
    let is_for_both = asked.spec().pattern.mix == DirectionMix::ReadWrite
        && asked.spec().pace.limits_rates()
        && !matches!(asked.value, "" | "0")
        && !asked.value.contains(',');
    is_for_both.then(|| format!("{}={} is the rate of the reads, and that of the writes too.", asked.name, asked.value))
}

/// Files together have the size of their job.
fn size_of_all(asked: &Asked<'_, '_>) -> Option<String> {
    let extent = &asked.spec().extent;
    let Some(SizeSpec::Bytes(bytes)) = extent.size else { return None };
    let n_files = asked.n_files().filter(|n_files| *n_files > 1)?;
    let has_sizes = extent.filesize.is_some() || !extent.filesize_split.is_empty() || extent.fill_device;
    let are_files = asked.job.has_files()
        && asked.job.engine.targets.are_opened_by_run()
        && asked.job.places.iter().all(|place| place.kind == TargetKind::File);
    (are_files && !has_sizes).then(|| {
        let (of_each, n_files) = (text::bytes(bytes / n_files), thousands(n_files));
        format!("size={} is that of the {n_files} files together: {of_each} each.", asked.value)
    })
}

fn small_amount(asked: &Asked<'_, '_>) -> Option<String> {
    let extent = &asked.spec().extent;
    let (Some(SizeSpec::Bytes(size)), Some(amount)) = (extent.size, extent.given_io_bytes()) else { return None };
    let (amount, size) = (amount as f64, size as f64);
    (amount <= SMALL_PART * size && !asked.repeats_until_runtime())
        .then(|| format!("io_size={} ends the job after {} of its size.", asked.value, text::percent(amount, size)))
}

/// A rate that the device serves with few I/Os in flight.
fn depth_beside_rate(asked: &Asked<'_, '_>) -> Option<String> {
    asked.figures().filter(|_| asked.spec().pace.limits_rates())?;
    let has_depth = !asked.job.engine.is_inline() && !is_depth_in_vain(asked.job);
    let mean = mean_depth(asked.job).filter(|_| has_depth)?;
    let depth = asked.spec().queue.iodepth;
    (depth > 1 && mean * FAR_DEPTH <= f64::from(depth)).then(|| {
        format!(
            "iodepth={depth} is the most there may be: at its rate the job had {} in flight on average.",
            text::ios(mean)
        )
    })
}

fn pages_only(asked: &Asked<'_, '_>) -> Option<String> {
    let is_alone = asked.spec().durability.sync_file_range.is_some() && !syncs_on_device(asked.job);
    is_alone.then(|| {
        "sync_file_range writes pages out and is no fsync: the device may still have the data in its cache, and metadata may not be written."
            .to_owned()
    })
}

/// Observed of fio 3.33: the file descriptor of a sync is that of the write after it.
fn next_file_synced(asked: &Asked<'_, '_>) -> Option<String> {
    let n_files = asked.n_files().filter(|n_files| *n_files > 1)?;
    let writes = asked.job.does(DataDirection::Write) && asked.job.has_files() && !asked.job.engine.moves_nothing();
    writes.then(|| {
        format!(
            "{}={} syncs the file whose turn is next, as fio does, and not the one just written: some writes to the {} files may wait for no sync.",
            asked.name,
            asked.value,
            thousands(n_files)
        )
    })
}

fn passes_of_window(asked: &Asked<'_, '_>) -> Option<String> {
    let ZoneSpec::Strided(zones) = asked.spec().zones else { return None };
    let n_passes = zones.zone_bytes as f64 / zones.range_bytes.max(1) as f64;
    (n_passes >= 2.0).then(|| {
        format!(
            "zonesize={}: each window of {} (zonerange) is passed {} times before the next one.",
            asked.value,
            text::bytes(zones.range_bytes),
            text::short(n_passes)
        )
    })
}

/// All other jobs of the group had ended before this one began.
fn ran_behind(asked: &Asked<'_, '_>) -> Option<String> {
    if asked.spec().limits.startdelay_us == (0, 0) || asked.case.is_reported() {
        return None;
    }
    let start_ms = asked.job.workers.iter().map(|worker| worker.stats.job_start_ms).min()?;
    let others = || {
        let mine = |job: &&AuditedJob<'_>| job.group == asked.job.group && job.index != asked.job.index;
        asked.case.jobs.iter().filter(mine).flat_map(|job| &job.workers)
    };
    let has_ended = |end_ms: u64| start_ms > 0 && end_ms <= start_ms;
    let ends =
        || others().map(|worker| worker.stats.job_start_ms.saturating_add(worker.stats.total_runtime_ns / 1_000_000));
    (others().next().is_some() && ends().all(has_ended)).then(|| {
        format!(
            "startdelay={}: the other jobs had ended before this one began, so they did not run together.",
            asked.value
        )
    })
}

/// A later job without a filename reads files of its own.
fn files_of_its_own(asked: &Asked<'_, '_>) -> Option<String> {
    let has_own = |job: &AuditedJob<'_>| {
        let target = &job.spec.target;
        let is_plain = target.filenames.is_empty() && target.opendirs.is_empty() && !job.spec.replay.is_set();
        is_plain && job.has_files() && job.engine.targets.are_opened_by_run()
    };
    let only_reads = asked.spec().pattern.mix == DirectionMix::Read;
    if !only_reads || !has_own(asked.job) || asked.is_given("filename_format") {
        return None;
    }
    let is_before = |other: &&AuditedJob<'_>| {
        let is_earlier = other.group < asked.job.group || asked.spec().grouping.wait_for.as_deref() == Some(other.name);
        is_earlier
            && other.does(DataDirection::Write)
            && has_own(other)
            && other.spec.extent.size == asked.spec().extent.size
    };
    let writer = asked.case.jobs.iter().find(is_before)?;
    Some(format!("Without a filename the job reads files of its own, and not those that {} writes.", writer.name))
}

/// Without a map of the blocks that were done, a pass of as many I/Os as there are blocks leaves some out, and does others again.
fn blocks_left_out(asked: &Asked<'_, '_>) -> Option<String> {
    let (pattern, extent) = (&asked.spec().pattern, &asked.spec().extent);
    let Some(SizeSpec::Bytes(size)) = extent.size else { return None };
    let is_plain = pattern.random && pattern.norandommap && pattern.distribution == RandomDistribution::Uniform;
    if !is_plain || asked.repeats_until_runtime() || asked.spec().zones != ZoneSpec::None {
        return None;
    }
    let n_passes = extent.given_io_bytes()? as f64 / size as f64 * f64::from(asked.spec().limits.loops.max(1));
    let left_out = (-n_passes).exp();
    let (is_told, share) = ((LEFT_OUT..=1.0 - LEFT_OUT).contains(&left_out), text::percent(left_out, 1.0));
    is_told.then(|| {
        format!("norandommap: each block is drawn anew, so that {share} of them are left out, and others done again.")
    })
}

/// Parts of all blocks that are left out are told from here on.
const LEFT_OUT: f64 = 0.05;

fn in_order_all_the_same(asked: &Asked<'_, '_>) -> Option<String> {
    let pattern = &asked.spec().pattern;
    let is_none = pattern.random && asked.used().all(|direction| pattern.percentage_random[direction] == 0);
    is_none.then(|| "percentage_random=0: all blocks follow each other, although rw says random.".to_owned())
}

#[cfg(test)]
mod tests {
    use crate::audit;
    use crate::rules::testing::{MIB, TestRun, job, place};
    use ferrio_spec::{BlockShare, DirectionMix, JobSpec, SizeSpec, StridedSpec, ZoneSpec};

    fn meanings_of(scene: &TestRun) -> Vec<String> {
        audit(&scene.made()).accounts.map(|accounts| accounts.jobs[0].meanings.clone()).unwrap_or_default()
    }

    /// What is said of a job that gives these options.
    fn said(mix: DirectionMix, given: &[(&str, &str)], change: fn(&mut JobSpec)) -> String {
        let mut one = job("a", mix);
        one.given_options = given.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        change(&mut one);
        meanings_of(&TestRun::new(one)).join(" ")
    }

    /// 50 times 4 KiB and 50 times 64 KiB are 3,400 KiB, of which 3,200 are 94 %.
    #[test]
    fn shares_of_ios_are_told_beside_those_of_bytes() {
        let split = |job: &mut JobSpec| {
            let block = |block_bytes, percent| BlockShare { block_bytes, percent };
            job.pattern.block_split.0[0] = vec![block(4096, 50), block(65_536, 50)];
        };
        let expected = "bssplit counts I/Os: blocks of 64 KiB are 50 % of them and 94 % of the bytes.";
        assert_eq!(said(DirectionMix::Read, &[("bssplit", "4k/50:64k/50")], split), expected);
        let near = |job: &mut JobSpec| {
            let block = |block_bytes, percent| BlockShare { block_bytes, percent };
            job.pattern.block_split.0[0] = vec![block(4096, 50), block(8192, 50)];
        };
        assert_eq!(said(DirectionMix::Read, &[("bssplit", "4k/50:8k/50")], near), "");
        let sizes = |job: &mut JobSpec| {
            for (size, bytes) in job.pattern.block_size.0.iter_mut().zip([4096, 65_536, 4096]) {
                (size.min_bytes, size.max_bytes) = (bytes, bytes);
            }
        };
        let expected = "rwmixread counts I/Os: reads are 50 % of them and 6 % of the bytes.";
        assert_eq!(said(DirectionMix::ReadWrite, &[("rw", "randrw")], sizes), expected);
        assert_eq!(said(DirectionMix::Read, &[("rw", "randread")], sizes), "");
    }

    #[test]
    fn options_of_each_clone_are_told_of_several() {
        let given = [("rate_iops", "500"), ("size", "25%"), ("bs", "4k")];
        assert_eq!(said(DirectionMix::Read, &given, |_| ()), "");
        let line = said(DirectionMix::Read, &given, |job| job.numjobs = 4);
        assert_eq!(line, "Each of the 4 jobs (numjobs) has rate_iops=500 for itself: together 4 times that.");
        let given = [("rate_iops", "500"), ("iodepth", "8")];
        let line = said(DirectionMix::Read, &given, |job| {
            job.numjobs = 4;
            "libaio".clone_into(&mut job.engine.name);
            job.queue.iodepth = 8;
        });
        assert_eq!(
            line,
            "Each of the 4 jobs (numjobs) has rate_iops=500, iodepth=8 for itself: together 4 times each of these."
        );
    }

    #[test]
    fn clones_on_one_file_have_one_size() {
        let on = |name: &'static str| {
            let mut one = job("a", DirectionMix::Read);
            one.given_options = vec![("size".to_owned(), "1g".to_owned())];
            one.target.filenames = [name].into_iter().filter(|name| !name.is_empty()).map(str::to_owned).collect();
            one.numjobs = 2;
            meanings_of(&TestRun::new(one)).join(" ")
        };
        assert_eq!(on("/data/f"), "");
        assert_eq!(on(""), "Each of the 2 jobs (numjobs) has size=1g for itself: together 2 times that.");
    }

    #[test]
    fn a_rate_without_a_comma_is_that_of_each_direction() {
        let rate = |job: &mut JobSpec| job.pace.ios_per_sec.0 = [1000; 3];
        let expected = "rate_iops=1000 is the rate of the reads, and that of the writes too.";
        assert_eq!(said(DirectionMix::ReadWrite, &[("rate_iops", "1000")], rate), expected);
        assert_eq!(said(DirectionMix::ReadWrite, &[("rate_iops", "1000,1000")], rate), "");
        assert_eq!(said(DirectionMix::Write, &[("rate_iops", "1000")], rate), "");
    }

    #[test]
    fn files_divide_the_size_of_their_job() {
        let two = |job: &mut JobSpec| job.target.filenames = vec!["a".to_owned(), "b".to_owned()];
        let expected = "size=100m is that of the 2 files together: 50 MiB each.";
        assert_eq!(said(DirectionMix::Read, &[("size", "100m")], two), expected);
        assert_eq!(said(DirectionMix::Read, &[("size", "100m")], |_| ()), "");
        let sized = |job: &mut JobSpec| {
            job.target.nrfiles = 2;
            job.extent.filesize = Some((MIB, MIB));
        };
        assert_eq!(said(DirectionMix::Read, &[("size", "100m")], sized), "");
    }

    #[test]
    fn a_small_amount_is_a_part_of_the_size() {
        let expected = "io_size=1m ends the job after 1 % of its size.";
        let small = |job: &mut JobSpec| job.extent.io_size = Some(SizeSpec::Bytes(MIB));
        assert_eq!(said(DirectionMix::Read, &[("io_size", "1m")], small), expected);
        let repeated = |job: &mut JobSpec| {
            job.extent.io_size = Some(SizeSpec::Bytes(MIB));
            (job.limits.time_based, job.limits.runtime_us) = (true, 1);
        };
        assert_eq!(said(DirectionMix::Read, &[("io_size", "1m")], repeated), "");
    }

    /// 25,600 I/Os of 300 us in 10 s are 0.768 in flight on average.
    #[test]
    fn a_depth_beside_a_rate_is_told_with_what_was_in_flight() {
        let rate = |job: &mut JobSpec| {
            "libaio".clone_into(&mut job.engine.name);
            job.queue.iodepth = 32;
            job.pace.ios_per_sec.0 = [2560; 3];
        };
        let expected = "iodepth=32 is the most there may be: at its rate the job had 0.77 I/Os in flight on average.";
        assert_eq!(said(DirectionMix::Read, &[("iodepth", "32")], rate), expected);
        let shallow = |job: &mut JobSpec| {
            "libaio".clone_into(&mut job.engine.name);
            job.queue.iodepth = 3;
            job.pace.ios_per_sec.0 = [2560; 3];
        };
        assert_eq!(said(DirectionMix::Read, &[("iodepth", "3")], shallow), "");
    }

    #[test]
    fn pages_that_are_written_out_are_not_safe() {
        let pages = |job: &mut JobSpec| job.durability.sync_file_range = Some((2, 8));
        let given = [("sync_file_range", "write:8")];
        assert!(
            said(DirectionMix::Write, &given, pages).starts_with("sync_file_range writes pages out and is no fsync")
        );
        let synced = |job: &mut JobSpec| {
            job.durability.sync_file_range = Some((2, 8));
            job.durability.end_fsync = true;
        };
        assert_eq!(said(DirectionMix::Write, &given, synced), "");
    }

    #[test]
    fn a_window_that_is_smaller_than_its_zone_is_passed_again() {
        let zones = |job: &mut JobSpec| {
            job.zones = ZoneSpec::Strided(StridedSpec { zone_bytes: 64 * MIB, range_bytes: MIB, skip_bytes: 0 });
        };
        let expected = "zonesize=64m: each window of 1 MiB (zonerange) is passed 64 times before the next one.";
        assert_eq!(said(DirectionMix::Read, &[("zonesize", "64m")], zones), expected);
    }

    #[test]
    fn a_job_that_began_behind_all_others_is_told() {
        let is_told = |start_ms: u64| {
            let mut late = job("a", DirectionMix::Read);
            late.limits.startdelay_us = (5_000_000, 5_000_000);
            late.given_options = vec![("startdelay".to_owned(), "5".to_owned())];
            let mut scene = TestRun::new(late);
            scene.add(job("b", DirectionMix::Read), place("/data/b"));
            for (worker, start_ms) in scene.record.workers.iter_mut().zip([start_ms, 1_000]) {
                (worker.stats.job_start_ms, worker.stats.total_runtime_ns) = (start_ms, 4_000_000_000);
            }
            !meanings_of(&scene).is_empty()
        };
        assert!(is_told(5_000));
        assert!(!is_told(4_999));
    }

    #[test]
    fn a_reader_without_a_filename_has_files_of_its_own() {
        let said = |change: fn(&mut JobSpec)| {
            let mut reader = job("r", DirectionMix::Read);
            reader.grouping.stonewall = true;
            reader.given_options = vec![("rw".to_owned(), "read".to_owned())];
            change(&mut reader);
            let mut scene = TestRun::new(job("w", DirectionMix::Write));
            scene.add(reader, place("/data/r.0.0"));
            audit(&scene.made()).accounts.expect("accounts").jobs[1].meanings.join(" ")
        };
        let expected = "Without a filename the job reads files of its own, and not those that w writes.";
        assert_eq!(said(|_| ()), expected);
        assert_eq!(said(|job| job.target.filenames = vec!["f".to_owned()]), "");
        assert_eq!(said(|job| job.grouping.stonewall = false), "");
    }

    /// One pass leaves out 1/e of the blocks, which are 37 %.
    #[test]
    fn draws_without_a_map_leave_blocks_out() {
        let said = |change: fn(&mut JobSpec)| said(DirectionMix::Read, &[("norandommap", "1")], change);
        let random = |job: &mut JobSpec| (job.pattern.random, job.pattern.norandommap) = (true, true);
        let expected =
            "norandommap: each block is drawn anew, so that 37 % of them are left out, and others done again.";
        assert_eq!(said(random), expected);
        assert_eq!(said(|job| (job.pattern.random, job.pattern.norandommap, job.limits.loops) = (true, true, 4)), "");
        assert_eq!(said(|_| ()), "");
    }

    #[test]
    fn a_random_job_in_order_is_told() {
        let in_order = |job: &mut JobSpec| (job.pattern.random, job.pattern.percentage_random.0) = (true, [0; 3]);
        let expected = "percentage_random=0: all blocks follow each other, although rw says random.";
        assert_eq!(said(DirectionMix::Read, &[("percentage_random", "0")], in_order), expected);
    }

    #[test]
    fn syncs_of_several_files_are_those_of_the_next_one() {
        let two = |job: &mut JobSpec| job.target.nrfiles = 2;
        let expected = "fsync=1 syncs the file whose turn is next, as fio does, and not the one just written: some writes to the 2 files may wait \
                        for no sync.";
        assert_eq!(said(DirectionMix::Write, &[("fsync", "1")], two), expected);
        assert_eq!(said(DirectionMix::Write, &[("fsync", "1")], |_| ()), "");
        assert_eq!(said(DirectionMix::Read, &[("fsync", "1")], two), "");
    }
}
