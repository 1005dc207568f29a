//! Figures that a run can have.
//!
//! Must not know: files, formats. Start reading at [`figure`].

use crate::results::error::ReadErrorKind;

/// No figure is larger, in any unit; sums and squares of all figures of a file stay finite.
const MOST: f64 = 1e30;

/// A figure that is finite, not negative, and not absurd.
pub(crate) fn figure(name: &str, value: f64) -> Result<f64, ReadErrorKind> {
    if (0.0..=MOST).contains(&value) { Ok(value) } else { Err(impossible(name, &format!("{value:?}"))) }
}

/// The error of a figure that no run can have.
pub(crate) fn impossible(name: &str, value: &dyn ToString) -> ReadErrorKind {
    ReadErrorKind::Impossible { name: name.to_owned(), value: value.to_string() }
}

#[cfg(test)]
mod tests {
    use super::figure;

    #[test]
    fn figures_are_those_of_a_run() {
        for value in [0.0, f64::MIN_POSITIVE, 1e30] {
            assert!(figure("x", value).is_ok(), "{value}");
        }
        for value in [-1.0, 1e31, f64::INFINITY, f64::NAN, f64::NEG_INFINITY] {
            let error = figure("x", value).expect_err("impossible");
            assert_eq!(error.to_string(), format!("x is {value:?}, which is impossible"));
        }
    }
}
