//! `ferrio genzipf`: how often a skewed distribution hits each block.
//!
//! Must not know: how hits are drawn or shown. Start reading at [`run`].

mod shown;

use crate::ui::exit;
use crate::ui::{arguments, byte_size};
use anyhow::anyhow;
use clap::{CommandFactory, Parser};
use ferrio_units::BuildError;
use ferrio_units::random::{DistributionShape, HitCounts};
use std::ffi::OsString;
use std::process::ExitCode;

const PROGRAM: &str = "ferrio genzipf";

/// The seed of fio's program, so that the figures are the same.
const SEED: u32 = 1;

const MAX_ROWS: u64 = 10_000;

/// What is wanted.
#[derive(Debug, Clone, PartialEq, Parser)]
#[command(
    name = "ferrio genzipf",
    bin_name = "ferrio genzipf",
    about = "Show how often a skewed distribution hits each block",
    long_about = LONG_ABOUT,
    after_help = exit::PLAIN,
)]
struct Request {
    /// Distribution: zipf, pareto, or normal (or gauss), also with its input: zipf:1.1
    #[arg(short = 't', long, value_name = "NAME", default_value = "zipf", value_parser = distribution)]
    distribution: (Distribution, Option<f64>),
    /// Input of the distribution: theta of zipf (1.2), h of pareto (0.3), deviation of normal in % (0)
    #[arg(short = 'i', long, value_name = "NUMBER")]
    input: Option<f64>,
    /// Size of the data in GiB [default: 500]
    #[arg(short = 'g', long, value_name = "N", conflicts_with = "size")]
    gib: Option<u64>,
    /// Size of the data, such as 20g
    #[arg(long, value_name = "BYTES", value_parser = byte_size::parse)]
    size: Option<u64>,
    /// Size of a block, such as 4k
    #[arg(short = 'b', long, value_name = "BYTES", default_value = "4096", value_parser = byte_size::parse)]
    block_size: u64,
    /// Rows of the table
    #[arg(short = 'o', long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=MAX_ROWS))]
    rows: u64,
    /// Show how much of the data has this percentage of the hits
    #[arg(short = 'p', long, value_name = "NUMBER", value_parser = arguments::percent)]
    percent: Option<f64>,
    /// Seed of the draws; 1 is that of fio
    #[arg(long, value_name = "N", default_value_t = SEED)]
    seed: u32,
    /// Print the hits of each block as CSV, the most frequent first
    #[arg(short = 'c', long, conflicts_with = "json")]
    csv: bool,
    /// Print the table as JSON
    #[arg(long)]
    json: bool,
}

const LONG_ABOUT: &str = "\
Show how often a skewed distribution hits each block.

Draws as many blocks as the data have, with the streams of random_distribution, \
and sorts them by their hits. The rows of the table are blocks that were hit, \
the most frequent first. Figures are those of fio's fio-genzipf with the same \
arguments. Memory: 4 bytes a block, at most 1 GiB.

  ferrio genzipf -t zipf:1.1 --size=100g --block-size=16k
  ferrio genzipf -t pareto -i 0.2 --size=10g -p 90";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Distribution {
    Zipf,
    Pareto,
    Normal,
}

impl Distribution {
    const fn name(self) -> &'static str {
        match self {
            Self::Zipf => "zipf",
            Self::Pareto => "pareto",
            Self::Normal => "normal",
        }
    }

    /// The input where none is given; those of fio's program.
    const fn default_input(self) -> f64 {
        match self {
            Self::Zipf => 1.2,
            Self::Pareto => 0.3,
            Self::Normal => 0.0,
        }
    }

    fn shape(self, n_blocks: u64, input: f64) -> Result<DistributionShape, BuildError> {
        match self {
            Self::Zipf => DistributionShape::zipf(n_blocks, input),
            Self::Pareto => DistributionShape::pareto(n_blocks, input),
            Self::Normal => DistributionShape::normal(n_blocks, input),
        }
    }
}

struct DrawnHits {
    distribution: Distribution,
    input: f64,
    block_bytes: u64,
    hits: HitCounts,
}

/// The command, for help, manual page and completions.
pub(crate) fn describe() -> clap::Command {
    Request::command()
}

/// Runs the command with its arguments (the command's name first).
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    arguments::run(PROGRAM, arguments, |request: &Request, console| {
        let drawn = draw(request)?;
        let n_rows = request.rows as usize;
        if request.csv {
            shown::csv(&drawn.hits, &mut |piece| console.report(piece));
        } else if request.json {
            console.report(&format!("{:#}\n", shown::document(&drawn, n_rows, request.percent)));
        } else {
            console.report(&shown::table(&drawn, n_rows, request.percent));
        }
        Ok(())
    })
}

fn draw(request: &Request) -> anyhow::Result<DrawnHits> {
    let (distribution, of_name) = request.distribution;
    if of_name.is_some() && request.input.is_some() {
        return Err(anyhow!("the input is given twice: with the distribution, and with -i"));
    }
    let input = request.input.or(of_name).unwrap_or(distribution.default_input());
    let of_gib = || request.gib.unwrap_or(500).checked_mul(1 << 30);
    let size_bytes = request.size.or_else(of_gib).ok_or_else(|| anyhow!("-g: the size is beyond 64 bits"))?;
    let n_blocks =
        size_bytes.checked_div(request.block_size).ok_or_else(|| anyhow!("-b: a block has at least one byte"))?;
    if n_blocks == 0 {
        return Err(anyhow!("the data ({size_bytes} bytes) hold no block of {} bytes", request.block_size));
    }
    // Before the shape: its start-up sum takes a while for many blocks.
    if n_blocks > HitCounts::MAX_BLOCKS {
        return Err(ferrio_units::random::HitsError::TooManyBlocks { n_blocks }.into());
    }
    let shape = distribution.shape(n_blocks, input).map_err(|error| anyhow!("-i: {error}"))?;
    let hits = HitCounts::draw(shape, request.seed)?;
    Ok(DrawnHits { distribution, input, block_bytes: request.block_size, hits })
}

/// Parses a name, and an input behind a colon.
fn distribution(text: &str) -> anyhow::Result<(Distribution, Option<f64>)> {
    let (name, input) = text.split_once(':').map_or((text, None), |(name, input)| (name, Some(input)));
    let distribution = match name {
        "zipf" => Distribution::Zipf,
        "pareto" => Distribution::Pareto,
        "normal" | "gauss" => Distribution::Normal,
        _ => return Err(anyhow!("allowed are zipf, pareto, normal and gauss")),
    };
    let input = input.map(str::parse).transpose().map_err(|_| anyhow!("behind {name}: a number is wanted"))?;
    Ok((distribution, input))
}
