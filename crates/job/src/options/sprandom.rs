//! Applies `sprandom` and the `spr_` options to a draft, and refuses contradictory options.
//!
//! Must not know: how values are parsed, which blocks are written. Start reading at [`lower`].

use crate::error::JobError;
use crate::message::UserLine;
use crate::options::draft::{ApplyContext, Draft};
use crate::options::drafts::SpRandomDraft;
use crate::value::Value;
use ferrio_spec::{DirectionMix, FileService, JobSpec, RandomDistribution, RandomGenerator, ZoneSpec};
use ferrio_units::DataDirection;

pub(super) fn over_provisioning(draft: &mut Draft, value: &Value, _: &mut ApplyContext<'_>) -> Result<(), JobError> {
    let Value::Floats(list, _) = value else { return Err(JobError::NotParsed) };
    let given = list.first().copied().ok_or(JobError::NotParsed)?;
    if given <= 0.0 {
        return Err(JobError::Said(UserLine::named("spr_op must be above 0: a full device has no room to clean")));
    }
    draft.open.sprandom.spec.over_provisioning = given;
    Ok(())
}

pub(super) fn cache(draft: &mut Draft, value: &Value, _: &mut ApplyContext<'_>) -> Result<(), JobError> {
    let bytes = u64::try_from(value.number()?);
    draft.open.sprandom.spec.cache_bytes =
        bytes.map_err(|_| JobError::Said(UserLine::named("spr_cs cannot be negative")))?;
    Ok(())
}

/// Adds the settings of `sprandom` to the job, and adjusts other options to them. Returns lines about these
/// adjustments, for standard output.
pub(crate) fn lower(job: &mut JobSpec, draft: &SpRandomDraft, wants_map: bool) -> Result<Vec<UserLine>, Vec<UserLine>> {
    if !draft.is_on {
        // Without `sprandom` its other options have no effect.
        return Ok(Vec::new());
    }
    let pattern = &mut job.pattern;
    if !pattern.random || !pattern.mix.directions()[DataDirection::Write] {
        return Err(vec![UserLine::named("sprandom requires random write, random_generator=lfsr, norandommap=1")]);
    }
    let (mut notes, mut refusals) = (Vec::new(), Vec::new());
    match pattern.random_generator {
        Some(RandomGenerator::Lfsr) => {}
        Some(_) => refusals.push(UserLine::named("sprandom requires random_generator=lfsr")),
        None => notes.push(UserLine::named("sprandom sets random_generator=lfsr")),
    }
    if wants_map {
        refusals.push(UserLine::named("sprandom requires norandommap=1"));
    } else if !pattern.norandommap {
        notes.push(UserLine::named("sprandom sets norandommap=1"));
    }
    if !refusals.is_empty() {
        return Err(refusals);
    }
    (pattern.random_generator, pattern.norandommap) = (Some(RandomGenerator::Lfsr), true);
    if let Some(other) = contradiction(job) {
        return Err(vec![UserLine::named(format!("sprandom=1 and {other} are not compatible"))]);
    }
    job.pattern.sprandom = Some(draft.spec);
    Ok(notes)
}

/// The option that contradicts the model of the pass, if there is one.
fn contradiction(job: &JobSpec) -> Option<&'static str> {
    let pattern = &job.pattern;
    let write = DataDirection::Write;
    let size = pattern.block_size[write];
    let has_sizes = size.min_bytes != size.max_bytes || !pattern.block_split[write].is_empty();
    let rows = [
        (job.replay.is_set(), "read_iolog"),
        (pattern.mix == DirectionMix::TrimWrite, "rw=randtrimwrite"),
        (pattern.rw_postfix > 1, "runs of several blocks (rw=randwrite:N)"),
        (has_sizes, "blocks of several sizes (bsrange, bssplit)"),
        (pattern.bs_unaligned, "bs_unaligned"),
        (pattern.block_align[write].is_some_and(|align| align != size.min_bytes), "a blockalign other than bs"),
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
    use ferrio_spec::SpRandomSpec;

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
            ("rw=randtrimwrite", "rw=randtrimwrite"),
            ("rw=randwrite:8", "runs of several blocks (rw=randwrite:N)"),
            ("bsrange=4k-8k", "blocks of several sizes (bsrange, bssplit)"),
            ("bssplit=4k/50:8k/50", "blocks of several sizes (bsrange, bssplit)"),
            ("bs_unaligned=1", "bs_unaligned"),
            ("blockalign=512", "a blockalign other than bs"),
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

    // Expected values: lines of fio; see the reference, section on the requirements of sprandom.
    #[test]
    fn it_needs_random_writes_without_a_map_by_lfsr() {
        let refused = |text: &str| lowered(&format!("size=1m sprandom=1 {text}")).unwrap_err();
        for rw in ["read", "write", "randread", "rw", "randtrim", "trimwrite"] {
            let line = "fio: sprandom requires random write, random_generator=lfsr, norandommap=1";
            assert_eq!(refused(&format!("rw={rw} norandommap=0")), [line], "{rw}");
        }
        let (generator, map) = ("fio: sprandom requires random_generator=lfsr", "fio: sprandom requires norandommap=1");
        for other in ["tausworthe", "tausworthe64"] {
            assert_eq!(refused(&format!("rw=randwrite random_generator={other}")), [generator]);
            assert_eq!(refused(&format!("rw=randrw random_generator={other} norandommap=0")), [generator, map]);
        }
        assert_eq!(refused("rw=randwrite random_generator=lfsr norandommap=0"), [map]);
        for text in ["", "random_generator=lfsr", "norandommap=1", "norandommap", "random_generator=lfsr norandommap=1"]
        {
            for rw in ["randwrite", "randrw"] {
                let pattern = lowered(&format!("rw={rw} size=1m sprandom=1 {text}")).unwrap().pattern;
                assert!(pattern.norandommap && pattern.random_generator == Some(RandomGenerator::Lfsr), "{rw} {text}");
            }
        }
    }

    #[test]
    fn what_it_sets_is_said() {
        let notes = |text: &str| {
            let mut job = lowered(&format!("rw=randwrite size=1m {text}")).unwrap();
            lower(&mut job, &SpRandomDraft { is_on: true, ..SpRandomDraft::default() }, false).unwrap()
        };
        let (generator, map) = ("fio: sprandom sets random_generator=lfsr", "fio: sprandom sets norandommap=1");
        assert_eq!(notes(""), [generator, map]);
        assert_eq!(notes("random_generator=lfsr"), [map]);
        assert_eq!(notes("norandommap=1"), [generator]);
        assert!(notes("random_generator=lfsr norandommap=1").is_empty());
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
