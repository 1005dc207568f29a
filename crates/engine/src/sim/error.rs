//! What is wrong with the text of a `sim_*` option.
//!
//! Must not know: which option it is. Start reading at [`SimTextError`].

pub(super) const MAX_CHANNELS: u64 = 65_536;

/// What is wrong with the text of a `sim_*` option.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(crate) enum SimTextError {
    /// No time.
    #[error("'{0}' is not a time; allowed: a number with ns, us, ms or s, such as 100us")]
    Time(String),
    /// A time that is too long.
    #[error("'{0}' is longer than a day")]
    LongTime(String),
    /// No size.
    #[error("'{0}' is not a size; allowed: a number with k, m, g, t or p, such as 16m or 16MiB")]
    Size(String),
    #[error("'{0}' must be more than 0")]
    Zero(String),
    /// No number.
    #[error("'{0}' is not a number")]
    Number(String),
    /// Other parts than the option has.
    #[error("'{text}' does not have the form {form}")]
    Form { text: String, form: &'static str },
    #[error("the burst rate {burst} is below the base rate {base}")]
    SlowBurst { burst: String, base: String },
    /// Stalls as long as the time from one to the next.
    #[error("a stall of {duration} every {every} leaves no time to work")]
    EndlessStall {
        duration: String,
        /// Time from one to the next.
        every: String,
    },
    /// A fault of another direction.
    #[error("'{0}': this fault does not happen in this direction")]
    FaultDirection(String),
    /// A duration of a fault that has none.
    #[error("'{0}': only a stall has a duration")]
    FaultDuration(String),
    /// No fault.
    #[error("'{0}' is not a fault; allowed: eio, short, torn, lost, misdirected, flip, stall:DURATION")]
    Fault(String),
    #[error("'{0}' is neither a probability (0.01, 1%) nor a count (100: the 100th, /100: every 100th)")]
    When(String),
    #[error("the probability {0} is above 1")]
    Probability(String),
    /// A fault that shows only in the contents of a device, of a device without contents.
    #[error("'{0}' shows only in the contents: it needs sim_data=1")]
    NeedsContents(&'static str),
    /// No direction.
    #[error("'{name}' is not a direction; allowed: {allowed}")]
    Direction { name: String, allowed: String },
    /// No distribution.
    #[error("'{0}' is not a distribution; allowed: fixed:T, uniform:T-T, exponential:MEAN, lognormal:MEDIAN/SIGMA")]
    Distribution(String),
    /// No range of times.
    #[error("'{0}' is not a range of times; allowed: T-T, such as 50us-150us")]
    Range(String),
    #[error("the range '{0}' ends before it begins")]
    EmptyRange(String),
    /// A `sigma` that is too large.
    #[error("sigma {0} is above 10")]
    Sigma(f64),
    /// A read cache that is too small or too large.
    #[error("a read cache of {0} is not within 4k to 16g")]
    ReadCache(String),
    #[error("allowed: 1 to {MAX_CHANNELS}")]
    Channels,
}
