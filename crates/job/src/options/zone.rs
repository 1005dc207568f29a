//! Zones and data placement.
//!
//! Rows only; the effect of a row is in its `apply` function. Must not know: how values are parsed.

use crate::options::definition::{Apply, Category, OptionDef, option};
use crate::options::kind::{ANY, Choice, Kind, at_most, choice};
use crate::options::{placement, zone_mode, zone_sequential};
use ferrio_spec::DeviationKind::{Different, Mended, Stricter};

const ZONEMODE: &[Choice] = &[
    choice("none", "No zones"),
    choice("strided", "A window that moves"),
    choice("zbd", "Zones of a zoned device, or of a file as if it were one"),
];

const DATAPLACEMENT: &[Choice] = &[
    choice("none", "No placement"),
    choice("fdp", "NVMe flexible data placement"),
    choice("streams", "Streams of NVMe"),
];

const PLID_SELECT: &[Choice] = &[
    choice("random", "A random id"),
    choice("roundrobin", "One after the other"),
    choice("scheme", "By the file of dp_scheme"),
];

pub(crate) const OPTIONS: &[OptionDef] = &[
    option("zonemode", Kind::Choice(ZONEMODE), "How the zone options act: off, strided window, or real zoned device")
        .default("none")
        .place(Category::Io, "zone")
        .applies(Apply::With(zone_mode::mode))
        .deviates(Different, "With zbd, a read waits for the job's own writes in flight to its range, and verified blocks are read back in ascending order. A finished zone can be read up to its capacity, with fio 3.41 up to the next zone. In sequential mixes with an io_size above the size a pass ends with the file; fio 3.41 continues with the other direction. A job fails if it has to begin a zone while the device allows no more active ones; in fio its writes fail. A file that is too short is not laid out again, and its own zones are used.")
        .deviates(Mended, "Sequential reads of a range without an end of a zone read nothing; fio 3.41 aborts. With strided and an offset in percent, the first window comes again at the offset; fio 3.41 computes the percentage again, from the grown file. A block of several sizes that reaches past the end of a window is cut at the last word of the map; fio 3.41, if the window is a power of two of at least 64 blocks, continues past the end of its map.")
        .deviates(Stricter, "Options that contradict zones are refused: openfiles above 1 with strided; file_append, fill_device and create_on_open with zbd; a negative skip in rw."),
    option(
        "zonesize",
        Kind::Size(ANY),
        "strided: bytes per zone before moving on; zbd: zone size when device has none",
    )
    .default("0")
    .place(Category::Io, "zone")
    .applies(Apply::U64(|draft| &mut draft.open.zones.zone_bytes)),
    option("zonecapacity", Kind::Size(ANY), "Usable bytes per emulated zone")
        .default("0")
        .place(Category::Io, "zone")
        .applies(Apply::U64(|draft| &mut draft.open.zones.sequential.capacity_bytes))
        .deviates(Stricter, "The option is refused without zonemode=zbd, and if an earlier job on the same file has another value."),
    option("zonerange", Kind::Size(ANY), "strided: address range of a zone (default zonesize)")
        .default("0")
        .place(Category::Io, "zone")
        .applies(Apply::U64(|draft| &mut draft.open.zones.range_bytes))
        .deviates(Stricter, "The option is refused without zonemode=strided; fio ignores it."),
    option("zoneskip", Kind::SizeOrPercent, "Gap between zones; bytes or Nz")
        .default("0")
        .place(Category::Io, "zone")
        .applies(Apply::With(zone_mode::skip))
        .deviates(Different, "With zbd, a job leaves a zone after it was read or written to its end; fio 3.41 counts bytes over all zones. Blocks that do not fill a zone are skipped by fio only in its second pass.")
        .deviates(Stricter, "The option is refused without zonemode, where fio ignores it, as a percentage, and beside a skip in rw."),
    option("read_beyond_wp", Kind::Bool, "Permit reads above a zone's write pointer")
        .default("0")
        .place(Category::Io, "")
        .applies(Apply::Bool(|draft| &mut draft.open.zones.sequential.reads_beyond_written))
        .deviates(Stricter, "The option is refused without zonemode=zbd; fio ignores it."),
    option("max_open_zones", Kind::Int(at_most(4096)), "Cap on simultaneously written zones per device over all jobs")
        .default("0")
        .place(Category::Io, "")
        .applies(Apply::U32(|draft| &mut draft.open.zones.sequential.max_open))
        .deviates(Different, "Beside other jobs' open zones, a random job may choose other zones than fio.")
        .deviates(Mended, "A job that finds all zones opened by other jobs waits for one; fio 3.41 ends it without an error and without its I/O.")
        .deviates(Stricter, "The option is refused without zonemode=zbd; fio ignores it."),
    option("job_max_open_zones", Kind::Int(at_most(4096)), "Same cap per job")
        .default("0")
        .place(Category::Io, "")
        .applies(Apply::U32(|draft| &mut draft.open.zones.sequential.job_max_open))
        .deviates(Mended, "An open zone counts for the job that opened it; fio 3.41 may open one too many for a job that has filled another's zone.")
        .deviates(Stricter, "The option is refused without zonemode=zbd; fio ignores it."),
    option("ignore_zone_limits", Kind::Bool, "Disregard limits reported by the device")
        .default("0")
        .place(Category::Io, "")
        .applies(Apply::Bool(|draft| &mut draft.open.zones.sequential.ignores_limits))
        .deviates(Stricter, "The option is refused without zonemode=zbd; fio ignores it."),
    option(
        "zone_reset_threshold",
        Kind::FloatList { max_len: 1, min: Some(0.0), max: Some(1.0) },
        "Share of the zones of the job, by their size, that is written before resets may start",
    )
    .place(Category::Io, "zone")
    .applies(Apply::With(zone_sequential::reset_threshold))
        .deviates(Different, "Each job counts the bytes written in its own range, by any job.")
        .deviates(Stricter, "The option is refused without zonemode=zbd; fio ignores it."),
    option(
        "zone_reset_frequency",
        Kind::FloatList { max_len: 1, min: Some(0.0), max: Some(1.0) },
        "Fraction of writes followed by a reset once above threshold",
    )
    .place(Category::Io, "zone")
    .applies(Apply::With(zone_sequential::reset_frequency))
        .deviates(Stricter, "The option is refused without zonemode=zbd; fio ignores it."),
    option("recover_zbd_write_error", Kind::Bool, "Re-read write pointer after failed sequential-zone write and go on")
        .default("0")
        .place(Category::Io, "zone")
        .applies(Apply::Bool(|draft| &mut draft.open.zones.sequential.recovers_writes))
        .deviates(Mended, "All blocks whose write did not fail are read back; fio ends the verification at the first failed one.")
        .deviates(Stricter, "The option is refused without zonemode=zbd; fio ignores it."),
    option("write_zone_remainder", Kind::Bool, "Fill short zone tails with small writes; forces norandommap")
        .default("0")
        .place(Category::Io, "zone")
        .applies(Apply::Bool(|draft| &mut draft.open.zones.sequential.writes_remainder))
        .deviates(Stricter, "The option is refused without zonemode=zbd; fio ignores it."),
    option("fdp", Kind::Bool, "Short for dataplacement=fdp")
        .default("0")
        .place(Category::Io, "")
        .applies(Apply::Bool(|draft| &mut draft.open.placement.fdp)),
    option("dataplacement", Kind::Choice(DATAPLACEMENT), "Placement scheme attached to writes (io_uring_cmd)")
        .aliases(&["data_placement"])
        .default("none")
        .place(Category::Io, "")
        .applies(Apply::With(placement::kind)),
    option("plid_select", Kind::Choice(PLID_SELECT), "How the next placement id is chosen")
        .aliases(&["fdp_pli_select"])
        .default("roundrobin")
        .place(Category::Io, "")
        .applies(Apply::With(placement::choice)),
    option("plids", Kind::Text, "Placement ids/indices to use: list and ranges (max 128, <= 0xFFFF)")
        .aliases(&["fdp_pli"])
        .place(Category::Io, "")
        .applies(Apply::With(placement::ids)),
    option("dp_scheme", Kind::Text, "File of \"start, end, id\" lines for plid_select=scheme")
        .place(Category::Io, "")
        .applies(Apply::Path(|draft| &mut draft.job.target.placement.scheme_file))
        .deviates(Mended, "All lines count; fio takes the first 32."),
];
