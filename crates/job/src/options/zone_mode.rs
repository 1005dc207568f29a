//! Applies `zonemode` and its sizes, and refuses contradictory options.
//!
//! Must not know: how values are parsed, the effect of zones. Start reading at [`lower`]. Texts with `--` in front of
//! an option are those of fio 3.41.

use crate::contradiction::Contradiction;
use crate::error::JobError;
use crate::message::UserLine;
use crate::options::draft::{ApplyContext, Draft};
use crate::options::drafts::{ZoneDraft, ZoneModeWord};
use crate::options::zone_sequential;
use crate::value::Value;
use ferrio_spec::{JobSpec, SizeSpec, StridedSpec, ZoneSkip, ZoneSpec};

pub(super) fn mode(draft: &mut Draft, value: &Value, _: &mut ApplyContext<'_>) -> Result<(), JobError> {
    draft.open.zones.mode = match value.word()? {
        "strided" => ZoneModeWord::Strided,
        "zbd" => ZoneModeWord::Sequential,
        _ => ZoneModeWord::None,
    };
    Ok(())
}

pub(super) fn skip(draft: &mut Draft, value: &Value, _: &mut ApplyContext<'_>) -> Result<(), JobError> {
    draft.open.zones.skip = match (value.zones(), value) {
        (Some(n_zones), _) => Some(ZoneSkip::Zones(n_zones)),
        (None, Value::Size(SizeSpec::Percent(_))) => {
            return Err(JobError::Said(UserLine::named("zoneskip is a size or a number of zones, no percentage")));
        }
        // A size of 0 bytes has no effect, as if it were not given.
        (None, Value::Size(SizeSpec::Bytes(0))) => None,
        (None, Value::Size(SizeSpec::Bytes(bytes))) => Some(ZoneSkip::Bytes(*bytes)),
        (None, _) => return Err(JobError::NotParsed),
    };
    Ok(())
}

/// A size of the job. One in zones is put into its place, and becomes bytes in the lowering.
pub(super) fn in_zones(value: &Value, place: &mut Option<u64>) -> Result<SizeSpec, JobError> {
    *place = value.zones();
    if place.is_some() { Ok(SizeSpec::Bytes(0)) } else { value.size() }
}

/// Decides the zones of a job and turns its sizes in zones into bytes.
pub(crate) fn lower(job: &mut JobSpec, draft: &ZoneDraft, regenerates_writes: bool) -> Result<(), Contradiction> {
    job.zones = match draft.mode {
        ZoneModeWord::None => none(draft)?,
        ZoneModeWord::Strided => strided(job, draft)?,
        // The number of a write does not tell its offset, which the device chose.
        ZoneModeWord::Sequential if regenerates_writes => {
            return Err(Contradiction::ZonesRegenerated);
        }
        ZoneModeWord::Sequential => zone_sequential::lower(job, draft)?,
    };
    sizes_in_zones(job, draft)
}

/// Without a zone mode fio ignores all options of zones but the size; ferrio refuses them instead.
fn none(draft: &ZoneDraft) -> Result<ZoneSpec, Contradiction> {
    let given =
        [("zonesize", draft.zone_bytes > 0), ("zonerange", draft.range_bytes > 0), ("zoneskip", draft.skip.is_some())];
    let given = given.iter().find(|(_, is_given)| *is_given).map(|(name, _)| *name);
    match given.or_else(|| zone_sequential::first_given(&draft.sequential)) {
        Some(option) => Err(Contradiction::ZoneOption { mode: "none", option }),
        None => Ok(ZoneSpec::None),
    }
}

fn strided(job: &JobSpec, draft: &ZoneDraft) -> Result<ZoneSpec, Contradiction> {
    if draft.zone_bytes == 0 {
        return Err(Contradiction::ZoneSizeMissing);
    }
    if let Some(option) = zone_sequential::first_given(&draft.sequential) {
        return Err(Contradiction::ZoneOption { mode: "strided", option });
    }
    if job.target.openfiles > 1 {
        return Err(Contradiction::ZoneMode { mode: "strided", what: "openfiles above 1" });
    }
    if !job.pattern.random && job.pattern.rw_postfix < 0 {
        return Err(Contradiction::ZoneMode { mode: "strided", what: "a negative skip in rw" });
    }
    Ok(ZoneSpec::Strided(StridedSpec {
        zone_bytes: draft.zone_bytes,
        range_bytes: if draft.range_bytes > 0 { draft.range_bytes } else { draft.zone_bytes },
        skip_bytes: skip_bytes(draft)?,
    }))
}

fn skip_bytes(draft: &ZoneDraft) -> Result<u64, Contradiction> {
    match draft.skip {
        None => Ok(0),
        Some(ZoneSkip::Bytes(bytes)) => Ok(bytes),
        Some(ZoneSkip::Zones(n_zones)) => in_bytes("zoneskip", n_zones, draft.zone_bytes),
    }
}

/// Converts numbers of zones to bytes, unless only the device knows the size of its zones.
fn sizes_in_zones(job: &mut JobSpec, draft: &ZoneDraft) -> Result<(), Contradiction> {
    match (&mut job.zones, draft.zone_bytes, draft.sizes.first()) {
        (ZoneSpec::Sequential(zones), 0, _) => zones.sizes = draft.sizes,
        (_, 0, Some((name, n_zones))) => return Err(Contradiction::SizeInZones { name, n_zones }),
        (_, zone_bytes, _) => draft.sizes.put_into(&mut job.extent, zone_bytes).map_err(too_many)?,
    }
    Ok(())
}

fn in_bytes(name: &'static str, n_zones: u64, zone_bytes: u64) -> Result<u64, Contradiction> {
    n_zones.checked_mul(zone_bytes).ok_or_else(|| too_many((name, n_zones)))
}

fn too_many((name, n_zones): (&'static str, u64)) -> Contradiction {
    Contradiction::TooManyZones { name, n_zones }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::lower::{Strictness, lower};
    use crate::testing::draft_of;

    pub(in crate::options) fn lowered(text: &str) -> Result<JobSpec, Vec<UserLine>> {
        let options: Vec<_> = text.split(' ').filter_map(|word| word.split_once('=')).collect();
        let draft = draft_of(&options).map_err(|error| vec![error.line()])?;
        lower(draft, Strictness::default()).map(|lowered| lowered.job)
    }

    #[test]
    fn of_sequential_zones_what_is_remembered_is_verified() {
        let text = "rw=write size=1m verify=crc32c zonemode=zbd zonesize=64k";
        assert!(lowered(text).unwrap().verify.is_some());
        for more in ["verify_only=1", "verify_state_load=1", "verify_backlog=4"] {
            assert!(lowered(&format!("{text} {more}")).is_ok(), "{more}");
        }
        for more in ["trim_percentage=5 trim_backlog=2", "verify_crash_log=log", "rw=randread verify_state_load=1"] {
            let line = lowered(&format!("{text} {more}")).unwrap_err().remove(0);
            let option = more.rsplit(' ').find_map(|word| word.split('=').next().filter(|name| line.contains(name)));
            assert!(line.starts_with("fio: verify with zonemode=zbd cannot be combined with "), "{more}: {line}");
            assert!(option.is_some() || line.contains("trim_percentage"), "{more}: {line}");
        }
        assert!(lowered("rw=write size=1m verify=crc32c zonemode=strided zonesize=64k").unwrap().verify.is_some());
    }

    #[test]
    fn windows_have_a_size_a_range_and_a_gap() {
        for (text, zone_bytes, range_bytes, skip_bytes) in [
            ("zonesize=8k", 8192, 8192, 0),
            ("zonesize=8k zonerange=16k zoneskip=4k", 8192, 16384, 4096),
            ("zonesize=8k zoneskip=3z", 8192, 8192, 3 * 8192),
        ] {
            let job = lowered(&format!("zonemode=strided {text}")).unwrap();
            assert_eq!(job.zones, ZoneSpec::Strided(StridedSpec { zone_bytes, range_bytes, skip_bytes }), "{text}");
        }
    }

    #[test]
    fn sizes_may_be_in_zones() {
        let job = lowered("zonemode=strided zonesize=8k size=9z io_size=3z offset=1z offset_increment=2z").unwrap();
        let zones = |n_zones: u64| SizeSpec::Bytes(n_zones * 8192);
        assert_eq!((job.extent.size, job.extent.io_size), (Some(zones(9)), Some(zones(3))));
        assert_eq!((job.extent.offset, job.extent.offset_increment), (zones(1), zones(2)));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for (text, expected) in [
            ("zonesize=8k", "fio: --zonemode=none and --zonesize are not compatible."),
            ("zonemode=none zonesize=8k", "fio: --zonemode=none and --zonesize are not compatible."),
            ("zonerange=8k", "fio: --zonemode=none and --zonerange are not compatible."),
            ("zoneskip=8k", "fio: --zonemode=none and --zoneskip are not compatible."),
            ("max_open_zones=2", "fio: --zonemode=none and --max_open_zones are not compatible."),
            (
                "zonemode=strided zonesize=4k read_beyond_wp=1",
                "fio: --zonemode=strided and --read_beyond_wp are not compatible.",
            ),
            ("zonemode=strided", "fio: --zonesize must be specified when using --zonemode=strided."),
            ("zonemode=strided zonesize=0", "fio: --zonesize must be specified when using --zonemode=strided."),
            ("zonemode=strided zonesize=4k zoneskip=5%", "fio: zoneskip is a size or a number of zones, no percentage"),
            (
                "zonemode=strided zonesize=4k nrfiles=2 openfiles=2",
                "fio: zonemode=strided and openfiles above 1 are not compatible",
            ),
            (
                "zonemode=strided zonesize=4k rw=read:-8k",
                "fio: zonemode=strided and a negative skip in rw are not compatible",
            ),
            ("size=8z", "fio: size=8z needs zonemode and zonesize"),
            ("size=8k offset=1z", "fio: offset=1z needs zonemode and zonesize"),
            (
                "zonemode=strided zonesize=4k io_size=9999999999999999999z",
                "fio: io_size=9999999999999999999z is more than 2^64 bytes",
            ),
        ] {
            assert_eq!(lowered(text).unwrap_err(), [expected], "{text}");
        }
        for text in ["zonesize=-1", "zonesize=1z", "zonerange=1%", "zonemode=striped", "zoneskip=x"] {
            assert!(lowered(text).is_err(), "{text}");
        }
        assert_eq!(lowered("zonesize=0 zonerange=0 zoneskip=0").unwrap().zones, ZoneSpec::None);
    }
}
