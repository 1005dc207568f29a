//! Faults of a value; each has the given text and the allowed values. The caller adds the option's name.

/// Why a text is no value of the expected kind.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ParseError {
    /// No value was given although one is needed.
    #[error("no value given")]
    Empty,
    #[error("`{given}` is not a number")]
    NotANumber { given: String },
    /// Text behind a number that is no suffix.
    #[error("`{given}`: `{rest}` behind the number is not understood; {allowed}")]
    LeftOver {
        given: String,
        /// The text behind the number.
        rest: String,
        /// What may be there, as a sentence.
        allowed: &'static str,
    },
    /// A range where one value, or one for each direction, is allowed.
    #[error(
        "`{given}` is a range, which is not possible here; values for reads, writes and trims are joined by commas"
    )]
    RangeNotAllowed { given: String },
    /// A whole number outside of the allowed range.
    #[error("`{given}` is out of range: {min} to {max} are allowed")]
    OutOfRange { given: String, min: i128, max: i128 },
    /// A number with decimals outside of the allowed range.
    #[error("`{given}` is out of range: {min} to {max} are allowed")]
    FloatOutOfRange { given: String, min: f64, max: f64 },
    /// The text does not start with a number with or without decimals.
    #[error("`{given}` is not a floating point value")]
    NotAFloat { given: String },
    /// A percentage where only a plain number is allowed.
    #[error("`{given}`: a percentage is not allowed here")]
    PercentNotAllowed { given: String },
    /// A number of zones where only a plain number is allowed.
    #[error("`{given}`: the suffix `z` (zones) is not allowed here")]
    ZonesNotAllowed { given: String },
    #[error("`{given}` is not a number of zones: digits and `z` are allowed")]
    NotZones { given: String },
    /// Neither 0 nor 1.
    #[error("`{given}` is not a boolean: 0 and 1 are allowed")]
    NotABoolean { given: String },
    /// Not two values with a separator.
    #[error("`{given}` is not a range: `low-high` or `low:high` is allowed")]
    NotARange { given: String },
    /// A list with more values than the option has places.
    #[error("`{given}` has too many values: {max} are allowed")]
    TooManyValues { given: String, max: usize },
    /// Parenthesised arithmetic that cannot be evaluated.
    #[error("`{given}`: {problem} at character {column}")]
    Expression {
        given: String,
        problem: &'static str,
        /// Its position, in characters from 1.
        column: usize,
    },
}
