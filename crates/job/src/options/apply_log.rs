//! Applies the options of logs to a draft.
//!
//! Must not know: how values are parsed.

use crate::error::JobError;
use crate::options::draft::{ApplyContext, Draft};
use crate::value::Value;
use ferrio_spec::WindowValue;

type Applied = Result<(), JobError>;
type Context<'a, 'b> = &'a mut ApplyContext<'b>;

pub(super) fn per_job_logs(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    draft.job.logs.shared_files = !value.bool()?;
    Ok(())
}

pub(super) fn log_window_value(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    draft.job.logs.window_value = match value.word()? {
        "max" | "1" => WindowValue::Maximum,
        "both" => WindowValue::Both,
        _ => WindowValue::Average,
    };
    Ok(())
}

pub(super) fn log_compression_cpus(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    let Value::Cpus(cpus) = value else { return Err(JobError::NotParsed) };
    draft.job.logs.compression_cpus = Some(cpus.clone());
    Ok(())
}
