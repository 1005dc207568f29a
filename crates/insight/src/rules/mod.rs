//! The rules, one file each.
//!
//! Must not know: how findings are shown. Start reading at [`FindingRule`], then [`RULES`].

mod asynchronous_without_direct;
pub(crate) mod below_unseen;
pub(crate) mod buffered_below_page;
mod buffers_exceed_memory;
mod cached_by_earlier_job;
mod clock_cost;
mod clock_trouble;
mod colon_in_filename;
mod cpu_quota;
mod cpu_quota_set;
mod data_that_compresses;
mod depth_beyond_queue;
mod depth_not_reached;
mod depth_of_synchronous_engine;
mod device_cache;
pub(crate) mod device_did_less;
mod device_in_use;
mod device_is_overwritten;
mod direct_below_logical_block;
mod direct_not_honoured;
mod direct_writes_copied;
mod earlier_writes;
mod easy_data;
mod effect_of_parallelism;
mod far_numa_node;
mod faster_than_link;
mod faster_than_memory;
mod few_hot_blocks;
mod few_ios_planned;
mod few_samples;
mod file_size_limit;
mod file_under_dev;
mod first_reads_slower;
mod first_writes;
mod fits_in_memory;
mod foreign_datagrams;
mod io_limit;
mod io_weight;
mod job_failed;
mod jobs_share_blocks;
mod latency_without_submission;
mod latency_without_syncs;
mod latency_without_waiting;
mod load_generator_limit;
mod locked_memory_limit;
mod memory_stalls;
mod misaligned_partition;
mod no_io;
mod open_file_limit;
mod other_users;
mod overwrite_changed_nothing;
mod page_cache_limited;
mod partial_physical_blocks;
mod partial_stripes;
mod posixaio_one_file;
mod preparation_counted;
mod process_read_less;
mod ramp_outlasts_job;
pub(crate) mod range_read_again;
mod range_trimmed_again;
mod rate_drifts;
mod rate_fell;
mod rate_not_reached;
mod reads_behind_end;
mod reads_of_unwritten_extents;
mod reads_of_zeroes;
mod requests_merged;
mod requests_split;
mod runtime_without_time_based;
pub(crate) mod same_blocks_again;
mod scheduler_of_fast_device;
mod slowed_by_heat;
mod small_part_of_disk;
mod stalls;
mod stolen_cpu_time;
mod submission_blocked;
pub(crate) mod sync_without_flush;
mod syncs_never_due;
mod tail_waits_for_cpu;
mod target_in_memory;
mod target_on_network;
mod target_on_overlay;
#[cfg(test)]
pub(crate) mod testing;
mod trims_split;
mod unsynced_writes;
mod verification_cost;
mod volatile_cache;
mod volume_grew;
mod waits_for_cpu;
mod write_back_throttled;
mod write_refused;
mod writes_still_dirty;

use crate::case::Case;
use ferrio_stats::{Finding, FindingDirection, Measured, Severity};

pub(crate) use depth_not_reached::is_held_back;

/// Directory of the generated pages, one per rule.
const PAGES: &str = "docs/findings";

/// A rule: its name, its explanations for users, and its check of a run.
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
    /// Arguments of a run with this finding.
    pub example: &'static str,
    /// How to avoid it.
    pub cure: &'static str,
    find: fn(&Case<'_>) -> Vec<Observation>,
}

/// What a rule has found: the part of a finding that differs from run to run.
pub(crate) struct Observation {
    pub(crate) jobs: Vec<String>,
    pub(crate) evidence: Vec<Measured>,
    pub(crate) explanation: String,
    /// How to avoid it, if that depends on the run.
    pub(crate) cure: Option<String>,
    /// The direction that it is about.
    pub(crate) direction: FindingDirection,
}

/// All rules. Rules about one subject are together, the one with the strongest evidence first.
pub const RULES: &[FindingRule] = &[
    job_failed::RULE,
    no_io::RULE,
    reads_behind_end::RULE,
    foreign_datagrams::RULE,
    device_did_less::RULE,
    device_did_less::LOWER,
    faster_than_link::RULE,
    faster_than_memory::RULE,
    reads_of_unwritten_extents::RULE,
    process_read_less::RULE,
    buffered_below_page::RULE,
    reads_of_zeroes::RULE,
    file_under_dev::RULE,
    colon_in_filename::RULE,
    device_is_overwritten::RULE,
    file_size_limit::RULE,
    open_file_limit::RULE,
    locked_memory_limit::RULE,
    buffers_exceed_memory::RULE,
    target_in_memory::RULE,
    direct_not_honoured::RULE,
    direct_writes_copied::RULE,
    target_on_network::RULE,
    target_on_overlay::RULE,
    below_unseen::RULE,
    device_cache::RULE,
    device_cache::THIN,
    other_users::RULE,
    earlier_writes::RULE,
    fits_in_memory::RULE,
    cached_by_earlier_job::RULE,
    page_cache_limited::RULE,
    writes_still_dirty::RULE,
    unsynced_writes::RULE,
    latency_without_syncs::RULE,
    first_writes::RULE,
    volume_grew::RULE,
    overwrite_changed_nothing::RULE,
    sync_without_flush::RULE,
    syncs_never_due::RULE,
    asynchronous_without_direct::RULE,
    depth_of_synchronous_engine::RULE,
    posixaio_one_file::RULE,
    cpu_quota::RULE,
    cpu_quota_set::RULE,
    stolen_cpu_time::RULE,
    waits_for_cpu::RULE,
    tail_waits_for_cpu::RULE,
    memory_stalls::RULE,
    clock_trouble::RULE,
    clock_cost::RULE,
    load_generator_limit::RULE,
    verification_cost::RULE,
    slowed_by_heat::RULE,
    submission_blocked::RULE,
    latency_without_submission::RULE,
    depth_not_reached::RULE,
    io_limit::RULE,
    io_limit::RULE_BEFORE,
    io_weight::RULE,
    depth_beyond_queue::RULE,
    effect_of_parallelism::RULE,
    preparation_counted::RULE,
    rate_not_reached::RULE,
    latency_without_waiting::RULE,
    jobs_share_blocks::RULE,
    jobs_share_blocks::AT_RANDOM,
    data_that_compresses::RULE,
    easy_data::RULE,
    reads_of_zeroes::OF_FILES,
    write_refused::RULE,
    device_in_use::RULE,
    direct_below_logical_block::RULE,
    misaligned_partition::RULE,
    partial_physical_blocks::RULE,
    partial_stripes::RULE,
    requests_merged::RULE,
    requests_split::RULE,
    trims_split::RULE,
    trims_split::REFUSED,
    scheduler_of_fast_device::RULE,
    write_back_throttled::RULE,
    volatile_cache::RULE,
    far_numa_node::RULE,
    rate_fell::RULE,
    rate_fell::WITH_OTHERS,
    first_reads_slower::RULE,
    rate_drifts::RULE,
    stalls::RULE,
    runtime_without_time_based::RULE,
    ramp_outlasts_job::RULE,
    small_part_of_disk::RULE,
    same_blocks_again::RULE,
    range_read_again::RULE,
    range_trimmed_again::RULE,
    few_hot_blocks::RULE,
    few_samples::RULE,
    few_ios_planned::RULE,
];

impl FindingRule {
    pub(crate) fn look_at(&self, case: &Case<'_>) -> Vec<Finding> {
        let finding = |found: Observation| Finding {
            id: self.id.to_owned(),
            title: self.title.to_owned(),
            severity: self.severity,
            jobs: found.jobs,
            direction: found.direction,
            evidence: found.evidence,
            explanation: found.explanation,
            cure: found.cure.unwrap_or_else(|| self.cure.to_owned()),
            page: format!("{PAGES}/{}.md", self.id),
        };
        (self.find)(case).into_iter().map(finding).collect()
    }
}

impl Observation {
    /// An observation about one job.
    fn of(job: &str, evidence: Vec<Measured>, explanation: String) -> Self {
        Self::of_jobs(vec![job.to_owned()], evidence, explanation)
    }

    /// An observation about some jobs together, or all of them if none is named.
    fn of_jobs(jobs: Vec<String>, evidence: Vec<Measured>, explanation: String) -> Self {
        Self { jobs, evidence, explanation, cure: None, direction: FindingDirection::None }
    }

    /// The same observation, which is about the figures of one direction only.
    fn about(self, direction: impl Into<FindingDirection>) -> Self {
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
        let (read, write) = (FindingDirection::Read, FindingDirection::Write);
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
        let ids: HashSet<&str> = RULES.iter().map(|rule| rule.id).collect();
        assert_eq!(ids.len(), RULES.len());
        for rule in RULES {
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
        }
    }
}
