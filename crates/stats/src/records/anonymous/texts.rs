//! Names in texts: what is one, and its replacement.
//!
//! Must not know: records. Start reading at [`Names::mask`].

use serde_json::Value;
use std::collections::BTreeMap;

/// Fields whose whole text is the name of a file.
const FIELDS: [&str; 23] = [
    "crash_log",
    "write_iolog",
    "redirect",
    "output",
    "exec_prerun",
    "exec_postrun",
    "path",
    "file",
    "file_name",
    "files",
    "filename",
    "filenames",
    "directory",
    "directories",
    "opendirs",
    "mounted_on",
    "backing_file",
    "traces",
    "trace",
    "program",
    "filename_format",
    "target",
    // A line of a trace, which names files.
    "line",
];

/// Fields that are such names only below another field.
const FIELDS_BELOW: [(&str, &str); 5] =
    [("logs", "bw"), ("logs", "iops"), ("logs", "latency"), ("logs", "histogram"), ("cgroup", "name")];

const LEFT_OUT: [&str; 3] = ["mount_options", "arguments", "model"];

/// Options whose values are names of files, hosts or programs; several are joined by colons.
const OPTIONS: [&str; 41] = [
    "filename",
    "directory",
    "opendir",
    "filename_format",
    "read_iolog",
    "write_iolog",
    "merge_blktrace_file",
    "replay_redirect",
    "write_bw_log",
    "write_iops_log",
    "write_lat_log",
    "write_hist_log",
    "verify_crash_log",
    "exec_prerun",
    "exec_postrun",
    "program",
    "arguments",
    "hostname",
    "interface",
    "cgroup",
    "mem",
    "iomem",
    "ioengine_path",
    "include",
    "aux-path",
    "write_crash_log",
    // Servers, users and what they have.
    "http_host",
    "http_user",
    "http_s3_keyid",
    "http_bucket",
    "http_ca",
    "uri",
    "nfs_url",
    "initiator",
    "namenode",
    "volume",
    "brick",
    "clientname",
    "clustername",
    "pool",
    "rbdname",
];

/// Options whose values may name files in quotation marks.
const PATTERNS: [&str; 2] = ["buffer_pattern", "verify_pattern"];

/// Directories of the kernel that are the same on every machine, but for control groups.
const OF_KERNEL: [&str; 2] = ["/proc/", "/sys/"];

/// Links of a process in `/proc`, behind which any path may stand.
const LINKS: [&str; 4] = ["/cwd", "/root", "/map_files", "/task"];

/// First letters of devices that the kernel names by itself.
const DEVICES: [&str; 14] =
    ["sd", "vd", "xvd", "hd", "nvme", "loop", "ram", "zram", "md", "dm-", "nullb", "pmem", "mmcblk", "sr"];

/// Files that are the same on every machine.
const SPECIAL: [&str; 4] = ["/dev/null", "/dev/zero", "/dev/stdout", "/dev/stdin"];

#[derive(Debug, Default)]
pub(super) struct Names {
    aliases: BTreeMap<String, String>,
    /// What variables of the environment put into jobs.
    values: BTreeMap<String, String>,
    n_aliases: usize,
    /// A text that is a single word, and a known name, is that name.
    finds_single_words: bool,
}

impl Names {
    pub(super) fn hide(&mut self, name: &str, alias: &str) {
        if !name.is_empty() {
            self.aliases.insert(name.to_owned(), alias.to_owned());
        }
    }

    /// Gives a value of the environment an alias. It is replaced in all texts.
    pub(super) fn hide_value(&mut self, value: &str) {
        if !value.is_empty() && !self.values.contains_key(value) {
            let alias = format!("value-{}", self.values.len() + 1);
            self.values.insert(value.to_owned(), alias);
        }
    }

    /// A text with the values of the environment replaced, the longer ones first.
    pub(super) fn without_values(&self, text: &str) -> String {
        let mut values: Vec<_> = self.values.iter().collect();
        values.sort_by_key(|(value, _)| std::cmp::Reverse(value.len()));
        values.into_iter().fold(text.to_owned(), |text, (value, alias)| replaced(&text, value, alias))
    }

    /// From now on a text that is a single word is replaced if it is a known name. Elsewhere it may be the value of an option, as `read`.
    pub(super) fn finds_single_words(&mut self, finds: bool) {
        self.finds_single_words = finds;
    }

    /// Replaces the names in a value that is below a field.
    pub(super) fn mask(&mut self, field: &str, value: &mut Value) {
        match value {
            Value::String(text) if FIELDS.contains(&field) => *text = self.alias(text),
            Value::String(text) => *text = self.text(&self.without_values(text)),
            Value::Array(items) => match &mut items[..] {
                [Value::String(option), given] if OPTIONS.contains(&option.as_str()) => self.mask_option(given),
                [Value::String(option), Value::String(given)] if PATTERNS.contains(&option.as_str()) => {
                    *given = self.pattern(given);
                }
                items if FIELDS.contains(&field) && items.iter().all(Value::is_number) && !items.is_empty() => {
                    // The bytes of a path that is no text.
                    *value = Value::String(self.alias(&format!("{items:?}")));
                }
                items => items.iter_mut().for_each(|item| self.mask(field, item)),
            },
            Value::Object(fields) => {
                let above = field;
                for (field, value) in fields {
                    let is_below = FIELDS_BELOW.contains(&(above, field.as_str()));
                    let field = if is_below { FIELDS[0] } else { field.as_str() };
                    if LEFT_OUT.contains(&field) { *value = Value::Null } else { self.mask(field, value) }
                }
            }
            _ => {}
        }
    }

    /// The value of an option that names files: a text, or an object that holds one.
    fn mask_option(&mut self, given: &mut Value) {
        match given {
            Value::String(text) => {
                let names: Vec<String> = text.split(':').map(|name| self.alias(name)).collect();
                *text = names.join(":");
            }
            Value::Object(fields) => fields.values_mut().for_each(|value| self.mask_option(value)),
            _ => {}
        }
    }

    /// A pattern without the names of the files that it takes its bytes from.
    fn pattern(&mut self, given: &str) -> String {
        let given = self.without_values(given);
        let parts = given.split('\'').enumerate();
        let masked: Vec<String> =
            parts.map(|(index, part)| if index % 2 == 1 { self.alias(part) } else { part.to_owned() }).collect();
        masked.join("'")
    }

    fn alias(&mut self, name: &str) -> String {
        if is_everywhere(name) {
            return name.to_owned();
        }
        if let Some(alias) = self.aliases.get(name) {
            return alias.clone();
        }
        self.n_aliases += 1;
        let kind = if name.starts_with('/') { "/path-" } else { "file-" };
        let alias = format!("{kind}{}", self.n_aliases);
        self.aliases.insert(name.to_owned(), alias.clone());
        alias
    }

    /// A text with its names replaced: known names, longer ones first, then whatever looks like a path.
    fn text(&mut self, text: &str) -> String {
        let mut text = text.to_owned();
        let mut known: Vec<(String, String)> = self.aliases.clone().into_iter().collect();
        known.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        for (name, alias) in known {
            if name.starts_with('/') || text.contains(' ') || self.finds_single_words || alias == "host" {
                text = replaced(&text, &name, &alias);
            }
        }
        let mut masked = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while let Some(start) = path_start(rest) {
            let (before, path) = rest.split_at(start);
            let length = path.find(ends_path).unwrap_or(path.len());
            let path = path[..length].trim_end_matches('.');
            masked.push_str(before);
            masked.push_str(&self.alias(path));
            rest = &rest[start + path.len()..];
        }
        masked + rest
    }
}

/// True for a name that tells nothing, or is a replacement already.
fn is_everywhere(name: &str) -> bool {
    let is_numbered = |kind: &str| {
        name.strip_prefix(kind)
            .is_some_and(|number| !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit()))
    };
    let of_kernel = OF_KERNEL.iter().any(|directory| name.starts_with(directory))
        && !name.starts_with("/sys/fs/cgroup")
        && !LINKS.iter().any(|link| name.contains(link));
    let device = name.strip_prefix("/dev/").unwrap_or_default();
    let is_device = !device.contains('/') && DEVICES.iter().any(|kind| device.starts_with(kind));
    let is_word = name.is_empty() || matches!(name, "/" | "-" | "host" | "localhost" | "malloc");
    is_word || is_device || of_kernel || SPECIAL.contains(&name) || is_numbered("/path-") || is_numbered("file-")
}

/// True for a character that may be within a name.
fn is_of_name(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '-')
}

fn ends_path(character: char) -> bool {
    character.is_whitespace() || ",;:\"'`()[]{}<>|".contains(character)
}

/// The start of what looks like an absolute path: a slash behind no part of a name, and before one.
fn path_start(text: &str) -> Option<usize> {
    text.match_indices('/').map(|(index, _)| index).find(|&index| {
        let before = text[..index].chars().next_back();
        let after = text[index + 1..].chars().next();
        let begins = before.is_none_or(|before| !is_of_name(before) && !matches!(before, '.' | '/' | '%'));
        begins && after.is_some_and(|after| is_of_name(after) || after == '.')
    })
}

/// The text with a name replaced where it stands for itself: not as a part of another word.
fn replaced(text: &str, name: &str, alias: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(name) {
        let end = start + name.len();
        let before = rest[..start].chars().next_back().or_else(|| masked.chars().next_back());
        let after = rest[end..].chars().next();
        let is_part = |next: Option<char>| next.is_some_and(|next| is_of_name(next) || next == '/');
        masked.push_str(&rest[..start]);
        masked.push_str(if is_part(before) || is_part(after) { name } else { alias });
        rest = &rest[end..];
    }
    masked + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_in_texts_are_found_and_other_slashes_stay() {
        let mut names = Names::default();
        let rows = [
            ("read/write 7 MB/s, 1/2", "read/write 7 MB/s, 1/2"),
            ("open /people/ada/x: no such file", "open /path-1: no such file"),
            ("(/people/ada/x), '/srv'.", "(/path-1), '/path-2'."),
            ("--filename=/srv", "--filename=/path-2"),
            ("/sys/block/vda/queue and /dev/nvme0n1p1", "/sys/block/vda/queue and /dev/nvme0n1p1"),
            ("/sys/fs/cgroup/user-1000.slice", "/path-3"),
            ("/dev/mapper/customer /srv.", "/path-4 /path-2."),
            ("docs/findings/x.md", "docs/findings/x.md"),
            ("over / and /", "over / and /"),
            ("/proc/1/root/home/ada and /proc/1/io", "/path-5 and /proc/1/io"),
        ];
        for (text, expected) in rows {
            assert_eq!(names.text(text), expected);
        }
        names.hide("db1", "host");
        assert_eq!(names.text("db1"), "host");
        assert_eq!(names.text("adb1 db1.local db12"), "adb1 host.local db12");
    }
}
