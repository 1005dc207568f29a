//! `ferrio plot`: results and performance logs as pictures in SVG and PNG files.
//!
//! Must not know: how results are read, what a picture shows. Start reading at [`run`].

use crate::shared::inputs;
use crate::ui::arguments;
use crate::ui::exit;
use anyhow::anyhow;
use clap::{CommandFactory, Parser};
use ferrio_formats::RunResult;
use ferrio_pictures::plot::{self, KINDS, PictureFormat, PictureSize, PlotKind};
use ferrio_sys::output::{AtomicFile, ProtectedPaths};
use ferrio_units::error_text;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

const PROGRAM: &str = "ferrio plot";

/// What is wanted.
#[derive(Debug, Clone, PartialEq, Eq, Parser)]
#[command(
    name = "ferrio plot",
    bin_name = "ferrio plot",
    about = "Draw results and performance logs as an SVG or PNG file",
    long_about = LONG_ABOUT,
    after_help = exit::PLAIN,
)]
struct Request {
    /// Reports (JSON, text, terse) and logs of fio or ferrio, records of ferrio, history:RUN
    #[arg(value_name = "RESULT", required = true)]
    results: Vec<PathBuf>,
    /// Kind of picture; without it, the one that fits the results
    #[arg(long, short, value_name = "KIND", value_parser = kind_name)]
    kind: Option<&'static str>,
    /// Write to this file, ending in .svg or .png [default: KIND.svg]
    #[arg(long, short, value_name = "FILE", value_parser = output)]
    output: Option<PathBuf>,
    /// Title of the picture
    #[arg(long, short, value_name = "TEXT")]
    title: Option<String>,
    /// Width and height in pixels, such as 1200x600
    #[arg(long, short, value_name = "SIZE")]
    size: Option<PictureSize>,
}

const LONG_ABOUT: &str = "\
Draw results and performance logs as an SVG or PNG file.

  ferrio plot results/*.json
  ferrio plot *_bw.*.log -o bw.svg
  ferrio plot run.json --kind percentiles -o run.png

Kinds of pictures:
  over-time    IOPS, bandwidth and latency over time, of logs (write_bw_log,
               write_iops_log, write_lat_log) and of ferrio's jsonl
  by-job       average, lowest, highest and deviation of each job
  compare      the same of several results side by side
  heat-map     a table of runs that differ in iodepth and numjobs
  histogram    how many I/Os took how long (--output-format=json+, or logs)
  percentiles  latency by percentile, of jobs and of results";

/// The command, for help, manual page and completions.
pub(crate) fn describe() -> clap::Command {
    Request::command()
}

/// Runs the command with its arguments (the command's name first).
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    arguments::run(PROGRAM, arguments, |request: &Request, console| {
        console.report(&draw(request)?);
        Ok(())
    })
}

/// Reads, draws and writes; gives the line that tells so.
///
/// # Errors
/// In words: what stands in the way.
fn draw(request: &Request) -> anyhow::Result<String> {
    let results = inputs::read(&request.results)?;
    let kind = kind(request, &results);
    let output = request.output.clone().unwrap_or_else(|| PathBuf::from(format!("{}.svg", kind.name)));
    let format = format_of(&output).unwrap_or(PictureFormat::Svg);
    let refused = |error: plot::PlotError| anyhow!("{}: {error}", kind.name);
    let picture = plot::picture(kind, &results, request.title.as_deref()).map_err(refused)?;
    let file = plot::picture_file(&picture, request.size, format).map_err(refused)?;
    let kept = Arc::new(ProtectedPaths::inputs(&request.results));
    let written = AtomicFile::create(&output, &kept).and_then(|whole| whole.write(&file));
    written.map_err(|error| anyhow!("cannot write {}: {}", output.display(), error_text(&error)))?;
    Ok(format!("{}: {} ({})\n", output.display(), picture.title, kind.name))
}

fn kind(request: &Request, results: &[RunResult]) -> &'static PlotKind {
    let wanted = KINDS.iter().find(|kind| request.kind == Some(kind.name));
    wanted.unwrap_or_else(|| plot::fitting(results))
}

fn kind_name(text: &str) -> anyhow::Result<&'static str> {
    let names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
    let found = names.iter().find(|name| **name == text);
    found.copied().ok_or_else(|| anyhow!("{text:?} is no kind of picture: allowed are {}", names.join(", ")))
}

/// A file whose name says its form.
fn output(text: &str) -> anyhow::Result<PathBuf> {
    let path = PathBuf::from(text);
    match format_of(&path) {
        Some(_) => Ok(path),
        None => Err(anyhow!("the name of the file has to end in .svg or .png")),
    }
}

fn format_of(path: &Path) -> Option<PictureFormat> {
    let ending = path.extension()?.to_str()?.to_ascii_lowercase();
    match ending.as_str() {
        "svg" => Some(PictureFormat::Svg),
        "png" => Some(PictureFormat::Png),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<Request, String> {
        let words = ["plot"].iter().chain(words).map(OsString::from);
        Request::try_parse_from(words).map_err(|error| error.to_string())
    }

    #[test]
    fn the_name_of_the_file_says_its_form() {
        for (name, format) in
            [("a.svg", Some(PictureFormat::Svg)), ("b/a.PNG", Some(PictureFormat::Png)), ("a.jpg", None), ("svg", None)]
        {
            assert_eq!(format_of(Path::new(name)), format, "{name}");
        }
        assert!(parsed(&["r.json", "-o", "a.pdf"]).expect_err("no form").contains(".svg or .png"));
    }

    #[test]
    fn the_help_names_all_kinds() {
        for kind in KINDS {
            assert!(LONG_ABOUT.contains(&format!("  {}", kind.name)), "{}", kind.name);
            assert_eq!(parsed(&["r.json", "--kind", kind.name]).expect("a request").kind, Some(kind.name));
        }
        assert!(LONG_ABOUT.lines().all(|line| line.len() <= 80));
        let error = parsed(&["r.json", "--kind", "pie"]).expect_err("no kind");
        assert!(error.contains("over-time, by-job"), "{error}");
        assert!(parsed(&[]).is_err() && parsed(&["r.json", "--size", "5x5"]).is_err());
    }
}
