//! Options about verification, and trims beside writes.
//!
//! Start reading at [`EFFECTS`].

use super::OptionEffect;
use super::durability::without_writes;
use crate::accounts::asked::{Asked, as_asked_if, unseen};
use ferrio_spec::VerifyMethod;
use ferrio_stats::OptionOutcome;
use ferrio_units::DataDirection;

pub(super) const EFFECTS: &[OptionEffect] = &[
    OptionEffect::measured(&["verify", "do_verify", "verify_only"], verify).in_vain_if(|asked| {
        let Some(verify) = &asked.spec().verify else {
            return (asked.name != "verify").then(|| "there is no verify".to_owned());
        };
        let is_null = asked.name == "verify" && verify.content.method == VerifyMethod::Null;
        is_null.then(|| "the method null compares nothing".to_owned())
    }),
    // Blocks that are read back are compared with it.
    OptionEffect::measured(&["verify_pattern", "verify_interval", "verify_offset"], |asked| {
        let reads_back = asked.spec().verify.as_ref().is_some_and(|verify| verify.reads_back);
        if reads_back { verify(asked) } else { unseen("nothing is read back") }
    })
    .in_vain_if(|asked| {
        let is_needed = asked.name != "verify_pattern" && asked.is_on();
        (is_needed && asked.spec().verify.is_none()).then(|| "there is no verify".to_owned())
    }),
    OptionEffect::nowhere(
        &[
            "verify_policy",
            "verify_pattern_interval",
            "verify_async",
            "verify_async_cpus",
            "verify_backlog",
            "verify_backlog_batch",
            "experimental_verify",
            "verify_state_load",
            "verify_state_save",
            "verify_write_sequence",
            "verify_header_seed",
            "verify_header_layout",
            "verify_crash_log",
            "verifysort",
            "verifysort_nr",
        ],
        "what verification does beside its reads is not counted",
    )
    .in_vain_if(|asked| {
        let verify = asked.spec().verify.as_ref();
        match asked.name {
            "verify_async_cpus" if verify.is_some_and(|verify| verify.n_threads == 0) => {
                return Some("there is no verify_async".to_owned());
            }
            "verify_backlog_batch" if verify.is_some_and(|verify| verify.backlog.is_none()) => {
                return Some("there is no verify_backlog".to_owned());
            }
            _ => {}
        }
        let is_needed = !matches!(asked.name, "verify_state_save" | "verifysort" | "verifysort_nr");
        (is_needed && asked.is_on() && asked.spec().verify.is_none()).then(|| "there is no verify".to_owned())
    }),
    OptionEffect::measured(&["trim_percentage"], |asked| {
        let n_trims = asked.of(DataDirection::Trim).map_or(0, |one| one.n_completed);
        if asked.value == "0" {
            OptionOutcome::AsAsked
        } else {
            as_asked_if(n_trims > 0, || "no trim was done".to_owned())
        }
    })
    .in_vain_if(trims_in_vain),
    OptionEffect::nowhere(
        &["trim_verify_zero", "trim_backlog", "trim_backlog_batch"],
        "trims beside writes are counted, their places are not",
    )
    .in_vain_if(trims_in_vain),
];

fn trims_in_vain(asked: &Asked<'_, '_>) -> Option<String> {
    let trims = asked.spec().verify.as_ref().and_then(|verify| verify.trims.as_ref());
    let has_backlog = trims.is_some_and(|trims| trims.percent > 0 && trims.backlog > 0);
    let is_asked = asked.value != "0";
    without_writes(asked)
        .or_else(|| (is_asked && !has_backlog).then(|| "it needs trim_percentage and trim_backlog".to_owned()))
}

fn verify(asked: &Asked<'_, '_>) -> OptionOutcome {
    let Some(verify) = &asked.spec().verify else { return OptionOutcome::AsAsked };
    if !verify.reads_back || verify.content.method == VerifyMethod::Null {
        return OptionOutcome::AsAsked;
    }
    if asked.spec().replay.is_set() || asked.spec().limits.ramp_time_us > 0 {
        return unseen("what is read back is not told apart from other reads");
    }
    let n_reads = asked.of(DataDirection::Read).map_or(0, |one| one.n_completed);
    let (n_writes, is_mixed) = (asked.n_writes(), asked.job.does(DataDirection::Read));
    if is_mixed {
        return if n_reads > 0 { OptionOutcome::AsAsked } else { unseen("nothing was read") };
    }
    if n_writes == 0 && !asked.spec().is_verify_only() {
        return OptionOutcome::NotAsAsked("nothing was written".to_owned());
    }
    as_asked_if(n_reads > 0, || "nothing was read back".to_owned())
}
