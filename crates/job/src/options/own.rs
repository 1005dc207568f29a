//! Options of every job that fio does not have.
//!
//! Rows only; the effect of a row is in its `apply` function. Must not know: how values are parsed.

use crate::options::definition::{Apply, Category, OptionDef, option};
use crate::options::kind::{Choice, Kind, at_least, choice};
use crate::options::{
    apply, apply_pace, apply_replay, directories, patterns, shared_stream, verification, whole_files,
};

const RATE_LATENCY: &[Choice] = &[
    choice("issue", "When the job came to do the I/O"),
    choice("response", "Besides, when the rate wanted it to start"),
];

const RATE_CATCH_UP: &[Choice] =
    &[choice("burst", "As fast as it goes"), choice("paced", "At no more than twice the rate")];

const EXPECTED: &[Choice] = &[
    choice("nothing", "Whatever contradicts a figure is a finding"),
    choice("memory", "Figures of memory: of the page cache, or of a file system that keeps its data there"),
];

const HEADER_LAYOUT: &[Choice] = &[choice("3.42", "48 bytes, as 3.41 has too"), choice("3.33", "40 bytes")];

const DIRECTORY_PER: &[Choice] = &[
    choice("clone", "Clone n has its files in directory n mod count, as in fio"),
    choice("file", "File i of each clone is in directory i mod count"),
];

pub(crate) const OPTIONS: &[OptionDef] = &[
    option("rate_latency", Kind::Choice(RATE_LATENCY), "From when latencies of rate-limited I/O count")
        .default("issue")
        .under("rate")
        .place(Category::Io, "rate")
        .long(
            "An option of ferrio's own. A job that waits for a slow I/O starts later I/Os too late, and their latencies do \
             not include that delay. With `response`, a further latency counts from the time at which the rate wanted \
             each I/O to start. It is shown beside the others in the normal report, and under `ferrio.response` in \
             JSON. rate_catch_up tells how the job catches up.",
        )
        .applies(Apply::With(apply_pace::rate_latency)),
    option("rate_catch_up", Kind::Choice(RATE_CATCH_UP), "How a rate-limited job that is late catches up")
        .under("rate")
        .place(Category::Io, "rate")
        .long(
            "An option of ferrio's own. The default is `burst`, as in fio: late I/Os follow each other at once. With \
             rate_latency=response it is `paced`: between two I/Os is at least half of the time that the rate wants. \
             Users who come at random (rate_process=poisson) are not spaced.",
        )
        .applies(Apply::With(apply_pace::rate_catch_up)),
    option("patterns", Kind::Text, "Several patterns of one job with their shares, such as randread/4k/70:write/64k/30")
        .place(Category::Io, "")
        .long(
            "An option of ferrio's own, in the place of rw and bs: RW/BS/PERCENT of each pattern, joined by colons. RW is read, write, randread or \
             randwrite; patterns without a share divide the rest equally. Each I/O is one of the pattern that is drawn by the shares, from a random \
             stream of the job (randseed, randrepeat), so a pattern with larger blocks moves more of the bytes. A sequential pattern keeps its own position, and a random one its own map of blocks; \
             both begin anew at their end, while size, io_size, number_ios and runtime end the job. The report has the job once. \
             Refused beside rw, bs, bssplit, several files, verify, zonemode, read_iolog, sprandom, rates and flow.",
        )
        .applies(Apply::With(patterns::set)),
    option("shared_stream", Kind::Text, "Name of a sequence of blocks that jobs and clones go through together")
        .place(Category::Io, "")
        .long(
            "An option of ferrio's own. The clones of a job (numjobs), and all jobs with the same name here, take the next block of one common \
             position: together they read or write each block of the file once, as workers of one queue do, and a faster one takes more of them. \
             With loops or time_based the sequence begins anew at its end. It works for processes and threads. All of them have the same filename \
             (which is needed), size, offset and bs, and rw=read, write or trim. Refused beside random or mixed rw, several block sizes or files, verify, zonemode, \
             read_iolog, whole_files, patterns, io_size and offset_increment.",
        )
        .applies(Apply::With(shared_stream::set)),
    option("whole_files", Kind::Bool, "Each I/O is a whole file")
        .default("0")
        .place(Category::File, "")
        .long(
            "An option of ferrio's own, for many small files or objects: a file is opened, read or written by one I/O, and closed. \
             filesize, filesize_split or size (shared by nrfiles) says how large the files are; bs has no place in such a job. A pass takes each file once, in \
             order, or in random order if rw is random; with file_service_type=zipf, pareto or normal, some files come again and \
             again.",
        )
        .applies(Apply::Bool(|draft| &mut draft.job.extent.whole_files)),
    option("filesize_split", Kind::Text, "Sizes of files with their shares, such as 4k/60:64k/30:1m/10")
        .place(Category::File, "")
        .long(
            "An option of ferrio's own, written like bssplit. The size of a file depends on its name alone, so that another job, \
             or another run, finds the sizes that were written. With whole_files=1 some may have 0 bytes (0/20:4k/80).",
        )
        .applies(Apply::With(whole_files::filesize_split)),
    option("directory_per", Kind::Choice(DIRECTORY_PER), "What takes the directories of `directory` in turn")
        .default("clone")
        .under("directory")
        .place(Category::File, "filename")
        .long(
            "An option of ferrio's own. With several directories (directory=a:b), fio puts all files of a clone into one of them. \
             With `file`, the files of each clone are spread evenly: the first is in the first directory, the second in \
             the second, and so on from the start. Names of `filename` count too, but a name from the root stays where it is.",
        )
        .applies(Apply::With(directories::directory_per)),
    option("replay_offset", Kind::Size(at_least(0)), "Added to all offsets of the trace, for each clone with offset_increment")
        .under("read_iolog")
        .place(Category::Io, "iolog")
        .long(
            "An option of ferrio's own. Several jobs, or the clones of a job, replay a trace in different places of a device: \
             the offsets of clone n are those of the trace (after replay_scale and replay_align), and replay_offset, and n \
             times offset_increment (in bytes). The job fails before its first I/O if one would lie beyond the end of its \
             device, or beyond that of a file that the trace does not write; the error names the line of the trace. \
             replay_offset=0 is such a value too. Without this option, offset_increment has no effect on a replay, as in fio.",
        )
        .applies(Apply::With(apply_replay::replay_offset)),
    option("report_total", Kind::Bool, "Sum this job with those of all groups at the end of the report")
        .default("0")
        .place(Category::Stat, "")
        .long(
            "An option of ferrio's own. fio sums the jobs of a group, and jobs that a stonewall parts are in different groups. \
             After the groups, the normal report has a part with the sum of all jobs that have this option, in whatever \
             group they are: I/Os and bytes, mean rates, latencies and percentiles of all I/Os together. JSON has it under \
             `ferrio.total`. The table of `ferrio run` ends with it, and its JSON has it under `total`. The mean rate of a direction is over the sum of its \
             times in the groups, where the time of a group is that of its longest job.",
        )
        .applies(Apply::Bool(|draft| &mut draft.job.grouping.report_total)),
    option("expect", Kind::Choice(EXPECTED), "What the figures of the job are meant to be")
        .default("nothing")
        .place(Category::Stat, "")
        .long(
            "An option of ferrio's own. With `memory`, the job measures memory on purpose: that its files are on tmpfs, or that the page cache answers, \
             is no finding then but a note. If the storage did most of the work nevertheless, a finding says so. The option changes no I/O. In a job file that fio \
             shall read too, write it as a comment on a line of its own, `# ferrio: expect=memory`, below [global] or the name of a job.",
        )
        .applies(Apply::With(apply::expected)),
    option("random_distribution_permute", Kind::Bool, "Give each block a rank of its own in a skewed distribution")
        .default("0")
        .under("random_distribution")
        .place(Category::Io, "random")
        .long(
            "An option of ferrio's own, for zipf and pareto. fio scatters the ranks of blocks by a hash: unless the number of blocks is a power \
             of two, some blocks have several ranks and others none, so that these are never used (692 of 1,000). Its draws of zipf also \
             deviate from the law, by up to about a fifth. With this option a permutation gives each block one rank, and each is drawn as \
             often as the law says. The order of I/Os is another one then. Each clone has hot blocks of its own, as in fio, unless a centre says where they begin.",
        )
        .applies(Apply::Bool(|draft| &mut draft.open.distribution.permutes_ranks)),
    option("verify_header_layout", Kind::Choice(HEADER_LAYOUT), "Version of fio whose header verified blocks have")
        .default("3.42")
        .under("verify")
        .place(Category::Io, "verify")
        .long(
            "An option of ferrio's own. The header before the data of a verified block changed between fio 3.33 and \
             3.41, and neither version reads the other's. By default ferrio writes the header of 3.41 and 3.42. Set `3.33` if \
             Debian's fio 3.33 is to read the file; for sha512 this also stores the checksum of that version, which covers \
             only the last bytes of a block (a job that reads back its own writes compares all data). A job that only reads \
             (rw=read, verify_only) recognises either header in each block, unless this option is set: then only the named \
             layout is right. A job that reads back its own writes accepts only the layout that it wrote.",
        )
        .applies(Apply::With(verification::layout)),
    option("verify_crash_log", Kind::Text, "Journal of writes and syncs, for a check after a crash")
        .under("verify")
        .place(Category::Io, "verify")
        .long(
            "An option of ferrio's own. The job records acknowledged writes and completed syncs in this file, which should be \
             on another device. After a power cut, or after the job was killed, `ferrio verify --after-crash` with the same \
             job tells whether all synced data is there and no block is torn. With numjobs the number of the clone is \
             appended to the name.",
        )
        .applies(Apply::With(verification::crash_log)),
];
