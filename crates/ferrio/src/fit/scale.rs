//! A load some times larger: the options that say how much it is, multiplied.
//!
//! Must not know: recipes. Start reading at [`multiply`].

use ferrio_job::{Diagnostic, Environment, Template};
use ferrio_spec::RunSpec;

/// The options that can be multiplied.
const OPTIONS: [&str; 4] = ["rate", "rate_iops", "numjobs", "iodepth"];

/// Factors are in hundredths.
pub(crate) const ONE: u64 = 100;

/// An option cannot be multiplied.
#[derive(Debug, thiserror::Error)]
#[error("scale: {0} is none of {options}", options = OPTIONS.join(", "))]
pub struct NotScaled(String);

/// Looks whether all options can be multiplied.
pub(crate) fn check(options: &[String]) -> Result<(), NotScaled> {
    match options.iter().find(|option| !OPTIONS.contains(&option.as_str())) {
        Some(option) => Err(NotScaled(option.clone())),
        None => Ok(()),
    }
}

pub(crate) fn is_multiplied(spec: &RunSpec, job: &str, options: &[String]) -> bool {
    let of_job = spec.jobs.iter().filter(|one| one.name == job);
    of_job.flat_map(|one| &one.given_options).any(|(given, _)| options.contains(given))
}

/// Sets the options of all jobs of `spec` that have them to `hundredths` of their values.
pub(crate) fn multiply(
    template: &mut Template,
    spec: &RunSpec,
    options: &[String],
    hundredths: u64,
    environment: &dyn Environment,
) -> Result<(), Diagnostic> {
    for job in &spec.jobs {
        for name in options {
            // What is given last counts.
            let given = job.given_options.iter().rev().find(|(given, _)| given == name);
            let Some((_, text)) = given else { continue };
            let value = multiplied(text, hundredths);
            if let Some(value) = value {
                template.set(Some(&job.name), name, Some(&value), environment)?;
            }
        }
    }
    Ok(())
}

/// Each number of a list, with its unit, multiplied; `None`: it has none.
fn multiplied(text: &str, hundredths: u64) -> Option<String> {
    let of_part = |part: &str| {
        let part = part.trim();
        if part.is_empty() {
            return Some(String::new());
        }
        let n_digits = part.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, unit) = part.split_at(n_digits);
        let number: u64 = digits.parse().ok()?;
        // In a smaller unit, so that small factors count.
        let smaller = [("k", ""), ("m", "k"), ("g", "m")].iter().find(|(large, _)| unit.eq_ignore_ascii_case(large));
        let (number, unit) = smaller.map_or((number, unit), |(_, small)| (number.saturating_mul(1024), *small));
        let scaled = (u128::from(number) * u128::from(hundredths)).div_ceil(u128::from(ONE));
        Some(format!("{}{unit}", u64::try_from(scaled).ok()?.max(1)))
    };
    text.split(',').map(of_part).collect::<Option<Vec<_>>>().map(|parts| parts.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_units() {
        assert_eq!(multiplied("150", 200).as_deref(), Some("300"));
        assert_eq!(multiplied("150", 105).as_deref(), Some("158"));
        assert_eq!(multiplied("1m", 150).as_deref(), Some("1536k"));
        assert_eq!(multiplied("556k,,2k", 200).as_deref(), Some("1138688,,4096"));
        assert_eq!(multiplied("fast", 200), None);
    }
}
