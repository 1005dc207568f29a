//! Random offsets: seeds, generators, distributions.
//!
//! Rows only; the effect of a row is in its `apply` function. Must not know: how values are parsed.

use crate::options::definition::{Apply, Category, OptionDef, option};
use crate::options::kind::{ANY, Choice, Kind, at_least, at_most, choice};
use crate::options::{apply, distribution, sprandom, zone_sequential};
use ferrio_spec::DeviationKind::{Different, Mended, Stricter};

const RANDOM_GENERATOR: &[Choice] = &[
    choice("tausworthe", "Tausworthe generator, 32 bit"),
    choice("lfsr", "Linear feedback shift register: each block once"),
    choice("tausworthe64", "Tausworthe generator, 64 bit"),
];

const RANDOM_DISTRIBUTION: &[Choice] = &[
    choice("random", "Every block equally likely"),
    choice("zipf", "Zipf, parameter theta"),
    choice("pareto", "Pareto, parameter h"),
    choice("normal", "Normal, parameter deviation in percent"),
    choice("zoned", "Shares of I/O over shares of the target"),
    choice("zoned_abs", "Shares of I/O over bytes of the target"),
    choice("sequence", "Blocks of a given list, in turn"),
];

const SPR_MODEL: &str = "The order of blocks is not that of fio, because the model of the device is ferrio's own.";

pub(crate) const OPTIONS: &[OptionDef] = &[
    option("randrepeat", Kind::Bool, "Seed generators from randseed so that runs repeat; 0 = seed from /dev/urandom")
        .aliases(&["allrandrepeat"])
        .default("1")
        .under("rw")
        .place(Category::Io, "random")
        .applies(Apply::Bool(|draft| &mut draft.job.pattern.randrepeat)),
    option("randseed", Kind::Size(ANY), "Seed base; giving it clears randrepeat (no reseed between loops)")
        .default("0x89")
        .under("rw")
        .place(Category::Io, "random")
        .applies(Apply::With(apply::randseed)),
    option("norandommap", Kind::Flag, "Do not track visited blocks, so offsets can repeat and some may be missed")
        .under("rw")
        .place(Category::Io, "random")
        .applies(Apply::With(zone_sequential::norandommap)),
    option("softrandommap", Kind::Bool, "Carry on without the random map if it cannot be allocated")
        .default("0")
        .under("norandommap")
        .place(Category::Io, "random")
        .applies(Apply::Bool(|draft| &mut draft.job.pattern.softrandommap)),
    option("sprandom", Kind::Bool, "Preconditioning pass that writes each LBA once plus model-driven overwrites")
        .default("0")
        .under("rw")
        .place(Category::Io, "random")
        .long("One pass writes size * (1 + spr_op) bytes. It brings an empty SSD into the state that long random writes would \
               leave. The job must have one file. With loops, or an io_size beyond a pass, further passes follow. The \
               book explains the model and its use (page: sprandom).")
        .applies(Apply::Bool(|draft| &mut draft.open.sprandom.is_on))
        .deviates(Different, SPR_MODEL)
        .deviates(Stricter, "Options that contradict the order of blocks are refused. These are rw=randtrimwrite, runs (randwrite:N), bsrange, bssplit, bs_unaligned, a blockalign other than bs, a random_distribution other than random, a percentage_random below 100, a skewed file_service_type, zonemode, fill_device and read_iolog."),
    option("spr_num_regions", Kind::Int(at_least(1)), "Region count used by the sprandom model")
        .default("100")
        .under("sprandom")
        .place(Category::Io, "random")
        .long("Number of parts of a pass; within a part the share of overwrites is constant.")
        .applies(Apply::U32(|draft| &mut draft.open.sprandom.spec.n_regions))
        .deviates(Different, SPR_MODEL),
    option(
        "spr_op",
        Kind::FloatList { max_len: 1, min: Some(0.0), max: Some(100.0) },
        "Device over-provisioning ratio assumed by sprandom",
    )
    .default("0.15")
    .under("sprandom")
    .place(Category::Io, "random")
    .long("Physical space of the device beyond the size of the job, as a share of that size: 0.15 is 15 percent.")
    .applies(Apply::With(sprandom::over_provisioning))
        .deviates(Different, SPR_MODEL)
        .deviates(Stricter, "The value must be above 0 and at most 100."),
    option("spr_cs", Kind::Size(ANY), "Device write-cache size assumed by sprandom")
        .default("0")
        .under("sprandom")
        .place(Category::Io, "random")
        .long("A block is written again only after this many bytes of other writes, so that it has left the cache.")
        .applies(Apply::With(sprandom::cache))
        .deviates(Different, SPR_MODEL)
        .deviates(Stricter, "A cache of more than a quarter of the bytes to write to a file ends the job when it starts."),
    option(
        "random_generator",
        Kind::Choice(RANDOM_GENERATOR),
        "Offset generator; lfsr visits each block once without a map",
    )
    .default("tausworthe")
    .place(Category::Io, "random")
    .applies(Apply::With(apply::random_generator))
        .deviates(Mended, "A seed with which lfsr would stand still is replaced by 0; fio reports an error, does no I/O and exits with success."),
    option(
        "random_distribution",
        Kind::ChoiceAndLists(RANDOM_DISTRIBUTION),
        "Shape of random offsets; parameters after ':' (theta, h, deviation, zone list, block list)",
    )
    .default("random")
    .place(Category::Io, "random")
    .applies(Apply::With(distribution::set))
        .deviates(Mended, "Shares of zones may have up to four decimals (zoned:0.5/10:99.5/90); fio takes whole percents.")
        .deviates(Stricter, "Parameters without a meaning, and anything behind a parameter, are refused. Parameters without a meaning are a theta of zipf that is negative or not a number, an empty list of zones, zones of more than 100% together, and a zone of zoned_abs without a size. A zone or block past the end of a file ends the job when it starts."),
    option(
        "random_sequence_stride",
        Kind::Bool,
        "With distribution=sequence, shift the list by its length after each pass",
    )
    .default("0")
    .place(Category::Io, "random")
    .applies(Apply::Bool(|draft| &mut draft.open.distribution.sequence_stride)),
    option(
        "percentage_random",
        Kind::IntPerDirection(at_most(100)),
        "Share of I/Os in a random job that get a random offset, per direction",
    )
    .default("100,100,100")
    .place(Category::Io, "random")
    .applies(Apply::With(apply::percentage_random))
        .deviates(Mended, "With verify only the newest write of a block is read back; fio 3.41 also looks for older ones and calls good blocks damaged.")
        .deviates(Stricter, "A bad value for one direction is refused."),
    option("percentage_sequential", Kind::Removed, "Removed option, rejected")
        .place(Category::Io, "random")
        .applies(Apply::Nothing),
];
