//! The rules, one file each, in folders by their subject.
//!
//! A rule calls no other rule. What several rules need to know is a measure (`measures`), and a rule whose findings say less than those
//! of others for the same job names them in `yields_to` (`precedence`).
//! Must not know: how findings are shown. Start reading at [`FindingRule`], then [`RULES`].

pub(crate) mod cache;
pub(crate) mod cpu;
pub(crate) mod data;
pub(crate) mod depth;
pub(crate) mod device;
pub(crate) mod limits;
pub(crate) mod network;
pub(crate) mod plan;
pub(crate) mod precedence;
pub(crate) mod range;
pub(crate) mod reports;
pub(crate) mod target;
#[cfg(test)]
pub(crate) mod testing;
pub(crate) mod time;

use crate::audit_input::{AuditInput, AuditedJob};
use crate::unexamined::EvidenceKind;
use ferrio_stats::{Finding, Measured, Severity};
use ferrio_units::DataDirection;

/// Directory of the generated pages, one per rule.
const PAGES: &str = "docs/findings";

/// A rule: its name, its explanations for users, what it needs, and its check of a run.
#[derive(Debug)]
pub struct FindingRule {
    /// Short name; it does not change from version to version.
    pub id: &'static str,
    /// The finding, in a few words.
    pub title: &'static str,
    /// Its effect on the figures.
    pub severity: Severity,
    /// The evidence: the compared figures, and the limit from which the rule reports.
    pub what: &'static str,
    /// Why the finding makes a figure doubtful.
    pub why: &'static str,
    /// Arguments of a run with this finding, or a whole command, which begins with `ferrio`.
    pub example: &'static str,
    /// How to avoid it.
    pub cure: &'static str,
    /// Evidence that it rests on and that a run may lack; besides, it needs only what every record has.
    pub needs: &'static [EvidenceKind],
    /// It rests on options, figures and counters of disks alone, so that it also looks at reports of other programs. A rule that takes
    /// a fact that is not there for its absence does not.
    pub looks_at_reports: bool,
    /// Options that were not done as they were asked where it finds something (see [`crate::accounts`]).
    pub contradicts: &'static [&'static str],
    /// What a finding says about the state in which the figures were measured.
    pub state: MeasuredState,
    /// Short names of rules whose findings explain those of this one: it says nothing about a job where one of them does.
    pub yields_to: &'static [&'static str],
    find: fn(&AuditInput<'_>) -> Vec<Observation>,
}

/// What a finding says about the state in which the figures of a run were measured.
#[derive(Debug, Clone, Copy)]
pub enum MeasuredState {
    /// Nothing against it: another run on the same storage would be in the same state.
    Lasting,
    /// The state passes, such as credit for bursts or a cache that fills: the figures of a longer run are others.
    Transient,
    /// Something else than the storage made the run slow.
    Disturbed(OutsideLoad),
}

/// Load of other programs, by the names of the measured values in the findings of a rule about it.
#[derive(Debug, Clone, Copy)]
pub enum OutsideLoad {
    /// CPU time, seconds.
    Cpu {
        lacked: &'static str,
        /// Values whose sum is all the time in which they lacked it; empty: that time is not known.
        all: &'static [&'static str],
    },
    /// The device, bytes.
    Device {
        /// Moved by other programs.
        others: &'static [&'static str],
        /// Moved by the jobs.
        own: &'static [&'static str],
    },
}

/// What a rule has found: the part of a finding that differs from run to run.
pub(crate) struct Observation {
    /// Positions of the affected jobs in the run; empty: all.
    pub(crate) job_indices: Vec<usize>,
    pub(crate) evidence: Vec<Measured>,
    pub(crate) explanation: String,
    /// How to avoid it, if that depends on the run.
    pub(crate) cure: Option<String>,
    pub(crate) direction: Option<DataDirection>,
}

/// All rules. Rules about one subject are together, the one with the strongest evidence first.
pub const RULES: &[FindingRule] = &[
    plan::cannot_start::RULE,
    plan::job_failed::RULE,
    plan::files_below_block::RULE,
    plan::no_io::RULE,
    data::reads_behind_end::RULE,
    data::foreign_datagrams::RULE,
    network::absent_objects::RULE,
    network::requests_without_data::RULE,
    network::short_objects::RULE,
    network::throttled::RULE,
    network::requests_sent_again::RULE,
    network::lost_connections::RULE,
    network::lost_segments::RULE,
    network::delayed_replies::RULE,
    network::small_window::RULE,
    network::uncommitted_writes::RULE,
    device::device_did_less::RULE,
    device::device_did_less::LOWER,
    reports::fewer_requests::RULE,
    reports::below_any_device::RULE,
    reports::latency_times_rate::RULE,
    reports::rate_times_time::RULE,
    reports::statistics_out_of_order::RULE,
    reports::latencies_disagree::RULE,
    reports::figures_repeated::RULE,
    reports::steady_at_zero::RULE,
    reports::path_in_memory::RULE,
    reports::no_numbers::RULE,
    device::faster_than_link::RULE,
    device::faster_than_memory::RULE,
    data::reads_of_unwritten_extents::RULE,
    cache::process_read_less::RULE,
    cache::buffered_below_page::RULE,
    data::reads_of_zeroes::RULE,
    data::short_file::RULE,
    target::file_under_dev::RULE,
    target::colon_in_filename::RULE,
    target::comma_in_filename::RULE,
    target::comma_in_filename::SPACE,
    plan::late_global::RULE,
    plan::late_global::PARTLY,
    plan::options_of_one_job::RULE,
    plan::section_like_global::RULE,
    plan::rate_below_block::RULE,
    plan::number_without_unit::RULE,
    plan::percentiles_below_one::RULE,
    plan::traces_left_over::RULE,
    data::unmarked_blocks::RULE,
    data::unmarked_blocks::OTHER_KIND,
    data::unmarked_blocks::NOT_READ,
    target::device_is_overwritten::RULE,
    limits::file_size_limit::RULE,
    limits::open_file_limit::RULE,
    limits::locked_memory_limit::RULE,
    limits::buffers_exceed_memory::RULE,
    target::target_in_memory::RULE,
    target::device_in_memory::RULE,
    cache::direct_not_honoured::RULE,
    cache::direct_writes_copied::RULE,
    target::target_on_network::RULE,
    target::target_on_overlay::RULE,
    target::below_unseen::RULE,
    cache::memory_expected::RULE,
    cache::memory_expected::NOT_REACHED,
    cache::device_cache::RULE,
    cache::device_cache::THIN,
    device::other_users::RULE,
    cache::earlier_writes::RULE,
    cache::fits_in_memory::RULE,
    cache::cached_by_earlier_job::RULE,
    cache::cached_by_option::RULE,
    cache::page_cache_limited::RULE,
    cache::writes_still_dirty::RULE,
    cache::unsynced_writes::RULE,
    cache::latency_without_syncs::RULE,
    cache::mounted_sync::RULE,
    cache::data_journaled::RULE,
    data::first_writes::RULE,
    data::first_writes::OF_NEW_FILES,
    data::volume_grew::RULE,
    data::overwrite_changed_nothing::RULE,
    cache::sync_without_flush::RULE,
    cache::syncs_at_once::RULE,
    cache::syncs_never_due::RULE,
    plan::syncs_beside_writes::RULE,
    depth::asynchronous_without_direct::RULE,
    depth::completions_in_batches::RULE,
    depth::depth_of_synchronous_engine::RULE,
    depth::posixaio_one_file::RULE,
    cpu::cpu_quota::RULE,
    cpu::cpu_quota_set::RULE,
    cpu::stolen_cpu_time::RULE,
    cpu::waits_for_cpu::RULE,
    cpu::tail_waits_for_cpu::RULE,
    limits::memory_stalls::RULE,
    time::clock_trouble::RULE,
    time::clock_cost::RULE,
    cpu::load_generator_limit::RULE,
    cpu::verification_cost::RULE,
    device::slowed_by_heat::RULE,
    depth::submission_blocked::RULE,
    time::latency_without_submission::RULE,
    depth::depth_not_reached::RULE,
    limits::io_limit::RULE,
    limits::io_limit::CHANGED,
    limits::io_limit::RULE_BEFORE,
    limits::io_weight::RULE,
    depth::depth_beyond_queue::RULE,
    depth::effect_of_parallelism::RULE,
    time::preparation_counted::RULE,
    time::rate_not_reached::RULE,
    time::latency_without_waiting::RULE,
    range::jobs_share_blocks::RULE,
    range::jobs_share_blocks::AT_RANDOM,
    plan::tests_at_once::RULE,
    plan::name_against_rw::RULE,
    time::ran_alone::RULE,
    data::data_that_compresses::RULE,
    data::easy_data::RULE,
    data::reads_of_zeroes::OF_FILES,
    target::write_refused::RULE,
    target::device_in_use::RULE,
    device::direct_below_logical_block::RULE,
    device::misaligned_partition::RULE,
    device::partial_physical_blocks::RULE,
    device::partial_stripes::RULE,
    device::read_ahead_off::RULE,
    device::requests_merged::RULE,
    device::requests_split::RULE,
    device::trims_split::RULE,
    device::trims_split::REFUSED,
    device::scheduler_of_fast_device::RULE,
    device::write_back_throttled::RULE,
    cache::volatile_cache::RULE,
    cpu::far_numa_node::RULE,
    time::stopped::RULE,
    time::closing_syncs::RULE,
    time::rate_fell::RULE,
    time::rate_fell::WITH_OTHERS,
    time::first_reads_slower::RULE,
    time::rate_drifts::RULE,
    time::stalls::RULE,
    plan::runtime_without_time_based::RULE,
    plan::ramp_outlasts_job::RULE,
    range::small_part_of_disk::RULE,
    range::same_blocks_again::RULE,
    range::range_read_again::RULE,
    range::range_read_again::WRITTEN,
    range::range_trimmed_again::RULE,
    target::trims_of_files::RULE,
    range::few_hot_blocks::RULE,
    plan::number_without_unit::TIME,
    plan::few_samples::RULE,
    plan::few_ios_planned::RULE,
];

impl FindingRule {
    /// A rule about repeated runs that change from run to run, or about several hosts: it looks at no single run, and names itself whatever its finding says.
    pub(crate) const fn of_several(
        id: &'static str,
        title: &'static str,
        what: &'static str,
        why: &'static str,
        example: &'static str,
        cure: &'static str,
    ) -> Self {
        let find = |_: &AuditInput<'_>| Vec::new();
        Self {
            id,
            title,
            severity: Severity::Misleading,
            what,
            why,
            example,
            cure,
            needs: &[],
            looks_at_reports: false,
            contradicts: &[],
            state: MeasuredState::Transient,
            yields_to: &[],
            find,
        }
    }

    /// A command that gets the finding.
    pub fn command(&self) -> String {
        let is_whole = self.example.starts_with("ferrio ");
        if is_whole { self.example.to_owned() } else { format!("ferrio run {}", self.example) }
    }

    pub(crate) fn page(&self) -> String {
        format!("{PAGES}/{}.md", self.id)
    }

    /// What the rule finds in a run, if no other rule says more.
    pub(crate) fn look_at(&self, case: &AuditInput<'_>) -> Vec<Observation> {
        (self.find)(case)
    }

    /// An observation of the rule as users see it.
    pub(crate) fn finding(&self, case: &AuditInput<'_>, found: Observation) -> Finding {
        Finding {
            hosts: Vec::new(),
            id: self.id.to_owned(),
            title: self.title.to_owned(),
            severity: self.severity,
            jobs: found.job_indices.iter().map(|index| case.jobs[*index].name.to_owned()).collect(),
            direction: found.direction,
            evidence: found.evidence,
            explanation: found.explanation,
            cure: found.cure.unwrap_or_else(|| self.cure.to_owned()),
            page: self.page(),
        }
    }
}

impl Observation {
    fn of(job: &AuditedJob<'_>, evidence: Vec<Measured>, explanation: String) -> Self {
        Self::of_jobs([job], evidence, explanation)
    }

    /// An observation about some jobs together.
    fn of_jobs<'j, 'a: 'j>(
        jobs: impl IntoIterator<Item = &'j AuditedJob<'a>>,
        evidence: Vec<Measured>,
        explanation: String,
    ) -> Self {
        let job_indices = jobs.into_iter().map(|job| job.index as usize).collect();
        Self { job_indices, ..Self::of_run(evidence, explanation) }
    }

    fn of_run(evidence: Vec<Measured>, explanation: String) -> Self {
        Self { job_indices: Vec::new(), evidence, explanation, cure: None, direction: None }
    }

    /// The same observation, which is about the figures of one direction only.
    fn about(self, direction: impl Into<Option<DataDirection>>) -> Self {
        Self { direction: direction.into(), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{MIB, TestRun, job};
    use super::*;
    use ferrio_spec::DirectionMix;
    use ferrio_stats::LatencyStat;
    use std::collections::HashSet;

    /// A job that reads and writes, of which only the figures of one direction are doubtful.
    #[test]
    fn findings_about_a_mixed_job_say_which_direction_they_are_about() {
        let directions = |change: &dyn Fn(&mut TestRun)| {
            let mut scene = TestRun::new(job("a", DirectionMix::ReadWrite));
            change(&mut scene);
            let findings = crate::audit(&scene.made()).findings;
            findings.into_iter().map(|found| (found.id, found.direction)).collect::<Vec<_>>()
        };
        let expected = |id: &str, direction| vec![(id.to_owned(), direction)];
        let (read, write) = (Some(DataDirection::Read), Some(DataDirection::Write));
        assert_eq!(directions(&|scene| scene.disk_bytes[0] = 0), expected("device-did-less", read));
        assert_eq!(directions(&|scene| scene.disk_bytes[1] = 0), expected("device-did-less", write));
        assert_eq!(
            directions(&|scene| scene.disk_bytes = [0, 0]),
            [("device-did-less".to_owned(), read), ("device-did-less".to_owned(), write)]
        );
        let few = |index: usize| {
            move |scene: &mut TestRun| {
                let clat = &mut scene.stats().directions.0[index].clat;
                *clat = LatencyStat::new(true);
                (0..10).for_each(|_| clat.record(300_000));
            }
        };
        assert_eq!(directions(&few(0)), expected("few-samples", read));
        assert_eq!(directions(&few(1)), expected("few-samples", write));
        let slow_reads = |scene: &mut TestRun| {
            let clat = &mut scene.stats().directions.0[0].clat;
            (0..100).for_each(|_| clat.record(40_000_000));
        };
        assert_eq!(directions(&slow_reads), expected("stalls", read));
        let limited = |scene: &mut TestRun| {
            scene.limits.io.push(ferrio_stats::provenance::IoLimit {
                device: "vda".to_owned(),
                is_write: false,
                bytes_per_sec: Some(10 * MIB),
                ios_per_sec: None,
            });
        };
        assert_eq!(directions(&limited), expected("io-limit-measured", read));
    }

    #[test]
    fn rules_have_names_of_their_own_and_say_everything() {
        let rules: Vec<&FindingRule> = crate::all_rules().collect();
        let ids: HashSet<&str> = rules.iter().map(|rule| rule.id).collect();
        assert_eq!(ids.len(), rules.len());
        for rule in rules {
            let is_name = |text: &str| text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
            assert!(is_name(rule.id), "{}", rule.id);
            for text in [rule.what, rule.why, rule.cure] {
                assert!(
                    text.ends_with('.') && text.starts_with(|first: char| first.is_ascii_uppercase()),
                    "{}: {text}",
                    rule.id
                );
            }
            assert!(!rule.title.ends_with('.') && rule.example.contains("--"), "{}", rule.id);
            assert!(rule.command().starts_with("ferrio ") && !rule.command().contains("run f"), "{}", rule.command());
        }
    }
}
