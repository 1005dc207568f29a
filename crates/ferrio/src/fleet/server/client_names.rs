//! Names of files that differ from client to client: those in a directory begin with the client's address, unless `unique_filename=0`.
//!
//! Must not know: connections, what a policy allows. Start reading at [`set_names`]. Source: reference, "Client and server".

use ferrio_spec::engines::by_name;
use ferrio_spec::{JobSpec, RunSpec};
use std::net::IpAddr;

/// The form of generated names.
const DEFAULT_FORMAT: &str = "$jobname.$jobnum.$filenum";
const KEYWORD: &str = "$clientuid";

/// Gives the files of all jobs their names on this server. A client on a local socket has no address, and its files have the names of a run
/// without a client.
pub(super) fn set_names(run: &mut RunSpec, client: Option<IpAddr>) {
    let Some(client) = client else { return };
    let address = client.to_canonical().to_string();
    let has_files = |job: &JobSpec| by_name(&job.engine.name).is_none_or(|engine| engine.targets.are_files());
    for job in run.jobs.iter_mut().filter(|job| has_files(job)) {
        let target = &mut job.target;
        let has_prefix = target.unique_filename && !target.directories.is_empty();
        let prefix = if has_prefix { format!("{address}.") } else { String::new() };
        // A name from the root is in no directory.
        for name in target.filenames.iter_mut().filter(|name| !name.starts_with('/')) {
            *name = format!("{prefix}{name}");
        }
        if has_prefix || target.filename_format.is_some() {
            let format = target.filename_format.as_deref().unwrap_or(DEFAULT_FORMAT);
            target.filename_format = Some(prefix + &with_client(format, &address));
        }
    }
}

/// Puts the address in the place of the keyword; its case does not matter.
fn with_client(format: &str, address: &str) -> String {
    let mut text = String::new();
    let mut rest = format;
    // Lower case of ASCII alone: the lengths stay.
    while let Some(place) = rest.to_ascii_lowercase().find(KEYWORD) {
        text.push_str(&rest[..place]);
        text.push_str(address);
        rest = &rest[place + KEYWORD.len()..];
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_spec::TargetSpec;
    use std::path::PathBuf;

    /// Names and format of a job of this client.
    fn named(client: &str, change: impl FnOnce(&mut TargetSpec)) -> (Vec<String>, String) {
        let mut job = JobSpec::default();
        change(&mut job.target);
        let mut run = RunSpec { jobs: vec![job], ..RunSpec::default() };
        set_names(&mut run, client.parse().ok());
        let target = run.jobs.remove(0).target;
        (target.filenames, target.filename_format.unwrap_or_default())
    }

    /// As fio 3.41 has them too, but for the name from the root.
    #[test]
    fn names_in_directories_begin_with_the_client() {
        let below = |target: &mut TargetSpec| target.directories = vec![PathBuf::from("d")];
        let plain = || (Vec::new(), String::new());
        assert_eq!(named("10.0.0.1", |_| ()), plain());
        assert_eq!(
            named("10.0.0.1", |target| (target.directories, target.unique_filename) = (vec!["d".into()], false)),
            plain()
        );
        assert_eq!(named("a local socket", below), plain());
        assert_eq!(named("::ffff:10.0.0.1", below), (Vec::new(), "10.0.0.1.$jobname.$jobnum.$filenum".to_owned()));
        let format = |target: &mut TargetSpec| target.filename_format = Some("x.$ClientUID.$jobname".to_owned());
        assert_eq!(named("10.0.0.1", format), (Vec::new(), "x.10.0.0.1.$jobname".to_owned()));
        let given = |target: &mut TargetSpec| target.filenames = vec!["a".to_owned(), "/b".to_owned()];
        assert_eq!(named("10.0.0.1", given).0, ["a", "/b"]);
        let given_below = |target: &mut TargetSpec| {
            below(target);
            given(target);
        };
        assert_eq!(named("fe80::1", given_below).0, ["fe80::1.a", "/b"]);
    }
}
