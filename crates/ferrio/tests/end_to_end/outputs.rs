//! No output destroys what is still needed: files that the command reads, the data of its jobs, block devices.

use crate::support::{Finished, LoopDevice, Program, Run, Scratch, has_programs, is_root};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

const JOB: &str = "[j]\nioengine=psync\nrw=read\nbs=4k\nsize=64k\nfilename=data\n";

/// Inputs of every kind, with links to them.
fn inputs(test: &str) -> Scratch {
    let scratch = Scratch::new(test);
    scratch.write("j.fio", JOB);
    scratch.write("data", vec![7; 65_536]);
    ferrio(&scratch, "--record=run.record --output-format=json --output=r.json --write_bw_log=l j.fio").succeeded();
    for (copy, of) in [("x.html", "r.json"), ("x.svg", "r.json"), ("y.json", "r.json")] {
        std::fs::copy(scratch.join(of), scratch.join(copy)).expect("a copy");
    }
    for name in ["j.fio", "data", "run.record", "r.json"] {
        symlink(name, scratch.join(&format!("soft-{name}"))).expect("a link");
        std::fs::hard_link(scratch.join(name), scratch.join(&format!("hard-{name}"))).expect("a link");
    }
    scratch
}

fn ferrio(scratch: &Scratch, arguments: &str) -> Finished {
    Run::new(Program::Ferrio, scratch.path(), arguments).finish()
}

fn contents(scratch: &Scratch) -> Vec<(String, Vec<u8>)> {
    let with_content = |name: String| (name.clone(), std::fs::read(scratch.join(&name)).unwrap_or_default());
    scratch.names().into_iter().map(with_content).collect()
}

#[test]
fn no_output_replaces_an_input_or_the_data_of_a_job() {
    let scratch = inputs("no_output_replaces_an_input_or_the_data_of_a_job");
    symlink("later", scratch.join("soft-later")).unwrap();
    let before = contents(&scratch);
    for arguments in [
        "report run.record -o run.record",
        "report run.record -o soft-run.record",
        "report run.record --output-format=json -o hard-run.record",
        "report x.html -o x.html",
        "report r.json x.html -o ./x.html",
        "plot x.svg -o x.svg",
        "compare r.json y.json --html r.json",
        "compare r.json y.json --html=soft-r.json",
        "compare r.json --against y.json --html=y.json",
        "run --html=j.fio j.fio",
        "run --html=hard-j.fio j.fio",
        "run --output=soft-j.fio j.fio",
        "run --html=data j.fio",
        "run --output=soft-data j.fio",
        "--record=j.fio j.fio",
        "--record=hard-data j.fio",
        "--output=j.fio j.fio",
        "--output=hard-data j.fio",
        "--output=new --record=new j.fio",
        "--output=j.fio --bad-option j.fio",
        "j.fio --write_iolog=j.fio",
        "--name=j --filename=data --size=64k --write_iolog=soft-data",
        "--name=j --read_iolog=j.fio --write_iolog=j.fio",
        "--name=data --filename=l_bw.1.log --rw=read --size=64 --bs=64 --write_bw_log=l",
        "--name=j --filename=later --rw=write --size=64k --verify=crc32c --verify_crash_log=soft-later",
        "genjob --measure=iops --target=data -o data --force",
    ] {
        let _ = std::fs::remove_file(scratch.join("new"));
        let finished = ferrio(&scratch, arguments);
        assert!(finished.code.is_some_and(|code| code != 0), "{}", finished.all());
        let _ = std::fs::remove_file(scratch.join("new"));
        let _ = std::fs::remove_file(scratch.join("later"));
        for (after, before) in contents(&scratch).into_iter().zip(&before) {
            assert!(&after == before, "{}: {}", after.0, finished.all());
        }
        assert_eq!(scratch.names().len(), before.len(), "{}: {:?}", finished.all(), scratch.names());
    }
}

/// The file that a job makes is none that an output takes afterwards.
#[test]
fn a_page_does_not_replace_the_file_that_its_run_has_made() {
    let scratch = Scratch::new("a_page_does_not_replace_the_file_that_its_run_has_made");
    symlink("made", scratch.join("page")).unwrap();
    for page in ["made", "page"] {
        let arguments = format!("run --html={page} --name=j --filename=made --rw=write --size=64k --bs=4k");
        let finished = ferrio(&scratch, &arguments);
        assert_eq!(finished.code, Some(2), "{}", finished.all());
        assert!(finished.stderr.contains("the same file as made, which holds the data of a job"), "{}", finished.all());
        assert_eq!(scratch.names(), ["page"]);
    }
}

#[test]
fn block_devices_take_no_text() {
    let test = "block_devices_take_no_text";
    if !is_root(test) || !has_programs(test, &["losetup"]) {
        return;
    }
    let scratch = inputs(test);
    let device = LoopDevice::new(&scratch, 1 << 20).expect("a loop device");
    symlink(device.path(), scratch.join("device")).unwrap();
    for arguments in [
        "report r.json -o device.html",
        "report run.record -o device",
        "report run.record --output-format=json -o DEVICE",
        "plot r.json -o device.svg",
        "compare r.json y.json --html=DEVICE",
        "run --output=DEVICE j.fio",
        "run --html=device j.fio",
        "--output=DEVICE j.fio",
        "--record=DEVICE j.fio",
        "j.fio --write_iolog=device",
        "--output=DEVICE --bad-option",
        "genjob --measure=iops --target=data -o DEVICE --force",
    ] {
        let links = ["device.svg", "device.html"].map(|name| scratch.join(name));
        for link in &links {
            symlink(device.path(), link).unwrap();
        }
        let finished = ferrio(&scratch, &arguments.replace("DEVICE", device.path()));
        assert!(finished.code.is_some_and(|code| code != 0), "{}", finished.all());
        assert!(std::fs::read(device.path()).unwrap().iter().all(|byte| *byte == 0), "{}", finished.all());
        if !arguments.contains("--bad-option") {
            let refusal = "it is a block device, and a text on it would destroy its data; give the name of a file";
            assert!(finished.all().contains(refusal), "{}", finished.all());
        }
        for link in links {
            std::fs::remove_file(link).unwrap();
        }
    }
}

#[test]
fn character_devices_and_pipes_take_every_text() {
    let scratch = inputs("character_devices_and_pipes_take_every_text");
    for arguments in [
        "report run.record -o /dev/null",
        "compare r.json y.json --html=/dev/null",
        "run --output=/dev/null --html=/dev/null j.fio",
        "--output=/dev/null --record=/dev/null j.fio",
        "run --html=/dev/stdout --output=/dev/null j.fio",
    ] {
        ferrio(&scratch, arguments).succeeded();
    }
    assert!(std::path::Path::new("/dev/null").metadata().is_ok_and(|facts| !facts.is_file()));
}

#[test]
fn outputs_keep_mode_and_owner() {
    let scratch = inputs("outputs_keep_mode_and_owner");
    for arguments in [
        "report r.json -o out.html",
        "report run.record -o out.txt",
        "compare r.json y.json --html=out.html",
        "plot r.json -o out.svg",
        "run --html=out.html --output=out.txt j.fio",
        "--record=out.record --output=out.txt j.fio",
        "genjob --measure=iops -o out.fio --force",
    ] {
        let outputs = ["out.html", "out.txt", "out.svg", "out.record", "out.fio"];
        let is_root = rustix::process::geteuid().is_root();
        for output in outputs {
            scratch.write(output, "old");
            let path = scratch.join(output);
            if is_root {
                std::os::unix::fs::chown(&path, Some(12_345), Some(54_321)).unwrap();
            }
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o604)).unwrap();
        }
        let finished = ferrio(&scratch, arguments).succeeded();
        let mut n_written = 0;
        for output in outputs {
            let facts = scratch.join(output).metadata().unwrap();
            n_written += u32::from(scratch.read(output) != "old");
            assert_eq!(facts.mode() & 0o7777, 0o604, "{output}: {}", finished.all());
            if is_root {
                assert_eq!((facts.uid(), facts.gid()), (12_345, 54_321), "{output}: {}", finished.all());
            }
        }
        assert!(n_written > 0, "{}", finished.all());
    }
}

/// State of `ferrio run` follows no planted link, and is in no directory of another user.
#[test]
fn state_is_kept_only_in_directories_of_the_user() {
    let test = "state_is_kept_only_in_directories_of_the_user";
    let scratch = inputs(test);
    let run = |state: &str| {
        let state = scratch.join(state).display().to_string();
        let job = "run --name=j --filename=data --rw=randread --size=64k --bs=4k";
        let run = Run::new(Program::Ferrio, scratch.path(), job).env("FERRIO_STATE", "on");
        run.env("XDG_STATE_HOME", &state).finish().succeeded();
    };
    let is_kept = |state: &str| scratch.join(state).join("ferrio/history.sqlite").exists();
    run("own");
    assert!(is_kept("own"));
    // A link in place of the directory.
    std::fs::create_dir_all(scratch.join("linked")).unwrap();
    std::fs::create_dir_all(scratch.join("elsewhere")).unwrap();
    symlink(scratch.join("elsewhere"), scratch.join("linked/ferrio")).unwrap();
    run("linked");
    assert!(!is_kept("linked"));
    if !is_root(test) {
        return;
    }
    std::fs::create_dir_all(scratch.join("other/ferrio")).unwrap();
    std::fs::create_dir_all(scratch.join("home")).unwrap();
    for directory in ["other/ferrio", "home"] {
        std::os::unix::fs::chown(scratch.join(directory), Some(12_345), Some(12_345)).unwrap();
    }
    run("other");
    run("home/state");
    assert!(!is_kept("other") && !scratch.join("home/state").exists());
}
