//! The accounts of runs: complete by construction, and right on a simulated device whose truth is known.
//!
//! Start reading at [`each_option_has_one_row`].

use ferrio_insight::accounts::options::effects;
use ferrio_job::SystemEnvironment;
use ferrio_job::options::OPTIONS;
use ferrio_run::{Run, RunEvent, RunSettings};
use ferrio_stats::{Accounts, OptionOutcome};
use ferrio_units::random::Taus258;
use std::collections::BTreeMap;
use std::ffi::OsString;

#[test]
fn each_option_has_one_row() {
    let mut rows: BTreeMap<&str, usize> = BTreeMap::new();
    effects().flat_map(|effect| effect.names).for_each(|name| *rows.entry(name).or_default() += 1);
    let names: std::collections::BTreeSet<&str> = OPTIONS.iter().map(|option| option.name).collect();
    let missing: Vec<&&str> = names.iter().filter(|name| !rows.contains_key(**name)).collect();
    let twice: Vec<&str> = rows.iter().filter(|(_, n)| **n > 1).map(|(name, _)| *name).collect();
    let unknown: Vec<&&str> = rows.keys().filter(|name| !names.contains(**name)).collect();
    assert!(missing.is_empty() && twice.is_empty() && unknown.is_empty(), "{missing:?} {twice:?} {unknown:?}");
}

/// A job of random options on a simulated device of 10,000 I/Os a second, on virtual time; its account. The truth is known.
fn drawn(random: &mut Taus258) -> (String, Accounts) {
    let mut words = vec![
        "ferrio".to_owned(),
        "--name=a".to_owned(),
        "--ioengine=sim".to_owned(),
        "--sim_service=fixed:100us".to_owned(),
        "--thread".to_owned(),
        "--size=4m".to_owned(),
    ];
    let mut left: Vec<&[&str]> = DRAWN.to_vec();
    for _ in 0..15 {
        let option = left.swap_remove(random.below(left.len() as u64) as usize);
        words.push(option[random.below(option.len() as u64) as usize].to_owned());
    }
    let text = words.join(" ");
    let words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
    let invocation = ferrio_job::parse(&words, &SystemEnvironment::new("test")).unwrap_or_else(|_| panic!("{text}"));
    let settings = RunSettings { is_virtual: true, keeps_series: true, ..RunSettings::default() };
    let run = Run::new(invocation.run, settings).and_then(|run| run.go(&mut |_: RunEvent| ()));
    let record = run.unwrap_or_else(|error| panic!("{error}: {text}")).record;
    let accounts = ferrio_insight::audit(&record).accounts.unwrap_or_else(|| panic!("{text}"));
    (text, *accounts)
}

/// Options of which each may stand beside each other one.
const DRAWN: [&[&str]; 28] = [
    &["--rw=read", "--rw=write", "--rw=randread", "--rw=randwrite", "--rw=randrw"],
    &["--bs=4k", "--bs=8k", "--bsrange=4k-16k", "--bssplit=4k/50:8k/50"],
    &["--rate_iops=500", "--rate_iops=100000"],
    &["--rwmixread=30", "--rwmixread=70"],
    &["--fsync=8", "--fsync=1"],
    &["--fdatasync=16"],
    &["--end_fsync=1"],
    &["--iodepth=1", "--iodepth=8"],
    &["--runtime=1", "--runtime=3"],
    &["--time_based"],
    &["--number_ios=100", "--number_ios=100000"],
    &["--thinktime=1000", "--thinktime=10"],
    &["--numjobs=2", "--numjobs=3"],
    &["--group_reporting"],
    &["--norandommap"],
    &[
        "--random_distribution=zipf:1.1",
        "--random_distribution=pareto:0.2",
        "--random_distribution=normal:10",
        "--random_distribution=zoned:60/10:30/20:8/30:2/40",
        "--random_distribution=random",
    ],
    &["--randrepeat=0"],
    &["--refill_buffers"],
    &["--zero_buffers"],
    &["--description=x"],
    &["--loops=2"],
    &["--percentage_random=50", "--percentage_random=5", "--percentage_random=100"],
    &["--nrfiles=4", "--nrfiles=2"],
    &[
        "--file_service_type=roundrobin",
        "--file_service_type=roundrobin:16",
        "--file_service_type=random:4",
        "--file_service_type=sequential",
        "--file_service_type=zipf:1.2",
    ],
    &["--rate_process=poisson"],
    &["--disable_slat=1"],
    &["--direct=1"],
    &["--rate_ignore_thinktime=1"],
];

fn check_drawn(seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let mut random = Taus258::new(seed);
        let (text, accounts) = drawn(&mut random);
        let options = &accounts.jobs[0].options;
        let has = |word: &str| text.split(' ').any(|one| one == word);
        let is = |name: &str, missed: bool| {
            let found = options.iter().find(|one| one.option == name).unwrap_or_else(|| panic!("{name}: {text}"));
            let is_missed = matches!(found.outcome, OptionOutcome::NotAsAsked(_));
            assert!(is_missed == missed, "{seed}: {found:?}: {text}");
        };
        // Each option is there, once.
        for word in text.split(' ').skip(1) {
            let name = word.trim_start_matches("--").split('=').next().expect("a name");
            assert_eq!(options.iter().filter(|one| one.option == name).count(), 1, "{seed}: {name}: {text}");
        }
        let writes = ["--rw=write", "--rw=randwrite", "--rw=randrw"].into_iter().any(has);
        for name in ["fsync", "fdatasync", "end_fsync"].into_iter().filter(|name| text.contains(&format!("--{name}=")))
        {
            if !writes {
                is(name, true);
            }
        }
        // No device does 100,000 of 10,000 I/Os a second.
        if has("--rate_iops=100000")
            && options.iter().any(|one| one.option == "rate_iops" && !matches!(one.outcome, OptionOutcome::NotSeen(_)))
        {
            is("rate_iops", true);
        }
        if text.contains("--rwmixread=") && !has("--rw=randrw") {
            is("rwmixread", true);
        }
        if has("--time_based") && !text.contains("--runtime=") {
            is("time_based", true);
        }
        let is_random = text.contains("--rw=rand");
        let one_file = !text.contains("--nrfiles=");
        for (name, is_missed) in [
            ("percentage_random", !is_random),
            ("random_distribution", !is_random && !has("--random_distribution=random")),
            ("file_service_type", one_file),
            ("bs", false),
            ("bsrange", false),
            ("bssplit", false),
        ] {
            // Blocks that would cover others of a map are cut short: their mean is then below the one asked for.
            let is_cut = name == "bssplit" && is_random && !has("--norandommap");
            if text.contains(&format!("--{name}=")) && !is_cut {
                is(name, is_missed);
            }
        }
        for name in ["numjobs", "direct"].into_iter().filter(|name| text.contains(&format!("--{name}="))) {
            is(name, name == "direct");
        }
        let time = accounts.jobs[0].time.expect("a time");
        assert_eq!(time.parts().iter().map(|(_, part_ns)| part_ns).sum::<u64>(), time.whole_ns, "{text}");
    }
}

#[test]
fn options_of_random_jobs_are_in_their_account() {
    check_drawn(0..60);
}

/// Minutes: `.ci/nightly`.
#[test]
#[ignore = "takes minutes"]
fn options_of_many_random_jobs_are_in_their_account() {
    check_drawn(60..2_060);
}
