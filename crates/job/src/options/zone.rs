//! Zones and data placement.
//!
//! Rows only. Must not know: how values are parsed; what a row does is in its `apply` part.

use crate::options::definition::{Apply, Category, OptionDef, option};
use crate::options::kind::{ANY, Choice, Kind, at_most, choice};
use crate::options::{zone_mode, zone_sequential};

const ZONEMODE: &[Choice] = &[
    choice("none", "No zones"),
    choice("strided", "A window that moves"),
    choice("zbd", "Zones of a zoned device, or of a file as if it were one"),
];

const DATAPLACEMENT: &[Choice] = &[
    choice("none", "No placement"),
    choice("fdp", "NVMe flexible data placement"),
    choice("streams", "Write streams of the file system"),
];

const PLID_SELECT: &[Choice] = &[
    choice("random", "A random id"),
    choice("roundrobin", "One after the other"),
    choice("scheme", "By the file of dp_scheme"),
];

const PLACEMENT: &str = "needs an NVMe device with flexible data placement and its commands by io_uring_cmd, or a file system with \
                         write streams";

/// The rows.
pub(crate) const OPTIONS: &[OptionDef] = &[
    option("zonemode", Kind::Choice(ZONEMODE), "How the zone options act: off, strided window, or real zoned device")
        .default("none")
        .place(Category::Io, "zone")
        .applies(Apply::With(zone_mode::mode))
        .deviates("strided: with an offset in percent the first window comes again at the offset, where fio 3.33 takes the percentage anew, of a file that has grown by it; a block of several sizes that reaches past the end of a window is cut where the words of the map end, where fio 3.33, if the window is a power of two of at least 64 blocks, reads and marks memory behind its map; the write of randtrimwrite goes where its trim went; openfiles above 1, with which fio has no zones, and a negative skip in rw are refused. zbd: with max_open_zones, where no block fits into any of the open zones one of them is reset, and fio 3.33 ends the job; with an iodepth above 1 a full zone is open no longer when its last write is issued, with fio 3.33 when it is complete; blocks of several sizes fill the last zone, where fio 3.33 leaves out at its end what an offset was rounded up by; a file that is too short is not laid out anew, its own zones are used; reads of a range that does not begin or end with a zone take the parts of the zones, where fio 3.33 fails; with verify what is read back comes in ascending order; file_append, fill_device, create_on_open and a negative skip in rw are refused, and so are several jobs that write to the same zones of a zoned device"),
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
        .deviates("refused without zonemode=zbd, where fio ignores it; so is another one than that of an earlier job on the same file"),
    option("zonerange", Kind::Size(ANY), "strided: address range of a zone (default zonesize)")
        .default("0")
        .place(Category::Io, "zone")
        .applies(Apply::U64(|draft| &mut draft.open.zones.range_bytes))
        .deviates("refused without zonemode=strided, where fio ignores it"),
    option("zoneskip", Kind::SizeOrPercent, "Gap between zones; bytes or Nz")
        .default("0")
        .place(Category::Io, "zone")
        .applies(Apply::With(zone_mode::skip))
        .deviates("refused without zonemode, where fio ignores it; a percentage is refused. zbd: a zone is left when it was read or written to its end, where fio 3.33 leaves it after as many bytes of I/O as a zone has, wherever they went (a block over the border of a zone, a zone that was reset), and ends with a failed assertion if that is past the range; reads go from one written zone to the next, where fio 3.33 goes back and forth among those that are written in part; refused beside a skip in rw"),
    option("read_beyond_wp", Kind::Bool, "Permit reads above a zone's write pointer")
        .default("0")
        .place(Category::Io, "")
        .applies(Apply::Bool(|draft| &mut draft.open.zones.sequential.reads_beyond_written))
        .deviates("refused without zonemode=zbd, where fio ignores it"),
    option("max_open_zones", Kind::Int(at_most(4096)), "Cap on simultaneously written zones per device over all jobs")
        .default("0")
        .place(Category::Io, "")
        .applies(Apply::U32(|draft| &mut draft.open.zones.sequential.max_open))
        .deviates("refused without zonemode=zbd, where fio ignores it; when other jobs have opened all zones that may be open and none of them lies in the range of a job, the one opened first counts as open no longer, where fio 3.33 ends the job without an error and without its I/O; beside open zones of other jobs out of its range a random job may write to another one of the open zones than fio 3.33"),
    option("job_max_open_zones", Kind::Int(at_most(4096)), "Same cap per job")
        .default("0")
        .place(Category::Io, "")
        .applies(Apply::U32(|draft| &mut draft.open.zones.sequential.job_max_open))
        .deviates("refused without zonemode=zbd, where fio ignores it; a zone that another job has opened counts for that job until it is full, whoever fills it: fio 3.33 opens no zone any more for a job that has filled one of another's, and ends it without an error when it finds no open one"),
    option("ignore_zone_limits", Kind::Bool, "Disregard limits reported by the device")
        .default("0")
        .place(Category::Io, "")
        .applies(Apply::Bool(|draft| &mut draft.open.zones.sequential.ignores_limits))
        .deviates("refused without zonemode=zbd, where fio ignores it"),
    option(
        "zone_reset_threshold",
        Kind::FloatList { max_len: 1, min: Some(0.0), max: Some(1.0) },
        "Share of the zones of the job, by their size, that is written before resets may start",
    )
    .place(Category::Io, "zone")
    .applies(Apply::With(zone_sequential::reset_threshold))
    .deviates("refused without zonemode=zbd, where fio ignores it; each job counts what is written in its own range, by whomever; writes in sequence end their pass at the last zone, where fio 3.33 does so on ext4, but on tmpfs goes on with the first one in the same pass"),
    option(
        "zone_reset_frequency",
        Kind::FloatList { max_len: 1, min: Some(0.0), max: Some(1.0) },
        "Fraction of writes followed by a reset once above threshold",
    )
    .place(Category::Io, "zone")
    .applies(Apply::With(zone_sequential::reset_frequency))
    .deviates("refused without zonemode=zbd, where fio ignores it"),
    option("recover_zbd_write_error", Kind::Bool, "Re-read write pointer after failed sequential-zone write and go on")
        .default("0")
        .place(Category::Io, "zone")
        .waits(
            "needs a zoned device whose writes fail to be measured with: emulated zones have no write pointer of their own that \
             could be read again",
        ),
    option("write_zone_remainder", Kind::Bool, "Fill short zone tails with small writes; forces norandommap")
        .default("0")
        .place(Category::Io, "zone")
        .applies(Apply::Bool(|draft| &mut draft.open.zones.sequential.writes_remainder))
        .deviates("refused without zonemode=zbd, where fio ignores it"),
    option("fdp", Kind::Bool, "Short for dataplacement=fdp").default("0").place(Category::Io, "").waits(PLACEMENT),
    option("dataplacement", Kind::Choice(DATAPLACEMENT), "Placement scheme attached to writes")
        .aliases(&["data_placement"])
        .default("none")
        .place(Category::Io, "")
        .waits(PLACEMENT),
    option("plid_select", Kind::Choice(PLID_SELECT), "How the next placement id is chosen")
        .aliases(&["fdp_pli_select"])
        .default("roundrobin")
        .place(Category::Io, "")
        .waits(PLACEMENT),
    option("plids", Kind::Text, "Placement ids/indices to use: list and ranges (max 128, <= 0xFFFF)")
        .aliases(&["fdp_pli"])
        .place(Category::Io, "")
        .waits(PLACEMENT),
    option("dp_scheme", Kind::Text, "File of \"start, end, id\" lines for plid_select=scheme")
        .place(Category::Io, "")
        .waits(PLACEMENT),
];
