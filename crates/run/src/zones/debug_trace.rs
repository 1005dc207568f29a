//! Lines about sequential zones (`--debug=zbd`): which are opened, written, closed and reset.
//!
//! The zones are compared before each I/O that goes to them, so that the stream that chooses zones needs no code for
//! this. Must not know: how a zone is chosen. Start reading at [`ZoneTrace::tell`].

use crate::files::FileSet;
use crate::link::trace::{TraceGroup, Tracer};
use ferrio_engine::IoUnit;
use ferrio_units::Direction;
use ferrio_workload::{ZoneRepair, ZoneTable};
use std::sync::Arc;

/// State of the zones of a job's files at the last I/O.
pub(crate) struct ZoneTrace {
    files: Vec<ToldFile>,
    owner: u32,
}

struct ToldFile {
    name: String,
    table: Arc<ZoneTable>,
    /// Zones that the worker has open.
    open: Vec<usize>,
    /// By zone: end of its last write.
    written: Vec<u64>,
}

impl ZoneTrace {
    /// `None`: the files have no sequential zones.
    pub(crate) fn new(set: &FileSet, owner: u32) -> Option<Self> {
        if set.zones.is_empty() {
            return None;
        }
        let file = |(name, table): (&String, &Arc<ZoneTable>)| ToldFile {
            name: name.clone(),
            table: Arc::clone(table),
            open: Vec::new(),
            written: (0..table.layout().n_zones).map(|zone| table.written(zone)).collect(),
        };
        let names = set.files.iter().map(|file| &file.name);
        Some(Self { files: names.zip(set.zones.tables()).map(file).collect(), owner })
    }

    /// Called before an I/O to a file.
    pub(crate) fn tell(&mut self, tracer: &Tracer<'_>, unit: &IoUnit) {
        let Some(file) = self.files.get_mut(unit.file_index as usize) else { return };
        let tell = |text: String| tracer.keep(TraceGroup::Zbd, &text);
        let name = &file.name;
        let zone_bytes = file.table.layout().zone_bytes;
        let zone = usize::try_from(unit.offset_bytes / zone_bytes).unwrap_or(usize::MAX);
        if unit.direction == Direction::Write
            && let Some(written) = file.written.get_mut(zone)
        {
            let at = unit.offset_bytes % zone_bytes;
            if at < *written {
                tell(format!("{name}: resetting wp of zone {zone}."));
            }
            *written = at + unit.length_bytes as u64;
        }
        let open = file.table.open_zones_of(self.owner);
        for opened in open.iter().filter(|zone| !file.open.contains(zone)) {
            tell(format!("{name}: adding zone {opened} to write zone array"));
        }
        if unit.direction.data().is_some() {
            tell(format!("{name}: queued I/O ({}, {}) for zone {zone}", unit.offset_bytes, unit.length_bytes));
        }
        for closed in file.open.iter().filter(|zone| !open.contains(zone)) {
            tell(format!("{name}: removing zone {closed} from write zone array"));
        }
        file.open = open;
    }
}

/// Lines about a zone after a failed write to it (`recover_zbd_write_error`).
pub(crate) fn repair_lines(name: &str, repair: ZoneRepair) -> Vec<String> {
    let ZoneRepair { zone, errno, has_succeeded, .. } = repair;
    let mut lines = vec![format!("{name}: Start fixing {zone} write pointer")];
    if has_succeeded {
        lines.push(format!("{name}: Write pointer move succeeded for error={errno}"));
    }
    // As in fio, this line comes whether the move succeeded or not.
    lines.push(format!("{name}: Fixed write pointer of the zone {zone}"));
    lines
}

/// Lines about the zones when they are set up.
pub(crate) fn setup_lines(set: &FileSet) -> Vec<String> {
    let tables = set.zones.tables();
    let of_file = |(name, table): (&String, &Arc<ZoneTable>)| {
        let limit = match table.limits().max_open {
            0 => "none".to_owned(),
            limit => limit.to_string(),
        };
        let written: u64 = (0..table.layout().n_zones).map(|zone| table.written(zone)).sum();
        [
            format!("{name}: using max write zones limit: {limit}"),
            format!("zbd_setup_files({name}): valid data bytes = {written}"),
        ]
    };
    set.files.iter().map(|file| &file.name).zip(tables).flat_map(of_file).collect()
}
