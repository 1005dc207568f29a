//! Direction, engine, depth, amounts and block sizes.
//!
//! Rows only; the effect of a row is in its `apply` function. Must not know: how values are parsed.

use crate::options::definition::{Apply, Category, OptionDef, option};
use crate::options::kind::{ANY, Choice, Kind, at_least, at_most, choice};
use crate::options::{apply, block_split};
use ferrio_spec::DeviationKind::{Different, Mended, Stricter};

const RW: &[Choice] = &[
    choice("read", "Sequential read"),
    choice("write", "Sequential write"),
    choice("trim", "Sequential trim"),
    choice("randread", "Random read"),
    choice("randwrite", "Random write"),
    choice("randtrim", "Random trim"),
    choice("rw", "Sequential read and write mix"),
    choice("readwrite", "Sequential read and write mix"),
    choice("randrw", "Random read and write mix"),
    choice("trimwrite", "Trim and write mix, trims preceding writes"),
    choice("randtrimwrite", "Randomly trim and write mix, trims preceding writes"),
];

const RW_SEQUENCER: &[Choice] = &[
    choice("sequential", "The I/Os of a run follow each other"),
    choice("identical", "The I/Os of a run use the same offset"),
];

const IO_SUBMIT_MODE: &[Choice] =
    &[choice("inline", "From the job itself"), choice("offload", "From a pool of workers")];

pub(crate) const OPTIONS: &[OptionDef] = &[
    option(
        "rw",
        Kind::Choice(RW),
        "Data direction and ordering; ':n' postfix = run length (random) or stride in bytes (sequential)",
    )
    .aliases(&["readwrite"])
    .default("read")
    .place(Category::Io, "io-basic")
    .applies(Apply::With(apply::rw)),
    option(
        "rw_sequencer",
        Kind::Choice(RW_SEQUENCER),
        "What the non-random I/Os of a 'rw=rand*:n' run do: advance or repeat the offset",
    )
    .default("sequential")
    .place(Category::Io, "io-basic")
    .applies(Apply::With(apply::rw_sequencer)),
    option("ioengine", Kind::Text, "Which submission backend to use; unknown names are tried as shared objects")
        .default("psync")
        .place(Category::Io, "io-basic")
        .applies(Apply::With(apply::ioengine))
        .deviates(Different, "Engines in shared libraries (external:) are those of ferrio's own interface. In verified data, a read of no bytes is an error (EIO) with libaio, io_uring and posixaio too; in fio it is a bad block."),
    option("iodepth", Kind::Int(at_least(1)), "Upper bound of I/Os kept outstanding per file set")
        .default("1")
        .place(Category::Io, "io-basic")
        .applies(Apply::U32(|draft| &mut draft.open.queue.iodepth))
        .deviates(Mended, "io_uring takes depths above 32,768; fio fails to set it up."),
    option(
        "iodepth_batch",
        Kind::Int(ANY),
        "How many prepared I/Os to hand to the kernel per submit call (0 or > iodepth means iodepth)",
    )
    .aliases(&["iodepth_batch_submit"])
    .default("1")
    .under("iodepth")
    .place(Category::Io, "io-basic")
    .applies(Apply::U32(|draft| &mut draft.open.queue.batch_submit)),
    option(
        "iodepth_batch_complete_min",
        Kind::Int(ANY),
        "Least completions to wait for per reap; 0 with max 0 = pure polling",
    )
    .aliases(&["iodepth_batch_complete"])
    .default("1")
    .under("iodepth")
    .place(Category::Io, "io-basic")
    .applies(Apply::U32(|draft| &mut draft.open.queue.batch_complete_min)),
    option("iodepth_batch_complete_max", Kind::Int(ANY), "Most completions fetched per reap; raised to _min if lower")
        .under("iodepth")
        .place(Category::Io, "io-basic")
        .applies(Apply::U32(|draft| &mut draft.open.queue.batch_complete_max)),
    option(
        "iodepth_low",
        Kind::Int(ANY),
        "After the queue fills, reap down to this level before refilling (0 or > iodepth means iodepth)",
    )
    .under("iodepth")
    .place(Category::Io, "io-basic")
    .applies(Apply::U32(|draft| &mut draft.open.queue.low)),
    option(
        "serialize_overlap",
        Kind::Bool,
        "Delay an I/O while another one in flight touches the same bytes; ignored for read-only or depth-1 inline jobs",
    )
    .default("0")
    .under("iodepth")
    .place(Category::Io, "io-basic")
    .applies(Apply::Bool(|draft| &mut draft.job.submission.serialize_overlap))
    .long(
        "With io_submit_mode=offload, the overlapping I/Os of all jobs of the run that have both options wait for each other. \
         A wait for an I/O of another job is part of the latency; a wait for an I/O of the same job is not.",
    ),
    option(
        "io_submit_mode",
        Kind::Choice(IO_SUBMIT_MODE),
        "Issue from the job thread itself or from a pool of iodepth worker threads",
    )
    .default("inline")
    .place(Category::Io, "io-basic")
    .applies(Apply::With(apply::io_submit_mode))
        .deviates(Mended, "offload works with io_uring, and with serialize_overlap between processes; fio fails or hangs. The engine sim never waits during submission, so it gets no threads.")
        .deviates(Stricter, "offload is refused with sync and vsync, because its threads would move the position of a shared file."),
    option(
        "size",
        Kind::SizeOrPercent,
        "Bytes addressed by the job over all its files; % of target or Nz zones accepted",
    )
    .place(Category::Io, "")
    .applies(Apply::With(apply::size))
        .deviates(Stricter, "A size of more than 100% is refused."),
    option(
        "io_size",
        Kind::SizeOrManyPercent,
        "Total bytes to transfer if different from size; may exceed size (wraps); N% or Nz",
    )
    .aliases(&["io_limit"])
    .place(Category::Io, "")
    .applies(Apply::With(apply::io_size))
        .long(
            "More than 100% is ferrio's own: with io_size=250% a job goes over its files two and a half times. Up to 100% the value is a share \
             of all files, in fio's jobs even of the bytes beyond `size`; above that it is a multiple of `size`.",
        )
        .deviates(Different, "Above 100% it takes several passes.")
        .deviates(Mended, "Overlapping verified writes that were in flight together are not read back, because either may be the last; fio expects the later one.")
        .deviates(Stricter, "A number of zones is refused without zonemode; fio ignores it."),
    option(
        "fill_device",
        Kind::Bool,
        "Keep writing until the target reports no space; ENOSPC/EDQUOT then count as success",
    )
    .aliases(&["fill_fs"])
    .default("0")
    .place(Category::File, "")
    .applies(Apply::Bool(|draft| &mut draft.job.extent.fill_device)),
    option("filesize", Kind::SizePair(at_least(1)), "Size, or low-high range for a random size, of each file")
        .place(Category::File, "")
        .applies(Apply::With(apply::filesize))
        .deviates(Stricter, "A file within the bounds that ends before offset is an error; fio 3.41 leaves the file out."),
    option("file_append", Kind::Bool, "Begin at current end of file, extending it")
        .default("0")
        .place(Category::File, "")
        .applies(Apply::Bool(|draft| &mut draft.job.extent.file_append))
        .deviates(Mended, "Later passes (loops, io_size) write the appended part again; fio 3.41 ends after one pass. Random blocks of several sizes fill the part; fio 3.41 ends before the pass is complete."),
    option("offset", Kind::SizeOrPercent, "First byte used in each file; % of file size or Nz zones")
        .aliases(&["fileoffset"])
        .default("0")
        .place(Category::Io, "")
        .applies(Apply::With(apply::offset))
        .deviates(Stricter, "An offset at or behind the end of the file fails the job with error 22; fio 3.41 reports no error. A number of zones is refused without zonemode; fio ignores it."),
    option(
        "offset_align",
        Kind::Int(ANY),
        "Round a percentage-derived offset up to this multiple (default: smallest block size)",
    )
    .default("0")
    .place(Category::Io, "")
    .applies(Apply::U64(|draft| &mut draft.job.extent.offset_align)),
    option("offset_increment", Kind::SizeOrPercent, "Added to offset once per clone index (numjobs); bytes, %, Nz")
        .default("0")
        .under("offset")
        .place(Category::Io, "")
        .applies(Apply::With(apply::offset_increment))
        .deviates(Stricter, "A number of zones is refused without zonemode; fio ignores it."),
    option(
        "number_ios",
        Kind::Size(ANY),
        "Cap on count of completed+inflight read/write/trim I/Os (times loops); other limits still apply",
    )
    .default("0")
    .place(Category::Io, "")
    .applies(Apply::U64(|draft| &mut draft.job.extent.number_ios))
        .deviates(Different, "Failed I/Os that continue_on_error tolerates count too; fio counts those without an error."),
    option(
        "num_range",
        Kind::Int(at_most(256)),
        "Ranges packed in one trim command; >1 only on engines flagged multi-range",
    )
    .default("1")
    .place(Category::Io, "")
    .applies(Apply::U32(|draft| &mut draft.job.extent.ranges_per_trim))
    .deviates(Stricter, "zonemode, serialize_overlap and block_error_percentiles are refused with several ranges."),
    option("bs", Kind::SizePerDirection(at_least(1)), "Block size; up to three values read,write,trim")
        .aliases(&["blocksize"])
        .default("4096")
        .under("rw")
        .place(Category::Io, "")
        .applies(Apply::With(apply::block_size))
        .deviates(Stricter, "More than three values are refused; fio ignores the others."),
    option(
        "ba",
        Kind::SizePerDirection(at_least(1)),
        "Offset granularity for random I/O; using it switches the random map off",
    )
    .aliases(&["blockalign"])
    .under("rw")
    .place(Category::Io, "")
    .applies(Apply::With(apply::block_align)),
    option(
        "bsrange",
        Kind::RangePerDirection(at_least(1)),
        "Random block size between bounds, multiples of the minimum; up to three ranges",
    )
    .aliases(&["blocksize_range"])
    .under("rw")
    .place(Category::Io, "")
    .applies(Apply::With(apply::block_range)),
    option("bssplit", Kind::Text, "Weighted block size mix size/percent:...; per direction with commas")
        .under("rw")
        .place(Category::Io, "")
        .applies(Apply::With(block_split::set))
        .deviates(Stricter, "Lists that fio accepts in part are refused. These are: more than three lists, more than 64 entries, a size of 0, a percentage that is no whole number, and a share left blank beside more than 100%."),
    option("bs_unaligned", Kind::Flag, "Allow range-derived block sizes that are not multiples of the minimum")
        .aliases(&["blocksize_unaligned"])
        .under("rw")
        .place(Category::Io, "")
        .applies(Apply::Bool(|draft| &mut draft.job.pattern.bs_unaligned)),
    option(
        "bs_is_seq_rand",
        Kind::Bool,
        "Reinterpret the first/second bs values as sequential/random instead of read/write",
    )
    .default("0")
    .under("blocksize")
    .place(Category::Io, "")
    .applies(Apply::Bool(|draft| &mut draft.job.pattern.bs_is_seq_rand)),
];
