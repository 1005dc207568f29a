//! Job files, plans of sweeps and recipes of strangers: native commands run no program, load no library and write nothing elsewhere for them
//! unasked, and `ferrio check` tells what they would do.
//!
//! Start reading at [`DEEDS`].

use crate::support::{Finished, Program, Run, Scratch};

/// Lines of a job file, the word that permits what they do, and how it is told.
const DEEDS: &[(&str, &str, &str)] = &[
    ("exec_prerun=touch ../elsewhere/mark", "programs", "runs a program"),
    ("exec_postrun=touch ../elsewhere/mark", "programs", "runs a program"),
    ("ioengine=exec\nprogram=touch\narguments=../elsewhere/mark", "programs", "runs a program"),
    ("ioengine=external:./mark.so", "libraries", "loads a library"),
    ("ioengine=./mark.so", "libraries", "loads a library"),
    ("filename=../elsewhere/mark", "outside", "writes outside"),
    ("filename=here:../elsewhere/mark", "outside", "writes outside"),
    ("directory=../elsewhere", "outside", "writes outside"),
    ("filename_format=../elsewhere/mark.$filenum", "outside", "writes outside"),
    ("write_bw_log=../elsewhere/mark", "outside", "writes outside"),
    ("write_lat_log=../elsewhere/mark", "outside", "writes outside"),
    ("write_iolog=../elsewhere/mark", "outside", "writes outside"),
    ("filename=../elsewhere/mark\nrw=read", "outside", "writes outside"),
    ("directory=../elsewhere\nrw=read", "outside", "writes outside"),
];

/// A directory for the run, and one beside it in which nothing may appear.
struct Places(Scratch);

impl Places {
    fn new() -> Self {
        let scratch = Scratch::new("strangers");
        for name in ["here", "elsewhere"] {
            std::fs::create_dir(scratch.join(name)).expect("a directory");
        }
        Self(scratch)
    }

    fn write_jobs(&self, lines: &str) {
        self.0.write("here/jobs.fio", format!("[global]\nsize=4k\nrw=write\n[a]\n{lines}\n"));
    }

    fn run(&self, arguments: &str) -> Finished {
        Run::new(Program::Ferrio, &self.0.join("here"), arguments).finish()
    }

    /// The number of files that a job has made in the other directory.
    fn n_elsewhere(&self) -> usize {
        std::fs::read_dir(self.0.join("elsewhere")).expect("a directory").count()
    }
}

#[test]
fn a_job_file_does_nothing_beyond_io_unasked() {
    for (lines, word, deed) in DEEDS {
        let places = Places::new();
        places.write_jobs(lines);
        for command in
            ["run", "run --json", "run --repeat 2", "sweep --over bs=512,1k", "sweep --plan --over bs=512,1k"]
        {
            let refused = places.run(&format!("{command} jobs.fio"));
            let what = format!("{lines}: {}", refused.all());
            assert_eq!(refused.code, Some(2), "{what}");
            let place = if lines.starts_with("ioengine=exec") { "jobs.fio:6: " } else { "jobs.fio:5: " };
            assert!(refused.stderr.contains(place) && refused.stderr.contains(deed), "{what}");
            assert!(refused.stderr.contains(&format!("--allow={word} permits it")), "{what}");
        }
        let checked = places.run("check jobs.fio");
        assert!(checked.stdout.starts_with("Beyond I/O") && checked.stdout.contains(deed), "{}", checked.all());
        assert_eq!(places.n_elsewhere(), 0, "{lines}");
        let document: serde_json::Value =
            serde_json::from_str(&places.run("check --json jobs.fio").stdout).expect("JSON");
        assert_eq!(document["beyond"][0]["kind"], *word, "{document:#}");
        if *word == "libraries" {
            // It is not there; the run begins.
            let run = places.run(&format!("run --allow={word} jobs.fio"));
            assert!(!run.stderr.contains("permits it") && run.stderr.contains("mark.so"), "{lines}: {}", run.all());
        } else {
            let run = places.run(&format!("run --allow=libraries,{word} jobs.fio"));
            assert!(places.n_elsewhere() > 0, "{lines}: {}", run.all());
        }
    }
}

/// Lines of a job that only reads, which would change a file of 4 KiB in the other directory, or make one there.
const READS: &[&str] = &[
    "filename=../elsewhere/victim\nsize=8k",
    "filename=../elsewhere/victim\nfilesize=8k",
    "filename=../elsewhere/victim\noffset=4k",
    "filename=../elsewhere/victim\noffset_increment=4k\nnumjobs=2",
    "filename=../elsewhere/victim\nfile_append=1",
    "filename=../elsewhere/victim\nunlink=1",
    "filename=../elsewhere/victim\nunlink_each_loop=1\nloops=2",
    "filename=../elsewhere/new\ncreate_only=1",
    "opendir=../elsewhere\nsize=8k",
    "directory=../elsewhere",
    "ioengine=filedelete\nfilename=../elsewhere/victim",
    "ioengine=filecreate\nfilename=../elsewhere/new",
    "filename=data\nmem=mmap:../elsewhere/victim",
    "read_iolog=trace",
    "read_iolog=harmless\nreplay_redirect=../elsewhere/victim",
    "read_iolog=fifo",
    "name=../elsewhere/log\nfilename=data\nwrite_bw_log",
    "filename=data\n[../elsewhere/new]",
    "filename=data\n[../elsewhere/log]\nfilename=data\nwrite_lat_log",
];

/// A job that only reads makes no file elsewhere either, and neither lengthens nor removes one.
#[test]
fn a_job_file_that_reads_changes_nothing_elsewhere() {
    let trace =
        |file: &str| format!("fio version 2 iolog\n{file} add\n{file} open\n{file} write 0 4096\n{file} close\n");
    for lines in READS {
        let places = Places::new();
        places.0.write("elsewhere/victim", [7; 4096]);
        places.0.write("here/data", [7; 4096]);
        places.0.write("here/trace", trace("../elsewhere/victim"));
        places.0.write("here/harmless", trace("data"));
        rustix::fs::mkfifoat(rustix::fs::CWD, places.0.join("here/fifo"), rustix::fs::Mode::RWXU).expect("a pipe");
        places.0.write("here/jobs.fio", format!("[global]\nsize=4k\n[a]\n{lines}\n"));
        for command in ["run", "run --repeat 2", "sweep --over bs=512,1k", "--safe"] {
            let refused = places.run(&format!("{command} jobs.fio"));
            let what = format!("{command} {lines}: {}", refused.all());
            assert!(refused.code != Some(0) && refused.stderr.contains("writes outside of this directory"), "{what}");
            let victim = std::fs::read(places.0.join("elsewhere/victim")).expect("it is there");
            assert_eq!((victim, places.n_elsewhere()), (vec![7; 4096], 1), "{what}");
        }
        let checked = places.run("check jobs.fio");
        assert!(checked.stdout.contains("writes outside of this directory"), "{lines}: {}", checked.all());
    }
    let places = Places::new();
    places.0.write("elsewhere/victim", [7; 4096]);
    places.0.write("here/data", [7; 4096]);
    places.0.write("here/harmless", trace("data"));
    for lines in ["filename=../elsewhere/victim", "filename=/dev/zero", "read_iolog=harmless"] {
        places.0.write("here/jobs.fio", format!("[global]\nsize=4k\n[a]\n{lines}\n"));
        places.run("run jobs.fio").succeeded();
    }
}

/// What needs no permission, but is more than I/O on the targets, is said too; what the command line says is no news.
#[test]
fn a_check_begins_with_all_that_a_job_file_does_beside_its_io() {
    let places = Places::new();
    places.write_jobs("filename=a\nwrite_bw_log=log\nexec_prerun=true");
    let checked = places.run("check jobs.fio");
    let lines: Vec<&str> = checked.stdout.lines().take(5).collect();
    let expected = [
        "Beyond I/O on files of this directory (--allow of ferrio run):",
        "  jobs.fio:7: exec_prerun=true runs a program",
        "",
        "Beside the I/O, in this directory or on the machine (--readonly refuses it):",
        "  jobs.fio:6: write_bw_log=log writes logs",
    ];
    assert_eq!(lines, expected, "{}", checked.all());
    let document: serde_json::Value = serde_json::from_str(&places.run("check --json jobs.fio").stdout).expect("JSON");
    assert_eq!(document["changes"][0]["option"], "write_bw_log=log", "{document:#}");
    assert_eq!(document["changes"].as_array().map(Vec::len), Some(1), "{document:#}");
    let own = places.run("check --name=a --filename=a --size=4k --rw=read --write_bw_log=log");
    assert!(!own.stdout.contains("Beside the I/O"), "{}", own.all());
}

/// What the user writes on the command line needs no permission, nor do jobs that write in the directory or write nothing.
#[test]
fn what_is_the_users_own_needs_no_permission() {
    let places = Places::new();
    places.write_jobs("filename=a\nwrite_bw_log=log");
    places.run("run jobs.fio").succeeded();
    let own = "--name=a --size=4k --rw=write --directory=../elsewhere --exec_prerun=true";
    places.run(&format!("run {own}")).succeeded();
    assert_eq!(places.n_elsewhere(), 1);
    places.0.write("here/reads.fio", "[a]\nfilename=../elsewhere/a.0.0\nrw=read\nsize=4k\n");
    places.run("run reads.fio").succeeded();
    let here = places.0.join("here");
    places.write_jobs(&format!("filename={}/b", here.display()));
    places.run("run jobs.fio").succeeded();
    for (arguments, reason) in [
        ("run --allow=all jobs.fio", "--allow all: there are programs, libraries, outside"),
        ("run --allow= jobs.fio", "--allow needs a value: --allow KIND,..."),
    ] {
        let refused = places.run(arguments);
        assert!(refused.code == Some(2) && refused.stderr.contains(reason), "{}", refused.all());
    }
    // As fio does it.
    places.write_jobs("exec_prerun=touch ../elsewhere/mark");
    places.run("jobs.fio").succeeded();
    assert_eq!(places.n_elsewhere(), 2);
}

/// The plan in the folder of a sweep holds a command line, which may be that of a stranger.
#[test]
fn a_plan_is_a_job_file() {
    let places = Places::new();
    let own = "--name=a --ioengine=null --size=4k --exec_prerun=true";
    places.run(&format!("sweep --over bs=512,1k --folder=s {own}")).succeeded();
    let refused = places.run("sweep --resume s");
    assert!(refused.code == Some(2) && refused.stderr.contains("--allow=programs permits it"), "{}", refused.all());
    places.run("sweep --resume s --allow=programs").succeeded();
}

#[test]
fn a_recipe_only_does_io_on_files_of_its_directory() {
    for lines in ["exec_prerun=touch ../elsewhere/mark", "filename=../elsewhere/mark", "write_bw_log=/tmp/mark"] {
        let places = Places::new();
        let recipe = crate::fits::recipe("figure = \"write.p99\"\nmost = \"1s\"");
        let jobs = format!("[r]\nrw=write\nsize=4k\n{lines}\n");
        let start = recipe.find("[r]\n").expect("a job");
        let end = start + recipe[start..].find("\"\"\"").expect("its end");
        let recipe = format!("{}{jobs}{}", &recipe[..start], &recipe[end..]).replace("scale = [\"rate_iops\"]\n", "");
        places.0.write("here/own.toml", recipe);
        let refused = places.run("fit ./own.toml .");
        assert!(refused.stderr.contains("a load only does I/O on files of its directory"), "{}", refused.all());
        assert_eq!((refused.code, places.n_elsewhere()), (Some(2), 0), "{}", refused.all());
    }
}

/// Lines of a job file that only reads, which change something nevertheless, in a directory with the files `data` and `gone`.
const CHANGES: &[(&str, &str)] = &[
    ("exec_prerun=touch mark", "runs a program"),
    ("exec_postrun=touch mark", "runs a program"),
    ("ioengine=exec\nprogram=/usr/bin/touch\narguments=mark", "runs a program"),
    ("filename=data\nwrite_bw_log=mark", "writes logs"),
    ("filename=data\nwrite_lat_log", "writes logs"),
    ("filename=data\nwrite_iolog=mark", "writes a trace"),
    ("filename=data\nverify=crc32c\nverify_dump=1", "writes blocks that do not verify to files"),
    ("ioengine=filecreate\nfilename=mark", "makes, changes or removes files"),
    ("ioengine=filedelete\nfilename=gone", "makes, changes or removes files"),
    ("ioengine=dircreate\nfilename=mark", "makes, changes or removes files"),
];

/// Names of all that is in the directory of the run, but for the job file.
fn names(places: &Places) -> Vec<String> {
    let entries = std::fs::read_dir(places.0.join("here")).expect("a directory");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| name != "jobs.fio");
    names.sort();
    names
}

#[test]
fn under_readonly_a_job_file_changes_nothing() {
    for (lines, deed) in CHANGES {
        let places = Places::new();
        for name in ["data", "gone"] {
            places.0.write(&format!("here/{name}"), [7; 4096]);
        }
        places.0.write("here/jobs.fio", format!("[global]\nsize=4k\n[a]\n{lines}\n"));
        for command in [
            "run --allow=programs --readonly",
            "sweep --allow=programs --over bs=512,1k --readonly",
            "--readonly --safe",
        ] {
            let refused = places.run(&format!("{command} jobs.fio"));
            let what = format!("{command} {lines}: {}", refused.all());
            let is_program = deed.contains("program");
            assert_eq!(refused.code, Some(if command.starts_with("--") { 1 } else { 2 }), "{what}");
            assert!(refused.stdout.is_empty() && refused.stderr.contains(deed), "{what}");
            let line = 4 + lines
                .lines()
                .position(|line| {
                    !line.starts_with("filename") && !line.ends_with("exec") && !line.starts_with("verify=")
                })
                .unwrap_or_default();
            assert!(refused.stderr.contains(&format!("jobs.fio:{line}: ")), "{what}");
            let cure = if command.starts_with("--") && is_program { "with --safe" } else { "with --readonly" };
            assert!(refused.stderr.contains(&format!("{cure} job files may")), "{what}");
            assert_eq!(names(&places), ["data", "gone"], "{what}");
        }
        // In place of fio it is done, as fio does it, and said.
        let done = places.run("--readonly jobs.fio");
        assert!(done.stderr.contains("fio: --readonly: jobs.fio:"), "{lines}: {}", done.all());
        assert!(
            done.stderr.contains(deed) && done.stderr.contains("as in fio; --safe refuses it"),
            "{lines}: {}",
            done.all()
        );
        assert_ne!(names(&places), ["data", "gone"], "{lines}: {}", done.all());
    }
}

/// What stands on the command line is the user's own, under `--readonly` too; and a file that only reads is read.
#[test]
fn under_readonly_the_command_line_is_heeded() {
    let places = Places::new();
    places.0.write("here/data", [7; 4096]);
    places.0.write("here/jobs.fio", "[a]\nfilename=data\n");
    for command in ["run --readonly", "--readonly", "--readonly --safe", "--safe"] {
        let read = places.run(&format!("{command} jobs.fio")).succeeded();
        assert!(!read.stderr.contains("--readonly") && !read.stderr.contains("--safe"), "{command}: {}", read.all());
        assert_eq!(names(&places), ["data"], "{command}");
        let own = places.run(&format!("{command} --name=b --filename=data --size=4k --write_bw_log=log")).succeeded();
        assert!(!own.stderr.contains("--readonly"), "{command}: {}", own.all());
        assert_eq!(names(&places), ["data", "log_bw.1.log"], "{command}");
        std::fs::remove_file(places.0.join("here/log_bw.1.log")).expect("a log");
    }
}

/// With `--safe`, fio's command line has the rules of ferrio's own commands.
#[test]
fn fios_command_line_can_be_safe() {
    for (lines, word, deed) in DEEDS {
        let places = Places::new();
        places.write_jobs(lines);
        let refused = places.run("--safe jobs.fio");
        let what = format!("{lines}: {}", refused.all());
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""), "{what}");
        let place = if lines.starts_with("ioengine=exec") { "fio: jobs.fio:6: " } else { "fio: jobs.fio:5: " };
        assert!(refused.stderr.contains(place) && refused.stderr.contains(deed), "{what}");
        assert!(refused.stderr.contains("fio: with --safe job files may not do that"), "{what}");
        assert_eq!(places.n_elsewhere(), 0, "{what}");
        let both = places.run(&format!("run --safe --allow={word} jobs.fio"));
        assert!(
            both.code == Some(2) && both.stderr.contains("--safe and --allow do not go together"),
            "{}",
            both.all()
        );
    }
}
