//! Jobs that failed in some way: their figures are called wrong in the report, in JSON, on the page and in comparisons.
//!
//! Start reading at [`told`].

use crate::support::{Finished, Program, Run, Scratch};

/// The report of a run, after a script that calls it with `"$0" "$@"`.
fn told(scratch: &Scratch, arguments: &str, script: &str) -> Finished {
    Run::new(Program::Ferrio, scratch.path(), &format!("run {arguments}")).in_shell(script).finish()
}

fn is_told(finished: &Finished, words: &str) {
    assert!(finished.stdout.contains("WRONG: A job failed (a)"), "{}", finished.all());
    let text = finished.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains(words) && !text.contains("Nothing speaks against"), "{}", finished.all());
}

#[test]
fn an_io_that_failed_is_told_everywhere() {
    let scratch = Scratch::new("failures-io");
    let of = |fault: &str| format!("--name=a --rw=write --bs=4k --size=1m --ioengine=sim {fault}");
    let (job, fine) = (of("--sim_fault=eio@100"), of(""));
    let plain = "exec \"$0\" \"$@\"";
    is_told(&told(&scratch, &job, plain), "The job ended with an error: Input/output error.");
    let json = told(&scratch, &format!("--json {job}"), plain);
    scratch.write("result.json", json.stdout.as_str());
    assert!(json.stdout.contains("\"job-failed\""), "{}", json.all());
    let page = Run::new(Program::Ferrio, scratch.path(), "report result.json -o page.html").finish().succeeded();
    let page =
        std::fs::read_to_string(scratch.join("page.html")).unwrap_or_else(|error| panic!("{error}: {}", page.all()));
    assert!(page.contains("A job failed") && !page.contains("Nothing speaks against"), "{page}");
    let fine = Run::new(Program::Ferrio, scratch.path(), &format!("run --json {fine}")).finish().succeeded();
    assert!(!fine.stdout.contains("job-failed"), "{}", fine.all());
    scratch.write("fine.json", fine.stdout.as_str());
    let compared = Run::new(Program::Ferrio, scratch.path(), "compare fine.json result.json").finish();
    assert!(compared.stdout.contains("A job failed"), "{}", compared.all());
}

#[test]
fn a_verification_that_failed_is_told() {
    let scratch = Scratch::new("failures-verify");
    let job = "--name=a --filename=f --bs=4k --size=256k --ioengine=psync --verify=crc32c";
    Run::new(Program::Ferrio, scratch.path(), &format!("{job} --rw=write --do_verify=0")).finish().succeeded();
    let damaged = "dd if=/dev/zero of=f bs=4k count=1 seek=32 conv=notrunc 2>/dev/null; exec \"$0\" \"$@\"";
    let words = "verification found other data than was written";
    is_told(&told(&scratch, &format!("{job} --rw=read"), damaged), words);
    let tolerated = told(&scratch, &format!("{job} --rw=read --continue_on_error=verify"), damaged);
    is_told(&tolerated, "The job had one error that it tolerated");
}

#[test]
fn a_worker_that_was_killed_is_told() {
    let scratch = Scratch::new("failures-killed");
    let script = "\"$0\" \"$@\" & p=$!; sleep 1.5; kill -9 $(cat /proc/$p/task/$p/children); wait $p";
    let job = "--name=a --rw=write --bs=4k --size=1m --rate_iops=100 --time_based --runtime=20 --ioengine=psync";
    is_told(&told(&scratch, job, script), "ended by signal 9");
}
