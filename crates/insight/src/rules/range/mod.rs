//! The blocks that jobs use: a small part, the same ones again, those of another job.

pub(crate) mod few_hot_blocks;
pub(crate) mod jobs_share_blocks;
pub(crate) mod range_read_again;
pub(crate) mod range_trimmed_again;
pub(crate) mod same_blocks_again;
pub(crate) mod small_part_of_disk;
