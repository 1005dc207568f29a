//! `--crctest`, `--memcpytest`, `--cpuclock-test`: the lines of fio, with other numbers.
//!
//! Start reading at [`shape`]. No test looks at a speed.

use crate::support::{Program, Run, Scratch, peer_too};

/// Output with `N` for each number, but for names and sizes.
fn shape(text: &str) -> Vec<String> {
    let mask = |line: &str| match line.split_once(":\t") {
        Some((name, rest)) => {
            let speed = rest.trim_start_matches('\t');
            let (number, unit) = speed.split_at(speed.find(" MiB").unwrap_or(speed.len()));
            assert!(number.trim().parse::<f64>().is_ok_and(|number| number > 0.0), "{line}");
            format!(
                "{name}:{}{}N{unit}",
                "\t".repeat(1 + rest.len() - speed.len()),
                " ".repeat(usize::from(number.len() < 8))
            )
        }
        None => line.to_owned(),
    };
    text.lines().map(mask).collect()
}

#[test]
fn speeds_are_told_in_the_lines_of_fio() {
    let scratch = Scratch::new("machine");
    let finished =
        |program, options: &str| Run::new(program, scratch.path(), options).recorded("machine", &[]).finish();
    for options in ["--crctest=crc7,md5,sha3-224,murmur3,fnv,jhash", "--memcpytest=simple,memcpy"] {
        let ours = finished(Program::Ferrio, options);
        assert_eq!(ours.code, Some(0), "{}", ours.all());
        let lines = shape(&ours.stdout);
        let expected_first = if options.starts_with("--crc") { "md5:\t\tN MiB/sec" } else { "memcpy" };
        assert_eq!(lines[0].replace(" N", "N"), expected_first);
        if peer_too("speeds_are_told_in_the_lines_of_fio") {
            let names = |lines: Vec<String>| lines.iter().map(|line| line.replace(" N", "N")).collect::<Vec<_>>();
            assert_eq!(names(lines), names(shape(&finished(Program::Peer, options).stdout)), "{options}");
        }
    }
}

#[test]
fn names_that_are_unknown_are_listed() {
    let scratch = Scratch::new("machine");
    for options in ["--crctest=help", "--crctest=nosuch", "--memcpytest=help", "--memcpytest=nosuch"] {
        let ours = Run::new(Program::Ferrio, scratch.path(), options).finish();
        assert_eq!(ours.code, Some(1), "{}", ours.all());
        assert_eq!(ours.stderr.contains("fio: unknown hash `nosuch`. Available:"), options.ends_with("nosuch"));
        if peer_too("names_that_are_unknown_are_listed") {
            let peer = Run::new(Program::Peer, scratch.path(), options).recorded("machine", &[]).finish();
            assert_eq!((&ours.stdout, &ours.stderr, ours.code), (&peer.stdout, &peer.stderr, peer.code), "{options}");
        }
    }
}

#[test]
fn the_clocks_of_all_cpus_are_compared() {
    let scratch = Scratch::new("machine");
    let ours = Run::new(Program::Ferrio, scratch.path(), "--cpuclock-test").finish();
    let text = &ours.stdout;
    if text.starts_with("cs: reliable_tsc: no\n") {
        assert_eq!(ours.code, Some(1), "{}", ours.all());
        return;
    }
    assert!(text.starts_with("cs: reliable_tsc: yes\ntime "), "{}", ours.all());
    let n_cpus =
        text.lines().filter(|line| line.starts_with("cs: cpu ") && line.contains(" clocks seen, first ")).count();
    assert!(n_cpus > 0 && text.contains(&format!("cs: Testing {n_cpus} CPUs\n")), "{text}");
    assert_eq!((ours.code == Some(0), text.ends_with("cs: Pass!\n")), (true, true), "{text}");
}
