//! Names that differ from host to host: `$rank`, `$host` and `$hosts` in the texts of jobs, which `${FERRIO_RANK}`, `${FERRIO_HOST}` and
//! `${FERRIO_HOSTS}` stand for too.

use ferrio_job::environment::HOST_MARKS;
use ferrio_spec::RunSpec;
use ferrio_stats::wire::{self, WireError};
use serde_json::Value;

/// Jobs whose names cannot be replaced.
#[derive(Debug, thiserror::Error)]
#[error("the names of the jobs cannot be put in: {0}")]
pub struct HostNameError(#[from] WireError);

/// The jobs of one host: in all their texts, `$rank` is its rank, `$host` its name, `$hosts` the number of hosts.
///
/// # Errors
/// The jobs cannot be taken apart.
pub(super) fn resolved(jobs: RunSpec, rank: u32, host: &str, n_hosts: u32) -> Result<RunSpec, HostNameError> {
    let mut value = wire::to_value(&jobs);
    let value_of = |mark: &str| match mark {
        "$rank" => rank.to_string(),
        "$hosts" => n_hosts.to_string(),
        _ => host.to_owned(),
    };
    // The longer name comes first.
    let marks = HOST_MARKS.iter().rev().map(|(_, mark)| ((*mark).to_owned(), value_of(mark)));
    let variables = HOST_MARKS.iter().map(|(name, mark)| (format!("${{{name}}}"), value_of(mark)));
    let names: Vec<(String, String)> = variables.chain(marks).collect();
    if replace(&mut value, &names) { Ok(wire::from_value(&value)?) } else { Ok(jobs) }
}

/// Replaces the names; true if there was one.
fn replace(value: &mut Value, names: &[(String, String)]) -> bool {
    match value {
        Value::String(text) => {
            let found = names.iter().any(|(name, _)| text.contains(name.as_str()));
            for (name, by) in names.iter().filter(|_| found) {
                *text = text.replace(name.as_str(), by);
            }
            found
        }
        Value::Array(values) => values.iter_mut().fold(false, |found, value| replace(value, names) | found),
        Value::Object(fields) => fields.values_mut().fold(false, |found, value| replace(value, names) | found),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_spec::JobSpec;

    #[test]
    fn names_are_those_of_the_host() {
        let job = JobSpec { name: "$rank of $hosts on $host".to_owned(), ..JobSpec::default() };
        let jobs = RunSpec { jobs: vec![job], ..RunSpec::default() };
        let own = resolved(jobs.clone(), 2, "node2", 8).expect("names");
        assert_eq!(own.jobs[0].name, "2 of 8 on node2");
        let job = JobSpec { name: "${FERRIO_RANK}.${FERRIO_HOSTS}.${FERRIO_HOST}".to_owned(), ..JobSpec::default() };
        let variables = RunSpec { jobs: vec![job], ..RunSpec::default() };
        assert_eq!(resolved(variables, 2, "node2", 8).expect("names").jobs[0].name, "2.8.node2");
        let plain = RunSpec { jobs: vec![JobSpec::default()], ..RunSpec::default() };
        assert_eq!(resolved(plain.clone(), 2, "node2", 8).expect("no names"), plain);
        // All that jobs have survives.
        let again: RunSpec = wire::from_value(&wire::to_value(&jobs)).expect("the same jobs");
        assert_eq!(again, jobs);
    }
}
