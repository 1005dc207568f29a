//! Topics of `ferrio help`: words of the field, and of ferrio's reports, in a few lines each.
//!
//! Each topic is a file of Markdown in `topics/`, which is the source of `ferrio help TOPIC`, of the manual page and of the
//! glossary. Must not know: options, commands. Start reading at [`TOPICS`].

use std::fmt::Write as _;

#[derive(Debug)]
pub struct Topic {
    /// Its name, in small letters.
    pub name: &'static str,
    /// Other names that lead to it.
    pub aliases: &'static [&'static str],
    /// Its file: a heading (`# name: short meaning`), and paragraphs of one line each, with code marks.
    pub(crate) source: &'static str,
}

/// A row of the table: the file has the name of the topic.
macro_rules! topic {
    ($name:literal, $($alias:literal),* $(,)?) => {
        Topic { name: $name, aliases: &[$($alias),*], source: include_str!(concat!("../topics/", $name, ".md")) }
    };
}

/// All topics, in the order of the page.
pub const TOPICS: &[Topic] = &[
    topic!("slat", "submission-latency", "submission"),
    topic!("clat", "completion-latency", "completion"),
    topic!("lat", "latency", "total-latency"),
    topic!("sync", "fsync", "fdatasync", "sync-latency", "commit"),
    topic!("iops", "io-per-second"),
    topic!("bandwidth", "bw", "throughput"),
    topic!("percentile", "percentiles", "p50", "p95", "p99", "p99.9", "p99.99", "median", "tail", "mean"),
    topic!("max", "maximum", "slowest"),
    topic!("cpu", "cpu/i/o", "cpu-per-io", "cpu-per-i/o"),
    topic!("figures", "figure", "which", "which-figure", "believe", "boss", "manager"),
    topic!("precision", "uncertainty", "confidence", "interval", "±", "+/-", "plus-minus"),
    topic!("findings", "finding", "audit", "wrong", "misleading"),
    topic!("comparison", "difference"),
    topic!("ci", "gate", "regression"),
    topic!("page-cache", "cache", "buffered", "direct-io"),
    topic!("open-loop", "closed-loop", "poisson", "response-time"),
    topic!("steady-state", "steadystate", "steady", "ss"),
    topic!("depth", "queue-depth", "in-flight", "qd", "queue", "idle"),
    topic!("runtime", "time", "time-based", "ramp"),
    topic!("csv", "comma-separated"),
    topic!("jsonl", "json-lines", "lines"),
    topic!("json", "json+"),
    topic!("keep", "record", "baseline"),
    topic!("live", "web", "follow"),
    topic!("fio", "from-fio", "differences", "migrate", "switch"),
    topic!("database", "etcd", "postgresql", "mysql", "wal", "fast-enough"),
    topic!("container", "docker", "podman", "kubernetes", "pod", "root"),
    topic!("clusters", "ceph", "rados", "rbd", "gluster", "glusterfs", "gfapi"),
    topic!("objects", "s3", "webdav", "swift", "object-storage", "bucket", "object"),
    topic!("nfs", "libnfs", "ganesha"),
    topic!("iscsi", "libiscsi", "lun", "chap"),
    topic!("nbd", "nbds", "network-block-device", "tls"),
    topic!("burst", "burst-credit", "slc", "slc-cache", "second-run", "slower"),
    topic!("python", "pandas", "polars", "frame", "dataframe"),
    topic!("safety", "safe", "readonly", "read-only", "destroy"),
    topic!("production", "shared-disk"),
    topic!("passthrough", "pass-through", "nvme", "io_uring_cmd", "fdp", "protection-information"),
    topic!("scsi", "sg", "sense", "unmap"),
    topic!("exit-codes", "exit-code", "exit", "exit-status", "return-code"),
];

impl Topic {
    /// What the name means, in a few words, without a full stop.
    pub fn meaning(&self) -> &'static str {
        let heading = self.source.lines().next().unwrap_or_default();
        heading.trim_start_matches('#').trim_start().strip_prefix(self.name).unwrap_or(heading).trim_start_matches(": ")
    }

    /// The explanation, in paragraphs of Markdown.
    pub fn paragraphs(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.source.lines().skip(1).filter(|line| !line.is_empty())
    }

    /// The explanation as text, in lines of at most `width` columns, without a line break at its end.
    pub fn text(&self, width: usize) -> String {
        let mut text = format!("{}: {}", self.name, self.meaning());
        for paragraph in self.paragraphs() {
            // Infallible: writing to a String never fails.
            let _ = write!(text, "\n\n{}", textwrap::fill(&paragraph.replace('`', ""), width));
        }
        text
    }
}

/// The topic of a name, as a user types it: `P99`, `steady state`, `steadystate`.
pub fn find(name: &str) -> Option<&'static Topic> {
    let wanted = name.to_ascii_lowercase().replace([' ', '_'], "-");
    TOPICS.iter().find(|topic| topic.name == wanted || topic.aliases.contains(&wanted.as_str()))
}

/// The names of all topics, as lines of a page.
pub fn list() -> String {
    name_lines(TOPICS.iter().map(|topic| topic.name))
}

/// Names between commas, as lines of a page.
pub(crate) fn name_lines<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    let options = textwrap::Options::new(78).initial_indent("  ").subsequent_indent("  ");
    format!("{}\n", textwrap::fill(&names.join(", "), options.word_splitter(textwrap::WordSplitter::NoHyphenation)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_are_short_and_have_names_of_their_own() {
        let mut names: Vec<&str> =
            TOPICS.iter().flat_map(|topic| topic.aliases.iter().chain([&topic.name])).copied().collect();
        let n_names = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), n_names, "{names:?}");
        for topic in TOPICS {
            let text = topic.text(80);
            assert!(topic.source.starts_with(&format!("# {}: ", topic.name)), "{}", topic.name);
            assert!(text.lines().all(|line| line.chars().count() <= 80) && text.lines().count() <= 16, "{text}");
            assert!(!topic.meaning().is_empty() && !topic.meaning().ends_with('.'), "{}", topic.name);
            assert!(!text.contains('`') && !text.ends_with('\n'), "{text}");
        }
    }

    #[test]
    fn every_file_of_the_folder_is_a_topic() {
        let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/topics")).unwrap();
        let mut files: Vec<String> =
            folder.map(|file| file.unwrap().file_name().into_string().unwrap().replace(".md", "")).collect();
        files.sort_unstable();
        let mut names: Vec<&str> = TOPICS.iter().map(|topic| topic.name).collect();
        names.sort_unstable();
        assert_eq!(files, names);
    }

    #[test]
    fn names_are_taken_as_users_type_them() {
        for (name, expected) in [
            ("clat", "clat"),
            ("P99", "percentile"),
            ("QD", "depth"),
            ("ramp", "runtime"),
            ("±", "precision"),
            ("steady state", "steady-state"),
            ("steady_state", "steady-state"),
        ] {
            assert_eq!(find(name).map(|topic| topic.name), Some(expected), "{name}");
        }
        assert!(find("nothing").is_none());
    }
}
