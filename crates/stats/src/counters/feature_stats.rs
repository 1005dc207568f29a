//! Figures of features that few jobs use: traces, zones, verification, rates, servers.
//!
//! Must not know: how they are measured. Start reading at [`FeatureStats`].

use crate::counters::block_states::BlockStates;
use crate::counters::counts::add_to;
use crate::counters::draws::DrawCounts;
use crate::counters::replay::ReplayStats;
use crate::counters::replay::VerifyStats;
use crate::counters::server_steps::ServerSteps;
use crate::distribution::latency::LatencyStat;
use crate::findings::accounts::TimeCounts;
use ferrio_units::PerDirection;
use serde::{Deserialize, Serialize};

/// Figures of features that few jobs use; `None` where a job does not.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct FeatureStats {
    /// States of blocks (`block_error_percentiles`).
    pub block_states: Option<BlockStates>,
    /// Figures about the times of a trace (`read_iolog`).
    pub replay: Option<ReplayStats>,
    /// Number of zones that were reset to be written again; `None`: the job writes no zones (`zonemode=zbd`).
    pub zone_resets: Option<u64>,
    /// Amounts that verification had to remember; `None`: nothing.
    pub verify: Option<VerifyStats>,
    /// Lateness under a rate; `None`: the job has no rate, or does not measure latencies.
    #[serde(default)]
    pub rate: Option<Box<RateStats>>,
    /// Bytes that the kernel has read from storage for this worker while it did its I/O, read-ahead among them; of several workers
    /// their sum. For a worker that is a thread, without what other threads read for it (a pool, those of `io_uring` or of the C library).
    /// `None`: not counted, or not for all of them.
    #[serde(default)]
    pub own_read_bytes: Option<u64>,
    /// Bytes that it had read before that, in a `pre_read` or a ramp.
    #[serde(default)]
    pub read_before_bytes: Option<u64>,
    /// Reads that moved no byte, because the file ended before their place: done as fio counts them, or failed.
    #[serde(default)]
    pub n_empty_reads: u64,
    /// Datagrams that came from others than the other end of the connection.
    #[serde(default)]
    pub foreign_datagrams: ForeignDatagrams,
    /// Steps by which a server was reached and has replied; `None`: the engine has no server, or no such steps.
    #[serde(default)]
    pub server: Option<Box<ServerSteps>>,
    /// Pauses, steps at the ends of passes, stops; `None`: not measured.
    #[serde(default)]
    pub times: Option<Box<TimeCounts>>,
    /// What its generator has drawn; `None`: no option asks for a share of it, or it was not counted.
    #[serde(default)]
    pub draws: Option<Box<DrawCounts>>,
}

/// Datagrams that came from others than the other end of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ForeignDatagrams {
    pub n_taken: u64,
    pub n_left_out: u64,
}

/// Lateness of I/Os under a rate.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct RateStats {
    /// Latencies from the times at which the rate wanted the I/Os to start.
    pub response: PerDirection<LatencyStat>,
    /// The longest time by which an I/O started after that.
    pub most_late_ns: u64,
}

impl RateStats {
    fn merge(&mut self, other: &Self) {
        self.response.0.iter_mut().zip(&other.response.0).for_each(|(mine, theirs)| mine.merge(theirs));
        self.most_late_ns = self.most_late_ns.max(other.most_late_ns);
        debug_assert!(
            self.response.0.iter().zip(&other.response.0).all(|(sum, part)| sum.n_samples >= part.n_samples),
            "a part exceeds the whole"
        );
    }

    pub(crate) fn clear(&mut self) {
        self.response.0.iter_mut().for_each(LatencyStat::clear);
        self.most_late_ns = 0;
    }
}

impl FeatureStats {
    /// Adds the figures of another member of the group.
    pub fn merge(&mut self, other: &Self) {
        if let Some(theirs) = &other.block_states {
            self.block_states.get_or_insert_default().merge(theirs);
        }
        if let Some(theirs) = &other.replay {
            self.replay.get_or_insert_default().merge(theirs);
        }
        if let Some(theirs) = other.zone_resets {
            add_to(self.zone_resets.get_or_insert_default(), theirs);
        }
        if let Some(theirs) = &other.verify {
            self.verify.get_or_insert_default().merge(theirs);
        }
        if let Some(theirs) = &other.rate {
            self.rate.get_or_insert_default().merge(theirs);
        }
        if let Some(theirs) = &other.times {
            self.times.get_or_insert_default().merge(theirs);
        }
        if let Some(theirs) = &other.draws {
            self.draws.get_or_insert_default().merge(theirs);
        }
        if let Some(theirs) = &other.server {
            self.server.get_or_insert_default().merge(theirs);
        }
        let sum = |mine: Option<u64>, theirs: Option<u64>| Some(mine?.saturating_add(theirs?));
        self.own_read_bytes = sum(self.own_read_bytes, other.own_read_bytes);
        self.read_before_bytes = sum(self.read_before_bytes, other.read_before_bytes);
        add_to(&mut self.n_empty_reads, other.n_empty_reads);
        add_to(&mut self.foreign_datagrams.n_taken, other.foreign_datagrams.n_taken);
        add_to(&mut self.foreign_datagrams.n_left_out, other.foreign_datagrams.n_left_out);
    }
}
