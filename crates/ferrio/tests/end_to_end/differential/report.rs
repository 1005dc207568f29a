//! A report in all formats, taken apart and put into a form in which two programs can be compared.
//!
//! Start reading at [`Report::read`]; known differences between versions are in [`JSON_DIFFERENCES`].

use crate::outline::outline;
use serde_json::Value;

/// The parts of the output of `--output-format=normal,terse,json+`, the exit code, and whether there were errors.
pub(super) struct Report {
    pub(super) start: String,
    pub(super) terse: Vec<String>,
    pub(super) json: String,
    pub(super) normal: String,
    /// Exit code of the run.
    pub(super) code: Option<i32>,
    /// True if the standard error is empty.
    pub(super) is_quiet: bool,
}

impl Report {
    /// Splits the output into its formats.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let begin = text.find("{\n").ok_or("no document")?;
        let (head, rest) = text.split_at(begin);
        let length = rest.find("\n}\n").ok_or("the document has no end")? + 3;
        let (json, normal) = rest.split_at(length);
        let is_terse = |line: &&str| line.starts_with(|version| ('2'..='5').contains(&version)) && line.contains(';');
        // The description of version 2 has a line of its own.
        let (terse, start): (Vec<&str>, Vec<&str>) =
            head.lines().partition(|line| is_terse(line) || line.starts_with(';'));
        Ok(Self {
            start: start.join("\n"),
            terse: terse.into_iter().map(str::to_owned).collect(),
            json: json.to_owned(),
            normal: normal.to_owned(),
            code: None,
            is_quiet: true,
        })
    }

    pub(super) fn document(&self) -> Result<Value, String> {
        serde_json::from_str(&self.json).map_err(|error| format!("{error} in\n{}", self.json))
    }
}

/// Keys that 3.42 has and 3.41 has not.
const JSON_DIFFERENCES: [(&str, &str); 2] =
    [("latency_target_ns", "newer: a name with its unit"), ("latency_window_us", "newer: a name with its unit")];

/// Figures that 3.41 counts differently, by the options on which this depends: the line of the document to skip, and
/// the reason.
const COUNT_DIFFERENCES: [(&str, &str, &str); 2] = [
    ("fdatasync=", "short_ios", "3.41 counts a data sync as a short read"),
    ("fdatasync=", "total_ios", "and not as a sync"),
];

/// Keys whose values differ from run to run; the values of all other keys are compared.
const FIGURES: [&str; 52] = [
    "fio version",
    "timestamp",
    "timestamp_ms",
    "time",
    "elapsed",
    "eta",
    "bw_bytes",
    "bw",
    "iops",
    "runtime",
    "min",
    "max",
    "mean",
    "stddev",
    "bw_min",
    "bw_max",
    "bw_agg",
    "bw_mean",
    "bw_dev",
    "bw_samples",
    "iops_min",
    "iops_max",
    "iops_mean",
    "iops_stddev",
    "iops_samples",
    "job_runtime",
    "usr_cpu",
    "sys_cpu",
    "ctx",
    "majf",
    "minf",
    "1",
    "2",
    "4",
    "8",
    "16",
    "32",
    "64",
    ">=64",
    "0",
    "10",
    "20",
    "50",
    "100",
    "250",
    "500",
    "750",
    "1000",
    "2000",
    ">=2000",
    "util",
    "in_queue",
];

/// The lines of a document with the depth of their indentation and without their commas. Figures are `N`, those with a
/// fraction `N.` with a digit for each of theirs. The values of bins are left out.
pub(super) fn json_lines(case: &str, document: &str, is_counted: bool) -> Vec<String> {
    let mut lines = Vec::new();
    let mut path: Vec<&str> = Vec::new();
    // ferrio adds one key, which comes last.
    let of_fio = document.lines().take_while(|line| !line.starts_with(r#"  "ferrio" :"#) && *line != "}");
    for line in of_fio {
        let line = line.trim_end_matches(',');
        let text = line.trim_start();
        if text.is_empty() {
            // An empty object: one of the programs may fill it with facts that the other does not have.
            continue;
        }
        let (key, value) = text.split_once("\" : ").map_or(("", text), |(key, value)| (key.trim_matches('"'), value));
        if text.starts_with(['}', ']']) {
            path.pop();
        }
        let parent = path.last().copied().unwrap_or_default();
        let is_sync = COUNT_DIFFERENCES.iter().any(|(option, name, _)| *name == key && case.contains(option));
        let is_known = is_sync || JSON_DIFFERENCES.iter().any(|(name, _)| *name == key) || parent == "bins";
        if !is_known {
            let is_figure = FIGURES.contains(&key) || is_figure_of(parent) || !is_counted;
            let head = &line[..line.len() - value.len()];
            lines.push(if is_figure { head.to_owned() + &masked(value) } else { line.to_owned() });
        }
        if value.ends_with(['{', '[']) {
            path.push(key);
        }
    }
    lines
}

/// True for a key whose value is a figure, judged by the key of the object around it.
fn is_figure_of(parent: &str) -> bool {
    ["percentile", "disk_util", ""].contains(&parent)
}

/// `"text"` as `S`, 12 as `N`, 1.500000 as `N.NNNNNN`.
fn masked(value: &str) -> String {
    if value.starts_with('"') {
        return "S".to_owned();
    }
    if value.starts_with(|first: char| !first.is_ascii_digit() && first != '-') {
        return value.to_owned();
    }
    match value.split_once('.') {
        Some((_, fraction)) => format!("N.{}", "N".repeat(fraction.len())),
        None => "N".to_owned(),
    }
}

/// The fields of a terse line by their kinds: `N`, `N.NN%`, `1.000000%=N`. Texts stay as they are, but for the version.
pub(super) fn terse_fields(line: &str) -> Vec<String> {
    line.split(';')
        .map(|field| {
            let (name, value) = field.split_once('=').map_or(("", field), |(name, value)| (name, value));
            let (number, unit) = value.strip_suffix('%').map_or((value, ""), |number| (number, "%"));
            // A share of nothing.
            let number = if number.ends_with("nan") { "0.00" } else { number };
            let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
            match (is_number, field.starts_with("fio-")) {
                (true, _) if name.is_empty() => masked(number) + unit,
                (true, _) => format!("{name}={}{unit}", masked(number)),
                (false, true) => "fio-VERSION".to_owned(),
                (false, false) => field.to_owned(),
            }
        })
        .collect()
}

/// The outline of a text for people, without the words of errors, which are each program's own.
pub(super) fn normal_lines(text: &str, has_samples: bool) -> Vec<String> {
    // 3.41 prints its notes at another place. The words of errors on files differ between the programs.
    let is_known = |line: &String| {
        ["note: both iodepth >=N and synchronous", "fio: ", "file:"].iter().any(|known| line.starts_with(known))
    };
    outline(text, has_samples).into_iter().filter(|line| !is_known(line)).map(without_place).collect()
}

/// Removes place in the source, step and words from an error line: in 3.42, tolerated errors have none.
fn without_place(line: String) -> String {
    match line.find("err=N").filter(|_| line.contains("func=") || line.contains("err=N ()")) {
        Some(start) => line[..start].to_owned() + "err=N (error)",
        None => line,
    }
}
