//! Zones and data placement.
//!
//! Rows only. Must not know: how values are parsed; what a row does is in its `apply` part.

use crate::options::definition::{Apply, Category, OptionDef, option};
use crate::options::kind::{ANY, Choice, Kind, at_most, choice, planned_choice};
use crate::options::zone_mode;

const ZONEMODE: &[Choice] = &[
    choice("none", "No zones"),
    choice("strided", "A window that moves"),
    planned_choice("zbd", "Zones of a zoned device"),
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

/// The rows.
pub(crate) const OPTIONS: &[OptionDef] = &[
    option("zonemode", Kind::Choice(ZONEMODE), "How the zone options act: off, strided window, or real zoned device")
        .default("none")
        .place(Category::Io, "zone")
        .applies(Apply::With(zone_mode::mode))
        .deviates("strided: the write of randtrimwrite goes where its trim went; openfiles above 1, with which fio has no zones, and a negative skip in rw are refused"),
    option(
        "zonesize",
        Kind::Size(ANY),
        "strided: bytes per zone before moving on; zbd: zone size when device has none",
    )
    .default("0")
    .place(Category::Io, "zone")
    .applies(Apply::U64(|draft| &mut draft.open.zones.zone_bytes)),
    option("zonecapacity", Kind::Size(ANY), "Usable bytes per emulated zone").default("0").place(Category::Io, "zone"),
    option("zonerange", Kind::Size(ANY), "strided: address range of a zone (default zonesize)")
        .default("0")
        .place(Category::Io, "zone")
        .applies(Apply::U64(|draft| &mut draft.open.zones.range_bytes))
        .deviates("refused without zonemode=strided, where fio ignores it"),
    option("zoneskip", Kind::SizeOrPercent, "Gap between zones; bytes or Nz")
        .default("0")
        .place(Category::Io, "zone")
        .applies(Apply::With(zone_mode::skip))
        .deviates("refused without zonemode, where fio ignores it; a percentage is refused"),
    option("read_beyond_wp", Kind::Bool, "Permit reads above a zone's write pointer")
        .default("0")
        .place(Category::Io, ""),
    option("max_open_zones", Kind::Int(at_most(4096)), "Cap on simultaneously written zones per device over all jobs")
        .default("0")
        .place(Category::Io, ""),
    option("job_max_open_zones", Kind::Int(at_most(4096)), "Same cap per job").default("0").place(Category::Io, ""),
    option("ignore_zone_limits", Kind::Bool, "Disregard limits reported by the device")
        .default("0")
        .place(Category::Io, ""),
    option(
        "zone_reset_threshold",
        Kind::FloatList { max_len: 1, min: Some(0.0), max: Some(1.0) },
        "Ratio of written blocks to capacity at which resets may start",
    )
    .place(Category::Io, "zone"),
    option(
        "zone_reset_frequency",
        Kind::FloatList { max_len: 1, min: Some(0.0), max: Some(1.0) },
        "Fraction of writes followed by a reset once above threshold",
    )
    .place(Category::Io, "zone"),
    option("recover_zbd_write_error", Kind::Bool, "Re-read write pointer after failed sequential-zone write and go on")
        .default("0")
        .place(Category::Io, "zone"),
    option("write_zone_remainder", Kind::Bool, "Fill short zone tails with small writes; forces norandommap")
        .default("0")
        .place(Category::Io, "zone"),
    option("fdp", Kind::Bool, "Short for dataplacement=fdp").default("0").place(Category::Io, ""),
    option("dataplacement", Kind::Choice(DATAPLACEMENT), "Placement scheme attached to writes")
        .aliases(&["data_placement"])
        .default("none")
        .place(Category::Io, ""),
    option("plid_select", Kind::Choice(PLID_SELECT), "How the next placement id is chosen")
        .aliases(&["fdp_pli_select"])
        .default("roundrobin")
        .place(Category::Io, ""),
    option("plids", Kind::Text, "Placement ids/indices to use: list and ranges (max 128, <= 0xFFFF)")
        .aliases(&["fdp_pli"])
        .place(Category::Io, ""),
    option("dp_scheme", Kind::Text, "File of \"start, end, id\" lines for plid_select=scheme").place(Category::Io, ""),
];
