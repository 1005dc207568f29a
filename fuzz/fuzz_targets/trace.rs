//! Any bytes as a trace: a survey and a replay of it, or an error, never a panic.
//!
//! The first byte chooses the rules, the rest is the trace.
#![no_main]

use ferrio_spec::ReplaySpec;
use ferrio_workload::replay::{ReplayPlan, ReplayRules, TraceBytes, survey};
use ferrio_workload::{Next, Workload};
use libfuzzer_sys::fuzz_target;
use std::sync::Arc;

fuzz_target!(|data: &[u8]| {
    let [choice, trace @ ..] = data else { return };
    let spec = ReplaySpec {
        traces: vec!["t".to_owned()],
        no_stall: choice & 1 > 0,
        scale: 1 + u64::from(choice >> 1 & 3),
        align_bytes: if choice & 8 > 0 { 4096 } else { 0 },
        time_scale_percent: if choice & 16 > 0 { 1 } else { 100 },
        ..ReplaySpec::default()
    };
    let rules = ReplayRules::new(&spec, choice & 32 > 0);
    let bytes: Arc<dyn TraceBytes> = Arc::new(trace.to_vec());
    let Ok(survey) = survey(Arc::clone(&bytes), rules, &|| false) else { return };
    let plan = ReplayPlan { bytes, rules, survey, limit_ios: u64::MAX, has_pauses: false };
    let Ok(mut workload) = Workload::replay(plan) else { return };
    let mut now_ns = 0;
    loop {
        match workload.next() {
            Next::Wait => now_ns = workload.pace().and_then(|pace| pace.turn(now_ns)).unwrap_or(now_ns),
            Next::PassEnd | Next::Failed => break,
            _ => {}
        }
    }
});
