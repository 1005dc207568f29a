//! `ferrio genzipf` beside `fio-genzipf`: the same draws, so the same figures.
//!
//! Start reading at [`figures_are_those_of_the_peer`].

use crate::support::{Finished, Program, Run, has_programs};
use serde_json::Value;
use std::process::Command;

fn hits(arguments: &str) -> Finished {
    Run::new(Program::Ferrio, &std::env::temp_dir(), &format!("genzipf {arguments}")).finish()
}

fn of_peer(arguments: &str) -> String {
    let output = Command::new("fio-genzipf").args(arguments.split_whitespace()).output().expect("the peer runs");
    assert!(output.status.success(), "{arguments}: {output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The columns of hits of the peer's table.
fn rows_of_peer(text: &str) -> Vec<u64> {
    let rows = text.lines().filter(|line| line.starts_with("Top") || line.starts_with("|->"));
    rows.map(|row| row.split('\t').nth(5).and_then(|hits| hits.trim().parse().ok()).expect("hits")).collect()
}

#[test]
fn figures_are_those_of_the_peer() {
    if !has_programs("figures_are_those_of_the_peer", &["fio-genzipf"]) {
        return;
    }
    for arguments in [
        "-t zipf -i 1.2 -b 4096 -g 1 -o 5",
        "-t zipf -i 0.8 -b 3000 -g 1 -o 7",
        "-t zipf -i 0 -b 65536 -g 4 -o 20",
        "-t zipf -i 2.5 -b 65536 -g 2 -o 20",
        "-t pareto -i 0.2 -b 4096 -g 1",
        "-t pareto -b 65536 -g 3 -o 9",
        "-t normal -i 10 -b 4096 -g 1 -o 10",
        "-t normal -b 8192 -g 1 -o 10",
        "-t normal -i 0 -b 16777216 -g 1 -o 30",
    ] {
        let text = of_peer(arguments);
        let json = hits(&format!("{arguments} --json")).succeeded().quiet().stdout;
        let document: Value = serde_json::from_str(&json).expect("JSON");
        let rows = document["rows"].as_array().expect("rows");
        let ours: Vec<u64> = rows.iter().map(|row| row["n_hits"].as_u64().expect("hits")).collect();
        assert_eq!(ours, rows_of_peer(&text), "{arguments}");
        assert!(ours.len() > 4 && text.ends_with(&format!("{:>8}\n", document["n_draws"])), "{arguments}: {text}");
        let csv = hits(&format!("{arguments} -c")).succeeded().quiet().stdout;
        assert!(csv == of_peer(&format!("{arguments} -c")), "{arguments}: the CSV differs");
        let n_hits: u64 = ours.iter().sum();
        assert_eq!(Some(n_hits), document["n_draws"].as_u64());
    }
}

/// The counts are those of fio-genzipf -t zipf -i 1.2 -b 67108864 -g 1 -c: 5, 4, 2, 2, 1, 1, 1.
#[test]
fn the_table_adds_up() {
    let text = hits("-t zipf:1.2 --block-size=64m --size=1g -o 3 -p 50").succeeded().quiet().stdout;
    let expected = "zipf:1.2 over 1 GiB in 16 blocks of 67108864 bytes, hit 16 times\n7 blocks (448 MiB) are hit at all: \
                    43.75 % of the data.\n50 % of the hits are in 2 blocks (128 MiB of data).\n\n";
    assert!(text.starts_with(expected), "{text}");
    for row in [
        "top    33.33 %     192 MiB             11  68.75 %   68.75 %     704 MiB\n",
        "up to  66.67 %     192 MiB              4  25.00 %   93.75 %     256 MiB\n",
        "up to 100.00 %      64 MiB              1   6.25 %  100.00 %      64 MiB\n",
    ] {
        assert!(text.contains(row), "{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert_eq!(text, hits("-i 1.2 -b 67108864 -g 1 -o 3 -p 50").succeeded().stdout);
    let gauss = hits("-t gauss:10 --size=1g -b 16m --json").succeeded().stdout;
    assert_eq!(gauss, hits("-t normal -i 10 --size=1g -b 16m --json").succeeded().stdout);
}

#[test]
fn what_cannot_be_drawn_is_an_error() {
    for (arguments, expected) in [
        ("-t zip", "allowed are zipf, pareto, normal and gauss"),
        ("-t zipf -i 1 -g 1", "ferrio genzipf: -i: 1 is not possible: zipf theta is at least 0 and not 1"),
        ("-t pareto -i 1.5 -g 1", "-i: 1.5 is not possible: pareto h is above 0 and below 1"),
        ("-t normal -i -2 -g 1", "unexpected argument '-2'"),
        ("-t normal:-2 -g 1", "-i: -2 is not possible: a normal deviation is 0 to below 100 percent"),
        ("-t zipf:nan -g 1", "zipf theta is at least 0"),
        ("-t zipf:x -g 1", "behind zipf: a number is wanted"),
        ("-t pareto:0.2 -i 0.3 -g 1", "the input is given twice"),
        ("-b 0 -g 1", "a block has at least one byte"),
        ("-g 0", "the data (0 bytes) hold no block of 4096 bytes"),
        ("-g 99999999999999", "the size is beyond 64 bits"),
        ("--size=100t -b 512", "214748364800 blocks are too many: at most 268435456 are counted"),
        ("--size=9z", "invalid value '9z' for '--size <BYTES>'"),
        ("-o 0 -g 1", "invalid value '0'"),
        ("-p 101 -g 1", "a number from 0 to 100 is wanted"),
        ("-c --json", "cannot be used with"),
    ] {
        let finished = hits(arguments);
        assert!(finished.code == Some(2) && finished.stderr.contains(expected), "{}", finished.all());
        assert!(finished.stdout.is_empty(), "{}", finished.all());
    }
}

#[test]
fn the_help_fits_a_terminal() {
    let help = hits("--help").succeeded().quiet().stdout;
    assert!(help.contains("Exit code") && help.lines().all(|line| line.chars().count() <= 80), "{help}");
}
