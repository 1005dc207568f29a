//! What a job is to do: given, asked for, or a default.
//!
//! Must not know: targets, options of jobs. Start reading at [`JobRequest::of`].

use super::Request;
use crate::ui::byte_size;
use anyhow::anyhow;
use clap::ValueEnum;

/// Smallest and largest block, bytes.
const BLOCK_BYTES: std::ops::RangeInclusive<u64> = 512..=1 << 30;

/// Seconds, unless asked for otherwise.
pub(super) const RUNTIME_SEC: u64 = 30;

/// What a job measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum JobGoal {
    /// The time of single small random I/Os
    Latency,
    /// How many small random I/Os a second
    Iops,
    /// How many bytes a second, in order
    Bandwidth,
    /// Small random reads and writes
    Mixed,
    /// Random reads and writes beside a log that is synced
    Database,
    /// Small writes in order, each synced
    LogWriter,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Usual {
    pub(super) block_bytes: u64,
    pub(super) depth: u64,
    /// Percent.
    pub(super) read_share: u64,
    pub(super) is_random: bool,
}

impl JobGoal {
    pub(super) const fn usual(self) -> Usual {
        let (block_bytes, depth, read_share, is_random) = match self {
            Self::Latency => (4096, 1, 100, true),
            Self::Iops => (4096, 32, 100, true),
            Self::Bandwidth => (1 << 20, 8, 100, false),
            Self::Mixed => (4096, 16, 70, true),
            Self::Database => (8192, 16, 70, true),
            Self::LogWriter => (4096, 1, 0, false),
        };
        Usual { block_bytes, depth, read_share, is_random }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Latency => "latency",
            Self::Iops => "iops",
            Self::Bandwidth => "bandwidth",
            Self::Mixed => "mixed",
            Self::Database => "database",
            Self::LogWriter => "log-writer",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct JobRequest {
    pub(super) measure: JobGoal,
    pub(super) target: String,
    /// The job may destroy data of the target.
    pub(super) overwrites: bool,
    pub(super) read_share: u64,
    pub(super) block_bytes: u64,
    pub(super) depth: u64,
    /// `None`: what is usual for the target.
    pub(super) size_bytes: Option<u64>,
    pub(super) runtime_sec: u64,
    pub(super) is_direct: bool,
}

impl JobRequest {
    /// What is given, and defaults.
    pub(super) fn of(request: &Request) -> anyhow::Result<Self> {
        let measure = request.measure.unwrap_or(JobGoal::Latency);
        let usual = measure.usual();
        let wanted = Self {
            measure,
            target: request.target.clone().unwrap_or_else(|| ".".to_owned()),
            overwrites: request.overwrite,
            read_share: request.read_share.unwrap_or(usual.read_share),
            block_bytes: request.block_size.unwrap_or(usual.block_bytes),
            depth: request.depth.unwrap_or(usual.depth),
            size_bytes: request.size,
            runtime_sec: request.runtime.unwrap_or(RUNTIME_SEC),
            is_direct: !request.buffered,
        };
        wanted.check(request.write)
    }

    /// The request, if its parts go together.
    pub(super) fn check(self, may_write: bool) -> anyhow::Result<Self> {
        if self.writes() && !may_write {
            return Err(anyhow!(
                "measuring {} with {} % reads writes: allow that with --write, or take --read-share=100",
                self.measure.name(),
                self.read_share
            ));
        }
        if self.measure == JobGoal::LogWriter && self.read_share > 0 {
            return Err(anyhow!("a log-writer only writes: leave out --read-share"));
        }
        if self.size_bytes.is_some_and(|size| size < self.block_bytes) {
            return Err(anyhow!("the size is less than a block"));
        }
        Ok(self)
    }

    pub(super) fn writes(&self) -> bool {
        self.read_share < 100 || matches!(self.measure, JobGoal::Database | JobGoal::LogWriter)
    }
}

pub(super) fn block_size(text: &str) -> anyhow::Result<u64> {
    let bytes = byte_size::parse(text)?;
    // Direct I/O takes no others, and other sizes mean little elsewhere.
    let is_allowed = BLOCK_BYTES.contains(&bytes) && bytes.is_multiple_of(512);
    if is_allowed { Ok(bytes) } else { Err(anyhow!("a multiple of 512 bytes is wanted, at most 1g")) }
}
