//! Values that an option's own check refuses, with their sentences; these are fio's where fio refuses them too.
//!
//! Must not know: how values are parsed, where messages are printed. Start reading at [`RefusedValue`].

use crate::message::UserLine;
use crate::options::patterns::PatternError;
use ferrio_spec::DecimalPercent;
use thiserror::Error;

/// Why an option refuses a value of its kind.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RefusedValue {
    /// A byte that is not UTF-8, for an option that takes text.
    #[error("{option}: byte {at} of the value ({byte:#04x}) is not UTF-8, and this option takes text")]
    NotText {
        option: &'static str,
        /// Place of the byte in the value.
        at: usize,
        byte: u8,
    },
    /// A number that the option's field cannot hold.
    #[error("{option}: value out of range: {number}")]
    OutOfRange {
        option: &'static str,
        /// The given number.
        number: i64,
    },
    /// A list of decimals of which fio takes none; its remarks about each.
    #[error("{}", .0.join("\n"))]
    NoDecimal(Vec<String>),
    /// A size of more than everything.
    #[error("{0} values greater than 100% aren't supported")]
    Above100Percent(&'static str),
    /// A number of zones that is none.
    #[error("{option}: unexpected zone value '{given}'")]
    NotZones {
        option: &'static str,
        /// The value.
        given: String,
    },
    /// A share of zones to leave out.
    #[error("zoneskip is a size or a number of zones, no percentage")]
    ZoneSkipPercent,
    /// Neither a time nor a distribution of times.
    #[error("{option}={given}: give a time, exponential:MEAN or uniform:LOW-HIGH")]
    NotDrawnTime {
        option: &'static str,
        /// The value.
        given: String,
    },
    /// A drawn length that can be 0, which stands for no limit.
    #[error("{option}={given}: 0 would be no limit; give times above it")]
    DrawnZero {
        option: &'static str,
        /// The value.
        given: String,
    },
    /// A CPU that the machine does not have.
    #[error("CPU {cpu} too large (max={max})")]
    CpuTooLarge {
        cpu: u32,
        /// Last CPU of the machine.
        max: u32,
    },
    /// No name and no number of an error.
    #[error("Unknown error {0}, please use number value")]
    UnknownErrno(String),
    /// A text with keywords that is no expression.
    #[error("cannot compute {0}")]
    NotComputed(String),
    /// No size, share or number where a list has one.
    #[error("split conversion failed")]
    Split,
    /// A list with too many entries.
    #[error("hit max of {0} split entries")]
    TooManyEntries(usize),
    /// Shares of block sizes above everything.
    #[error("bssplit percentages add to more than 100%")]
    BlockShares,
    /// An entry of `cmdprio_bssplit`.
    #[error(transparent)]
    PrioritySplit(#[from] PrioritySplitError),
    /// A criterion without its limit.
    #[error("steadystate threshold must be specified in addition to criterion")]
    SteadyLimitMissing,
    /// A limit in percent that is no number.
    #[error("could not parse steadystate threshold percentage")]
    SteadyPercent,
    /// A limit that is no number of its unit; the word for what it limits.
    #[error("steadystate {0} threshold postfix parsing failed")]
    SteadyLimit(&'static str),
    /// `plids` with something that is no number and no ascending range.
    #[error("failed parsing plids={0}")]
    NotPlacementIds(String),
    /// An identifier of a placement above its type.
    #[error("Placement IDs cannot exceed 0xFFFF")]
    PlacementIdTooLarge,
    /// Too many identifiers of placements.
    #[error("only {0} IDs supported")]
    TooManyPlacementIds(usize),
    /// `patterns` that are none.
    #[error("patterns={given}: {why}")]
    Patterns {
        /// The value.
        given: String,
        /// What is wrong in it.
        why: PatternError,
    },
    /// The parameter of a distribution.
    #[error(transparent)]
    Distribution(#[from] DistributionError),
    /// The place of a secret has none.
    #[error("{option}={given}: {why}")]
    Secret {
        option: &'static str,
        /// The value, which is the place.
        given: String,
        /// What is wrong there.
        why: SecretError,
    },
    /// A divisor of offsets below 1.
    #[error("replay_scale: offsets are divided by at least 1")]
    ReplayScale,
    /// An alignment that is none.
    #[error("replay_align: must be a power-of-2")]
    ReplayAlign,
    /// No kind of I/O.
    #[error("Unknown skip type: {0}")]
    ReplaySkip(String),
    /// A scale of times that cannot be.
    #[error("merge_blktrace_scalars: percentages from 0.0001 to 429496")]
    MergeScalars,
    /// No number of passes.
    #[error("merge_blktrace_iters: whole numbers from 1")]
    MergeIters,
    /// A device without spare space.
    #[error("spr_op must be above 0: a full device has no room to clean")]
    OverProvisioning,
    /// A cache below 0.
    #[error("spr_cs cannot be negative")]
    SprandomCache,
    /// What follows the order of `rw` is no number.
    #[error("{0} postfix parsing failed")]
    RwPostfix(&'static str),
    /// The number that follows the order of `rw` is out of its bounds.
    #[error("{0} postfix parsing out of range")]
    RwPostfixOutOfRange(&'static str),
    /// No list of nodes that are online.
    #[error("numa_parse_nodestring failed")]
    NumaNodes,
    /// Nodes for a policy that takes none.
    #[error("NO nodelist for '{0}'")]
    NumaNodesOf(&'static str),
    /// No node for a policy that takes one.
    #[error("one node is needed for 'prefer'")]
    NumaPrefer,
    /// No nodes for a policy that takes some.
    #[error("a nodelist is needed for 'bind'")]
    NumaBind,
    /// No policy.
    #[error("memory policy should be: default, prefer, bind, interleave, local")]
    NumaPolicy,
}

/// Why an entry of `cmdprio_bssplit` is none. fio has a second line about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum PrioritySplitError {
    /// Something is no size or number.
    #[error("split conversion failed")]
    Number,
    /// An entry has too few or too many parts.
    #[error("invalid cmdprio_bssplit format")]
    Form,
}

impl PrioritySplitError {
    fn line(self) -> UserLine {
        let lines = [UserLine::named(self.to_string()), UserLine::named("failed to parse cmdprio_bssplit entry")];
        UserLine::joined(&lines, "\n")
    }
}

/// Why a distribution of offsets or files is none.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DistributionError {
    /// A theta for which Zipf's law has no sum, for offsets.
    #[error("zipf theta must different than 1.0")]
    ThetaOfOne,
    /// The same for files.
    #[error("zipf theta must be different than 1.0")]
    FileThetaOfOne,
    /// A theta below 0.
    #[error("zipf theta out of range (0 <= theta)")]
    Theta,
    /// An input of Pareto's law out of its bounds.
    #[error("pareto input out of range (0 < input < 1.0)")]
    Pareto,
    /// A deviation out of its bounds.
    #[error("normal deviation out of range (0 <= input < 100.0)")]
    Deviation,
    /// A center out of its bounds.
    #[error("distribution center out of range (0 <= center <= 1.0)")]
    Center,
    /// A parameter that is no number, for offsets.
    #[error("random postfix parsing failed")]
    Number,
    /// The same for files.
    #[error("file service type random postfix parsing failed")]
    FileNumber,
    /// A list without a zone, or with an empty one.
    #[error("mismatch in zoned input: no zone")]
    NoZone,
    /// Zones with more than everything.
    #[error("zone_split percentages add to more than 100%")]
    ZonesAbove100,
    /// Zones with less than all I/Os; their sum.
    #[error("access percentage don't add up to 100 for zoned random distribution (got={0})")]
    ZonesBelow100(DecimalPercent),
    /// A sequence with something that is no number of a block.
    #[error("random sequence parsing failed")]
    Sequence,
    /// A sequence with too many blocks.
    #[error("random sequence has more than {0} blocks")]
    SequenceTooLong(usize),
}

/// Why there is no secret where a value says that there is one.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SecretError {
    /// The variable is not set, or empty.
    #[error("the environment has no such variable")]
    NoVariable,
    /// The file cannot be read; the system's words.
    #[error("{0}")]
    Unread(String),
    /// The file is larger than secrets are.
    #[error("the file has more than {0} bytes")]
    TooLarge(u64),
    /// The file is no text.
    #[error("the file is not UTF-8")]
    NotText,
    /// The file has nothing in it.
    #[error("the file is empty")]
    Empty,
}

impl RefusedValue {
    /// The line about it.
    pub(crate) fn line(&self) -> UserLine {
        match self {
            Self::PrioritySplit(error) => error.line(),
            _ if self.has_name_of_fio() => UserLine::named(self.to_string()),
            _ => self.to_string().into(),
        }
    }

    /// True if fio begins its line with its name.
    const fn has_name_of_fio(&self) -> bool {
        !matches!(
            self,
            Self::NotText { .. }
                | Self::OutOfRange { .. }
                | Self::NoDecimal(_)
                | Self::NotZones { .. }
                | Self::UnknownErrno(_)
                | Self::PlacementIdTooLarge
                | Self::ReplayScale
                | Self::ReplayAlign
                | Self::ReplaySkip(_)
                | Self::MergeScalars
                | Self::MergeIters
        )
    }
}
