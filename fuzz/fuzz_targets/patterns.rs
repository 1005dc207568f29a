//! Any text as `verify_pattern` and as `buffer_pattern`: a pattern that is not empty, or an error, never a panic.
#![no_main]

use ferrio_fuzz::World;
use ferrio_job::draft::{ApplyContext, Draft};
use ferrio_job::message::Messages;
use ferrio_job::options::{OPTIONS, set::set};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    for name in ["verify_pattern", "buffer_pattern"] {
        let Some(def) = OPTIONS.iter().find(|def| def.name == name) else { continue };
        let mut messages = Messages::default();
        let mut context = ApplyContext { environment: &World(&[]), readonly: false, messages: &mut messages };
        let mut draft = Draft::new();
        if set(&mut draft, def, Some(text), &mut context).is_ok() {
            let pattern = draft.open.verify.pattern.as_ref().map(|pattern| pattern.bytes.len());
            assert_ne!(pattern, Some(0));
        }
    }
});
