//! What a user can do about a refusal, in words: orders without a full stop.
//!
//! Must not know: how refusals are found. Start reading at [`of_value`].

use crate::error::JobError;
use crate::options::OPTIONS;
use crate::options::definition::OptionDef;

/// Names of jobs that are listed, at most; more help nobody.
const N_NAMES: usize = 8;

/// For a value that an option of this name does not take.
pub(crate) fn of_value(error: &JobError, option: &str, nearest: Option<&str>) -> String {
    match (error, nearest) {
        (JobError::UnknownEngine(_), None) => "see the engines with --enghelp".to_owned(),
        (_, Some(nearest)) => format!("write {option}={nearest}"),
        (JobError::UnknownWord(_), None) => "write one of these words".to_owned(),
        (JobError::ValueMissing(_), None) => format!("write {option}=VALUE"),
        (JobError::NotYet(_), None) => format!("leave {option} out, or run the job with fio"),
        (JobError::NotApplicable(_) | JobError::Removed(_), None) => format!("leave {option} out"),
        _ => format!("see what it takes with --cmdhelp={option}"),
    }
}

/// For a name that no option has with this engine.
pub(crate) fn of_name(name: &str, nearest: Option<&str>) -> String {
    match (owner(name), nearest) {
        (Some(def), _) => format!("before it, choose an engine that has it: ioengine={}", def.engines.join(" or ")),
        (None, Some(nearest)) => format!("write {nearest}"),
        (None, None) => "see the options with --cmdhelp=all".to_owned(),
    }
}

/// The option of this name that some engines have, and others do not.
pub(crate) fn owner(name: &str) -> Option<&'static OptionDef> {
    OPTIONS.iter().find(|def| def.is_called(name) && !def.engines.is_empty())
}

/// For a name that none of these jobs has.
pub(crate) fn of_job<'a>(jobs: impl Iterator<Item = &'a str>) -> Option<String> {
    let mut names: Vec<&str> = jobs.collect();
    names.dedup();
    (1..=N_NAMES).contains(&names.len()).then(|| format!("choose one of the jobs {}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::find_general;

    #[test]
    fn each_cure_names_what_to_write() {
        assert_eq!(of_value(&JobError::NotParsed, "bs", None), "see what it takes with --cmdhelp=bs");
        assert_eq!(
            of_value(&JobError::UnknownEngine("libaoi".into()), "ioengine", Some("libaio")),
            "write ioengine=libaio"
        );
        assert_eq!(of_value(&JobError::UnknownEngine("x".into()), "ioengine", None), "see the engines with --enghelp");
        assert_eq!(of_value(&JobError::ValueMissing("bs"), "bs", None), "write bs=VALUE");
        assert_eq!(of_value(&JobError::NotYet(String::new()), "x", None), "leave x out, or run the job with fio");
        assert_eq!(of_name("iodpeth", Some("iodepth")), "write iodepth");
    }

    #[test]
    fn an_option_of_another_engine_is_had_with_that_engine() {
        assert!(find_general("userspace_reap").is_none());
        assert_eq!(of_name("userspace_reap", None), "before it, choose an engine that has it: ioengine=libaio");
    }

    #[test]
    fn few_jobs_are_listed_and_many_are_not() {
        assert_eq!(of_job(["a", "b"].into_iter()).as_deref(), Some("choose one of the jobs a, b"));
        assert_eq!((of_job(std::iter::empty()), of_job((0..9).flat_map(|_| ["x", "y"]))), (None, None));
    }
}
