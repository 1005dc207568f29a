//! Random numbers of repeats: each run has its own, so that runs are independent.
//!
//! Jobs draw the same numbers in each run (`randrepeat`), so that repeats would have the same offsets, the same data, and users who come at the same times. Their figures
//! would differ by less than those of the load do, and caches would know the blocks. Must not know: points, folders. Start reading at [`with_own_numbers`].

use ferrio_job::options::canonical_name;
use ferrio_job::{Diagnostic, Environment, Template};
use ferrio_spec::JobSpec;

/// The seed of the first repeat; the run before it has that of the jobs.
const FIRST_SEED: u64 = 1_000_000;
/// A job with one of these says itself what it draws.
const OWN: [&str; 2] = ["randrepeat", "randseed"];

/// Gives the jobs the seed of a repeat; the first run (0) has that of its jobs. Jobs that verify what an earlier run has written need the numbers of that run.
///
/// # Errors
/// The jobs are refused.
pub fn with_own_numbers(
    template: &mut Template,
    repeat_index: u32,
    environment: &dyn Environment,
) -> Result<(), Diagnostic> {
    if repeat_index == 0 {
        return Ok(());
    }
    let seed = (FIRST_SEED + u64::from(repeat_index)).to_string();
    let jobs = template.run_spec(environment)?.jobs;
    // Jobs of one name are set together.
    let is_free = |job: &&JobSpec| jobs.iter().filter(|one| one.name == job.name).all(may_differ);
    for job in jobs.iter().filter(is_free) {
        template.set(Some(&job.name), "randseed", Some(&seed), environment)?;
    }
    Ok(())
}

fn may_differ(job: &JobSpec) -> bool {
    let has_own =
        job.given_options.iter().any(|(name, _)| canonical_name(name).is_some_and(|name| OWN.contains(&name)));
    job.verify.is_none() && !has_own
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_job::SystemEnvironment;
    use std::ffi::OsString;

    /// The seeds of the jobs in a run.
    fn seeds(words: &str, repeat_index: u32) -> Vec<Option<u64>> {
        let environment = SystemEnvironment::new("ferrio");
        let words: Vec<OsString> = std::iter::once("ferrio").chain(words.split(' ')).map(OsString::from).collect();
        let mut template = ferrio_job::parse_template(&words, &environment).expect("jobs").1;
        with_own_numbers(&mut template, repeat_index, &environment).expect("seeds");
        let spec = template.run_spec(&environment).expect("jobs");
        spec.jobs.iter().map(|job| job.pattern.randseed).collect()
    }

    #[test]
    fn each_repeat_has_numbers_of_its_own() {
        let jobs = "--ioengine=null --size=1m --rw=randread --name=a --name=b --rw=write";
        assert_eq!(seeds(jobs, 0), [None, None]);
        assert_eq!(seeds(jobs, 1), [Some(1_000_001); 2]);
        assert_eq!(seeds(jobs, 2), [Some(1_000_002); 2]);
    }

    #[test]
    fn jobs_that_say_what_they_draw_are_left_alone() {
        for own in ["--randseed=7", "--randrepeat=1", "--allrandrepeat=0", "--verify=crc32c"] {
            let seeds = seeds(&format!("--ioengine=null --size=1m --rw=randwrite --name=a --name=b {own}"), 3);
            assert_eq!(seeds[0], Some(1_000_003), "{own}");
            assert_eq!(seeds[1], if own == "--randseed=7" { Some(7) } else { None }, "{own}");
        }
    }
}
