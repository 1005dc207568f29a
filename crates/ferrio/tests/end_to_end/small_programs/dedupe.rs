//! `ferrio dedupe` beside `fio-dedupe`, on files and a loop device, and on what is neither.
//!
//! Start reading at [`figures_are_those_of_the_peer`]. fio's program counts exactly with a full collision check (`-c 1`).

use crate::support::{Finished, LoopDevice, Program, Run, Scratch, has_programs, is_root, send, skip};
use serde_json::Value;
use std::fs::File;
use std::process::Command;

const BLOCK: usize = 4096;

fn scan(scratch: &Scratch, arguments: &str) -> Finished {
    Run::new(Program::Ferrio, scratch.path(), &format!("dedupe {arguments}")).finish()
}

fn figures(scratch: &Scratch, arguments: &str) -> Value {
    let finished = scan(scratch, &format!("--json {arguments}")).succeeded().quiet();
    serde_json::from_str(&finished.stdout).expect("JSON")
}

/// Bytes that do not compress, the same for the same seed.
fn noise(seed: u64, n_bytes: usize) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..n_bytes).map(|_| next()).collect()
}

/// 300 blocks of noise, 100 of them twice and one five times, and 40 of zeroes.
fn mixed() -> Vec<u8> {
    let blocks = noise(1, 300 * BLOCK);
    let one = &blocks[7 * BLOCK..8 * BLOCK];
    [&blocks[..], &blocks[100 * BLOCK..200 * BLOCK], &vec![0; 40 * BLOCK], &one.repeat(4)].concat()
}

fn of_peer(scratch: &Scratch, arguments: &str) -> String {
    let words = ["-c", "1", "-p", "0"].into_iter().chain(arguments.split_whitespace());
    let output = Command::new("fio-dedupe").args(words).current_dir(scratch.path()).output().expect("the peer runs");
    assert!(output.status.success(), "{arguments}: {output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The number behind a word of the peer's text.
fn told(text: &str, word: &str) -> u64 {
    let rest = text.split_once(word).unwrap_or_else(|| panic!("no {word:?} in {text}")).1;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().expect("a number")
}

#[test]
fn figures_are_those_of_the_peer() {
    let test = "figures_are_those_of_the_peer";
    if !has_programs(test, &["fio-dedupe"]) {
        return;
    }
    let scratch = Scratch::new(test);
    let half: Vec<u8> =
        noise(2, 128 * BLOCK).chunks(BLOCK / 2).flat_map(|half| [half, &[0; BLOCK / 2]].concat()).collect();
    for (name, content) in
        [("mixed", mixed()), ("noise", noise(3, 1 << 20)), ("half", half), ("text", b"abcdefg\n".repeat(1 << 17))]
    {
        scratch.write(name, content);
        for block_bytes in [512, 4096, 16384, 65536] {
            let arguments = format!("-b {block_bytes} {name}");
            let (ours, theirs) = (figures(&scratch, &arguments), of_peer(&scratch, &arguments));
            for (key, word) in
                [("n_blocks", "Extents="), ("n_distinct", "Unique extents="), ("n_repeated", "Duplicated extents=")]
            {
                assert_eq!(ours[key], told(&theirs, word), "{arguments} {key}: {theirs}");
            }
            let percentage = told(&theirs, "dedupe_percentage=");
            assert_eq!(ours["options"]["dedupe_percentage"], percentage, "{arguments}: {theirs}");
        }
    }
    // Both use deflate, with encoders of their own.
    let theirs = told(&of_peer(&scratch, "-C 1 half"), "Unique capacity ") << 10;
    let ours = figures(&scratch, "-C half")["compressed"]["distinct_bytes"].as_u64().expect("a size");
    assert!(theirs.abs_diff(ours) * 20 < theirs, "ours {ours}, theirs {theirs}");
}

/// What `mixed` is made of.
#[test]
fn blocks_are_counted() {
    let scratch = Scratch::new("dedupe");
    scratch.write("mixed", [mixed(), vec![1; 100]].concat());
    for threads in [1, 3] {
        for direct in ["", "--direct"] {
            let figures = figures(&scratch, &format!("mixed -t {threads} {direct} --compress -d 2"));
            for (key, value) in [
                ("n_blocks", 444),
                ("n_distinct", 301),
                ("n_repeated", 102),
                ("n_zero_blocks", 40),
                ("sampled_one_in", 1),
                ("size_bytes", 444 * 4096 + 100),
            ] {
                assert_eq!(figures[key], value, "{key}: {figures}");
            }
            // 1 - 301/444 = 32.2 %.
            assert_eq!(figures["options"]["dedupe_percentage"], 32);
            // Noise keeps its size; a block of zeroes shrinks to some bytes.
            let all = figures["compressed"]["all_bytes"].as_u64().expect("a size");
            assert!((404 * 4096..404 * 4096 + 40 * 64).contains(&all), "{figures}");
            let most: Vec<(u64, u64)> = (0..2)
                .map(|index| &figures["most_repeated"][index])
                .map(|block| {
                    (block["n_times"].as_u64().unwrap_or(0), block["first_offset_bytes"].as_u64().unwrap_or(0))
                })
                .collect();
            assert_eq!(most, [(40, 400 * 4096), (5, 7 * 4096)]);
        }
    }
    let text = scan(&scratch, "mixed").succeeded().quiet().stdout;
    assert!(text.contains("different blocks      301 (1.18 MiB, 67.79 %)\n"), "{text}");
    assert!(text.contains("not looked at         100 bytes at the end, less than a block\n"), "{text}");
    assert!(text.ends_with("Options of a job that writes such data:\n  dedupe_percentage=32\n"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

/// 48 MiB of different blocks of 512 bytes do not fit into a table of 1 MiB.
#[test]
fn a_small_table_estimates() {
    let scratch = Scratch::new("dedupe-estimate");
    scratch.write("big", noise(5, 24 << 20).repeat(2));
    let figures = figures(&scratch, "big -b 512 --memory=1");
    let sampled = figures["sampled_one_in"].as_u64().expect("a number");
    let counted = figures["n_counted"].as_u64().expect("a number");
    assert!(sampled > 1 && counted < 64 * 224, "{figures}");
    let ratio = figures["n_distinct"].as_u64().expect("a number") as f64 / f64::from(48 << 10);
    // Five standard deviations.
    assert!((ratio - 1.0).abs() < 5.0 / (counted as f64).sqrt(), "{figures}");
    let text = scan(&scratch, "big -b 512 --memory=1").succeeded().stdout;
    assert!(text.contains(&format!("estimates             of 1 in {sampled} hash values")), "{text}");
}

#[test]
fn devices_are_read() {
    let test = "devices_are_read";
    if !is_root(test) {
        return;
    }
    let scratch = Scratch::new(test);
    let content = mixed();
    let Some(device) = LoopDevice::new(&scratch, content.len() as u64) else {
        skip(test, "no loop device");
        return;
    };
    std::fs::write(device.path(), &content).expect("the device takes the content");
    for direct in ["", "--direct"] {
        let figures = figures(&scratch, &format!("{} {direct}", device.path()));
        assert_eq!((&figures["n_blocks"], &figures["n_distinct"]), (&444.into(), &301.into()), "{figures}");
    }
    assert!(std::fs::read(device.path()).expect("the device") == content, "nothing was written");
}

#[test]
fn a_signal_ends_it_with_the_figures_so_far() {
    let scratch = Scratch::new("dedupe-signal");
    // Reading 8 TiB of holes takes an hour.
    let file = File::create(scratch.join("sparse")).expect("a file");
    if file.set_len(8 << 40).is_err() {
        skip("a_signal_ends_it_with_the_figures_so_far", "no large sparse file");
        return;
    }
    let mut running = Run::new(Program::Ferrio, scratch.path(), "dedupe --json sparse").start();
    let is_scanning = |pid: u32| {
        let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
        tasks.into_iter().any(|task| {
            std::fs::read_to_string(task.path().join("comm")).is_ok_and(|name| name.starts_with("ferrio-scan"))
        })
    };
    running.wait_until("a scan", |running| is_scanning(running.pid()));
    send(running.pid(), rustix::process::Signal::INT);
    let finished = running.finish();
    assert_eq!(finished.code, Some(130), "{}", finished.all());
    let document: Value = serde_json::from_str(&finished.stdout).expect("JSON");
    assert_eq!((&document["was_stopped"], &document["n_blocks_of_target"]), (&true.into(), &(2_u64 << 30).into()));
    assert_eq!(document["n_blocks"], document["n_zero_blocks"]);
}

#[test]
fn what_cannot_be_scanned_is_an_error() {
    let scratch = Scratch::new("dedupe-errors");
    scratch.write("empty", "");
    scratch.write("small", [1; 1000]);
    scratch.write("file", [1; 8192]);
    std::fs::create_dir(scratch.join("directory")).expect("a directory");
    let pipe = Command::new("mkfifo").arg(scratch.join("pipe")).status();
    assert!(pipe.is_ok_and(|status| status.success()), "mkfifo");
    for (arguments, expected) in [
        ("empty", "ferrio dedupe: empty: it has 0 bytes, less than a block of 4096 bytes"),
        ("small", "it has 1000 bytes, less than a block of 4096 bytes"),
        ("missing", "ferrio dedupe: missing: it cannot be read: No such file or directory"),
        ("directory", "it is a directory; only files and block devices are scanned"),
        ("pipe", "it is a pipe"),
        ("/dev/zero", "it is a character device"),
        ("file -b 0", "blocks of 0 bytes: allowed are 512 to 67108864 bytes"),
        ("file -b 1t", "blocks of 1099511627776 bytes: allowed are 512"),
        ("file -b 1000 -o", "direct I/O needs blocks that are multiples of 512 bytes, and they have 1000"),
        ("file -b x", "invalid value 'x'"),
        ("file -t 0", "invalid value '0'"),
        ("file --memory=0", "invalid value '0'"),
        ("file file", "unexpected argument"),
        ("", "<FILE>"),
    ] {
        let finished = scan(&scratch, arguments);
        assert!(finished.code == Some(2) && finished.stderr.contains(expected), "{}", finished.all());
        assert!(finished.stdout.is_empty(), "{}", finished.all());
    }
}

#[test]
fn the_help_fits_a_terminal() {
    let scratch = Scratch::new("dedupe-help");
    let help = scan(&scratch, "--help").succeeded().quiet().stdout;
    assert!(help.contains("Exit code") && help.lines().all(|line| line.chars().count() <= 80), "{help}");
}
