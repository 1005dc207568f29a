//! Applies the options of buffer contents to a draft.
//!
//! Must not know: how values are parsed.

use crate::error::JobError;
use crate::options::draft::{ApplyContext, Draft};
use crate::refused_value::RefusedValue;
use crate::value::{Value, pattern};

type Applied = Result<(), JobError>;
type Context<'a, 'b> = &'a mut ApplyContext<'b>;

/// Switches zeroes and stamps off.
pub(super) fn buffer_pattern(draft: &mut Draft, value: &Value, context: Context) -> Applied {
    let bytes = pattern::parse(value.text()?, context.environment)?;
    let buffers = &mut draft.job.buffers;
    (buffers.zero, buffers.scramble) = (false, Some(false));
    buffers.pattern = Some(bytes);
    Ok(())
}

pub(super) fn compress_chunk(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    let number = value.number()?;
    let out_of_range = |_| RefusedValue::OutOfRange { option: "buffer_compress_chunk", number };
    let bytes = u32::try_from(number).map_err(out_of_range)?;
    draft.job.buffers.compress_chunk_bytes = bytes.into();
    draft.open.dedupe.compress_chunk_bytes = bytes;
    Ok(())
}

pub(super) fn dedupe_mode(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    draft.open.dedupe.working_set = value.word()? == "working_set";
    Ok(())
}
