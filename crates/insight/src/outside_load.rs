//! Load of other programs that makes a run slow, from the finding about it.
//!
//! Must not know: which rules there are. Start reading at [`OutsideLoadFigures::of`].

use crate::rules::{MeasuredState, OutsideLoad};
use ferrio_stats::Finding;

/// How large the load of other programs was.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OutsideLoadFigures {
    /// CPU time, seconds.
    Cpu {
        lacked_secs: f64,
        /// All the time in which they lacked it; 0: not known.
        all_secs: f64,
    },
    /// The device, bytes.
    Device {
        /// Moved by other programs.
        others_bytes: f64,
        /// Moved by the jobs.
        own_bytes: f64,
    },
}

impl OutsideLoadFigures {
    /// The load that a finding is about; `None`: it is about something else.
    pub fn of(finding: &Finding) -> Option<Self> {
        let MeasuredState::Disturbed(load) = crate::rule_of(finding)?.state else { return None };
        let values = |names: &[&str]| -> Vec<f64> {
            let is_named = |what: &str| names.contains(&what);
            finding.evidence.iter().filter(|one| is_named(&one.what)).map(|one| one.value).collect()
        };
        let total = |names: &[&str]| -> f64 { values(names).into_iter().sum() };
        Some(match load {
            OutsideLoad::Cpu { lacked, all } => {
                Self::Cpu { lacked_secs: *values(&[lacked]).first()?, all_secs: total(all) }
            }
            OutsideLoad::Device { others, own } => Self::Device { others_bytes: total(others), own_bytes: total(own) },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::all_rules;
    use ferrio_stats::Measured;

    fn finding(id: &str, evidence: Vec<Measured>) -> Finding {
        let rule = all_rules().find(|rule| rule.id == id).expect("a rule");
        Finding {
            hosts: Vec::new(),
            id: id.to_owned(),
            title: String::new(),
            severity: rule.severity,
            jobs: Vec::new(),
            direction: None,
            evidence,
            explanation: String::new(),
            cure: String::new(),
            page: String::new(),
        }
    }

    #[test]
    fn findings_about_other_programs_have_their_load() {
        let stolen = vec![Measured::seconds("stolen", 1.0), Measured::seconds("busy", 3.0)];
        let cpu = OutsideLoadFigures::Cpu { lacked_secs: 1.0, all_secs: 4.0 };
        assert_eq!(OutsideLoadFigures::of(&finding("stolen-cpu-time", stolen.clone())), Some(cpu));
        assert_eq!(OutsideLoadFigures::of(&finding("stalls", stolen)), None);
        let moved = |what: &str, bytes| Measured::bytes(what, bytes);
        let of_device = vec![moved("read by the job", 5), moved("read by others", 2), moved("written by others", 1)];
        let device = OutsideLoadFigures::Device { others_bytes: 3.0, own_bytes: 5.0 };
        assert_eq!(OutsideLoadFigures::of(&finding("other-users", of_device)), Some(device));
    }
}
