//! The values of `random_distribution` and `file_service_type`.
//!
//! Must not know: how blocks are drawn. Start reading at [`set`].
//! Bounds, defaults and lines as seen on fio 3.41.

use crate::compat;
use crate::contradiction::Contradiction;
use crate::error::JobError;
use crate::message::UserLine;
use crate::options::draft::{ApplyContext, DistributionDraft, Draft};
use crate::value::{Value, scalar};
use ferrio_spec::{
    DecimalPercent, DistributionZone, FileService, PatternSpec, RandomDistribution, RankLaw, ZoneLength,
};
use ferrio_units::value::parse_integer;
use ferrio_units::{KbBase, PerDirection};

/// Parameters that hold where a distribution is named without one.
const DEFAULT_THETA: f64 = 1.1;
const DEFAULT_H: f64 = 0.2;
const DEFAULT_DEVIATION_PERCENT: f64 = 0.0;

const MAX_ZONES: usize = 256;

const MAX_SEQUENCE: usize = 64;

/// Sets `random_distribution` from `KIND[:PARAMETERS]`.
pub(crate) fn set(draft: &mut Draft, value: &Value, _: &mut ApplyContext<'_>) -> Result<(), JobError> {
    let (rest, kb_base) = (value.rest(), draft.kb_base());
    draft.job.pattern.distribution = match value.word()? {
        kind @ ("zipf" | "pareto" | "normal") => skewed(kind, rest, &OF_BLOCKS)?,
        "zoned" => zoned(rest, percent_zone)?,
        "zoned_abs" => zoned(rest, |text| byte_zone(text, kb_base))?,
        "sequence" => sequence(rest)?,
        _ => RandomDistribution::Uniform,
    };
    Ok(())
}

/// Gives the distribution what other options say about it.
///
/// # Errors
/// Ranks are to be permuted, and the distribution has none.
pub(crate) fn lower(pattern: &mut PatternSpec, open: DistributionDraft) -> Result<(), Contradiction> {
    let permuted = match &mut pattern.distribution {
        RandomDistribution::Sequence { stride, .. } => {
            *stride = open.sequence_stride;
            None
        }
        RandomDistribution::Zipf { theta, center } => Some((RankLaw::Zipf { theta: *theta }, *center)),
        RandomDistribution::Pareto { h, center } => Some((RankLaw::Pareto { h: *h }, *center)),
        _ => None,
    };
    if open.permutes_ranks {
        let (law, center) = permuted.ok_or(Contradiction::PermutationWithoutRanks)?;
        pattern.distribution = RandomDistribution::Permuted { law, center };
    }
    Ok(())
}

fn said(what: &str) -> JobError {
    JobError::Said(UserLine::named(what))
}

/// Error lines of an option for numbers that it refuses.
struct Lines {
    theta_of_one: &'static str,
    no_number: &'static str,
}

const OF_BLOCKS: Lines =
    Lines { theta_of_one: "zipf theta must different than 1.0", no_number: "random postfix parsing failed" };

const OF_FILES: Lines = Lines {
    theta_of_one: "zipf theta must be different than 1.0",
    no_number: "file service type random postfix parsing failed",
};

/// Sets `file_service_type`: the kind, and how many I/Os go to a file or how skewed the choice is.
pub(crate) fn set_file_service(draft: &mut Draft, value: &Value, _: &mut ApplyContext<'_>) -> Result<(), JobError> {
    let (rest, kb_base) = (value.rest(), draft.kb_base());
    let target = &mut draft.job.target;
    target.file_service_count = 1;
    let plain = match value.word()? {
        "gauss" => {
            target.file_service = FileService::Skewed(skewed("normal", rest, &OF_FILES)?);
            return Ok(());
        }
        kind @ ("zipf" | "pareto" | "normal") => {
            target.file_service = FileService::Skewed(skewed(kind, rest, &OF_FILES)?);
            return Ok(());
        }
        "random" => FileService::Random,
        "sequential" => FileService::Sequential,
        _ => FileService::RoundRobin,
    };
    target.file_service = plain;
    if let Some(text) = rest {
        target.file_service_count = compat::file_service_count(scalar::count(text, kb_base)?);
    }
    Ok(())
}

fn skewed(kind: &str, rest: Option<&str>, lines: &Lines) -> Result<RandomDistribution, JobError> {
    match kind {
        "zipf" => zipf(rest, lines),
        "pareto" => pareto(rest, lines),
        _ => normal(rest, lines),
    }
}

fn zipf(rest: Option<&str>, lines: &Lines) -> Result<RandomDistribution, JobError> {
    let (theta, center) = parameters(rest, DEFAULT_THETA, lines)?;
    if (theta - 1.0).abs() <= f64::EPSILON {
        return Err(said(lines.theta_of_one));
    }
    if theta < 0.0 {
        return Err(said("zipf theta out of range (0 <= theta)"));
    }
    Ok(RandomDistribution::Zipf { theta, center })
}

fn pareto(rest: Option<&str>, lines: &Lines) -> Result<RandomDistribution, JobError> {
    let (h, center) = parameters(rest, DEFAULT_H, lines)?;
    if h <= 0.0 || h >= 1.0 {
        return Err(said("pareto input out of range (0 < input < 1.0)"));
    }
    Ok(RandomDistribution::Pareto { h, center })
}

fn normal(rest: Option<&str>, lines: &Lines) -> Result<RandomDistribution, JobError> {
    let (deviation_percent, center) = parameters(rest, DEFAULT_DEVIATION_PERCENT, lines)?;
    if !(0.0..100.0).contains(&deviation_percent) {
        return Err(said("normal deviation out of range (0 <= input < 100.0)"));
    }
    Ok(RandomDistribution::Normal { deviation_percent, center })
}

/// `[NUMBER[:CENTER]]`.
fn parameters(rest: Option<&str>, default: f64, lines: &Lines) -> Result<(f64, Option<f64>), JobError> {
    let Some(text) = rest else { return Ok((default, None)) };
    let decimal = |text: &str| decimal(text).ok_or_else(|| said(lines.no_number));
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

/// An entry of a list: share of the I/Os, and length where it is given.
type Entry = (DecimalPercent, Option<ZoneLength>);

/// One list for all directions, or lists for reads, writes and trims; without its own list, trims use that of writes.
fn zoned(rest: Option<&str>, entry: impl Fn(&str) -> Result<Entry, JobError>) -> Result<RandomDistribution, JobError> {
    let parts: Vec<&str> = rest.unwrap_or_default().split(',').collect();
    let [read, write, trim] = match parts[..] {
        [all] => [all; 3],
        [read, write] => [read, write, write],
        [read, write, trim] => [read, write, trim],
        _ => return Err(said("split conversion failed")),
    }
    .map(|text| zones(text, &entry));
    Ok(RandomDistribution::Zoned(PerDirection([read?, write?, trim?])))
}

/// `ACCESS[/SIZE]:...`. Zones without a size divide the rest equally.
fn zones(text: &str, entry: impl Fn(&str) -> Result<Entry, JobError>) -> Result<Vec<DistributionZone>, JobError> {
    // In fio, an empty part ends the list and the parts after it are lost without a message; here those are refused.
    let mut parts = text.split(':');
    let entries: Result<Vec<Entry>, _> = parts.by_ref().take_while(|part| !part.is_empty()).map(entry).collect();
    let entries = entries?;
    if entries.is_empty() || parts.any(|part| !part.is_empty()) {
        return Err(said("mismatch in zoned input: no zone"));
    }
    if entries.len() > MAX_ZONES {
        return Err(said(&format!("hit max of {MAX_ZONES} split entries")));
    }
    let access: u64 = entries.iter().map(|(access, _)| access.parts()).sum();
    let lengths: Vec<DecimalPercent> = entries
        .iter()
        .filter_map(|(_, length)| if let Some(ZoneLength::Percent(percent)) = length { Some(*percent) } else { None })
        .collect();
    let length: u64 = lengths.iter().map(|percent| percent.parts()).sum();
    let all = DecimalPercent::PARTS_OF_ALL;
    if access > all || length > all {
        return Err(said("zone_split percentages add to more than 100%"));
    }
    if access < all {
        let what = "access percentage don't add up to 100 for zoned random distribution";
        return Err(said(&format!("{what} (got={})", DecimalPercent::of_parts(access))));
    }
    let n_blank = entries.iter().filter(|(_, length)| length.is_none()).count() as u64;
    // Beside whole percents the rest is divided into whole percents, as in fio.
    let unit = if lengths.iter().all(|percent| percent.as_whole().is_some()) { all / 100 } else { 1 };
    let blank_parts = ((all - length) / unit).checked_div(n_blank).unwrap_or(0) * unit;
    let blank = ZoneLength::Percent(DecimalPercent::of_parts(blank_parts));
    let zone = |(access_percent, length): Entry| DistributionZone { access_percent, length: length.unwrap_or(blank) };
    Ok(entries.into_iter().map(zone).collect())
}

fn access_and_size(text: &str) -> Result<(DecimalPercent, &str), JobError> {
    let (access, size) = text.split_once('/').unwrap_or((text, ""));
    Ok((share(access.trim())?, size.trim()))
}

fn percent_zone(text: &str) -> Result<Entry, JobError> {
    let (access, size) = access_and_size(text)?;
    let percent = match size.trim_end_matches('%') {
        "" => DecimalPercent::default(),
        number => share(number)?,
    };
    Ok((access, (percent.parts() > 0).then_some(ZoneLength::Percent(percent))))
}

fn share(text: &str) -> Result<DecimalPercent, JobError> {
    DecimalPercent::parse(text).ok_or_else(|| said("split conversion failed"))
}

fn byte_zone(text: &str, kb_base: KbBase) -> Result<Entry, JobError> {
    let (access, size) = access_and_size(text)?;
    let bytes = parse_integer(size, kb_base).ok().and_then(|bytes| u64::try_from(bytes).ok());
    let bytes = bytes.filter(|bytes| *bytes > 0).ok_or_else(|| said("split conversion failed"))?;
    Ok((access, Some(ZoneLength::Bytes(bytes))))
}

/// `BLOCK,BLOCK,...`.
fn sequence(rest: Option<&str>) -> Result<RandomDistribution, JobError> {
    let block = |text: &str| text.trim().parse().map_err(|_| said("random sequence parsing failed"));
    let blocks: Result<Vec<u64>, _> = rest.unwrap_or_default().split(',').map(block).collect();
    let blocks = blocks?;
    if blocks.len() > MAX_SEQUENCE {
        return Err(said(&format!("random sequence has more than {MAX_SEQUENCE} blocks")));
    }
    Ok(RandomDistribution::Sequence { blocks, stride: false })
}

fn decimal(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|number: &f64| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::draft_of;

    fn parsed(text: &str) -> Result<RandomDistribution, String> {
        let draft = draft_of(&[("random_distribution", text)]).map_err(|error| (*error.line()).to_owned())?;
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

    fn file_service(text: &str) -> Result<(FileService, u32), String> {
        let draft = draft_of(&[("file_service_type", text)]).map_err(|error| (*error.line()).to_owned())?;
        Ok((draft.job.target.file_service, draft.job.target.file_service_count))
    }

    /// Expected values as seen on fio 3.41: 0 uses a file until its end, and gauss is the same as normal.
    #[test]
    fn files_are_picked_by_kind_and_parameter() {
        use RandomDistribution::{Normal, Pareto, Zipf};
        for (text, service, count) in [
            ("roundrobin", FileService::RoundRobin, 1),
            ("random:5", FileService::Random, 5),
            ("roundrobin:0", FileService::RoundRobin, u32::MAX),
            ("zipf", FileService::Skewed(Zipf { theta: 1.1, center: None }), 1),
            ("zipf:1.2:0.5", FileService::Skewed(Zipf { theta: 1.2, center: Some(0.5) }), 1),
            ("pareto:0.3", FileService::Skewed(Pareto { h: 0.3, center: None }), 1),
            ("gauss", FileService::Skewed(Normal { deviation_percent: 0.0, center: None }), 1),
            ("normal:10", FileService::Skewed(Normal { deviation_percent: 10.0, center: None }), 1),
        ] {
            assert_eq!(file_service(text), Ok((service, count)), "{text}");
        }
        for (text, line) in [
            ("zipf:1.0", "fio: zipf theta must be different than 1.0"),
            ("zipf:abc", "fio: file service type random postfix parsing failed"),
            ("gauss:", "fio: file service type random postfix parsing failed"),
            ("pareto:1", "fio: pareto input out of range (0 < input < 1.0)"),
            ("normal:100", "fio: normal deviation out of range (0 <= input < 100.0)"),
        ] {
            assert_eq!(file_service(text), Err(line.to_owned()), "{text}");
        }
        assert!(file_service("random:abc").is_err());
    }

    #[test]
    fn only_ranks_are_permuted() {
        let lowered = |text| {
            let mut pattern =
                PatternSpec { distribution: parsed(text).expect("a distribution"), ..PatternSpec::default() };
            let open = DistributionDraft { permutes_ranks: true, ..DistributionDraft::default() };
            lower(&mut pattern, open).map(|()| pattern.distribution)
        };
        let permuted = |law, center| Ok(RandomDistribution::Permuted { law, center });
        assert_eq!(lowered("zipf:1.2"), permuted(RankLaw::Zipf { theta: 1.2 }, None));
        assert_eq!(lowered("pareto:0.3:0.5"), permuted(RankLaw::Pareto { h: 0.3 }, Some(0.5)));
        for text in ["random", "normal:10", "zoned:100", "sequence:1"] {
            assert_eq!(lowered(text), Err(Contradiction::PermutationWithoutRanks), "{text}");
        }
        let mut plain = PatternSpec { distribution: parsed("zipf:1.2").expect("zipf"), ..PatternSpec::default() };
        assert_eq!(lower(&mut plain, DistributionDraft::default()), Ok(()));
        assert_eq!(Ok(plain.distribution), parsed("zipf:1.2"));
    }

    // Expected values: as traces of fio 3.41 imply. fio has neither lists per direction nor sequences of zones.
    #[test]
    fn zones_are_completed() {
        let whole = DecimalPercent::whole;
        let zones = |list: &[(u32, u32)]| -> Vec<DistributionZone> {
            let zone = |&(access, length)| DistributionZone {
                access_percent: whole(access),
                length: ZoneLength::Percent(whole(length)),
            };
            list.iter().map(zone).collect()
        };
        for (text, [read, write, trim]) in [
            ("zoned:60/10:30/20:8/30:2/40", std::array::from_fn(|_| zones(&[(60, 10), (30, 20), (8, 30), (2, 40)]))),
            ("zoned:50/10:50", std::array::from_fn(|_| zones(&[(50, 10), (50, 90)]))),
            ("zoned:50:50/80", std::array::from_fn(|_| zones(&[(50, 20), (50, 80)]))),
            ("zoned:40:30:30", std::array::from_fn(|_| zones(&[(40, 33), (30, 33), (30, 33)]))),
            ("zoned:50/20:50/20", std::array::from_fn(|_| zones(&[(50, 20), (50, 20)]))),
            ("zoned:100", std::array::from_fn(|_| zones(&[(100, 100)]))),
            ("zoned:100/5,50:50", [zones(&[(100, 5)]), zones(&[(50, 50), (50, 50)]), zones(&[(50, 50), (50, 50)])]),
            ("zoned:100/1,100/2,100/3", [zones(&[(100, 1)]), zones(&[(100, 2)]), zones(&[(100, 3)])]),
        ] {
            assert_eq!(parsed(text), Ok(RandomDistribution::Zoned(PerDirection([read, write, trim]))), "{text}");
        }
        let bytes =
            |access, bytes| DistributionZone { access_percent: whole(access), length: ZoneLength::Bytes(bytes) };
        let absolute = vec![bytes(40, 65_536), bytes(60, 10 << 30)];
        assert_eq!(
            parsed("zoned_abs:40/64k:60/10g"),
            Ok(RandomDistribution::Zoned(PerDirection(std::array::from_fn(|_| absolute.clone()))))
        );
        assert_eq!(
            parsed("sequence:3,1,70000000000"),
            Ok(RandomDistribution::Sequence { blocks: vec![3, 1, 70_000_000_000], stride: false })
        );
    }

    #[test]
    fn shares_of_zones_may_have_decimals() {
        let zones = |text| match parsed(text) {
            Ok(RandomDistribution::Zoned(PerDirection([read, ..]))) => read,
            other => panic!("{text}: {other:?}"),
        };
        let percent = |text| DecimalPercent::parse(text).expect("a percentage");
        let zone = |access, length| DistributionZone {
            access_percent: percent(access),
            length: ZoneLength::Percent(percent(length)),
        };
        assert_eq!(zones("zoned:0.5/10:99.5/90"), [zone("0.5", "10"), zone("99.5", "90")]);
        // Ten thousandths of a percent are the smallest parts.
        assert_eq!(zones("zoned:0.0001/0.0001:99.9999"), [zone("0.0001", "0.0001"), zone("99.9999", "99.9999")]);
        assert_eq!(zones("zoned:50/0.5:20:30"), [zone("50", "0.5"), zone("20", "49.75"), zone("30", "49.75")]);
        let bytes = DistributionZone { access_percent: percent("0.1"), length: ZoneLength::Bytes(4096) };
        assert_eq!(zones("zoned_abs:0.1/4k:99.9/1g")[0], bytes);
    }

    #[test]
    fn bad_lists_are_explained() {
        let conversion = "fio: split conversion failed";
        let above = "fio: zone_split percentages add to more than 100%";
        let short =
            |got: &str| format!("fio: access percentage don't add up to 100 for zoned random distribution (got={got})");
        let long = format!("zoned:100/1{}", ":0/0".repeat(256));
        for (text, line) in [
            ("zoned", "fio: mismatch in zoned input: no zone".to_owned()),
            ("zoned:", "fio: mismatch in zoned input: no zone".to_owned()),
            ("zoned:50:50,", "fio: mismatch in zoned input: no zone".to_owned()),
            ("zoned:abc", conversion.to_owned()),
            ("zoned:33.33333/50:66.66667/50", conversion.to_owned()),
            ("zoned:50/1.x:50/2", conversion.to_owned()),
            ("zoned:-1/50:50/50", conversion.to_owned()),
            ("zoned:100,100,100,100", conversion.to_owned()),
            ("zoned_abs:50/4k:50", conversion.to_owned()),
            ("zoned_abs:50/0:50/4k", conversion.to_owned()),
            ("zoned:60/10:60/10", above.to_owned()),
            ("zoned:50/60:50/60", above.to_owned()),
            ("zoned:50/101:50", above.to_owned()),
            ("zoned_abs:60/4k:60/4k", above.to_owned()),
            ("zoned:50/10:40/10", short("90")),
            ("zoned:60/10:30/20:8/30", short("98")),
            ("zoned:0.5/10:99.4/90", short("99.9")),
            ("zoned:0.5/10:99.6/90", above.to_owned()),
            ("zoned:50/10.5:50/89.6", above.to_owned()),
            (&long, "fio: hit max of 256 split entries".to_owned()),
            ("sequence", "fio: random sequence parsing failed".to_owned()),
            ("sequence:1,,2", "fio: random sequence parsing failed".to_owned()),
            ("sequence:-1", "fio: random sequence parsing failed".to_owned()),
            (&format!("sequence:0{}", ",1".repeat(64)), "fio: random sequence has more than 64 blocks".to_owned()),
        ] {
            assert_eq!(parsed(text), Err(line), "{text}");
        }
    }

    // Expected values: lines as fio 3.41 prints them, except for a theta below 0 and text after a number.
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
