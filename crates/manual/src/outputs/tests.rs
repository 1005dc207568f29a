//! The words of outputs as users type and copy them.

use super::*;

const WIDTH: usize = 80;

#[test]
fn every_file_of_the_folder_is_a_section() {
    let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/outputs")).unwrap();
    let files = folder.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut files: Vec<String> = files.filter_map(|file| file.strip_suffix(".md").map(str::to_owned)).collect();
    files.sort_unstable();
    let mut names: Vec<&str> = SECTIONS.iter().map(|section| section.page.name).collect();
    names.sort_unstable();
    assert_eq!(files, names);
}

#[test]
fn sections_have_words_and_their_lines_fit() {
    for section in SECTIONS {
        assert!(section.page.source.starts_with(&format!("# {}: ", section.page.name)), "{}", section.page.name);
        assert!(!section.page.meaning().is_empty() && !section.page.meaning().ends_with('.'), "{}", section.page.name);
        let text = section.text(WIDTH);
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        assert!(!text.contains('`') && !text.ends_with('\n'), "{text}");
        assert!(section.entries().count() > 0 || section.page.name == "terse", "{}", section.page.name);
        let is_read =
            |line: &str| line.starts_with("- ") && entry(Box::leak(line.to_owned().into_boxed_str())).is_some();
        assert!(
            section.page.source.lines().all(|line| !line.starts_with("- ") || is_read(line)),
            "{}",
            section.page.name
        );
        let mut words: Vec<&str> = section.entries().flat_map(|entry| entry.words).collect();
        let n_words = words.len();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), n_words, "a word twice in {}", section.page.name);
    }
}

/// The notes of the book stand in the order of the report.
#[test]
fn sections_of_the_report_are_in_its_order() {
    let lines: Vec<usize> = SECTIONS.iter().filter_map(OutputSection::line_of_report).collect();
    assert!(lines.is_sorted() && lines.len() == 18, "{lines:?}");
    assert_eq!(lines.len(), SECTIONS.iter().filter(|section| !section.mark.is_empty()).count());
}

#[test]
fn words_are_taken_as_users_type_and_copy_them() {
    for (name, part) in [
        ("ctx", "context switches: "),
        ("CTX", "context switches: "),
        ("IO depths", "io-depths: "),
        ("io_depths", "io-depths: "),
        ("issued rwts", "issued-rwts: "),
        ("Issued Rwts", "issued-rwts: "),
        ("Run status group", "run-status-group: "),
        ("Disk stats", "disk-stats: "),
        ("errors", "errors-line: "),
        ("lat (usec)", "latency-buckets"),
        ("r=", "bytes a second"),
        (">=64", "64 and more"),
    ] {
        let text = explain(name, WIDTH).unwrap_or_else(|| panic!("{name}"));
        assert!(text.contains(part) && text.ends_with('\n'), "{name}: {text}");
    }
    for (text, part) in [
        ("err= 0", "errno"),
        ("jobs=4", "how many jobs the block sums up"),
        ("groupid=0,", "reporting group"),
        ("Run status group 0 (all jobs):", "run-status-group: "),
        ("Disk stats (read/write):", "disk-stats: "),
        ("99.00th=[ 4015]", "50.00th is the median"),
        ("lat prio 0/0/0 (usec):", "priority"),
        (">=64=0.0%", "64 and more"),
        ("| 99.00th=[ 4015]", "50.00th is the median"),
        ("[eta 00m:02s]", "the time that is left"),
        ("14.3k", "thousand"),
        ("w=64.1MiB/s", "bytes a second"),
    ] {
        assert!(explain_copied(text, WIDTH).is_some_and(|shown| shown.contains(part)), "{text}");
    }
    assert_eq!(explain("nothing", WIDTH).or_else(|| explain_copied("nothing: 0", WIDTH)), None);
}

/// Jobs that read in sequence and at random have the same letter, of two sizes.
#[test]
fn letters_of_the_progress_line_keep_their_case() {
    for letter in ["P", "C", "I", "p", "/", "R", "r", "W", "w", "M", "m", "D", "d", "F", "V", "f", "E", "_", "X", "K"] {
        let text = explain(letter, WIDTH).unwrap_or_else(|| panic!("{letter}"));
        assert!(text.starts_with("In progress "), "{text}");
    }
    assert_ne!(explain("P", WIDTH), explain("p", WIDTH));
    assert_ne!(explain("F", WIDTH), explain("f", WIDTH));
    assert_eq!(explain("Q", WIDTH), None);
}
