//! The outline of a report for people: its lines without figures, in a form that is equal for equal jobs under fio 3.41
//! and under ferrio.
//!
//! Start reading at [`outline`]; the differences between the versions are in [`VERSION_DIFFERENCES`].

/// Texts of 3.41, the corresponding texts of 3.42, and the reasons.
const VERSION_DIFFERENCES: [(&str, &str, &str); 3] = [
    ("; N zone resets", "", "3.41 prints zone resets for every write; the reference only when there are zones"),
    ("fsync/fdatasync/sync_file_range:", "fsync/fdatasync/sync_file_range/syncfs:", "syncfs is newer"),
    ("target=N, window=N,", "target=Nns, window=Nns,", "3.41 prints the latency target without its unit"),
];

/// The lines of a report without the parts that differ from run to run. With `has_samples` the lines on samples are
/// kept; a short run has them only on a busy machine.
pub(crate) fn outline(report: &str, has_samples: bool) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in report.lines() {
        let line = line.trim_end();
        let is_sample = line.trim_start().starts_with("bw (") || line.trim_start().starts_with("iops    ");
        if let Some(cells) = line.trim_start().strip_prefix('|') {
            let last = lines.last_mut().expect("cells follow a heading");
            last.push_str(&percentile_cells(cells));
        } else if line.starts_with("  lat (") {
            if lines.last().is_none_or(|last| last != "lat (T): buckets") {
                lines.push("lat (T): buckets".to_owned());
            }
        } else if has_samples || !is_sample {
            lines.push(known_differences(&mask_line(line)));
        }
    }
    lines
}

fn known_differences(line: &str) -> String {
    let mut line = line.to_owned();
    for (theirs, ours, _) in VERSION_DIFFERENCES {
        line = line.replace(theirs, ours);
    }
    line
}

/// ` 1.00th=[  117],  5.00th=[  153],` as `1.00th 5.00th `.
fn percentile_cells(cells: &str) -> String {
    let parts: Vec<&str> = cells.split("th=[").collect();
    // The last part is the value of the last percentile.
    let names = parts[..parts.len() - 1].iter().filter_map(|part| part.split_whitespace().last());
    names.fold(String::new(), |cells, name| cells + name + "th ")
}

fn mask_line(line: &str) -> String {
    if line.starts_with("fio-") {
        return "fio-VERSION".to_owned();
    }
    let line = match line.split_once(": pid=") {
        Some((head, _)) if head.contains("(groupid=") => head,
        _ => line,
    };
    let mut line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    for unit in ["(nsec)", "(usec)", "(msec)"] {
        line = line.replace(unit, "(T)");
    }
    // Above a million the samples are MiB/s whatever `kb_base` says: one program may be faster than that, the other slower.
    let line = line
        .replace("( ", "(")
        .replace("(MiB/s)", "(KiB/s)")
        .replace("(kB/s)", "(KiB/s)")
        .replace("= ", "=")
        .replace("[ ", "[");
    mask_numbers(&line)
}

/// Replaces numbers, with the prefix of their unit, by `N`.
fn mask_numbers(line: &str) -> String {
    let bytes = line.as_bytes();
    let (mut out, mut at) = (String::new(), 0);
    while at < bytes.len() {
        let is_number = bytes[at].is_ascii_digit();
        let end = at
            + if is_number { number_length(&line[at..]) } else { line[at..].chars().next().map_or(1, char::len_utf8) };
        out.push_str(if is_number { "N" } else { &line[at..end] });
        at = end;
    }
    out
}

/// Length of a number with its fraction and the prefix of its unit.
fn number_length(text: &str) -> usize {
    let digits = text.find(|character: char| !(character.is_ascii_digit() || character == '.')).unwrap_or(text.len());
    let number = text[..digits].trim_end_matches('.').len();
    let rest = &text[number..];
    let prefix = ["Ki", "Mi", "Gi", "Ti", "k", "M", "G", "T"].into_iter().find(|prefix| {
        rest.strip_prefix(prefix).is_some_and(|unit| {
            unit.starts_with('B') || unit.starts_with("bit") || !unit.starts_with(|next: char| next.is_alphanumeric())
        })
    });
    number + prefix.map_or(0, str::len)
}

/// Fails with the first line that differs.
pub(crate) fn assert_same_outline(what: &str, ours: &[String], theirs: &[String]) {
    let n_same = ours.iter().zip(theirs).take_while(|(a, b)| a == b).count();
    if n_same < ours.len() || n_same < theirs.len() {
        let (our_line, their_line) = (ours.get(n_same), theirs.get(n_same));
        panic!(
            "{what}: line {n_same}\n  ours {our_line:?}\n  peer {their_line:?}\n-- ours\n{}\n-- peer\n{}",
            ours.join("\n"),
            theirs.join("\n")
        );
    }
}

#[cfg(test)]
mod tests {
    use super::outline;

    #[test]
    fn figures_and_what_varies_with_them_are_left_out() {
        let report = "\
a: (groupid=0, jobs=2): err= 0: pid=7: Fri Nov 20 12:33:39 2026
  write: IOPS=50.8k, BW=199MiB/s (208MB/s)(11.1MiB/56msec); 0 zone resets
    clat (nsec): min= 3, max=245, avg= 6.95, stdev=10.59
    clat percentiles (usec):
     |  1.00th=[  117], 99.99th=[ 3097],
     | 100.00th=[ 9]
   bw (  MiB/s): min= 3824
  lat (nsec)   : 750=2.27%
  lat (usec)   : 2=30.93%";
        let expected = [
            "a: (groupid=N, jobs=N): err=N",
            "write: IOPS=N, BW=NB/s (NB/s)(NB/Nmsec)",
            "clat (T): min=N, max=N, avg=N, stdev=N",
            "clat percentiles (T):1.00th 99.99th 100.00th ",
            "bw (KiB/s): min=N",
            "lat (T): buckets",
        ];
        assert_eq!(outline(report, true), expected);
    }
}
