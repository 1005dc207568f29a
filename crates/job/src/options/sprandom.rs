//! What `sprandom` and its kin do to a draft, and what cannot go together with it.
//!
//! Must not know: how values are parsed, which blocks are written. Start reading at [`lower`].

use crate::draft::{ApplyContext, Draft};
use crate::error::JobError;
use crate::spec::{DirectionMix, FileService, JobSpec, RandomDistribution, RandomGenerator, SpRandomSpec, ZoneSpec};
use crate::value::Value;
use ferrio_units::DataDirection;

/// The options as they were given.
#[derive(Debug, Clone, Copy)]
pub struct SpRandomDraft {
    /// `sprandom`.
    pub is_on: bool,
    /// What counts if it is.
    pub spec: SpRandomSpec,
}

impl Default for SpRandomDraft {
    fn default() -> Self {
        Self { is_on: false, spec: SpRandomSpec { n_regions: 100, over_provisioning: 0.15, cache_bytes: 0 } }
    }
}

pub(super) fn over_provisioning(draft: &mut Draft, value: &Value, _: &mut ApplyContext<'_>) -> Result<(), JobError> {
    let Value::Floats(list, _) = value else { return Err(JobError::NotParsed) };
    let given = list.first().copied().ok_or(JobError::NotParsed)?;
    if given <= 0.0 {
        return Err(JobError::Said("fio: spr_op must be above 0: a full device has no room to clean".to_owned()));
    }
    draft.open.sprandom.spec.over_provisioning = given;
    Ok(())
}

pub(super) fn cache(draft: &mut Draft, value: &Value, _: &mut ApplyContext<'_>) -> Result<(), JobError> {
    let bytes = u64::try_from(value.number()?);
    draft.open.sprandom.spec.cache_bytes =
        bytes.map_err(|_| JobError::Said("fio: spr_cs cannot be negative".to_owned()))?;
    Ok(())
}

/// What a job does by `sprandom`; `None`: it is off, and what it would assume counts for nothing.
///
/// # Errors
/// A line that says why it cannot be.
pub(crate) fn lower(job: &JobSpec, draft: &SpRandomDraft) -> Result<Option<SpRandomSpec>, String> {
    if !draft.is_on {
        return Ok(None);
    }
    match contradiction(job) {
        Some(other) => Err(format!("fio: sprandom=1 and {other} are not compatible")),
        None => Ok(Some(draft.spec)),
    }
}

/// The option beside which a pass would not be what the model says.
fn contradiction(job: &JobSpec) -> Option<&'static str> {
    let pattern = &job.pattern;
    let write = DataDirection::Write;
    let size = pattern.block_size[write];
    let has_sizes = size.min_bytes != size.max_bytes || !pattern.block_split[write].is_empty();
    let rows = [
        (job.replay.is_set(), "read_iolog"),
        (pattern.mix != DirectionMix::Write || !pattern.random, "an rw other than randwrite"),
        (pattern.rw_postfix > 1, "runs of several blocks (rw=randwrite:N)"),
        (has_sizes, "blocks of several sizes (bsrange, bssplit)"),
        (pattern.bs_unaligned, "bs_unaligned"),
        (pattern.block_align[write].is_some_and(|align| align != size.min_bytes), "a blockalign other than bs"),
        (pattern.norandommap, "norandommap"),
        (pattern.random_generator == Some(RandomGenerator::Lfsr), "random_generator=lfsr"),
        (pattern.distribution != RandomDistribution::Uniform, "a random_distribution other than random"),
        (pattern.percentage_random[write] < 100, "a percentage_random below 100"),
        (matches!(job.target.file_service, FileService::Skewed(_)), "a skewed file_service_type"),
        (job.zones != ZoneSpec::None, "zonemode"),
        (job.extent.fill_device, "fill_device"),
    ];
    rows.into_iter().find(|(is_set, _)| *is_set).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::zone_mode::tests::lowered;

    #[test]
    fn options_arrive() {
        let spec = |text: &str| lowered(&format!("rw=randwrite size=1g {text}")).unwrap().pattern.sprandom;
        let default = SpRandomSpec { n_regions: 100, over_provisioning: 0.15, cache_bytes: 0 };
        assert_eq!(spec("sprandom=1"), Some(default));
        let given = SpRandomSpec { n_regions: 7, over_provisioning: 0.28, cache_bytes: 64 << 20 };
        assert_eq!(spec("sprandom=1 spr_op=0.28 spr_num_regions=7 spr_cs=64m"), Some(given));
    }

    #[test]
    fn without_sprandom_its_kin_change_nothing() {
        let with = lowered("rw=read size=1m spr_op=0.28 spr_num_regions=7 spr_cs=64m sprandom=0").unwrap();
        assert_eq!(with, lowered("rw=read size=1m").unwrap());
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for (more, other) in [
            ("rw=write", "an rw other than randwrite"),
            ("rw=randrw", "an rw other than randwrite"),
            ("rw=randtrimwrite", "an rw other than randwrite"),
            ("rw=randwrite:8", "runs of several blocks (rw=randwrite:N)"),
            ("bsrange=4k-8k", "blocks of several sizes (bsrange, bssplit)"),
            ("bssplit=4k/50:8k/50", "blocks of several sizes (bsrange, bssplit)"),
            ("bs_unaligned=1", "bs_unaligned"),
            ("blockalign=512", "a blockalign other than bs"),
            ("norandommap=1", "norandommap"),
            ("random_generator=lfsr", "random_generator=lfsr"),
            ("random_distribution=zipf:1.2", "a random_distribution other than random"),
            ("percentage_random=100,99", "a percentage_random below 100"),
            ("file_service_type=zipf:1.2", "a skewed file_service_type"),
            ("zonemode=strided zonesize=64k", "zonemode"),
            ("zonemode=zbd zonesize=64k", "zonemode"),
            ("fill_device=1", "fill_device"),
            ("read_iolog=trace", "read_iolog"),
        ] {
            let line = lowered(&format!("rw=randwrite size=1m sprandom=1 {more}")).unwrap_err();
            assert_eq!(line, [format!("fio: sprandom=1 and {other} are not compatible")], "{more}");
        }
        for more in ["blockalign=4k", "bs_unaligned=0", "randrepeat=0", "percentage_random=1,100", "verify=crc32c"] {
            assert!(lowered(&format!("rw=randwrite size=1m sprandom=1 {more}")).is_ok(), "{more}");
        }
    }

    #[test]
    fn values_have_their_bounds() {
        for text in ["spr_op=0", "spr_op=-1", "spr_op=101", "spr_op=x", "spr_num_regions=0", "spr_cs=-1"] {
            assert!(lowered(text).is_err(), "{text}");
        }
        for text in ["spr_op=0.001", "spr_op=100", "spr_num_regions=1", "spr_cs=0"] {
            assert!(lowered(text).is_ok(), "{text}");
        }
    }
}
