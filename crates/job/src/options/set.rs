//! Setting one option of a draft: parse, refuse what is not built, apply.
//!
//! Must not know: the place of the option. Start reading at [`set`].

use crate::error::JobError;
use crate::options::apply::engine_value;
use crate::options::definition::{Apply, OptionDef, Status};
use crate::options::draft::{ApplyContext, Draft};
use crate::options::kind::Kind;
use crate::options::secret::engine_secret;
use crate::refused_value::RefusedValue;
use crate::value::{Value, ValueContext, parse};
use ferrio_spec::SizeSpec;
use ferrio_units::byte_text;

/// Sets `def` to `text` (`None`: the option has no value).
pub fn set(
    draft: &mut Draft,
    def: &'static OptionDef,
    text: Option<&str>,
    context: &mut ApplyContext<'_>,
) -> Result<(), JobError> {
    if let Some((at, byte)) = text.and_then(byte_text::first_byte).filter(|_| !def.takes_bytes) {
        return Err(RefusedValue::NotText { option: def.name, at, byte }.into());
    }
    let values = ValueContext { kb_base: draft.kb_base(), n_cpus: context.environment.n_cpus() };
    let shown = text.map_or("(null)".into(), |text| def.shown(text));
    let (shown, name) = (&*shown, def.name);
    context.messages.parse(|| format!("handle_option={name}, ptr={shown}"));
    context.messages.parse(|| format!("__handle_option={name}, type={}, ptr={shown}", def.kind.debug_name()));
    let (value, remarks) = parse(def.syntax(), text, values)?;
    trace_value(&value, shown, context);
    if !def.is_built() {
        return refuse_unbuilt(def, text, &value, values);
    }
    refuse_unbuilt_words(&value)?;
    for remark in remarks {
        context.messages.err(remark);
    }
    if matches!(def.kind, Kind::Deprecated) {
        context.messages.out(format!("Option {} is deprecated", def.name));
    }
    apply(draft, def, &value, context)
}

/// Lines of `--debug=parse` with the parsed numbers: bytes, microseconds, or plain numbers.
fn trace_value(value: &Value, text: &str, context: &mut ApplyContext<'_>) {
    let n_given = text.split(',').count();
    let whole = |number: i128| format!("  ret=0, out={number}");
    let lines: Vec<String> = match value {
        Value::Bool(is_on) => vec![whole((*is_on).into())],
        Value::Number(number) => vec![whole((*number).into())],
        // A number that is given for all directions is printed once.
        Value::Numbers(numbers) => {
            numbers.0.iter().flatten().take(n_given).map(|number| whole((*number).into())).collect()
        }
        Value::Size(SizeSpec::Bytes(bytes)) => vec![whole((*bytes).into())],
        Value::Size(SizeSpec::Percent(percent)) => vec![format!("  ret=0, out={percent}%")],
        Value::Zones(n_zones) => vec![format!("  ret=0, out={n_zones}z")],
        Value::Pair(low, high) => vec![whole((*low).into()), whole((*high).into())],
        Value::Floats(numbers, _) => numbers.iter().map(|number| format!("  out={number:.6}")).collect(),
        Value::Nothing
        | Value::Drawn(_)
        | Value::Ranges(_)
        | Value::Word(..)
        | Value::Words(..)
        | Value::Text(_)
        | Value::Cpus(_)
        | Value::Errors(_) => Vec::new(),
    };
    for line in lines {
        context.messages.parse(|| line);
    }
}

fn apply(
    draft: &mut Draft,
    def: &'static OptionDef,
    value: &Value,
    context: &mut ApplyContext<'_>,
) -> Result<(), JobError> {
    match def.apply {
        Apply::Nothing => {}
        Apply::Bool(place) => *place(draft) = value.bool()?,
        Apply::U32(place) => *place(draft) = fitting(def, value)?,
        Apply::OptionalU32(place) => *place(draft) = Some(fitting(def, value)?),
        Apply::U64(place) => *place(draft) = fitting(def, value)?,
        Apply::Text(place) => *place(draft) = Some(value.text()?.to_owned()),
        Apply::Path(place) => *place(draft) = Some(byte_text::to_os_string(value.text().unwrap_or_default()).into()),
        Apply::With(function) => function(draft, value, context)?,
        Apply::Engine => {
            let secret = engine_secret(def, value, context.environment)?;
            let value = secret.map_or_else(|| engine_value(value), Ok)?;
            draft.job.engine.options.put(def.name, value);
        }
    }
    Ok(())
}

/// Converts a number to the type of its field. fio truncates a number that does not fit, which hides mistakes; here it
/// is an error.
fn fitting<T: TryFrom<i64>>(def: &OptionDef, value: &Value) -> Result<T, JobError> {
    let number = value.number()?;
    T::try_from(number).map_err(|_| RefusedValue::OutOfRange { option: def.name, number }.into())
}

/// A value that changes nothing is accepted even where the option is not built.
fn refuse_unbuilt(
    def: &'static OptionDef,
    text: Option<&str>,
    value: &Value,
    values: ValueContext,
) -> Result<(), JobError> {
    let off = matches!(def.kind, Kind::Bool | Kind::Flag).then_some("0");
    let without_effect = [def.default.or(off), def.neutral].into_iter().flatten().any(|neutral| {
        text == Some(neutral) || parse(def.syntax(), Some(neutral), values).is_ok_and(|(same, _)| same == *value)
    });
    match def.status {
        _ if without_effect => Ok(()),
        Status::NotApplicable(why) => Err(JobError::NotApplicable(why.to_owned())),
        _ => Err(JobError::NotYet(String::new())),
    }
}

fn refuse_unbuilt_words(value: &Value) -> Result<(), JobError> {
    let Value::Word(choice, _) = value else { return Ok(()) };
    match choice.status {
        Status::Planned(_) => Err(JobError::NotYet(format!(": value {}", choice.word))),
        Status::NotApplicable(why) => Err(JobError::NotApplicable(format!("value {} {why}", choice.word))),
        Status::Supported | Status::Deviates(_) => Ok(()),
    }
}
