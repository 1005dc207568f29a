//! Options about directions, sizes and places of I/Os.
//!
//! Start reading at [`EFFECTS`].

use super::OptionEffect;
use crate::accounts::asked::{Asked, as_asked_if, not, unseen};
use crate::text;
use ferrio_spec::{DirectionMix, RandomDistribution, SizeSpec, UnifiedReporting, ZoneSpec};
use ferrio_stats::{DirectionStats, OptionOutcome};
use ferrio_units::DataDirection;

pub(super) const EFFECTS: &[OptionEffect] = &[
    OptionEffect::measured(&["rw"], directions),
    OptionEffect::measured(&["rwmixread", "rwmixwrite"], mix).in_vain_if(|asked| {
        (asked.spec().pattern.mix != DirectionMix::ReadWrite)
            .then(|| "the job does not mix reads and writes".to_owned())
            .or_else(|| other_share(asked))
    }),
    OptionEffect::measured(&["bs", "bsrange", "bssplit"], block_sizes).in_vain_if(|asked| {
        size_of_no_use(asked).or_else(|| rest_of_shares(asked)).or_else(|| size_that_is_passed(asked))
    }),
    OptionEffect::measured(&["bs_is_seq_rand"], |asked| {
        if asked.spec().pattern.bs_is_seq_rand { block_sizes(asked) } else { OptionOutcome::AsAsked }
    }),
    OptionEffect::nowhere(&["bs_unaligned", "patterns"], DRAWN),
    OptionEffect::nowhere(&["ba"], DRAWN).in_vain_if(|asked| sequential(asked).or_else(|| size_of_no_use(asked))),
    OptionEffect::nowhere(
        &[
            "random_distribution_permute",
            "norandommap",
            "softrandommap",
            "sprandom",
            "spr_num_regions",
            "spr_op",
            "spr_cs",
        ],
        DRAWN,
    )
    .in_vain_if(sequential),
    OptionEffect::nowhere(&["percentage_sequential", "random_sequence_stride", "rwmixcycle", "num_range"], DRAWN),
    OptionEffect::nowhere(&["rw_sequencer"], DRAWN).in_vain_if(|asked| {
        let pattern = &asked.spec().pattern;
        // Without a number, a random job draws each offset.
        let has_none = pattern.rw_postfix == i64::from(pattern.random);
        has_none.then(|| "rw has no number above 1, as in rw=randread:8".to_owned())
    }),
    OptionEffect::nowhere(&["zonemode"], DRAWN).in_vain_if(window_of_all),
    OptionEffect::nowhere(
        &[
            "zonesize",
            "zonecapacity",
            "zonerange",
            "zoneskip",
            "read_beyond_wp",
            "max_open_zones",
            "job_max_open_zones",
            "ignore_zone_limits",
            "zone_reset_threshold",
            "zone_reset_frequency",
            "recover_zbd_write_error",
            "write_zone_remainder",
        ],
        DRAWN,
    )
    .in_vain_if(|asked| {
        let has_none = asked.spec().zones == ZoneSpec::default();
        (has_none && asked.is_on()).then(|| "there is no zonemode".to_owned())
    }),
    OptionEffect::nowhere(
        &["fdp", "dataplacement", "plid_select", "plids", "dp_scheme"],
        "the device does not tell where it has put the data",
    ),
];

pub(super) const DRAWN: &str = "the places of single I/Os are not recorded";

pub(super) fn sequential(asked: &Asked<'_, '_>) -> Option<String> {
    let pattern = &asked.spec().pattern;
    let asks = match asked.name {
        "random_distribution" => pattern.distribution != RandomDistribution::Uniform,
        "norandommap" => pattern.norandommap,
        _ => asked.is_on(),
    };
    let draws = asked.spec().replay.is_set() || !asked.spec().extent.patterns.is_empty() || pattern.bs_is_seq_rand;
    (asks && !pattern.random && !draws).then(|| "the job is sequential".to_owned())
}

/// `rwmixread` and `rwmixwrite` are one share: the later one counts.
fn other_share(asked: &Asked<'_, '_>) -> Option<String> {
    let (other, value) = asked.overruled_by(&["rwmixread", "rwmixwrite"])?;
    let sum = asked.value.parse::<u32>().ok()?.saturating_add(value.parse::<u32>().ok()?);
    (sum != 100).then(|| format!("{other}={value} behind it counts"))
}

/// A size for a direction that no job of the run has: a comma stands between reads, writes and trims, and not between sizes that are mixed.
fn size_of_no_use(asked: &Asked<'_, '_>) -> Option<String> {
    let parts: Vec<&str> = asked.value.split(',').collect();
    let is_other = asked.spec().replay.is_set()
        || asked.spec().verify.is_some()
        || asked.job.engine.moves_nothing()
        || asked.spec().pattern.bs_is_seq_rand;
    if parts.len() < 2 || is_other || parts.iter().all(|part| *part == parts[0]) {
        return None;
    }
    // The last part is for the directions behind it too.
    let does = |index: usize| {
        let directions = DataDirection::ALL.into_iter().enumerate();
        let mut its = directions.filter(|(at, _)| *at == index || (*at > index && index + 1 == parts.len()));
        its.any(|(_, direction)| asked.case.jobs.iter().any(|job| job.does(direction)))
    };
    let names = ["reads", "writes", "trims"];
    let (index, part) = parts.iter().enumerate().take(3).find(|(index, part)| !part.is_empty() && !does(*index))?;
    Some(format!("{part} is for {}, and the job has none: a comma divides directions", names[index]))
}

/// `bssplit` rules before `bsrange`, and both before `bs`, in any order.
fn size_that_is_passed(asked: &Asked<'_, '_>) -> Option<String> {
    let stronger: &[&str] = match asked.name {
        "bs" => &["bssplit", "bsrange"],
        "bsrange" => &["bssplit"],
        _ => &[],
    };
    // A comma leaves some directions to the other option.
    let (name, value) = stronger.iter().find_map(|name| Some((*name, asked.value_of(name)?)))?;
    (!value.contains(',') && !asked.spec().replay.is_set()).then(|| format!("{name}={value} says how large blocks are"))
}

/// A window that is as large as all that the job does of a file never moves.
fn window_of_all(asked: &Asked<'_, '_>) -> Option<String> {
    let ZoneSpec::Strided(zones) = asked.spec().zones else { return None };
    let SizeSpec::Bytes(size) = asked.spec().extent.size? else { return None };
    let of_pass = asked.spec().extent.given_io_bytes().unwrap_or(size).max(size);
    let is_all = asked.n_files() == Some(1) && zones.zone_bytes >= of_pass && zones.range_bytes >= size;
    is_all.then(|| {
        format!("zonesize={} is no less than what the job does: there is one zone", text::bytes(zones.zone_bytes))
    })
}

/// Shares of `bssplit` that are less than 100 % together.
fn rest_of_shares(asked: &Asked<'_, '_>) -> Option<String> {
    if asked.name != "bssplit" || asked.spec().replay.is_set() {
        return None;
    }
    asked.used().find_map(|direction| {
        let split = &asked.spec().pattern.block_split[direction];
        let sum: u32 = split.iter().map(|block| block.percent).fold(0, u32::saturating_add);
        let last = split.last().filter(|_| sum < 100)?;
        let size = text::bytes(last.block_bytes);
        Some(format!("its shares are {sum} % together, and blocks of {size} have the other {} % too", 100 - sum))
    })
}

fn directions(asked: &Asked<'_, '_>) -> OptionOutcome {
    if asked.job.engine.moves_nothing() {
        return unseen("its engine counts no reads and writes");
    }
    if asked.spec().replay.is_set() {
        return not("the trace says what is read and written");
    }
    if asked.n_done() == 0 {
        return not("no I/O was done");
    }
    if is_one_row(asked) {
        return unseen(ONE_ROW);
    }
    let is_idle = |direction: &DataDirection| asked.of(*direction).is_none_or(|one| one.n_completed == 0);
    // Few I/Os may be of one direction by chance.
    let idle: Vec<&str> = asked.used().filter(is_idle).map(DataDirection::name).collect();
    if idle.is_empty() || (asked.n_done() as f64) < FEW {
        return OptionOutcome::AsAsked;
    }
    match asked.spec().pattern.mix {
        DirectionMix::ReadWrite if is_one_sided(asked) => OptionOutcome::AsAsked,
        _ if asked.spec().is_verify_only() => OptionOutcome::AsAsked,
        _ => not(format!("no {} was done", idle.join(" and no "))),
    }
}

const ONE_ROW: &str = "the report has one row for all directions";

/// A report in which reads, writes and trims are one row.
fn is_one_row(asked: &Asked<'_, '_>) -> bool {
    let is_mixed = asked.spec().reporting.unified == UnifiedReporting::Mixed;
    is_mixed && asked.case.is_reported() && asked.used().count() > 1
}

fn is_one_sided(asked: &Asked<'_, '_>) -> bool {
    matches!(asked.spec().pattern.rwmix_read, 0 | 100)
}

/// Fewer I/Os tell nothing of a share.
pub(super) const FEW: f64 = 200.0;
/// A share may be off by this, beside chance.
const SHARE: f64 = 0.01;
const DEVIATIONS: f64 = 5.0;

/// So many of `n` draws may be the share that was wanted.
pub(super) fn is_by_chance(n_drawn: f64, wanted: f64, n: f64) -> bool {
    let chance = DEVIATIONS * (wanted * (1.0 - wanted) / n).sqrt();
    (n_drawn / n - wanted).abs() <= SHARE + chance
}

fn mix(asked: &Asked<'_, '_>) -> OptionOutcome {
    let spec = asked.spec();
    let count = |direction| asked.of(direction).map_or(0, |one| one.n_completed) as f64;
    let (reads, writes) = (count(DataDirection::Read), count(DataDirection::Write));
    let n = reads + writes;
    if spec.verify.is_some() || spec.replay.is_set() {
        return unseen("reads of verification or of a trace are among the reads");
    }
    if is_one_row(asked) {
        return unseen(ONE_ROW);
    }
    if n < FEW {
        return unseen("too few I/Os");
    }
    let wanted = f64::from(spec.pattern.rwmix_read) / 100.0;
    as_asked_if(is_by_chance(reads, wanted, n), || {
        format!("{:.0} % reads of {:.0} %", 100.0 * reads / n, 100.0 * wanted)
    })
}

/// Blocks are read back as they were written: with one size for all of them, reads and writes have it.
fn sizes_beside_verification(asked: &Asked<'_, '_>) -> OptionOutcome {
    let pattern = &asked.spec().pattern;
    let Some(first) = asked.used().next().map(|direction| pattern.block_size[direction].min_bytes) else {
        return unseen("nothing was read or written");
    };
    let wanted = first as f64;
    let is_one = |direction: DataDirection| {
        let size = &pattern.block_size[direction];
        pattern.block_split[direction].is_empty() && size.min_bytes == first && size.max_bytes == first
    };
    if pattern.bs_is_seq_rand || !asked.used().all(is_one) {
        return unseen("I/Os of other kinds are among them");
    }
    for direction in [DataDirection::Read, DataDirection::Write] {
        let Some(figures) = asked.of(direction).filter(|figures| figures.n_completed > 0) else { continue };
        let mean = figures.bytes as f64 / figures.n_completed as f64;
        let is_it = mean <= wanted * 1.000_001 && mean >= wanted - tail_bytes(figures, wanted);
        if !is_it {
            return unseen("I/Os of other kinds are among them");
        }
    }
    OptionOutcome::AsAsked
}

/// With `bs_is_seq_rand` the first size is that of blocks that follow the one before them, and the second one that of all others.
fn sizes_by_order(asked: &Asked<'_, '_>) -> OptionOutcome {
    let pattern = &asked.spec().pattern;
    let slots = [DataDirection::Read, DataDirection::Write].map(|slot| &pattern.block_size[slot]);
    if pattern.block_split.0.iter().any(|split| !split.is_empty()) || pattern.rw_postfix > 1 {
        return unseen("I/Os of several sizes are among them");
    }
    for direction in asked.used() {
        let Some(figures) = asked.of(direction).filter(|figures| figures.n_completed > 0) else { continue };
        let share = match (pattern.random, pattern.percentage_random[direction]) {
            (false, _) => 0.0,
            (true, 100..) => 1.0,
            (true, _) => {
                let draws = asked.figures().and_then(|all| all.features.draws.as_deref());
                let Some(draws) = draws else { return unseen(DRAWN) };
                let n_random = draws.n_at_random[direction] as f64;
                let n = n_random + draws.n_following[direction] as f64;
                if n < FEW || (figures.n_completed as f64) < FEW {
                    return unseen("too few I/Os");
                }
                n_random / n
            }
        };
        let mean = figures.bytes as f64 / figures.n_completed as f64;
        let of = |sequential: u64, random: u64| sequential as f64 * (1.0 - share) + random as f64 * share;
        let (low, high) = (of(slots[0].min_bytes, slots[1].min_bytes), of(slots[0].max_bytes, slots[1].max_bytes));
        // I/Os that were drawn last may not be done.
        let slack = SHARE * high + tail_bytes(figures, high);
        if mean < low - slack || mean > high + slack {
            let why = if mean < low && is_cut_short(asked) { CUT_SHORT } else { "" };
            let (done, wanted) = (text::bytes(mean as u64), text::bytes(f64::midpoint(low, high) as u64));
            return not(format!("{}s of {done} on average, and {wanted} were asked for{why}", direction.name()));
        }
    }
    OptionOutcome::AsAsked
}

/// A block that reaches into one which was used already is cut short there.
fn is_cut_short(asked: &Asked<'_, '_>) -> bool {
    let pattern = &asked.spec().pattern;
    pattern.random && !pattern.norandommap
}

const CUT_SHORT: &str = ": the map of used blocks cuts large ones short (norandommap)";

/// Bytes by which the mean size may be below the smallest one: the last block of a file may be shorter, and reads may end with it.
fn tail_bytes(figures: &DirectionStats, most_bytes: f64) -> f64 {
    let n = figures.n_completed as f64;
    (1.0 + 0.5 * n * 0.002) * most_bytes / n
}

fn block_sizes(asked: &Asked<'_, '_>) -> OptionOutcome {
    let pattern = &asked.spec().pattern;
    if asked.spec().replay.is_set() {
        return not("the trace says how large the I/Os are");
    }
    if asked.job.engine.moves_nothing() {
        return unseen("its engine moves no data");
    }
    if !asked.spec().extent.patterns.is_empty() {
        return unseen("I/Os of other kinds are among them");
    }
    if is_one_row(asked) {
        return unseen(ONE_ROW);
    }
    if asked.spec().verify.is_some() || asked.spec().is_verify_only() {
        return sizes_beside_verification(asked);
    }
    if pattern.bs_is_seq_rand {
        return sizes_by_order(asked);
    }
    for direction in asked.used() {
        let Some(figures) = asked.of(direction).filter(|figures| figures.n_completed > 0) else { continue };
        let mean = figures.bytes as f64 / figures.n_completed as f64;
        let sizes = &pattern.block_size[direction];
        let split = &pattern.block_split[direction];
        let tail = tail_bytes(figures, sizes.max_bytes as f64);
        let (low, high) = match split.as_slice() {
            [] => (sizes.min_bytes as f64, sizes.max_bytes as f64),
            _ if (figures.n_completed as f64) < FEW => return unseen("too few I/Os"),
            split => {
                let share = |block: &ferrio_spec::BlockShare| f64::from(block.percent) / 100.0;
                let wanted: f64 = split.iter().map(|block| share(block) * block.block_bytes as f64).sum();
                let square =
                    |block: &ferrio_spec::BlockShare| share(block) * (block.block_bytes as f64 - wanted).powi(2);
                let spread: f64 = split.iter().map(square).sum::<f64>().sqrt();
                let chance = DEVIATIONS * spread / (figures.n_completed as f64).sqrt() + 0.01 * wanted;
                (wanted - chance, wanted + chance)
            }
        };
        // fio counts the bytes of I/Os that were in flight when the ramp ended, and not their number.
        let limits = &asked.spec().limits;
        let has_ramp = limits.ramp_time_us > 0 || limits.ramp_bytes > 0;
        let n_in_flight = u64::from(asked.spec().queue.iodepth).saturating_mul(asked.job.n_clones.into());
        let of_flight = n_in_flight as f64 / figures.n_completed as f64;
        let more = if has_ramp { of_flight } else { 0.000_001 };
        // And the number of those in flight when a search for a latency ended, and not their bytes.
        let less = if asked.spec().latency.target_us > 0 { of_flight } else { 0.0 };
        if mean < low * (1.0 - less) - tail || mean > high * (1.0 + more) {
            let is_cut = !split.is_empty() && mean < low && is_cut_short(asked);
            let why = if is_cut { CUT_SHORT } else { "" };
            let wanted = if split.is_empty() && low < high {
                format!("{} to {}", text::bytes(low as u64), text::bytes(high as u64))
            } else {
                text::bytes(f64::midpoint(low, high) as u64)
            };
            let (done, kind) = (text::bytes(mean as u64), direction.name());
            return not(format!("{kind}s of {done} on average, and {wanted} were asked for{why}"));
        }
    }
    OptionOutcome::AsAsked
}
