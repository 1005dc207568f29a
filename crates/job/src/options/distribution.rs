//! The value of `random_distribution`.
//!
//! Must not know: how blocks are drawn. Start reading at [`set`].
//! Bounds, defaults and lines as seen on fio 3.33.

use crate::draft::{ApplyContext, Draft};
use crate::error::JobError;
use crate::spec::RandomDistribution;
use crate::value::Value;

/// Parameters that hold where a distribution is named without one.
const DEFAULT_THETA: f64 = 1.1;
const DEFAULT_H: f64 = 0.2;
const DEFAULT_DEVIATION_PERCENT: f64 = 0.0;

/// Sets what `KIND[:PARAMETERS]` says.
pub(crate) fn set(draft: &mut Draft, value: &Value, _: &mut ApplyContext<'_>) -> Result<(), JobError> {
    let rest = value.rest();
    draft.job.pattern.distribution = match value.word()? {
        "zipf" => zipf(rest)?,
        "pareto" => pareto(rest)?,
        "normal" => normal(rest)?,
        _ => RandomDistribution::Uniform,
    };
    Ok(())
}

fn said(what: &str) -> JobError {
    JobError::Said(format!("fio: {what}"))
}

fn zipf(rest: Option<&str>) -> Result<RandomDistribution, JobError> {
    let (theta, center) = parameters(rest, DEFAULT_THETA)?;
    if (theta - 1.0).abs() <= f64::EPSILON {
        return Err(said("zipf theta must different than 1.0"));
    }
    if theta < 0.0 {
        return Err(said("zipf theta out of range (0 <= theta)"));
    }
    Ok(RandomDistribution::Zipf { theta, center })
}

fn pareto(rest: Option<&str>) -> Result<RandomDistribution, JobError> {
    let (h, center) = parameters(rest, DEFAULT_H)?;
    if h <= 0.0 || h >= 1.0 {
        return Err(said("pareto input out of range (0 < input < 1.0)"));
    }
    Ok(RandomDistribution::Pareto { h, center })
}

fn normal(rest: Option<&str>) -> Result<RandomDistribution, JobError> {
    let (deviation_percent, center) = parameters(rest, DEFAULT_DEVIATION_PERCENT)?;
    if !(0.0..100.0).contains(&deviation_percent) {
        return Err(said("normal deviation out of range (0 <= input < 100.0)"));
    }
    Ok(RandomDistribution::Normal { deviation_percent, center })
}

/// `[NUMBER[:CENTER]]`.
fn parameters(rest: Option<&str>, default: f64) -> Result<(f64, Option<f64>), JobError> {
    let Some(text) = rest else { return Ok((default, None)) };
    let (number, center) = match text.split_once(':') {
        Some((number, center)) => (number, Some(decimal(center)?)),
        None => (text, None),
    };
    let number = decimal(number)?;
    if center.is_some_and(|center| !(0.0..=1.0).contains(&center)) {
        return Err(said("distribution center out of range (0 <= center <= 1.0)"));
    }
    Ok((number, center))
}

fn decimal(text: &str) -> Result<f64, JobError> {
    let number = text.trim().parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| said("random postfix parsing failed"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{find_general, set};
    use crate::testing::World;

    fn parsed(text: &str) -> Result<RandomDistribution, String> {
        let mut draft = Draft::new();
        let mut messages = crate::message::Messages::new();
        let mut context = ApplyContext { environment: &World::default(), readonly: false, messages: &mut messages };
        let def = find_general("random_distribution").expect("an option");
        set::set(&mut draft, def, Some(text), &mut context).map_err(|error| error.to_string())?;
        Ok(draft.job.pattern.distribution)
    }

    #[test]
    fn parameters_have_defaults() {
        use RandomDistribution::{Normal, Pareto, Uniform, Zipf};
        for (text, expected) in [
            ("random", Uniform),
            ("random:1", Uniform),
            ("zipf", Zipf { theta: 1.1, center: None }),
            ("zipf:0", Zipf { theta: 0.0, center: None }),
            ("zipf:1.2:0.5", Zipf { theta: 1.2, center: Some(0.5) }),
            ("pareto", Pareto { h: 0.2, center: None }),
            ("pareto:0.3:1", Pareto { h: 0.3, center: Some(1.0) }),
            ("normal", Normal { deviation_percent: 0.0, center: None }),
            ("normal:99.9:0", Normal { deviation_percent: 99.9, center: Some(0.0) }),
        ] {
            assert_eq!(parsed(text), Ok(expected), "{text}");
        }
    }

    // Lines as fio 3.33 prints them, but for a theta below 0 and what follows a number.
    #[test]
    fn bad_parameters_are_explained() {
        for (text, line) in [
            ("zipf:1.0", "fio: zipf theta must different than 1.0"),
            ("zipf:", "fio: random postfix parsing failed"),
            ("zipf:abc", "fio: random postfix parsing failed"),
            ("zipf:1.2:abc", "fio: random postfix parsing failed"),
            ("zipf:nan", "fio: random postfix parsing failed"),
            ("zipf:-1", "fio: zipf theta out of range (0 <= theta)"),
            ("zipf:1.2,1.3", "fio: random postfix parsing failed"),
            ("zipf:1.2:2", "fio: distribution center out of range (0 <= center <= 1.0)"),
            ("normal:10:-0.5", "fio: distribution center out of range (0 <= center <= 1.0)"),
            ("pareto:0", "fio: pareto input out of range (0 < input < 1.0)"),
            ("pareto:1", "fio: pareto input out of range (0 < input < 1.0)"),
            ("normal:100", "fio: normal deviation out of range (0 <= input < 100.0)"),
            ("normal:-1", "fio: normal deviation out of range (0 <= input < 100.0)"),
        ] {
            assert_eq!(parsed(text), Err(line.to_owned()), "{text}");
        }
    }
}
