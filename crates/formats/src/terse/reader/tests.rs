//! Lines of terse output as they are read, right and damaged.

use super::*;
use proptest::prelude::*;

/// A line of version 3 of a job that reads, whose disk is behind the shares.
fn line(name: &str, end: &str) -> String {
    let slots = ["1.000000%=40;50.000000%=50", &["0%=0"; 18].join(";")].join(";");
    let none = format!(
        "0;0;0;0;0;0;0.000000;0.000000;0;0;0.000000;0.000000;{};0;0;0.000000;0.000000;0;0;0.000000%;0.000000;0.000000",
        ["0%=0"; 20].join(";")
    );
    let read = format!(
        "90076;30015;7503;3001;0;0;0.000000;0.000000;32;72482;88.145972;577.429033;{slots};32;72483;88.2;577.4;23392;36272;98.5%;29577.6;5037.2"
    );
    let shares = ["0.0%"; 6].join(";");
    let classes = ["0.00%"; 22].join(";");
    format!("3;fio-3.33;{name};0;0;{read};{none};0.80%;23.30%;32052;0;14;100.0%;{shares};{classes}{end}\n")
}

fn read_text(text: &str) -> Result<RunResult, ReadError> {
    read(&ResultFile::in_memory("r.terse", text.as_bytes()), text.as_bytes())
}

#[test]
fn names_with_semicolons_disks_errors_and_descriptions_are_told_apart() {
    let end = ";vda;21701;9377;0;239;1633;2635;4300;59.88%;3;84;a text; with more";
    for name in ["a", "a;b", "5;c"] {
        let result = read_text(&line(name, end)).expect("a line");
        let job = &result.jobs[0];
        assert_eq!((job.name.as_str(), job.n_errors, job.description.as_str()), (name, 3, "a text; with more"));
        let read = job.directions.0[0].as_ref().expect("reads");
        // 7,503 a second for 3.001 s.
        assert_eq!((read.bytes, read.n_ios, read.runtime_ns), (90_076 * 1024, 22_517, 3_001_000_000));
        let clat = read.clat.as_ref().expect("latencies");
        assert_eq!(
            (clat.min_ns, clat.max_ns, &clat.percentiles[..]),
            (32_000, 72_482_000, &[(1.0, 40_000), (50.0, 50_000)][..])
        );
        assert_eq!((result.disks.len(), result.disks[0].n_reads, result.disks[0].merged_writes), (1, 21_701, 239));
        assert!(result.disks[0].read_bytes.is_none() && result.gaps.lacks_options && job.options.is_empty());
    }
}

#[test]
fn damage_is_an_error_with_its_line() {
    for (from, to) in [("90076", "many"), ("0.80%", "0.80"), ("88.145972", "-1.0"), ("7503", "none")] {
        let text = format!("a line\n{}", line("a", "").replace(from, to));
        let error = read_text(&text).expect_err("damage").to_string();
        assert_eq!(error, "r.terse:2: it has 121 fields that are not those of its terse version (2 to 5)", "{from}");
    }
    assert!(read_text("3;fio-3.33;a;0;0\n").is_err());
}

/// fio 3.41 divides by the I/Os of a job that has done none.
#[test]
fn shares_that_are_no_numbers_count_as_0_and_are_told() {
    let result = read_text(&line("a", "").replace("0.80%", "-nan%").replace("88.2;", "inf;")).expect("a line");
    assert_eq!(result.gaps.n_no_numbers, 2);
    assert_eq!(result.jobs[0].cpu.map(|cpu| cpu.user_percent), Some(0.0));
    assert!(result.remarks[0].starts_with("2 figures of the file are nan or inf"), "{:?}", result.remarks);
}

proptest! {
    #[test]
    fn any_fields_give_a_result_or_an_error(changes in prop::collection::vec((0..160_usize, "[0-9a-z.%=;-]{0,12}"), 1..6)) {
        let text = line("a", ";vda;1;2;3;4;5;6;7;1.00%;x");
        let mut fields: Vec<String> = text.trim_end().split(';').map(str::to_owned).collect();
        for (place, field) in changes {
            let at = place % fields.len();
            fields[at] = field;
        }
        let _ = read_text(&fields.join(";"));
    }
}
