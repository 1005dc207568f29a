//! What was asked and what was done: the end of the run, options, where the time and the bytes went.
//!
//! Must not know: how accounts are made. Start reading at [`accounts`].

use ferrio_formats::RunResult;
use ferrio_formats::native::{ending_text, meanings, not_as_asked, time_text};
use ferrio_stats::{Accounts, BytesAccount, JobAccount, OptionOutcome, TimeAccount};
use ferrio_units::humanize::{bytes_text, thousands};
use maud::{Markup, html};

/// The accounts of a result; empty: it has none.
pub(super) fn accounts(result: &RunResult) -> Markup {
    let Some(accounts) = result.audit.as_ref().and_then(|audit| audit.accounts.as_deref()) else { return html! {} };
    let missed = not_as_asked(accounts);
    let has_names = accounts.jobs.len() > 1;
    html! {
        @if let Some(sentence) = ending_text(&accounts.ending) {
            article class="finding misleading" { h4 { span class="severity" { "ENDED EARLY" } } p { (sentence) } }
        }
        h3 { "Asked and done" }
        p { (counts(accounts)) }
        @if !missed.is_empty() {
            ul class="missed" {
                @for (option, why, jobs) in &missed {
                    li { strong { "Not as asked: " code { (option.given()) } } " (" (why) ")" @if !jobs.is_empty() { ", " (jobs.join(", ")) } }
                }
            }
        }
        @for (sentence, jobs) in meanings(accounts) {
            p { @if !jobs.is_empty() { (jobs.join(", ")) ": " } (sentence) }
        }
        @for job in &accounts.jobs {
            @if let Some(time) = job.time.as_ref().filter(|time| time.whole_ns > 0) { (time_bar(job, time, has_names)) }
        }
        details class="account" {
            summary { "All options, and bytes on their way" }
            @for job in &accounts.jobs { (options(job, has_names)) (bytes(job)) }
        }
    }
}

fn counts(accounts: &Accounts) -> String {
    let count = |is_it: &dyn Fn(&OptionOutcome) -> bool| {
        accounts.jobs.iter().flat_map(|job| &job.options).filter(|option| is_it(&option.outcome)).count() as u64
    };
    let done = count(&|outcome| *outcome == OptionOutcome::AsAsked);
    let missed = count(&|outcome| matches!(outcome, OptionOutcome::NotAsAsked(_)));
    let unseen = count(&|outcome| matches!(outcome, OptionOutcome::NotSeen(_)));
    format!(
        "Options as asked: {}; not as asked: {}; not seen: {}.",
        thousands(done),
        thousands(missed),
        thousands(unseen)
    )
}

/// The time of a job as a bar of its parts, with the same in words.
fn time_bar(job: &JobAccount, time: &TimeAccount, has_names: bool) -> Markup {
    html! {
        p class="time-words" { @if has_names { "Time of " (job.job) ": " } @else { "Time: " } (time_text(time)) "." }
        div class="time-bar" aria-hidden="true" {
            @for (index, (part, part_ns)) in time.parts().iter().enumerate().filter(|(_, (_, part_ns))| *part_ns > 0) {
                span class=(format!("part-{index}")) title=(part.name()) style=(format!("width:{:.3}%", 100.0 * time.share(*part_ns))) {}
            }
        }
    }
}

fn options(job: &JobAccount, has_names: bool) -> Markup {
    html! {
        div class="scrolls" {
            table {
                @if has_names { caption { span { (job.job) } } }
                thead { tr { th { "option" } th { "asked" } th { "done" } th { "reason" } } }
                tbody {
                    @for option in &job.options {
                        tr { th { (option.option) } td class="why" { (option.asked) } td class="why" { (outcome(&option.outcome)) } td class="why" { (why(&option.outcome)) } }
                    }
                }
            }
        }
    }
}

const fn outcome(outcome: &OptionOutcome) -> &'static str {
    match outcome {
        OptionOutcome::AsAsked => "as asked",
        OptionOutcome::NotAsAsked(_) => "not as asked",
        OptionOutcome::NotSeen(_) => "not seen",
        OptionOutcome::Structure => "",
    }
}

fn why(outcome: &OptionOutcome) -> &str {
    match outcome {
        OptionOutcome::NotAsAsked(why) | OptionOutcome::NotSeen(why) => why,
        OptionOutcome::AsAsked | OptionOutcome::Structure => "",
    }
}

fn bytes(job: &JobAccount) -> Markup {
    html! {
        @for account in &job.bytes {
            p { "Bytes of " (account.direction) "s of " (job.job) ": " (way(account).join(", ")) "." }
        }
    }
}

/// Each level with its bytes.
fn way(account: &BytesAccount) -> Vec<String> {
    let mut parts = vec![format!("the job {} in {} I/Os", bytes_text(account.bytes), thousands(account.n_ios))];
    parts.extend(account.kernel_bytes.map(|bytes| format!("the kernel for it {}", bytes_text(bytes))));
    parts.extend(account.levels.iter().map(|level| {
        let requests = level.n_requests.map_or_else(String::new, |n| format!(" in {} requests", thousands(n)));
        let shared = if level.is_shared { ", with other jobs" } else { "" };
        format!("{} {}{requests}{shared}", level.devices.join(" and "), bytes_text(level.bytes))
    }));
    parts.extend(account.unseen.iter().map(|why| format!("not seen further: {why}")));
    parts
}
