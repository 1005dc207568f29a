//! The contents of blocks: holes, zeroes, data that compresses, blocks that are written for the first time.

pub(crate) mod data_that_compresses;
pub(crate) mod easy_data;
pub(crate) mod first_writes;
pub(crate) mod foreign_datagrams;
pub(crate) mod overwrite_changed_nothing;
pub(crate) mod reads_behind_end;
pub(crate) mod reads_of_unwritten_extents;
pub(crate) mod reads_of_zeroes;
pub(crate) mod short_file;
pub(crate) mod unmarked_blocks;
pub(crate) mod volume_grew;
