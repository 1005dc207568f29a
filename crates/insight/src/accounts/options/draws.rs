//! Options whose shares of I/Os the generator of a job draws, and the turns of its files.
//!
//! Start reading at [`EFFECTS`].

use super::OptionEffect;
use super::direction::{DRAWN, FEW, is_by_chance, sequential};
use crate::accounts::asked::{Asked, as_asked_if, not, unseen};
use crate::audit_input::sum;
use crate::text;
use ferrio_spec::{FileService, RandomDistribution, SizeSpec};
use ferrio_stats::{DrawCounts, FileTurns, HotDraws, OptionOutcome, TargetKind};
use ferrio_units::DataDirection;

pub(super) const EFFECTS: &[OptionEffect] = &[
    OptionEffect::measured(&["percentage_random"], percentage_random).in_vain_if(|asked| {
        let is_random = asked.spec().pattern.random || asked.spec().replay.is_set();
        (!is_random && asked.spec().extent.patterns.is_empty()).then(|| "the job is sequential".to_owned())
    }),
    OptionEffect::measured(&["random_distribution"], distribution).in_vain_if(sequential),
    OptionEffect::measured(&["file_service_type"], file_turns)
        .in_vain_if(|asked| (asked.n_files() == Some(1)).then(|| "the job has one file".to_owned())),
];

fn draws<'c>(asked: &Asked<'c, '_>) -> Option<&'c DrawCounts> {
    asked.figures()?.features.draws.as_deref()
}

fn percentage_random(asked: &Asked<'_, '_>) -> OptionOutcome {
    let percents = &asked.spec().pattern.percentage_random;
    if asked.spec().replay.is_set() || !asked.spec().extent.patterns.is_empty() {
        return unseen(DRAWN);
    }
    if asked.used().all(|direction| percents[direction] >= 100) {
        return OptionOutcome::AsAsked;
    }
    let Some(draws) = draws(asked) else { return unseen(DRAWN) };
    let mut n_seen = 0;
    for direction in asked.used().filter(|direction| percents[*direction] < 100) {
        let n_random = draws.n_at_random[direction] as f64;
        let n = n_random + draws.n_following[direction] as f64;
        let wanted = f64::from(percents[direction]) / 100.0;
        if n < FEW {
            continue;
        }
        n_seen += 1;
        if !is_by_chance(n_random, wanted, n) {
            let name = if asked.used().count() > 1 { format!(" {}s", direction.name()) } else { String::new() };
            return not(format!("{:.0} %{name} at random of {:.0} %", 100.0 * n_random / n, 100.0 * wanted));
        }
    }
    if n_seen == 0 { unseen("too few I/Os") } else { OptionOutcome::AsAsked }
}

fn distribution(asked: &Asked<'_, '_>) -> OptionOutcome {
    // All places are alike, which asks for nothing.
    if asked.spec().pattern.distribution == RandomDistribution::Uniform {
        return OptionOutcome::AsAsked;
    }
    let Some(draws) = draws(asked) else { return unseen(DRAWN) };
    match &asked.spec().pattern.distribution {
        RandomDistribution::Zoned(zones) => {
            let mut n_seen = 0;
            for direction in asked.used() {
                let counts = &draws.zones[direction];
                let n = counts.iter().sum::<u64>() as f64;
                if n < FEW {
                    continue;
                }
                n_seen += 1;
                for (index, (zone, n_drawn)) in zones[direction].iter().zip(counts).enumerate() {
                    let wanted = zone.access_percent.fraction();
                    if !is_by_chance(*n_drawn as f64, wanted, n) {
                        let (done, wanted) = (text::percent(*n_drawn as f64, n), text::percent(wanted, 1.0));
                        return not(format!("{done} of the {}s in zone {} of {wanted}", direction.name(), index + 1));
                    }
                }
            }
            if n_seen == 0 { unseen("too few I/Os") } else { OptionOutcome::AsAsked }
        }
        RandomDistribution::Zipf { .. } | RandomDistribution::Pareto { .. } | RandomDistribution::Normal { .. } => {
            draws.hot.map_or_else(|| unseen(DRAWN), |hot| hot_share(&hot, "I/Os at the hottest blocks"))
        }
        _ => unseen(DRAWN),
    }
}

/// The share of the draws that went to the most frequent places.
fn hot_share(hot: &HotDraws, of_what: &str) -> OptionOutcome {
    let n = hot.n_drawn as f64;
    if n < FEW {
        return unseen("too few I/Os");
    }
    as_asked_if(is_by_chance(hot.n_hot as f64, hot.n_wanted / n, n), || {
        let (done, wanted) = (text::percent(hot.n_hot as f64, n), text::percent(hot.n_wanted, n));
        format!("{done} of the {of_what} of {wanted}")
    })
}

/// Fewer turns tell nothing of their length.
const FEW_TURNS: u64 = 20;
/// A turn may be longer or shorter by this factor: files end at different times.
const TURN_FACTOR: f64 = 2.0;

fn file_turns(asked: &Asked<'_, '_>) -> OptionOutcome {
    let spec = asked.spec();
    if matches!(spec.target.file_service, FileService::Skewed(_)) {
        let hot = draws(asked).and_then(|draws| draws.hot_files);
        return hot.map_or_else(
            || unseen("the files that a skewed choice took are not recorded"),
            |hot| hot_share(&hot, "choices of files at the most frequent places"),
        );
    }
    let durability = &spec.durability;
    // A sync takes a part of a turn.
    let has_syncs =
        durability.fsync_blocks > 0 || durability.fdatasync_blocks > 0 || durability.sync_file_range.is_some();
    let turns = draws(asked).and_then(|draws| draws.files).filter(|_| !has_syncs);
    let (Some(FileTurns { n_ios, n_turns }), Some(n_files)) = (turns, asked.n_files()) else {
        return unseen("the order of files is not recorded");
    };
    let count = f64::from(spec.target.file_service_count.max(1));
    let n_open = match spec.target.openfiles {
        0 => n_files,
        open => u64::from(open).min(n_files),
    } as f64;
    let Some(of_pass) = ios_of_pass(asked) else {
        return unseen("how many blocks a file has depends on the files");
    };
    let (least, most) = match &spec.target.file_service {
        FileService::RoundRobin => (count, count),
        // The same file may be drawn again.
        FileService::Random => (count, count * n_open / (n_open - 1.0).max(0.5)),
        FileService::Sequential => (of_pass.all_files / n_files as f64, f64::INFINITY),
        FileService::Skewed(_) => return unseen("the files that a skewed choice took are not recorded"),
    };
    // A pass that ends early ends a turn.
    let least = least.min(of_pass.most);
    if spec.target.file_service != FileService::Sequential && n_ios < FEW_TURNS * count as u64 {
        return unseen("too few I/Os");
    }
    // The first turn of each clone comes without a change, and the last one may be cut: the mean lies between these two.
    let (high, low) = (n_ios as f64 / n_turns.max(1) as f64, n_ios as f64 / (n_turns + asked.n_clones()) as f64);
    as_asked_if(high * TURN_FACTOR >= least && low <= most * TURN_FACTOR, || {
        format!("a turn of a file has {} I/Os of {}", text::short(low), text::short(least))
    })
}

/// I/Os of a pass over the files of a clone.
struct PassIos {
    /// All blocks of all files.
    all_files: f64,
    /// The most that the limits of a pass leave.
    most: f64,
}

/// The sizes of files that are used whole, by all clones; `None`: not all of them are known.
fn by_places(asked: &Asked<'_, '_>) -> Option<u64> {
    let (job, extent) = (asked.job, &asked.spec().extent);
    let is_whole = extent.filesize.is_none() && extent.offset == SizeSpec::Bytes(0);
    let are_files = !job.has_more_files && job.places.iter().all(|place| place.kind == TargetKind::File);
    let n_files: u64 = job.places.iter().map(|place| place.n_files).sum();
    (is_whole && are_files && asked.n_files() == Some(n_files))
        .then(|| sum(job.places.iter().map(|place| place.now.size_bytes)))
}

/// By the mean size of the blocks; `None`: the size of the files is not known.
fn ios_of_pass(asked: &Asked<'_, '_>) -> Option<PassIos> {
    let extent = &asked.spec().extent;
    let by_files = || {
        let (least, most) = extent.filesize.filter(|_| extent.filesize_split.is_empty())?;
        (least == most).then(|| asked.n_files()?.checked_mul(most))?
    };
    let size = match extent.size {
        Some(SizeSpec::Bytes(size)) => size,
        Some(SizeSpec::Percent(_)) => return None,
        None => by_files().or_else(|| by_places(asked))?,
    };
    let done = DataDirection::ALL.into_iter().filter_map(|direction| asked.of(direction));
    let (n_ios, bytes) = done.fold((0.0, 0.0), |(n, sum), one| (n + one.n_completed as f64, sum + one.bytes as f64));
    if n_ios == 0.0 || bytes == 0.0 {
        return None;
    }
    let of = |part: u64| part as f64 * n_ios / bytes;
    let by_number = if extent.number_ios > 0 { extent.number_ios as f64 } else { f64::INFINITY };
    let by_bytes = extent.given_io_bytes().map_or(f64::INFINITY, of);
    Some(PassIos { all_files: of(size), most: by_number.min(by_bytes) })
}
