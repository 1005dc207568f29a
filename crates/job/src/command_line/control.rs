//! Values of the switches that report on a run before its end, or end it.
//!
//! Must not know: jobs, the effect of the settings. Start reading at [`set`]. Texts of refusals are those of fio 3.41.

use super::settings::{Complaints, time_ms};
use super::switches::Switch;
use crate::message::UserLine;
use ferrio_spec::{ControlSettings, IdleDetail, RunSpec};
use std::path::PathBuf;
use std::time::Duration;

/// First part of the names of the logs of `--bandwidth-log` without an argument.
const BANDWIDTH_LOG_PREFIX: &str = "agg";

/// Enters a switch; one that is none of these changes nothing.
///
/// # Errors
/// Lines for standard error.
pub fn set(control: &mut ControlSettings, switch: Switch, text: &str) -> Result<(), Complaints> {
    let given = (!text.is_empty()).then_some(text);
    match switch {
        Switch::StatusInterval => control.status_interval = Some(status_interval(text)?),
        Switch::BandwidthLog => control.samples_bandwidth = true,
        Switch::IdleProf => control.idle = Some(idle_detail(text)?),
        Switch::TriggerFile => control.trigger.file = given.map(PathBuf::from),
        Switch::TriggerTimeout => control.trigger.timeout = trigger_timeout(text)?,
        Switch::Trigger => control.trigger.command = given.map(str::to_owned),
        _ => {}
    }
    Ok(())
}

/// The first part of the names of the logs of `--bandwidth-log`.
pub fn bandwidth_log(text: &str) -> PathBuf {
    PathBuf::from(if text.is_empty() { BANDWIDTH_LOG_PREFIX } else { text })
}

/// `--status-interval`, in whole milliseconds.
fn status_interval(text: &str) -> Result<Duration, Complaints> {
    match parsed_ms(text)? {
        0 => Err(vec![UserLine::named("status interval too small")]),
        interval_ms => Ok(Duration::from_millis(interval_ms)),
    }
}

/// `--trigger-timeout`, in whole seconds; less than one second means no timeout.
fn trigger_timeout(text: &str) -> Result<Option<Duration>, Complaints> {
    parsed_ms(text).map(|time_ms| Some(time_ms / 1000).filter(|secs| *secs > 0).map(Duration::from_secs))
}

/// `--idle-prof`; `calibrate` has been seen before.
fn idle_detail(text: &str) -> Result<IdleDetail, Complaints> {
    match text {
        "system" => Ok(IdleDetail::System),
        "percpu" => Ok(IdleDetail::PerCpu),
        _ => Err(vec![UserLine::named(format!("incorrect idle-prof option: {text}"))]),
    }
}

fn parsed_ms(text: &str) -> Result<u64, Complaints> {
    time_ms(text).map_err(|_| vec![UserLine::named(format!("failed parsing time {text}"))])
}

/// Sets the directory of `--aux-path` for files that verification writes.
pub(super) fn run_with_directory(mut run: RunSpec, directory: Option<&String>) -> RunSpec {
    for verify in run.jobs.iter_mut().filter_map(|job| job.verify.as_mut()) {
        verify.dump_directory = directory.cloned();
    }
    run
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(switch: Switch, text: &str) -> Result<ControlSettings, Complaints> {
        let mut control = ControlSettings::default();
        set(&mut control, switch, text).map(|()| control)
    }

    #[test]
    fn status_intervals() {
        for (text, time_ms) in [("1", 1000), ("1ms", 1), (" 1 s", 1000), ("2m", 120_000), ("1500us", 1)] {
            let control = setting(Switch::StatusInterval, text).unwrap();
            assert_eq!(control.status_interval, Some(Duration::from_millis(time_ms)), "{text}");
        }
        // Hexadecimal numbers are microseconds.
        for text in ["0", "1us", "999us", "0x10"] {
            assert_eq!(
                setting(Switch::StatusInterval, text).unwrap_err(),
                ["fio: status interval too small"],
                "{text}"
            );
        }
        for text in ["foo", "", "1.5", "5min"] {
            let refused = setting(Switch::StatusInterval, text).unwrap_err();
            assert_eq!(refused, [format!("fio: failed parsing time {text}")]);
        }
    }

    #[test]
    fn kinds_of_idleness() {
        assert_eq!(setting(Switch::IdleProf, "system").unwrap().idle, Some(IdleDetail::System));
        assert_eq!(setting(Switch::IdleProf, "percpu").unwrap().idle, Some(IdleDetail::PerCpu));
        for text in ["", "foo", "percpu,system"] {
            let refused = setting(Switch::IdleProf, text).unwrap_err();
            assert_eq!(refused, [format!("fio: incorrect idle-prof option: {text}")]);
        }
    }

    #[test]
    fn triggers() {
        for (text, secs) in [("2", Some(2)), ("0", None), ("500ms", None), ("1999ms", Some(1)), ("2m", Some(120))] {
            let timeout = secs.map(Duration::from_secs);
            assert_eq!(setting(Switch::TriggerTimeout, text).unwrap().trigger.timeout, timeout, "{text}");
        }
        assert_eq!(setting(Switch::TriggerTimeout, "x").unwrap_err(), ["fio: failed parsing time x"]);
        assert_eq!(setting(Switch::TriggerFile, "f").unwrap().trigger.file, Some(PathBuf::from("f")));
        assert_eq!(setting(Switch::Trigger, "a b").unwrap().trigger.command.as_deref(), Some("a b"));
        for switch in [Switch::TriggerFile, Switch::Trigger] {
            assert_eq!(setting(switch, "").unwrap(), ControlSettings::default());
        }
    }

    #[test]
    fn bandwidth_logs_have_a_prefix() {
        for (text, prefix) in [("", "agg"), ("dir/x", "dir/x")] {
            assert_eq!(bandwidth_log(text), PathBuf::from(prefix));
            assert!(setting(Switch::BandwidthLog, text).unwrap().samples_bandwidth);
        }
    }
}
