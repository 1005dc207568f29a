//! Profiles: their jobs and output, compared with fio.
//!
//! Start reading at [`table`].

use crate::json_stream::documents;
use crate::support::{Finished, Program, Run, Scratch, has_peer};

/// Runs `act` for a second on a file instead of a device.
fn act(program: Program, scratch: &Scratch, arguments: &str) -> Finished {
    scratch.write("device", vec![1; 8 << 20]);
    let arguments = format!(
        "--profile=act --device-names=device --test-duration=1 --threads-per-queue=2 --read-req-num-512-blocks=8 {arguments}"
    );
    Run::new(program, scratch.path(), &arguments).finish().succeeded()
}

/// The table of latencies and the verdict, with `0` for every digit and one word for both verdicts, because the real
/// values depend on the machine.
fn table(stdout: &str) -> String {
    let start = stdout.find("        trans").unwrap_or_else(|| panic!("no table: {stdout}"));
    let text = &stdout[start..];
    let end = text.find("\nact-read").unwrap_or(text.len());
    let digits = text[..end].replace(|letter: char| letter.is_ascii_digit(), "0");
    digits.replace("FAILED", "PASSED")
}

const TABLE: &str = "        trans                   device
        %>(ms)                  %>(ms)
 slice\t  0\t  0\t 00\t  0\t  0\t 00
 -----  -----   -----  ------   -----   -----  ------
    0\tN\tN\tN\tN\tN\tN

act: test complete, device(s): PASSED
";

/// Makes shares of one digit and of two digits look alike.
fn shares_apart(table: &str) -> String {
    table.replace("000.00", "N").replace("00.00", "N").replace("0.00", "N")
}

#[test]
fn act_shows_its_table_and_then_the_report() {
    let scratch = Scratch::new("act");
    let finished = act(Program::Ferrio, &scratch, "");
    assert_eq!(shares_apart(&table(&finished.stdout)), TABLE);
    let report = finished.stdout.find("act-read-device: (groupid=0, jobs=3)").expect("a report of the group");
    assert!(finished.stdout.find("act: test complete").is_some_and(|verdict| verdict < report));
}

#[test]
fn act_in_a_document_is_a_message() {
    let scratch = Scratch::new("act-json");
    let finished = act(Program::Ferrio, &scratch, "--output-format=json");
    let document = &documents(&finished.stdout, &finished.stdout)[0];
    assert!(document["ferrio"]["messages"].to_string().contains("act: test complete, device(s): "));
    let options = &document["global options"];
    for (name, value) in [("device-names", "device"), ("direct", "1"), ("runtime", "1s"), ("random_generator", "lfsr")]
    {
        assert_eq!(options[name], value, "{name}");
    }
}

#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn the_table_of_act_is_that_of_the_peer() {
    if !has_peer("the_table_of_act_is_that_of_the_peer") {
        return;
    }
    let shown = |program, name| shares_apart(&table(&act(program, &Scratch::new(name), "").stdout));
    assert_eq!(shown(Program::Ferrio, "act-ours"), shown(Program::Peer, "act-peers"));
}

/// The peer would take 4096 bytes for each MiB of memory, whatever is asked for.
#[test]
fn tiobench_makes_its_four_passes() {
    let scratch = Scratch::new("tiobench");
    let arguments = "--profile=tiobench --size=1 --threads=2 --block=8k --output-format=json";
    let finished = Run::new(Program::Ferrio, scratch.path(), arguments).finish().succeeded();
    let document = &documents(&finished.stdout, &finished.stdout)[0];
    // Two threads go over all files, each of which has a quarter of the size.
    let ios = |job: usize| {
        let ios = |direction: &str| document["jobs"][job][direction]["total_ios"].as_u64();
        (document["jobs"][job]["jobname"].as_str().map(str::to_owned), ios("read"), ios("write"))
    };
    let job = |name: &str, reads, writes| (Some(name.to_owned()), Some(reads), Some(writes));
    assert_eq!(ios(0), job("seqwrite", 0, 256));
    assert_eq!(ios(1), job("randwrite", 0, 256));
    assert_eq!(ios(2), job("seqread", 256, 0));
    assert_eq!(ios(3), job("randread", 256, 0));
    let sizes: Vec<_> = (1..=4)
        .map(|number| std::fs::metadata(scratch.join(&format!(".fio.tio.{number}"))).expect("a file").len())
        .collect();
    assert_eq!(sizes, [256 << 10; 4]);
}
