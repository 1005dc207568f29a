//! Options of a job that cannot go together, as values with their sentences; these are fio's where fio refuses them too.
//!
//! Must not know: how options are parsed, where messages are printed. Start reading at [`Contradiction`].

use crate::message::UserLine;
use thiserror::Error;

/// Why a job with options that are each allowed is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum Contradiction {
    #[error("--zonemode={mode} and --{option} are not compatible.")]
    ZoneOption { mode: &'static str, option: &'static str },
    /// Something else that this `zonemode` does not take.
    #[error("zonemode={mode} and {what} are not compatible")]
    ZoneMode {
        mode: &'static str,
        /// The option, or words for its value.
        what: &'static str,
    },
    #[error("whole_files=1 and {option} are not compatible")]
    PartsOfWholeFiles { option: &'static str },
    /// Something that a job with several patterns cannot have.
    #[error("patterns and {option} are not compatible")]
    Patterns { option: &'static str },
    /// Something that a job cannot have whose blocks follow from a position that it shares.
    #[error("shared_stream and {option} are not compatible")]
    SharedStream { option: &'static str },
    /// The clones of a job have files of their own, unless they are named.
    #[error("shared_stream needs filename: jobs of a stream go through the same file")]
    SharedStreamWithoutName,
    /// Sizes of files by shares, and by bounds.
    #[error("filesize and filesize_split are not compatible")]
    TwoFileSizes,
    /// Files of 0 bytes, of which there is nothing to read or write in blocks.
    #[error("filesize_split: files of 0 bytes need whole_files=1, and others that are larger")]
    EmptyFiles,
    /// A job of whole files does not say how large they are.
    #[error("whole_files=1 needs filesize, filesize_split or a size in bytes")]
    WholeFilesWithoutSize,
    #[error("whole_files=1: a file of {bytes} bytes is more than an I/O may have ({most_bytes})")]
    WholeFilesTooLarge {
        /// Size of the largest file.
        bytes: u64,
        most_bytes: u64,
    },
    /// An order of ranks in a distribution without ranks.
    #[error("random_distribution_permute needs random_distribution=zipf or pareto")]
    PermutationWithoutRanks,
    /// Trims of several ranges by an engine whose trims have one.
    #[error("can't use multiple ranges with IO engine {0}")]
    RangesOfEngine(String),
    /// Something that cannot be together with trims of several ranges.
    #[error("{0} cannot be used with multiple ranges.")]
    WithRanges(&'static str),
    /// `fdp=1`, and another kind of placement.
    #[error("fdp=1 is not compatible with dataplacement={{streams, none}}")]
    FdpAndOther,
    /// `dataplacement=streams` without `plids`.
    #[error("stream IDs must be provided for dataplacement=streams")]
    StreamsMissing,
    /// `plid_select=scheme` without `dp_scheme`.
    #[error("ruh scheme failed to open scheme file (null)")]
    SchemeMissing,
    /// `zonemode=strided` without the size of its zones.
    #[error("--zonesize must be specified when using --zonemode=strided.")]
    ZoneSizeMissing,
    /// Writes of zones cannot be computed again: the device chooses their offsets.
    #[error("zonemode=zbd does not support experimental verify")]
    ZonesRegenerated,
    /// `recover_zbd_write_error` in a job that ends with its first error.
    #[error("recover_zbd_write_error works only when continue_on_error is set")]
    ZoneRecoveryWithoutContinuing,
    /// Remainders of zones are written at random although a random map was asked for.
    #[error("write_zone_remainder and norandommap=0 are not compatible")]
    ZoneRemainderWithMap,
    /// A size in zones, and no size of zones.
    #[error("{name}={n_zones}z needs zonemode and zonesize")]
    SizeInZones { name: &'static str, n_zones: u64 },
    /// A size in zones that no file can have.
    #[error("{name}={n_zones}z is more than 2^64 bytes")]
    TooManyZones { name: &'static str, n_zones: u64 },
    /// An option of verification in a job that does not verify.
    #[error("{0} needs verify")]
    VerifyMissing(&'static str),
    /// This method compares with a pattern, and none is given.
    #[error("verify={0} needs verify_pattern")]
    PatternMissing(&'static str),
    /// `verify_async` above its maximum.
    #[error("verify_async={n_threads}: at most {most} threads")]
    VerifyThreads { n_threads: u32, most: u32 },
    /// Why the blocks of the job could not be judged after a crash.
    #[error("verify_crash_log: {0}")]
    CrashLog(&'static str),
    /// An option that contradicts the verification of sequential zones, and why.
    #[error("verify with zonemode=zbd cannot be combined with {0}")]
    VerifyOfZones(&'static str),
    /// Header and checksum do not fit into an interval.
    #[error("Blocksize too small to hold a header and checksum of {0} bytes")]
    HeaderTooLarge(u64),
    /// The header would lie behind its interval.
    #[error("cannot offset verify header beyond the verify interval.")]
    HeaderBeyondInterval,
    /// The header would lie over its own old place.
    #[error("verify_offset must be at least {0}: header and checksum would overlap themselves")]
    HeaderOverItself(u64),
    /// Why it cannot be known what a job with `verify_only` has written.
    #[error("{0}")]
    VerifyOnly(&'static str),
    #[error("{0}: cmdprio_percentage and cmdprio_bssplit options are mutually exclusive")]
    PriorityLists(String),
    /// More than all I/Os of a block size have a priority.
    #[error("cmdprio_bssplit total percentage for bs: {0} exceeds 100")]
    PriorityShares(u64),
    /// An option of merging without a file for the result.
    #[error("{0} needs merge_blktrace_file")]
    MergeFileMissing(&'static str),
    /// A list for the merge that has not one value a trace.
    #[error("{name}({n_values}) != nr_logs({n_traces})")]
    MergeList { name: &'static str, n_values: usize, n_traces: usize },
    #[error("{0}: merge_blktrace_file needs read_iolog")]
    MergeWithoutTraces(String),
    /// A trace whose offsets two options would move.
    #[error("{0}: replay_offset and offset are not compatible: both would say where the trace is replayed")]
    MovedTwice(String),
    /// A percentage of files that are not known before the trace is read.
    #[error("{0}: replay_offset needs an offset_increment in bytes, not in percent")]
    MovedByPercent(String),
    /// An option that a replayed trace takes the place of.
    #[error("{job}: {option} cannot be combined with read_iolog: the trace decides")]
    TraceDecides { job: String, option: &'static str },
    /// `profile=act` without time.
    #[error("test-duration must be more than 0")]
    ActDuration,
    /// `profile=act` with reads that have no place in a write.
    #[error(
        "a read must have at least one block, and be no larger than a write (read-req-num-512-blocks, large-block-op-kbytes)"
    )]
    ActSizes,
    /// `profile=act` with less than a read a second for each thread.
    #[error("load and threads-per-queue must give every thread at least one read a second")]
    ActLoad,
}

impl Contradiction {
    pub(crate) fn line(&self) -> UserLine {
        let sentence = self.to_string();
        if self.has_name_of_fio() { UserLine::named(sentence) } else { sentence.into() }
    }

    /// True if fio begins its line with its name.
    const fn has_name_of_fio(&self) -> bool {
        !matches!(
            self,
            Self::ZonesRegenerated
                | Self::ZoneRecoveryWithoutContinuing
                | Self::PriorityLists(_)
                | Self::ActDuration
                | Self::ActSizes
                | Self::ActLoad
        )
    }
}
