//! Options about how much a job does, and for how long.
//!
//! Start reading at [`EFFECTS`].

use super::OptionEffect;
use crate::accounts::asked::{Asked, as_asked_if, not, of_asked, unseen};
use crate::text;
use ferrio_spec::DirectionMix;
use ferrio_stats::OptionOutcome;
use ferrio_units::DataDirection;

pub(super) const EFFECTS: &[OptionEffect] = &[
    OptionEffect::measured(&["runtime"], runtime),
    OptionEffect::measured(&["time_based"], |_| OptionOutcome::AsAsked).in_vain_if(|asked| {
        (asked.is_on() && asked.spec().limits.runtime_us == 0).then(|| "there is no runtime".to_owned())
    }),
    OptionEffect::measured(&["ramp_time", "ramp_size"], ramp).in_vain_if(ramp_in_vain),
    OptionEffect::measured(&["size", "io_size", "loops"], bytes),
    OptionEffect::measured(&["number_ios"], number_of_ios),
    OptionEffect::measured(&["numjobs"], |asked| {
        let (wanted, there) = (u64::from(asked.spec().numjobs), asked.n_clones());
        as_asked_if(there >= wanted, || format!("{there} of {wanted}"))
    }),
    OptionEffect::measured(&["startdelay"], |_| unseen("the time of the start is not compared with the option")),
    OptionEffect::nowhere(
        &[
            "filesize",
            "filesize_split",
            "nrfiles",
            "openfiles",
            "offset",
            "offset_increment",
            "offset_align",
            "fill_device",
            "file_append",
            "whole_files",
        ],
        "the places of single I/Os are not recorded",
    ),
    OptionEffect::nowhere(&["file_service_type"], "the order of files is not recorded"),
    OptionEffect::nowhere(
        &[
            "create_serialize",
            "create_on_open",
            "create_only",
            "allow_file_create",
            "unlink",
            "unlink_each_loop",
            "pre_read",
        ],
        "the making of files is not recorded",
    ),
];

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
    let ramp = limits.ramp_time_us as f64 / 1e6;
    let ran = if limits.ramp_bytes > 0 { asked.measured_secs() } else { (asked.whole_secs() - ramp).max(0.0) };
    let slack = RUNTIME_SECS + wanted * RUNTIME_SHARE;
    if ran > wanted + slack {
        return not(of_asked(ran, wanted, " s"));
    }
    let is_short = ran < wanted - slack;
    // Without time_based it is a limit, and the job may have less to do.
    let is_done = !limits.time_based && !was_ended(asked);
    as_asked_if(!is_short || is_done, || of_asked(ran, wanted, " s"))
}

/// A clone was ended before it was done.
fn was_ended(asked: &Asked<'_, '_>) -> bool {
    asked.job.workers.iter().any(|worker| worker.fate.ended_by.is_some())
}

fn ramp_in_vain(asked: &Asked<'_, '_>) -> Option<String> {
    let limits = &asked.spec().limits;
    let is_longer =
        limits.ramp_time_us > 0 && asked.case.is_before() && !limits.time_based && asked.spec().extent.number_ios > 0;
    (is_longer && limits.runtime_us == 0).then(|| "the job may end within it: it has no time_based".to_owned())
}

fn ramp(asked: &Asked<'_, '_>) -> OptionOutcome {
    let limits = &asked.spec().limits;
    if limits.ramp_time_us == 0 && limits.ramp_bytes == 0 {
        return OptionOutcome::AsAsked;
    }
    let (whole, wanted) = (asked.whole_secs(), limits.ramp_time_us as f64 / 1e6);
    if asked.measured_secs() == 0.0 || whole < wanted {
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
    let spec = asked.spec();
    let is_plain = !spec.replay.is_set()
        && spec.verify.is_none()
        && spec.pattern.mix != DirectionMix::TrimWrite
        && spec.zones == Default::default()
        && !spec.extent.fill_device
        && spec.steady_state.duration_us == 0
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
    if asked.spec().limits.ramp_time_us > 0 || asked.spec().limits.ramp_bytes > 0 {
        return unseen("what was done within the ramp is not counted");
    }
    let Some(wanted) = wanted_bytes(asked) else { return unseen("how much it means depends on the files") };
    let extent = &asked.spec().extent;
    // Other limits may come first; the last block may not fit.
    if is_out_of_time(asked) || (extent.number_ios > 0 && asked.name != "number_ios") {
        return OptionOutcome::AsAsked;
    }
    let tail = asked.spec().pattern.largest_block_bytes().saturating_mul(u64::from(asked.spec().target.nrfiles.max(1)));
    let least = wanted.saturating_sub(
        tail.saturating_mul(asked.n_clones()).saturating_mul(u64::from(asked.spec().limits.loops.max(1))),
    );
    let done = done_bytes(asked);
    as_asked_if(done >= least, || format!("{} of {}", text::bytes(done), text::bytes(wanted)))
}

fn number_of_ios(asked: &Asked<'_, '_>) -> OptionOutcome {
    let wanted = asked.spec().extent.number_ios.saturating_mul(asked.n_clones());
    let has_ramp = asked.spec().limits.ramp_time_us > 0 || asked.spec().limits.ramp_bytes > 0;
    if wanted == 0 || is_out_of_time(asked) {
        return OptionOutcome::AsAsked;
    }
    if has_ramp || asked.spec().verify.is_some() || asked.spec().replay.is_set() {
        return unseen("I/Os of other kinds count too");
    }
    let done = asked.n_done();
    as_asked_if(done >= wanted, || of_asked(done as f64, wanted as f64, ""))
}
