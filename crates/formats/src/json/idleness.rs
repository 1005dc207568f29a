//! The object `cpu_idleness`.
//!
//! Must not know: jobs, the measurement. Start reading at [`write()`].

use super::writer::JsonWriter;
use ferrio_stats::CpuIdleness;

pub(super) fn write(writer: &mut JsonWriter, idleness: &CpuIdleness) {
    writer.object("cpu_idleness", |writer| {
        writer.float("system", idleness.system_percent);
        for share in &idleness.cpus {
            writer.float(&format!("cpu-{}", share.cpu), share.idle_percent);
        }
        writer.float("unit_mean", idleness.unit_mean_us);
        writer.float("unit_stddev", idleness.unit_stddev_us);
    });
}
