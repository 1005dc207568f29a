//! What the generator of a job has drawn, where options ask for shares.
//!
//! Must not know: how blocks and files are chosen. Start reading at [`DrawCounts`].

use crate::counters::counts::add_to;
use ferrio_units::PerDirection;
use serde::{Deserialize, Serialize};

/// What the generator of a job has drawn, in its ramp too. An option that the job does not have counts nothing.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DrawCounts {
    /// I/Os of a random job that follow the one before them (`percentage_random`).
    pub n_following: PerDirection<u64>,
    /// I/Os beside them that are at random.
    pub n_at_random: PerDirection<u64>,
    /// Draws of a zipf, pareto or normal distribution; `None`: there is none, or they were not counted.
    pub hot: Option<HotDraws>,
    /// Draws of each zone in its order (`random_distribution=zoned`).
    pub zones: PerDirection<Vec<u64>>,
    /// Turns of several files (`file_service_type`); `None`: there is one file, or they were not counted.
    pub files: Option<FileTurns>,
    /// Draws of a file by zipf, pareto or a normal distribution (`file_service_type`); `None`: as with `hot`.
    pub hot_files: Option<HotDraws>,
}

/// Draws of a skewed distribution, and those of its hottest blocks: one block of zipf, the share h of pareto, the middle of a normal one.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct HotDraws {
    pub n_drawn: u64,
    pub n_hot: u64,
    /// Hot draws that the law wants among as many.
    pub n_wanted: f64,
}

/// I/Os and changes from one file to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FileTurns {
    pub n_ios: u64,
    pub n_turns: u64,
}

impl DrawCounts {
    /// Adds the draws of another worker.
    pub fn merge(&mut self, other: &Self) {
        let add = |mine: &mut PerDirection<u64>, theirs: &PerDirection<u64>| {
            mine.0.iter_mut().zip(theirs.0).for_each(|(mine, theirs)| add_to(mine, theirs));
        };
        add(&mut self.n_following, &other.n_following);
        add(&mut self.n_at_random, &other.n_at_random);
        let add_hot = |mine: &mut Option<HotDraws>, theirs: Option<HotDraws>| {
            let Some(theirs) = theirs else { return };
            let mine = mine.get_or_insert_default();
            add_to(&mut mine.n_drawn, theirs.n_drawn);
            add_to(&mut mine.n_hot, theirs.n_hot);
            mine.n_wanted += theirs.n_wanted;
        };
        add_hot(&mut self.hot, other.hot);
        add_hot(&mut self.hot_files, other.hot_files);
        for (mine, theirs) in self.zones.0.iter_mut().zip(&other.zones.0) {
            mine.resize(mine.len().max(theirs.len()), 0);
            mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| add_to(mine, *theirs));
        }
        if let Some(theirs) = other.files {
            let mine = self.files.get_or_insert_default();
            add_to(&mut mine.n_ios, theirs.n_ios);
            add_to(&mut mine.n_turns, theirs.n_turns);
        }
    }
}
