//! `ferrio.probes`: figures of probes that have no place in fio's document.
//!
//! Must not know: probes. Start reading at [`write()`].

use super::writer::JsonWriter;
use ferrio_stats::{Evidence, wire};
use serde_json::Value;

/// True if some evidence belongs here.
pub(super) fn are_there(evidence: &Evidence) -> bool {
    evidence.beyond_fio() != Evidence::default()
}

/// Writes the key, once for the whole run.
pub(super) fn write(writer: &mut JsonWriter, evidence: &Evidence) {
    if !are_there(evidence) {
        return;
    }
    writer.object("probes", |writer| {
        if let Value::Object(figures) = wire::to_value(&evidence.beyond_fio()) {
            figures.iter().for_each(|(key, value)| writer.value(key, value));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_stats::{IoCounters, Pressure, ProcessIo, Reading, Stall, Stalls, WorkerIo};
    use serde_json::json;

    #[test]
    fn figures_and_reasons_stand_under_their_names() {
        let counters = IoCounters { rchar: 1, wchar: 2, read_bytes: 3, write_bytes: 4, cancelled_write_bytes: 5 };
        let worker = WorkerIo { number: 1, pid: 77, counters: Reading::Missing("gone".to_owned()) };
        let io = ProcessIo { total: Reading::Value(counters), workers: vec![worker] };
        let stall = |some_us| Reading::Value(Stall { some_us, full_us: 0 });
        let missing = || Reading::Missing("no PSI".to_owned());
        let machine = Stalls { cpu: stall(1), io: stall(2), memory: stall(3) };
        let cgroup = Stalls { cpu: missing(), io: missing(), memory: missing() };
        let pressure = Pressure { machine, cgroup, changed_limits: Vec::new() };
        let disks = Evidence { disks: Some(Vec::new()), ..Evidence::default() };
        let all = Evidence { process_io: Some(io), pressure: Some(pressure), ..disks.clone() };
        let text = JsonWriter::document(|writer| write(writer, &all));
        let document: Value = serde_json::from_str(&text).unwrap();
        let expected_io = json!({
            "total": {"value":
                {"rchar": 1, "wchar": 2, "read_bytes": 3, "write_bytes": 4, "cancelled_write_bytes": 5}},
            "workers": [{"number": 1, "pid": 77, "counters": {"missing": "gone"}}],
        });
        assert_eq!(document["probes"]["process_io"], expected_io);
        let pressure = &document["probes"]["pressure"];
        assert_eq!(pressure["machine"]["memory"], json!({"value": {"some_us": 3, "full_us": 0}}));
        assert_eq!(pressure["cgroup"]["io"], json!({"missing": "no PSI"}));
        assert_eq!(document["probes"].as_object().unwrap().len(), 2);
        assert!(!are_there(&disks));
    }
}
