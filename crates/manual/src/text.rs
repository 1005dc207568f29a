//! Small pieces of text that several documents share: words for states, values and bounds.
//!
//! Must not know: the form of any document. Start reading at [`status_word`].

use ferrio_job::options::definition::Status;
use ferrio_job::options::kind::{Bounds, Kind};
use ferrio_spec::DeviationKind;

pub fn status_word(status: Status) -> &'static str {
    match status {
        Status::Supported => "supported",
        Status::Deviates(_) => "deviates",
        Status::Planned(_) => "planned",
        Status::NotApplicable(_) => "not applicable",
    }
}

/// The reason of a status that is not built; empty if there is none.
pub fn status_reason(status: Status) -> &'static str {
    match status {
        Status::NotApplicable(why) | Status::Planned(Some(why)) => why,
        Status::Supported | Status::Deviates(_) | Status::Planned(None) => "",
    }
}

/// Lines that say the status of an option: one for each kind of difference from fio; none if it works as in fio.
pub fn status_lines(status: Status) -> Vec<String> {
    let reason = status_reason(status);
    match status {
        Status::Supported => Vec::new(),
        Status::Deviates(deviations) => {
            let line = |(kind, how): (DeviationKind, &str)| format!("Differs from fio ({}): {how}", kind.name());
            deviations.texts().map(line).collect()
        }
        _ if reason.is_empty() => vec![format!("Status: {}.", status_word(status))],
        _ => vec![format!("Status: {}: {}.", status_word(status), reason.trim_end_matches('.'))],
    }
}

pub fn syntax(kind: Kind) -> &'static str {
    match kind {
        Kind::Bool => "0 or 1",
        Kind::Flag => "nothing, or 0 to switch off",
        Kind::Int(_) => "number",
        Kind::IntPerDirection(_) => "number, or numbers for read,write,trim",
        Kind::Size(_) => "number with size suffix",
        Kind::SizeOrPercent => "size, percent (N%) or zones (Nz)",
        Kind::SizeOrManyPercent => "size, percent (N%, also above 100) or zones (Nz)",
        Kind::SizePair(_) => "size, or low-high",
        Kind::SizePerDirection(_) => "size, or sizes for read,write,trim",
        Kind::RangePerDirection(_) => "low-high, or ranges for read,write,trim",
        Kind::Seconds => "time (seconds)",
        Kind::DrawnSeconds => "time (seconds), low-high, exponential:MEAN or uniform:LOW-HIGH",
        Kind::SecondsPair => "time (seconds), or low-high",
        Kind::Microseconds => "time (microseconds)",
        Kind::DrawnMicroseconds => "time (microseconds), exponential:MEAN or uniform:LOW-HIGH",
        Kind::MicrosecondsPerDirection => "time (microseconds), or times for read,write,trim",
        Kind::Choice(_) | Kind::ChoiceAndLists(_) => "one of the words below",
        Kind::ChoiceSet(_) => "words below, joined by commas",
        Kind::FloatList { .. } => "decimal numbers joined by colons",
        Kind::Text => "text",
        Kind::OptionalText => "text, or nothing",
        Kind::Pattern => "bytes: decimal, 0xhex, \"text\" or 'file'",
        Kind::CpuList => "processors: numbers and ranges, joined by commas",
        Kind::ErrorLists => "error names or numbers",
        Kind::Deprecated => "accepted with a note; no effect",
        Kind::Removed => "refused",
    }
}

/// The bounds of a number: `1 to 256`, `at least 1`; empty when there are none.
pub fn bounds(kind: Kind) -> String {
    if let Kind::FloatList { max_len, min, max } = kind {
        return float_bounds(max_len, min, max);
    }
    match kind.bounds().unwrap_or(Bounds { min: None, max: None }) {
        Bounds { min: None, max: None } => String::new(),
        Bounds { min: Some(min), max: None } => format!("at least {min}"),
        Bounds { min: None, max: Some(max) } => format!("at most {max}"),
        Bounds { min: Some(min), max: Some(max) } => format!("{min} to {max}"),
    }
}

fn float_bounds(max_len: usize, min: Option<f64>, max: Option<f64>) -> String {
    let range = match (min, max) {
        (Some(min), Some(max)) => format!(", each {min} to {max}"),
        (Some(min), None) => format!(", each at least {min}"),
        (None, Some(max)) => format!(", each at most {max}"),
        (None, None) => String::new(),
    };
    format!("at most {max_len}{range}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_job::options::kind::{ANY, at_least, at_most, between};

    #[test]
    fn bounds_are_told_in_words() {
        assert_eq!(bounds(Kind::Int(ANY)), "");
        assert_eq!(bounds(Kind::Int(at_least(1))), "at least 1");
        assert_eq!(bounds(Kind::Size(at_most(9))), "at most 9");
        assert_eq!(bounds(Kind::SizePair(between(1, 2))), "1 to 2");
        assert_eq!(
            bounds(Kind::FloatList { max_len: 3, min: Some(0.0), max: Some(100.0) }),
            "at most 3, each 0 to 100"
        );
    }
}
