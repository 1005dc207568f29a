//! Options about how much a job does, and for how long.
//!
//! Start reading at [`EFFECTS`].

use super::OptionEffect;
use crate::accounts::asked::{Asked, as_asked_if, not, of_asked, unseen};
use crate::audit_input::{AuditedJob, sum};
use crate::measures::asked::{is_held_back, most_ios};
use crate::text;
use ferrio_spec::engines::Measures;
use ferrio_spec::{DirectionMix, FileLocking, FileService, SizeSpec, ZoneSpec};
use ferrio_stats::{OptionOutcome, TargetKind, TargetPlace, ThreadStats};
use ferrio_units::DataDirection;
use ferrio_units::humanize::{counted, thousands};

pub(super) const EFFECTS: &[OptionEffect] = &[
    OptionEffect::measured(&["runtime"], runtime),
    OptionEffect::measured(&["time_based"], |_| OptionOutcome::AsAsked).in_vain_if(|asked| {
        (asked.is_on() && asked.spec().limits.runtime_us == 0).then(|| "there is no runtime".to_owned())
    }),
    OptionEffect::measured(&["ramp_time", "ramp_size"], ramp).in_vain_if(ramp_in_vain),
    OptionEffect::measured(&["size"], bytes).in_vain_if(size_in_vain),
    OptionEffect::measured(&["io_size", "loops"], bytes).in_vain_if(end_in_vain),
    OptionEffect::measured(&["number_ios"], number_of_ios).in_vain_if(number_in_vain),
    OptionEffect::measured(&["numjobs"], |asked| {
        let (wanted, there) = (u64::from(asked.spec().numjobs), asked.n_clones());
        as_asked_if(there >= wanted, || format!("{there} of {wanted}"))
    })
    .in_vain_if(one_at_a_time),
    OptionEffect::measured(&["startdelay"], start_delay),
    OptionEffect::measured(&["nrfiles", "filesize"], files).in_vain_if(place_in_vain),
    OptionEffect::nowhere(
        &[
            "filesize_split",
            "openfiles",
            "offset",
            "offset_increment",
            "offset_align",
            "fill_device",
            "file_append",
            "whole_files",
        ],
        "the places of single I/Os are not recorded",
    )
    .in_vain_if(place_in_vain),
    OptionEffect::nowhere(
        &["create_serialize", "create_on_open", "create_only", "allow_file_create", "unlink", "unlink_each_loop"],
        "the making of files is not recorded",
    ),
    OptionEffect::nowhere(&["pre_read"], "the making of files is not recorded").in_vain_if(|asked| {
        let is_direct = asked.is_on() && asked.spec().durability.direct && asked.job.engine.targets.are_opened_by_run();
        is_direct.then(|| "direct I/O does not read from the page cache".to_owned())
    }),
];

/// The starts of the clones, beside those of jobs of the same group that begin at once.
fn start_delay(asked: &Asked<'_, '_>) -> OptionOutcome {
    const SLACK_MS: f64 = 100.0;
    let (least_us, most_us) = asked.spec().limits.startdelay_us;
    if most_us == 0 {
        return OptionOutcome::AsAsked;
    }
    let begins_at_once = |other: &&AuditedJob<'_>| {
        let is_of_group = other.group == asked.job.group && other.index != asked.job.index;
        is_of_group && other.spec.limits.startdelay_us == (0, 0) && other.spec.grouping.wait_for.is_none()
    };
    let others = asked.case.jobs.iter().filter(begins_at_once).flat_map(|other| &other.workers);
    let first_ms = others.map(|worker| worker.stats.job_start_ms).filter(|start_ms| *start_ms > 0).min();
    let (Some(first_ms), false) = (first_ms, asked.case.is_reported() || asked.spec().grouping.wait_for.is_some())
    else {
        return unseen("no job of its group begins at once, so nothing tells the delay");
    };
    let delays = asked.job.workers.iter().map(|worker| worker.stats.job_start_ms as f64 - first_ms as f64);
    let (low, high) = delays.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), ms| (low.min(ms), high.max(ms)));
    if low < least_us as f64 / 1e3 - SLACK_MS {
        return not(of_asked(low / 1e3, least_us as f64 / 1e6, " s"));
    }
    // A busy machine starts them later.
    let is_near = high <= most_us as f64 / 1e3 * (1.0 + RUNTIME_SHARE) + SLACK_MS;
    if is_near { OptionOutcome::AsAsked } else { unseen("it began later, for which there may be other reasons") }
}

/// The files that the run has found at its end, or made: their number and their sizes.
fn files(asked: &Asked<'_, '_>) -> OptionOutcome {
    if asked.name == "nrfiles"
        && let Some(reached) = files_not_reached(asked)
    {
        return not(reached);
    }
    let extent = &asked.spec().extent;
    // Each I/O of such an engine is one on a file of its own.
    let loops = u64::from(asked.spec().limits.loops.max(1));
    let n_of_files = asked.n_files().map_or(u64::MAX, |n_files| n_files.saturating_mul(asked.n_clones()));
    if asked.name == "nrfiles"
        && asked.job.engine.measures == Measures::Openings
        && asked.n_done() == n_of_files.saturating_mul(loops)
    {
        return OptionOutcome::AsAsked;
    }
    if asked.job.places.is_empty() {
        return unseen("nothing is known of the files");
    }
    if asked.job.has_more_files || !asked.spec().target.opendirs.is_empty() {
        return unseen("only a part of the files was looked at");
    }
    let n_found = sum(asked.job.places.iter().map(|place| place.n_files));
    if asked.name == "nrfiles" {
        let n_of_clone = u64::from(asked.spec().target.nrfiles.max(1));
        // Clones have files of their own, unless a name says otherwise.
        let is_it = n_found == n_of_clone.saturating_mul(asked.n_clones()) || n_found == n_of_clone;
        return if is_it { OptionOutcome::AsAsked } else { unseen("only a part of the files was looked at") };
    }
    let Some((least, most)) = extent.filesize.filter(|(_, most)| *most > 0) else { return OptionOutcome::AsAsked };
    let fits = |place: &TargetPlace| {
        let of = |size_bytes: u64| size_bytes.saturating_mul(place.n_files);
        place.kind != TargetKind::Block && (of(least)..=of(most)).contains(&place.now.size_bytes)
    };
    let are_all = asked.job.places.iter().all(fits);
    if are_all { OptionOutcome::AsAsked } else { unseen("the files have other sizes, of which the job may use a part") }
}

/// The job has done too few I/Os to come to all of its files; `None`: it may have come to all of them.
fn files_not_reached(asked: &Asked<'_, '_>) -> Option<String> {
    let (spec, engine) = (asked.spec(), asked.job.engine);
    let n_files = asked.n_files()?.checked_mul(asked.n_clones())?;
    let has_ramp = spec.limits.ramp_time_us > 0 || spec.limits.ramp_bytes > 0;
    if asked.n_done() == 0 || has_ramp || spec.verify.is_some() || engine.measures == Measures::Openings {
        return None;
    }
    // A file is done before the next one is begun.
    let of_file = match (&spec.target.file_service, spec.extent.size) {
        (FileService::Sequential, Some(SizeSpec::Bytes(size))) if spec.extent.filesize.is_none() => {
            size / asked.n_files()?.max(1) / spec.pattern.largest_block_bytes().max(1)
        }
        _ => 1,
    };
    // Each clone may have begun another one.
    let most = (asked.n_done() / of_file.max(1)).saturating_add(asked.n_clones());
    (most < n_files).then(|| format!("at most {} of {} files were used", thousands(most), thousands(n_files)))
}

/// Clones that share their files take turns at them.
fn one_at_a_time(asked: &Asked<'_, '_>) -> Option<String> {
    let spec = asked.spec();
    let is_alone = match spec.target.locking {
        FileLocking::None => false,
        FileLocking::Exclusive => true,
        FileLocking::ReadWrite => !asked.job.does(DataDirection::Read),
    };
    let shares_one = spec.target.filenames.len() == 1 && asked.job.engine.targets.are_opened_by_run();
    let name = if spec.target.locking == FileLocking::Exclusive { "exclusive" } else { "readwrite" };
    (is_alone && shares_one && asked.job.n_clones > 1)
        .then(|| format!("lockfile={name} lets one of them at a time do I/O on {}", spec.target.filenames[0]))
}

/// `time_based` repeats the job, whatever would end it.
fn end_in_vain(asked: &Asked<'_, '_>) -> Option<String> {
    let asks = match asked.name {
        // A number of I/Os is one of each loop, and tells by itself whether it was heeded.
        "loops" => asked.spec().limits.loops > 1 && asked.spec().extent.number_ios == 0,
        _ => asked.spec().extent.io_size.is_some(),
    };
    (asks && asked.repeats_until_runtime()).then(|| REPEATS.to_owned())
}

const REPEATS: &str = "time_based repeats the job until its runtime is over";

/// `ferrio run` ends a job with a runtime at its number of I/Os, as it is asked to; fio, and ferrio in its place, do not. The figures tell which of
/// them has run.
fn number_in_vain(asked: &Asked<'_, '_>) -> Option<String> {
    let is_open = asked.case.is_before() && asked.spec().extent.number_ios > 0 && asked.repeats_until_runtime();
    is_open.then(|| format!("in fio, {REPEATS}; only ferrio run heeds it"))
}

/// I/Os of all loops of all clones; 0: the job asks for no number.
fn wanted_number(asked: &Asked<'_, '_>) -> u64 {
    let of_clone = asked.spec().extent.number_ios.saturating_mul(u64::from(asked.spec().limits.loops.max(1)));
    of_clone.saturating_mul(asked.n_clones())
}

/// The job has done as many I/Os as it was to do.
fn has_done_its_number(asked: &Asked<'_, '_>) -> bool {
    let wanted = wanted_number(asked);
    wanted > 0 && asked.n_done() == wanted
}

fn size_in_vain(asked: &Asked<'_, '_>) -> Option<String> {
    let (extent, n_files) = (&asked.spec().extent, asked.n_files()?);
    // Percentages of the file, from an offset on that is one too.
    if let (Some(SizeSpec::Percent(size)), SizeSpec::Percent(offset)) = (extent.size, extent.offset)
        && offset < 100
        && size.saturating_add(offset) > 100
    {
        return Some(format!("behind offset={offset}% the file has {} % more", 100 - offset));
    }
    let (Some(SizeSpec::Bytes(size)), Some((_, most))) = (extent.size, extent.filesize) else { return None };
    let all = most.saturating_mul(n_files);
    // Nobody means the difference between 4 MiB and 1,000 files of 4 KiB.
    let is_beyond = size > all.saturating_add(all / NEAR) && extent.filesize_split.is_empty() && asked.job.has_files();
    is_beyond.then(|| format!("filesize gives the job no more than {}", text::bytes(all)))
}

/// Sizes that differ by less than this part of them are meant to be the same.
const NEAR: u64 = 20;

fn place_in_vain(asked: &Asked<'_, '_>) -> Option<String> {
    let (spec, extent) = (asked.spec(), &asked.spec().extent);
    let is_share = |size: SizeSpec| matches!(size, SizeSpec::Percent(1..));
    match asked.name {
        "nrfiles" if spec.target.nrfiles > 1 && !spec.target.filenames.is_empty() => {
            Some("filename names the files".to_owned())
        }
        "openfiles" => {
            let given = asked.value.parse::<u64>().ok()?;
            let n_files = asked.n_files().filter(|n_files| given > *n_files)?;
            Some(format!("the job has {}", counted(n_files, "file", "files")))
        }
        "offset_increment" if asked.is_on() && spec.numjobs == 1 => Some("the job has one clone".to_owned()),
        "offset_align" if asked.is_on() && !is_share(extent.offset) && !is_share(extent.offset_increment) => {
            Some("the offset is no share of the file".to_owned())
        }
        _ => None,
    }
}

/// A run may be shorter or longer than asked by this share, and by this many seconds.
const RUNTIME_SHARE: f64 = 0.02;
const RUNTIME_SECS: f64 = 0.15;

fn runtime(asked: &Asked<'_, '_>) -> OptionOutcome {
    let limits = &asked.spec().limits;
    let wanted = limits.runtime_us as f64 / 1e6;
    if limits.runtime_drawn.is_some() {
        return unseen("it is drawn for each clone");
    }
    if wanted == 0.0 {
        return OptionOutcome::AsAsked;
    }
    // The time of a ramp is not among it.
    let ran = asked.whole_secs();
    if ran == 0.0 && asked.case.is_reported() {
        return unseen("the report tells no time of it");
    }
    let slack = RUNTIME_SECS + wanted * RUNTIME_SHARE;
    // The I/Os that are in flight when the time is over are waited for.
    if ran > wanted + slack + longest_latency_secs(asked) {
        return not(of_asked(ran, wanted, " s"));
    }
    let is_short = ran < wanted - slack;
    // Without time_based it is a limit, and the job may have less to do.
    let is_done = (!limits.time_based || ends_by_itself(asked) || has_done_its_number(asked)) && !was_ended(asked);
    as_asked_if(!is_short || is_done, || of_asked(ran, wanted, " s"))
}

/// The longest latency of an I/O or a sync, seconds.
fn longest_latency_secs(asked: &Asked<'_, '_>) -> f64 {
    let of_stats = |stats: &ThreadStats| {
        let of_directions = stats.directions.0.iter().map(|one| one.lat.max_ns.max(one.clat.max_ns));
        of_directions.fold(stats.sync.max_ns, u64::max)
    };
    asked.job.workers.iter().map(|worker| of_stats(&worker.stats)).max().unwrap_or(0) as f64 / 1e9
}

/// The job ends when it has found what it looks for.
fn ends_by_itself(asked: &Asked<'_, '_>) -> bool {
    let spec = asked.spec();
    spec.steady_state.duration_us > 0 || (spec.latency.target_us > 0 && !spec.latency.goes_on)
}

/// A clone was ended before it was done.
fn was_ended(asked: &Asked<'_, '_>) -> bool {
    asked.job.workers.iter().any(|worker| worker.fate.ended_by.is_some())
}

fn ramp_in_vain(asked: &Asked<'_, '_>) -> Option<String> {
    let limits = &asked.spec().limits;
    let is_open = limits.ramp_time_us > 0 && asked.case.is_before() && !asked.repeats_until_runtime();
    let n_ios = most_ios(asked.job)?;
    let of_clone = n_ios as f64 / f64::from(asked.job.n_clones.max(1));
    let is_slow = is_held_back(asked.job) || asked.job.engine.moves_nothing();
    // A job that is held back, or does as many I/Os as any storage needs long for, may outlast it.
    let seconds = limits.ramp_time_us as f64 / 1e6;
    let rate = if asked.spec().pattern.random { SLOW_RANDOM } else { SLOW_SEQUENTIAL };
    (is_open && !is_slow && of_clone < rate * seconds)
        .then(|| "the job may end within it: it has no time_based".to_owned())
}

/// I/Os a second that slow storage does.
const SLOW_RANDOM: f64 = 100.0;
const SLOW_SEQUENTIAL: f64 = 1000.0;

fn ramp(asked: &Asked<'_, '_>) -> OptionOutcome {
    let limits = &asked.spec().limits;
    if limits.ramp_time_us == 0 && limits.ramp_bytes == 0 {
        return OptionOutcome::AsAsked;
    }
    let whole = asked.whole_secs();
    if asked.measured_secs() == 0.0 {
        return not(format!("the job ended within it, after {} s", text::short(whole)));
    }
    OptionOutcome::AsAsked
}

/// The time was over before the amount was done.
fn is_out_of_time(asked: &Asked<'_, '_>) -> bool {
    let limits = &asked.spec().limits;
    let wanted = limits.runtime_us as f64 / 1e6;
    limits.runtime_us > 0
        && (limits.time_based
            || limits.runtime_drawn.is_some()
            || asked.measured_secs() >= wanted * (1.0 - RUNTIME_SHARE) - RUNTIME_SECS)
}

/// Bytes of all clones that the options ask for; `None`: they depend on files, or the job counts otherwise.
fn wanted_bytes(asked: &Asked<'_, '_>) -> Option<u64> {
    if asked.spec().verify.is_some() { None } else { plain_bytes(asked) }
}

/// Bytes that a job with verification has to write, or to read if it only reads, and those that it has; `None`: what it reads back is among them.
fn verified_bytes(asked: &Asked<'_, '_>) -> Option<(u64, u64)> {
    let spec = asked.spec();
    spec.verify.as_ref()?;
    let direction = match spec.pattern.mix {
        DirectionMix::Write if spec.is_verify_only() => DataDirection::Read,
        DirectionMix::Write => DataDirection::Write,
        DirectionMix::Read => DataDirection::Read,
        _ => return None,
    };
    Some((plain_bytes(asked)?, asked.of(direction)?.bytes))
}

fn plain_bytes(asked: &Asked<'_, '_>) -> Option<u64> {
    let spec = asked.spec();
    let is_plain = !spec.replay.is_set()
        && spec.pattern.mix != DirectionMix::TrimWrite
        && spec.zones == ZoneSpec::default()
        && !spec.extent.fill_device
        && !ends_by_itself(asked)
        // A sequential job may leave blocks out.
        && (spec.pattern.random || spec.pattern.rw_postfix == 0)
        && !asked.job.engine.moves_nothing();
    let bytes = spec.extent.given_io_bytes().filter(|_| is_plain)?;
    Some(bytes.saturating_mul(u64::from(spec.limits.loops.max(1))).saturating_mul(asked.n_clones()))
}

fn done_bytes(asked: &Asked<'_, '_>) -> u64 {
    DataDirection::ALL
        .into_iter()
        .filter_map(|direction| asked.of(direction))
        .map(|one| one.bytes)
        .fold(0, u64::saturating_add)
}

fn bytes(asked: &Asked<'_, '_>) -> OptionOutcome {
    // The job goes over its size until the time is over, or ends within it.
    if asked.name == "size" && asked.repeats_until_runtime() && !was_ended(asked) {
        return OptionOutcome::AsAsked;
    }
    if asked.spec().limits.ramp_time_us > 0 || asked.spec().limits.ramp_bytes > 0 {
        return unseen("what was done within the ramp is not counted");
    }
    let beside_verification = verified_bytes(asked);
    let Some(wanted) = beside_verification.map(|(wanted, _)| wanted).or_else(|| wanted_bytes(asked)) else {
        let is_done = has_done_its_bytes(asked);
        return if is_done { OptionOutcome::AsAsked } else { unseen("how much it means depends on the files") };
    };
    // Other limits may come first; the last block may not fit.
    let loops = asked.spec().limits.loops;
    let is_by_bytes = beside_verification.is_none() && asked.spec().extent.number_ios == 0;
    if asked.name == "loops" && loops > 1 && is_out_of_time(asked) && is_by_bytes {
        let pass = wanted.max(1) as f64 / f64::from(loops);
        let n_passes = done_bytes(asked) as f64 / pass;
        return as_asked_if(n_passes >= f64::from(loops) * (1.0 - RUNTIME_SHARE), || {
            format!(
                "its runtime ended it after {}",
                of_asked((n_passes * 100.0).floor() / 100.0, f64::from(loops), " passes")
            )
        });
    }
    if is_out_of_time(asked) || asked.spec().extent.number_ios > 0 {
        return OptionOutcome::AsAsked;
    }
    let tail = asked.spec().pattern.largest_block_bytes().saturating_mul(u64::from(asked.spec().target.nrfiles.max(1)));
    let least = wanted.saturating_sub(
        tail.saturating_mul(asked.n_clones()).saturating_mul(u64::from(asked.spec().limits.loops.max(1))),
    );
    let done = beside_verification.map_or_else(|| done_bytes(asked), |(_, done)| done);
    as_asked_if(done >= least, || format!("{} of {}", text::bytes(done), text::bytes(wanted)))
}

/// A job in zones has done what its `io_size` asks for, to a block.
fn has_done_its_bytes(asked: &Asked<'_, '_>) -> bool {
    let Some(SizeSpec::Bytes(of_loop)) = asked.spec().extent.io_size else { return false };
    let is_plain = asked.name == "io_size" && asked.spec().verify.is_none() && !asked.spec().replay.is_set();
    let n_loops = u64::from(asked.spec().limits.loops.max(1)).saturating_mul(asked.n_clones());
    let (wanted, done) = (of_loop.saturating_mul(n_loops), done_bytes(asked));
    let tail = asked.spec().pattern.largest_block_bytes().saturating_mul(n_loops);
    is_plain && wanted > 0 && (wanted.saturating_sub(tail)..=wanted).contains(&done)
}

fn number_of_ios(asked: &Asked<'_, '_>) -> OptionOutcome {
    let (spec, wanted) = (asked.spec(), wanted_number(asked));
    let has_ramp = spec.limits.ramp_time_us > 0 || spec.limits.ramp_bytes > 0;
    let has_others = has_ramp || spec.verify.is_some() || spec.replay.is_set();
    let done = asked.n_done();
    if asked.repeats_until_runtime() && !has_others && done > wanted {
        return not(REPEATS);
    }
    if wanted == 0 || is_out_of_time(asked) {
        return OptionOutcome::AsAsked;
    }
    if has_others {
        return unseen("I/Os of other kinds count too");
    }
    as_asked_if(done >= wanted, || of_asked(done as f64, wanted as f64, ""))
}
