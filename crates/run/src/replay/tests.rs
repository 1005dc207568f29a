//! The files that a worker will use, before it starts.

use super::*;
use crate::plan::RunPlan;
use ferrio_spec::{Compatibility, RunSpec};

fn worker(trace: &Path, change: impl FnOnce(&mut JobSpec)) -> WorkerPlan {
    let mut job = JobSpec::default();
    job.replay.traces = vec![trace.to_string_lossy().into_owned()];
    change(&mut job);
    let spec = RunSpec {
        global_options: Vec::new(),
        jobs: vec![job],
        compatibility: Compatibility::Native,
        ..RunSpec::default()
    };
    RunPlan::new(spec).unwrap().workers.remove(0)
}

#[test]
fn the_files_of_a_trace_are_known_before_its_job() {
    let trace = std::env::temp_dir().join(format!("ferrio-expected-paths-{}", std::process::id()));
    std::fs::write(&trace, "fio version 2 iolog\n/a/x add\n/a/x open\n/a/x read 0 4096\n/a/y add\n").unwrap();
    let paths = |change: fn(&mut JobSpec)| expected_paths(&worker(&trace, change));
    assert_eq!(paths(|_| ()), [PathBuf::from("/a/x"), PathBuf::from("/a/y")]);
    assert_eq!(paths(|job| job.replay.redirect = Some("/a/z".into())), [PathBuf::from("/a/z")]);
    assert_eq!(paths(|job| job.target.filenames = vec!["/a/named".into()]), [PathBuf::from("/a/named")]);
    // Reading these would take them away from the job, or never end.
    for trace in ["-", "/dev/zero", "/no/such/trace"] {
        assert_eq!(expected_paths(&worker(trace.as_ref(), |_| ())), Vec::<PathBuf>::new());
    }
    std::fs::remove_file(&trace).unwrap();
}
