//! The syntax of option values: sizes, times, booleans, parenthesised arithmetic and lists. Blanks around numbers do not count; text
//! behind them is refused.
//! Higher crates decide which option takes which kind of value.
//!
//! Must not know: options, jobs. Start reading at [`parse_size`], then [`split_per_direction`].

mod boolean;
mod error;
mod expression;
mod list;
mod number;
mod size;
mod time;

pub use boolean::{parse_bool, parse_flag};
pub use error::ParseError;
pub use list::{
    FloatList, is_list, parse_float, parse_float_list, split_pair, split_per_direction, split_per_direction_by_comma,
};
pub use size::{SizeValue, parse_bytes, parse_integer, parse_integer_in, parse_size, parse_size_range};
pub use time::{TimeUnit, parse_time_us};
