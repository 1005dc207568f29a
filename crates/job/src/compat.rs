//! Oddities of fio in the meaning of options and job files that a tool designed today would not have.
//!
//! Each is a function here, so that no parser has to mention one. Its comment describes fio's behaviour and where it
//! shows. They need no switch: native commands create their jobs as values, so only text in fio's language gets here.
//! The values that an option takes are in its row, and so are the differences of ferrio. All oddities were seen on fio
//! 3.41; the recorded values of options test them.
//! Must not know: the option table, jobs in the making. Start reading anywhere.

use ferrio_spec::JobSpec;
use ferrio_units::PerDirection;

/// The name in the brackets of a section, `text` without the first bracket: a line without the second one loses its last
/// character. Names of files and reports depend on it.
pub(crate) fn section_name(text: &str) -> String {
    let mut name = text.to_owned();
    name.pop();
    name
}

/// The count behind `file_service_type`: 0 keeps a file until it is done. The order of files depends on it.
pub(crate) fn file_service_count(count: u32) -> u32 {
    if count == 0 { u32::MAX } else { count }
}

/// Smallest block of each direction in bytes, even for directions that the job does not have: a job is refused as too
/// small by these, and `blockalign` is compared with them.
pub(crate) fn smallest_blocks(job: &JobSpec) -> PerDirection<u64> {
    PerDirection(job.pattern.block_size.0.map(|range| range.min_bytes))
}

/// True if a job has several sizes of blocks. The sizes of all directions count, including those that the job does not use. Only a
/// warning depends on it.
pub(crate) fn has_several_block_sizes(job: &JobSpec) -> bool {
    let sizes = &job.pattern.block_size;
    let first = sizes.0[0].min_bytes;
    sizes.iter().any(|(_, range)| (range.min_bytes, range.max_bytes) != (first, first))
}

/// True if each write has new data. `dedupe_percentage=0`, which is the default, means that if it is given. The data of writes
/// depends on it.
pub(crate) fn refills(refill_buffers: bool, given_dedupe_percent: Option<u32>) -> bool {
    refill_buffers || given_dedupe_percent == Some(0)
}

/// Whether buffers are stamped (`scramble_buffers`). A job that verifies nothing (`verify=null`) makes its data like one without
/// verification, but does not stamp it, even if the option is given. The data of writes depends on it.
pub(crate) fn scramble(given: Option<bool>, has_verify: bool) -> Option<bool> {
    if has_verify { Some(false) } else { given }
}

/// The number of a steady state's limit in percent, without its sign. Programs that write job files from templates double the
/// sign, and fio takes it.
pub(crate) fn without_percent_signs(text: &str) -> &str {
    text.trim_end_matches('%')
}

/// The whole number at the beginning of a text: fio 3.42 prints only that of a latency limit (`--debug=parse`),
/// whatever its unit.
pub(crate) fn leading_number(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_lose_what_fio_does_not_see() {
        assert_eq!((section_name("job]"), section_name("job")), ("job".to_owned(), "jo".to_owned()));
        assert_eq!((without_percent_signs("5%%"), leading_number("50us"), leading_number("us")), ("5", "50", ""));
    }

    #[test]
    fn defaults_that_are_given_have_a_meaning() {
        assert_eq!([file_service_count(0), file_service_count(7)], [u32::MAX, 7]);
        assert_eq!([refills(false, None), refills(false, Some(0)), refills(false, Some(5))], [false, true, false]);
        assert_eq!((scramble(Some(true), true), scramble(None, false)), (Some(false), None));
    }
}
