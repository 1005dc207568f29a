//! Options about traces that are replayed.
//!
//! Start reading at [`EFFECTS`].

use super::OptionEffect;
use crate::accounts::asked::{Asked, as_asked_if, not, unseen};
use ferrio_stats::OptionOutcome;
use ferrio_stats::note::{Note, ReplayNote, TraceRemark};
use ferrio_units::humanize::{counted, thousands};

pub(super) const EFFECTS: &[OptionEffect] = &[
    OptionEffect::measured(&["read_iolog"], |asked| match on_time(asked) {
        _ if asked.n_done() == 0 && asked.figures().is_some() => not("no I/O of the trace was done"),
        _ if lines_left_out(asked) > 0 => {
            let lines = counted(lines_left_out(asked), "line of it was", "lines of it were");
            not(format!("{lines} left out, as the messages of the run say"))
        }
        _ if was_cut_short(asked) => not(format!("runtime ended it after I/O number {}", thousands(asked.n_done()))),
        OptionOutcome::NotSeen(_) if asked.figures().is_some() => OptionOutcome::AsAsked,
        outcome => outcome,
    }),
    OptionEffect::measured(&["replay_no_stall", "replay_time_scale"], on_time).in_vain_if(|asked| {
        let is_passed = asked.name == "replay_time_scale" && asked.spec().replay.no_stall;
        without_trace(asked).or_else(|| is_passed.then(|| "replay_no_stall leaves out all pauses".to_owned()))
    }),
    OptionEffect::nowhere(
        &[
            "read_iolog_chunked",
            "replay_redirect",
            "replay_scale",
            "replay_align",
            "replay_skip",
            "replay_offset",
            "merge_blktrace_file",
        ],
        "what becomes of single events of the trace is not recorded",
    )
    .in_vain_if(without_trace),
    OptionEffect::nowhere(
        &["merge_blktrace_scalars", "merge_blktrace_iters"],
        "what becomes of single events of the trace is not recorded",
    )
    .in_vain_if(|asked| {
        let has_file = asked.is_given("merge_blktrace_file");
        without_trace(asked).or_else(|| (!has_file).then(|| "there is no merge_blktrace_file".to_owned()))
    }),
];

fn without_trace(asked: &Asked<'_, '_>) -> Option<String> {
    (!asked.spec().replay.is_set()).then(|| "there is no read_iolog".to_owned())
}

/// Lines of the trace that are no events of its version; 0: all of them are, or the job merges several traces.
fn lines_left_out(asked: &Asked<'_, '_>) -> u64 {
    let is_of_trace = |whose: &str| asked.value.split(':').any(|trace| trace == whose);
    let left_out = asked.case.record.messages.kept().iter().map(|message| match &message.note {
        Note::Replay(ReplayNote::Remark { whose, remark }) if is_of_trace(whose) => match remark {
            TraceRemark::BadLine { .. } | TraceRemark::BadAction { .. } | TraceRemark::LongLine { .. } => 1,
            TraceRemark::More { n_more } => *n_more,
            _ => 0,
        },
        _ => 0,
    });
    left_out.fold(0, u64::saturating_add)
}

/// The runtime was over before the trace was; a job with `time_based` begins it anew until then.
fn was_cut_short(asked: &Asked<'_, '_>) -> bool {
    let limits = &asked.spec().limits;
    let is_limit = limits.runtime_us > 0 && !limits.time_based && limits.runtime_drawn.is_none();
    is_limit && asked.whole_secs() >= limits.runtime_us as f64 / 1e6
}

/// Share of the events that may be late, percent.
const MOST_LATE: f64 = 5.0;

fn on_time(asked: &Asked<'_, '_>) -> OptionOutcome {
    if asked.spec().replay.no_stall {
        return OptionOutcome::AsAsked;
    }
    let Some(replay) = asked.figures().and_then(|figures| figures.features.replay) else {
        return unseen("the trace has no times");
    };
    // A text of version 2 has pauses at most.
    if replay.n_timed == 0 {
        return not(
            "the trace has no times, and its I/Os followed each other without pauses (replay_no_stall=1 says that this is meant)",
        );
    }
    as_asked_if(replay.late_percent() <= MOST_LATE, || {
        format!("{:.0} % of the events were late", replay.late_percent())
    })
}
