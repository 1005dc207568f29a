//! The machine and its storage in a sentence, for the pages of commands.
//!
//! Must not know: commands. Start reading at [`machine_sentence`].

use ferrio_stats::Provenance;
use ferrio_stats::provenance::DeviceFacts;
use ferrio_units::humanize::bytes_text;

pub(crate) fn machine_sentence(provenance: &Provenance) -> String {
    let device = |device: &DeviceFacts| {
        let words = [Some(device.name.clone()), device.model.clone(), device.size_bytes.map(bytes_text)];
        words.into_iter().flatten().collect::<Vec<_>>().join(" ")
    };
    let file_systems = provenance.file_systems.iter().map(|one| format!("{} on {}", one.kind, one.source));
    let words = file_systems.chain(provenance.devices.iter().map(device)).chain(provenance.cpu.model.clone());
    format!("{}, Linux {}.", words.collect::<Vec<_>>().join(", "), provenance.kernel_release)
}
