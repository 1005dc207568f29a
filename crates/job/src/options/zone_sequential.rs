//! Applies the options of `zonemode=zbd`, and refuses contradictory ones.
//!
//! Must not know: how values are parsed, devices, which sizes of zones they have. Start reading at [`lower`].
//! The text with `--` in front of an option is that of fio 3.41.

use crate::contradiction::Contradiction;
use crate::error::JobError;
use crate::options::draft::{ApplyContext, Draft};
use crate::options::drafts::ZoneDraft;
use crate::value::Value;
use ferrio_spec::{ErrorClasses, JobSpec, SequentialZonesSpec, ZoneSpec};

/// The first option that means something only with `zonemode=zbd`.
pub(super) fn first_given(options: &SequentialZonesSpec) -> Option<&'static str> {
    let given = [
        (options.capacity_bytes > 0, "zonecapacity"),
        (options.reads_beyond_written, "read_beyond_wp"),
        (options.max_open > 0, "max_open_zones"),
        (options.job_max_open > 0, "job_max_open_zones"),
        (options.ignores_limits, "ignore_zone_limits"),
        (options.reset_threshold > 0.0, "zone_reset_threshold"),
        (options.reset_frequency > 0.0, "zone_reset_frequency"),
        (options.writes_remainder, "write_zone_remainder"),
        (options.recovers_writes, "recover_zbd_write_error"),
    ];
    given.into_iter().find(|(is_given, _)| *is_given).map(|(_, name)| name)
}

pub(super) fn norandommap(draft: &mut Draft, value: &Value, _: &mut ApplyContext<'_>) -> Result<(), JobError> {
    draft.job.pattern.norandommap = value.bool()?;
    draft.open.zones.wants_map = !draft.job.pattern.norandommap;
    Ok(())
}

pub(super) fn reset_threshold(draft: &mut Draft, value: &Value, _: &mut ApplyContext<'_>) -> Result<(), JobError> {
    draft.open.zones.sequential.reset_threshold = share(value)?;
    Ok(())
}

pub(super) fn reset_frequency(draft: &mut Draft, value: &Value, _: &mut ApplyContext<'_>) -> Result<(), JobError> {
    draft.open.zones.sequential.reset_frequency = share(value)?;
    Ok(())
}

fn share(value: &Value) -> Result<f64, JobError> {
    let Value::Floats(list, _) = value else { return Err(JobError::NotParsed) };
    list.first().copied().ok_or(JobError::NotParsed)
}

/// Decides the zones of a job with `zonemode=zbd`.
pub(super) fn lower(job: &mut JobSpec, draft: &ZoneDraft) -> Result<ZoneSpec, Contradiction> {
    if !job.layout.create_serialize {
        return Err(Contradiction::ZoneOption { mode: "zbd", option: "create_serialize=0" });
    }
    if let Some(what) = contradiction(job, draft) {
        return Err(Contradiction::ZoneMode { mode: "zbd", what });
    }
    let options = &draft.sequential;
    if options.recovers_writes && job.errors.continue_on == ErrorClasses::default() {
        return Err(Contradiction::ZoneRecoveryWithoutContinuing);
    }
    if options.writes_remainder && job.pattern.random {
        if draft.wants_map {
            return Err(Contradiction::ZoneRemainderWithMap);
        }
        job.pattern.norandommap = true;
    }
    Ok(ZoneSpec::Sequential(SequentialZonesSpec {
        zone_bytes: draft.zone_bytes,
        skip: draft.skip.unwrap_or_default(),
        ..*options
    }))
}

fn contradiction(job: &JobSpec, draft: &ZoneDraft) -> Option<&'static str> {
    let rows = [
        (draft.range_bytes > 0, "zonerange"),
        (job.extent.file_append, "file_append"),
        (job.extent.fill_device, "fill_device"),
        (job.layout.create_on_open, "create_on_open"),
        (!job.pattern.random && job.pattern.rw_postfix < 0, "a negative skip in rw"),
        (!job.pattern.random && job.pattern.rw_postfix != 0 && draft.skip.is_some(), "zoneskip beside a skip in rw"),
    ];
    rows.into_iter().find(|(is_set, _)| *is_set).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::zone_mode::tests::lowered;
    use ferrio_spec::{SizeSpec, SizesInZones, ZoneSkip};

    fn zones(text: &str) -> SequentialZonesSpec {
        match lowered(&format!("zonemode=zbd {text}")).unwrap().zones {
            ZoneSpec::Sequential(spec) => spec,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn options_arrive() {
        let spec = zones("zonesize=64k zonecapacity=48k zoneskip=2z read_beyond_wp=1 max_open_zones=8");
        assert_eq!((spec.zone_bytes, spec.capacity_bytes, spec.skip), (65536, 49152, ZoneSkip::Zones(2)));
        assert_eq!((spec.reads_beyond_written, spec.max_open, spec.job_max_open), (true, 8, 0));
        let spec = zones("max_open_zones=9 job_max_open_zones=3 ignore_zone_limits=1 zoneskip=64k");
        assert_eq!((spec.max_open, spec.job_max_open, spec.ignores_limits), (9, 3, true));
        assert_eq!((spec.skip, spec.zone_bytes), (ZoneSkip::Bytes(65536), 0));
        let spec = zones("zone_reset_threshold=0.25 zone_reset_frequency=0.5");
        assert_eq!((spec.reset_threshold, spec.reset_frequency), (0.25, 0.5));
    }

    /// With a given size of zones, numbers of zones become bytes; otherwise the device must be asked first.
    #[test]
    fn numbers_of_zones_wait_for_the_device() {
        let text = "size=4z offset=2z";
        assert_eq!(zones(&format!("zonesize=8k {text}")).sizes, SizesInZones::default());
        let expected = SizesInZones { size: Some(4), offset: Some(2), ..SizesInZones::default() };
        assert_eq!(zones(text).sizes, expected);
        let mut extent = lowered(&format!("zonemode=zbd {text}")).unwrap().extent;
        assert_eq!(expected.put_into(&mut extent, 1 << 20), Ok(()));
        assert_eq!((extent.size, extent.offset), (Some(SizeSpec::Bytes(4 << 20)), SizeSpec::Bytes(2 << 20)));
        assert_eq!(expected.put_into(&mut extent, 1 << 63), Err(("size", 4)));
    }

    #[test]
    fn a_remainder_is_written_without_a_map() {
        let job = lowered("zonemode=zbd rw=randwrite write_zone_remainder=1").unwrap();
        assert!(job.pattern.norandommap);
        let text = "zonemode=zbd rw=randwrite write_zone_remainder=1 norandommap=0";
        assert_eq!(lowered(text).unwrap_err(), ["fio: write_zone_remainder and norandommap=0 are not compatible"]);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for (text, name) in [
            ("create_serialize=0", "fio: --zonemode=zbd and --create_serialize=0 are not compatible."),
            ("zonerange=64k", "fio: zonemode=zbd and zonerange are not compatible"),
            ("file_append=1", "fio: zonemode=zbd and file_append are not compatible"),
            ("fill_device=1", "fio: zonemode=zbd and fill_device are not compatible"),
            ("create_on_open=1", "fio: zonemode=zbd and create_on_open are not compatible"),
            ("rw=read:-8k", "fio: zonemode=zbd and a negative skip in rw are not compatible"),
            ("experimental_verify=1", "zonemode=zbd does not support experimental verify"),
            ("experimental_verify=1 verify=md5 rw=write", "zonemode=zbd does not support experimental verify"),
            ("zonesize=8k size=9999999999999999999z", "fio: size=9999999999999999999z is more than 2^64 bytes"),
        ] {
            assert_eq!(lowered(&format!("zonemode=zbd {text}")).unwrap_err(), [name], "{text}");
        }
        let text = "zonemode=zbd recover_zbd_write_error=1";
        let line = "recover_zbd_write_error works only when continue_on_error is set";
        assert_eq!(lowered(text).unwrap_err(), [line]);
        assert!(lowered(&format!("{text} continue_on_error=write")).is_ok());
        for text in ["zone_reset_threshold=1.5", "zone_reset_frequency=-1", "max_open_zones=4097"] {
            assert!(lowered(&format!("zonemode=zbd {text}")).is_err(), "{text}");
        }
    }
}
