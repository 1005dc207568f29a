//! `--repeat`, `--until` and what is done between runs: the options of `ferrio run`, and the values that `ferrio sweep` has too.
//!
//! Must not know: how runs are made. Start reading at [`RepeatOptions`].

use anyhow::anyhow;
use clap::Args;
use ferrio_units::value::{TimeUnit, parse_time_us};
use std::time::Duration;

// The options of `ferrio run` about several runs.
#[derive(Debug, Args)]
pub(crate) struct RepeatOptions {
    /// Make N runs, and show the mean of each figure, its interval, and how much the runs differ
    #[arg(long, value_name = "N", value_parser = n_repeats)]
    pub(crate) repeat: Option<u32>,
    /// Repeat the run until the interval of a figure is small enough, such as 'read.iops ± 2 %': at least 6 times, at most --repeat times (30 without it)
    #[arg(long, value_name = "FIGURE")]
    pub(crate) until: Option<String>,
    /// End the runs before they take longer than this, such as 5m, with what is known then
    #[arg(long, value_name = "TIME", value_parser = whole_time)]
    pub(crate) time: Option<Duration>,
    /// Pause between repeated runs
    #[arg(long = "rest", value_name = "TIME", value_parser = rest_ms)]
    pub(crate) rest_ms: Option<u64>,
    /// Drop the page cache of the machine before each repeated run (root)
    #[arg(long)]
    pub(crate) drop_caches: bool,
}

pub(crate) fn n_repeats(text: &str) -> anyhow::Result<u32> {
    let number = text.parse().ok().filter(|number| (1..=10_000).contains(number));
    number.ok_or_else(|| anyhow!("it is no number from 1 to 10000"))
}

pub(crate) fn rest_ms(text: &str) -> anyhow::Result<u64> {
    let time_us = parse_time_us(text, TimeUnit::Seconds).map_err(|_| anyhow!("it is no time such as 10s"))?;
    Ok(time_us / 1_000)
}

/// How long all runs may take.
pub(crate) fn whole_time(text: &str) -> anyhow::Result<Duration> {
    let time_us = parse_time_us(text, TimeUnit::Seconds).ok().filter(|time_us| *time_us > 0);
    time_us.map(Duration::from_micros).ok_or_else(|| anyhow!("it is no time such as 5m"))
}
