//! Any bytes as a file of results: results that can be shown, drawn and compared, or an error, never a panic.
//!
//! The first byte chooses the kind of the file, the rest is its content.
#![no_main]

use ferrio_insight::compare::compare;
use ferrio_pictures::plot::{KINDS, PictureFormat, picture, picture_file};
use ferrio_pictures::{comparison, page};
use ferrio_formats::{ResultFile, read_files};
use ferrio_stats::RECORD_FORMAT;
use ferrio_units::checksum::crc32c;
use libfuzzer_sys::fuzz_target;

/// Names of logs of each kind, and of files whose kind their content tells.
const NAMES: [&str; 10] = [
    "r.json",
    "r_bw.1.log",
    "r_iops.log",
    "r_lat.1.log",
    "r_clat.2.log",
    "r_slat.log",
    "r_clat_hist.1.log",
    "r_clat.1.log.fz",
    "r.txt",
    "r.terse",
];

/// What makes a text a report for people, and what makes it terse output.
const HEADER: &[u8] = b"a: (groupid=0, jobs=1): err= 0: pid=1: date\n";
const TERSE_START: &[u8] = b"3;fio-3.41;a;0;0;";

fuzz_target!(|data: &[u8]| {
    let [choice, content @ ..] = data else { return };
    let (name, content) = match NAMES.get(usize::from(*choice)) {
        Some(&"r.txt") => ("r.txt", [HEADER, content].concat()),
        Some(&"r.terse") => ("r.terse", [TERSE_START, content].concat()),
        Some(name) => (*name, content.to_vec()),
        // A line, and a record with a valid head.
        None if choice % 2 == 0 => ("r.jsonl", [b"{\"record\":", content].concat()),
        None => {
            let mut file = format!("ferrio record {RECORD_FORMAT}\n").into_bytes();
            file.extend((content.len() as u64).to_le_bytes());
            file.extend(crc32c(content).to_le_bytes());
            file.extend(content);
            ("r.record", file)
        }
    };
    let Ok(results) = read_files(&[ResultFile::in_memory(name, content)]) else { return };
    // Its own two, and the one that holds the data.
    assert_eq!(page::page(&results).matches("<script").count(), 3);
    assert!(!comparison::page(&[compare(&results, &results, 1.0)]).contains("<script"));
    for kind in KINDS {
        if let Ok(picture) = picture(kind, &results, None) {
            let _ = picture_file(&picture, None, PictureFormat::Svg);
        }
    }
});
