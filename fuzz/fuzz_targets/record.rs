//! Any bytes as the content of a saved record: a record that every format can show, or an error, never a panic.
#![no_main]

use ferrio_formats::{LocalTime, RenderOptions, fio_view, jsonl, render, record_file};
use ferrio_spec::{OUTPUT_FORMATS, OutputFormats};
use ferrio_units::checksum::crc32c;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    // The bytes as a whole file, and as the body after a valid head.
    let _ = record_file::decode(data);
    let mut file = format!("ferrio record {}\n", ferrio_stats::RECORD_FORMAT).into_bytes();
    file.extend((data.len() as u64).to_le_bytes());
    file.extend(crc32c(data).to_le_bytes());
    file.extend(data);
    let Ok(record) = record_file::decode(&file) else { return };
    let options = RenderOptions { zone: LocalTime::utc(), ..RenderOptions::default() };
    let view = fio_view(&record);
    for def in OUTPUT_FORMATS {
        render(&view, &OutputFormats::from_iter([def.format]), &options);
    }
    jsonl::render(&record);
});
