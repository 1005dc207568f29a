//! The functions of rows whose value needs more than a place to be put.
//!
//! Must not know: texts; values arrive parsed. One function a row, in the order of the table.

use crate::error::JobError;
use crate::options::draft::{ApplyContext, Draft};
use crate::options::drafts::CommandPriorityDraft;
use crate::options::{engines, zone_mode};
use crate::refused_value::RefusedValue;
use crate::value::lists::colon_names;
use crate::value::{Value, scalar};
use ferrio_spec::engines::options::external::LIBRARY;
use ferrio_spec::secret::{Secret, without_passwords};
use ferrio_spec::{
    BlockRange, CpuPolicy, DirectionMix, EngineValue, ErrorClasses, ExitWhat, FadviseHint, Fallocate, FileLocking,
    FileType, RandomGenerator, RwSequencer, SyncMode, UnifiedReporting,
};
use ferrio_units::value::parse_integer;
use ferrio_units::{ArenaKind, KbBase, WriteHint, byte_text};
use std::path::PathBuf;

type Applied = Result<(), JobError>;
type Context<'a, 'b> = &'a mut ApplyContext<'b>;

pub(crate) fn name(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    value.text()?.clone_into(&mut draft.job.name);
    Ok(())
}

pub(crate) fn description(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    draft.job.description = Some(byte_text::shown(value.text()?).into_owned());
    Ok(())
}

pub(crate) fn expected(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    draft.job.durability.expects_memory = value.word()? == "memory";
    Ok(())
}

pub(crate) fn filename(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    for name in colon_names(value.text()?) {
        // A path with such text in it stays as it is: another file would be opened otherwise.
        let is_url = name.split_once("://").is_some_and(|(scheme, _)| !scheme.contains('/'));
        let shown = if is_url { without_passwords(&name) } else { name.as_str().into() };
        if shown != name {
            draft.job.engine.secret_names.push(Secret::new(&*shown, &*name));
        }
        draft.job.target.filenames.push(shown.into_owned());
    }
    Ok(())
}

pub(crate) fn filetype(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    draft.job.target.filetype = match value.word()? {
        "file" => Some(FileType::Regular),
        "block" => Some(FileType::Block),
        "char" => Some(FileType::Character),
        _ => None,
    };
    Ok(())
}

pub(crate) fn lockfile(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    draft.job.target.locking = match value.word()? {
        "exclusive" => FileLocking::Exclusive,
        "readwrite" => FileLocking::ReadWrite,
        _ => FileLocking::None,
    };
    Ok(())
}

pub(crate) fn rw(draft: &mut Draft, value: &Value, context: Context) -> Applied {
    let (mix, random) = match value.word()? {
        "write" => (DirectionMix::Write, false),
        "trim" => (DirectionMix::Trim, false),
        "randread" => (DirectionMix::Read, true),
        "randwrite" => (DirectionMix::Write, true),
        "randtrim" => (DirectionMix::Trim, true),
        "rw" | "readwrite" => (DirectionMix::ReadWrite, false),
        "randrw" => (DirectionMix::ReadWrite, true),
        "trimwrite" => (DirectionMix::TrimWrite, false),
        "randtrimwrite" => (DirectionMix::TrimWrite, true),
        _ => (DirectionMix::Read, false),
    };
    if context.readonly && mix != DirectionMix::Read {
        return Err(JobError::ReadOnly { job: draft.job.name.clone() });
    }
    draft.open.rw_postfix = value.rest().map(|text| rw_postfix(text, random, draft.kb_base())).transpose()?;
    draft.job.pattern.mix = mix;
    draft.job.pattern.random = random;
    Ok(())
}

fn rw_postfix(text: &str, random: bool, kb_base: KbBase) -> Result<i64, JobError> {
    let order = if random { "randrw" } else { "rw" };
    let number = parse_integer(text, kb_base).map_err(|_| RefusedValue::RwPostfix(order))?;
    if random && !(1..=i128::from(u32::MAX)).contains(&number) {
        return Err(RefusedValue::RwPostfixOutOfRange(order).into());
    }
    i64::try_from(number).map_err(|_| RefusedValue::RwPostfixOutOfRange(order).into())
}

pub(crate) fn rw_sequencer(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    draft.job.pattern.rw_sequencer =
        if value.word()? == "identical" { RwSequencer::Identical } else { RwSequencer::Sequential };
    Ok(())
}

/// Options of the previous engine are dropped, unless the new engine has the same ones.
pub(crate) fn ioengine(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    let text = value.text()?;
    let engine = engines::resolve(text).ok_or_else(|| JobError::UnknownEngine(text.to_owned()))?;
    if !engines::share_options(&draft.job.engine.name, engine.name) {
        draft.job.engine.options.clear();
        draft.open.command_priority = CommandPriorityDraft::default();
    }
    engine.name.clone_into(&mut draft.job.engine.name);
    if let Some(path) = engines::library_path(text) {
        draft.job.engine.options.set(&LIBRARY, path);
    }
    // After the rest, because a job file that is only parsed may go on with the options of this engine.
    engines::refuse_unbuilt(engine)
}

pub(crate) fn size(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    draft.job.extent.size = Some(zone_mode::in_zones(value, &mut draft.open.zones.sizes.size)?);
    Ok(())
}

pub(crate) fn io_size(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    draft.job.extent.io_size = Some(zone_mode::in_zones(value, &mut draft.open.zones.sizes.io_size)?);
    Ok(())
}

pub(crate) fn filesize(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    draft.job.extent.filesize = Some(value.pair()?);
    Ok(())
}

pub(crate) fn offset(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    draft.job.extent.offset = zone_mode::in_zones(value, &mut draft.open.zones.sizes.offset)?;
    Ok(())
}

pub(crate) fn offset_increment(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    let in_zones = &mut draft.open.zones.sizes.offset_increment;
    draft.job.extent.offset_increment = zone_mode::in_zones(value, in_zones)?;
    Ok(())
}

pub(crate) fn block_size(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    for (direction, block_bytes) in value.numbers()?.iter() {
        if let Some(block_bytes) = *block_bytes {
            draft.job.pattern.block_size[direction] = BlockRange::one(block_bytes as u64);
        }
    }
    Ok(())
}

pub(crate) fn block_align(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    for (direction, given) in value.numbers()?.iter() {
        if let Some(bytes) = given {
            draft.job.pattern.block_align[direction] = Some(*bytes as u64);
        }
    }
    Ok(())
}

pub(crate) fn block_range(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    for (direction, given) in value.ranges()?.iter() {
        if let Some((min_bytes, max_bytes)) = *given {
            draft.open.block_range[direction] = Some(BlockRange { min_bytes, max_bytes });
            draft.job.pattern.block_split[direction].clear();
        }
    }
    Ok(())
}

pub(crate) fn randseed(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    draft.job.pattern.randseed = Some(value.number()? as u64);
    draft.job.pattern.randrepeat = false;
    Ok(())
}

pub(crate) fn random_generator(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    draft.job.pattern.random_generator = Some(match value.word()? {
        "lfsr" => RandomGenerator::Lfsr,
        "tausworthe64" => RandomGenerator::Tausworthe64,
        _ => RandomGenerator::Tausworthe,
    });
    Ok(())
}

pub(crate) fn percentage_random(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    for (direction, given) in value.numbers()?.iter() {
        if let Some(percent) = given {
            draft.job.pattern.percentage_random[direction] = (*percent).clamp(0, 100) as u32;
        }
    }
    Ok(())
}

pub(crate) fn fallocate(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    draft.job.layout.fallocate = match value.word()? {
        "none" | "0" => Fallocate::None,
        "posix" | "1" => Fallocate::Posix,
        "keep" => Fallocate::Keep,
        "truncate" => Fallocate::Truncate,
        _ => Fallocate::Native,
    };
    Ok(())
}

pub(crate) fn fadvise_hint(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    draft.job.layout.fadvise_hint = match value.word()? {
        "0" => FadviseHint::None,
        "random" => FadviseHint::Random,
        "sequential" => FadviseHint::Sequential,
        "noreuse" => FadviseHint::NoReuse,
        _ => FadviseHint::ByWorkload,
    };
    Ok(())
}

/// Flags add to those given before; the numbers are those of `sync_file_range(2)`.
pub(crate) fn sync_file_range(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    let (words, rest) = value.words()?;
    let flags = words.iter().fold(0, |flags, word| {
        flags
            | match word.word {
                "wait_before" => 1,
                "write" => 2,
                _ => 4,
            }
    });
    let count = rest.map_or(Ok(1), |text| scalar::count(text, draft.kb_base()))?;
    let before = draft.job.durability.sync_file_range.map_or(0, |(flags, _)| flags);
    draft.job.durability.sync_file_range = (count > 0).then_some((before | flags, count));
    Ok(())
}

/// Accepted because job files use it and fio gives it no effect either; a warning says so.
pub(crate) fn write_barrier(_: &mut Draft, value: &Value, context: Context) -> Applied {
    if value.number()? > 0 {
        context.messages.out("note: write_barrier: no engine here has barriers; writes go without");
    }
    Ok(())
}

pub(crate) fn write_hint(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    draft.job.durability.write_hint = Some(match value.word()? {
        "short" => WriteHint::Short,
        "medium" => WriteHint::Medium,
        "long" => WriteHint::Long,
        "extreme" => WriteHint::Extreme,
        _ => WriteHint::None,
    });
    Ok(())
}

pub(crate) fn buffered(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    draft.job.durability.direct = !value.bool()?;
    Ok(())
}

pub(crate) fn startdelay(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    draft.job.limits.startdelay_us = value.pair()?;
    Ok(())
}

pub(crate) fn memory(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    let file = value.rest().filter(|text| !text.is_empty()).map(PathBuf::from);
    draft.job.buffers.memory = match value.word()? {
        "shm" => ArenaKind::Shm,
        "shmhuge" => ArenaKind::ShmHuge,
        "mmap" => ArenaKind::Mmap(file),
        "mmapshared" => ArenaKind::MmapShared(file),
        "mmaphuge" => ArenaKind::MmapHuge(file),
        _ => ArenaKind::Malloc,
    };
    Ok(())
}

pub(crate) fn rwmixread(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    draft.job.pattern.rwmix_read = value.number()?.clamp(0, 100) as u32;
    Ok(())
}

pub(crate) fn rwmixwrite(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    draft.job.pattern.rwmix_read = 100 - value.number()?.clamp(0, 100) as u32;
    Ok(())
}

pub(crate) fn nice(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    draft.job.worker.nice = value.number()? as i32;
    Ok(())
}

pub(crate) fn sync(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    draft.job.durability.sync = match value.word()? {
        "sync" | "1" => SyncMode::Sync,
        "dsync" => SyncMode::Dsync,
        _ => SyncMode::None,
    };
    Ok(())
}

/// Covers CPUs 0 to 31.
pub(crate) fn cpumask(draft: &mut Draft, value: &Value, context: Context) -> Applied {
    let mask = value.number()? as u32;
    let cpus: Vec<u32> = (0..32).filter(|cpu| mask & (1 << cpu) != 0).collect();
    let n_cpus = context.environment.n_cpus();
    check_cpus(&cpus, n_cpus)?;
    // As seen on fio 3.41: a mask without CPUs is accepted here and fails when the job starts.
    draft.job.worker.cpus_allowed = Some(cpus);
    Ok(())
}

fn check_cpus(cpus: &[u32], n_cpus: u32) -> Applied {
    match cpus.iter().find(|cpu| **cpu >= n_cpus) {
        Some(cpu) => Err(RefusedValue::CpuTooLarge { cpu: *cpu, max: n_cpus.saturating_sub(1) }.into()),
        None => Ok(()),
    }
}

pub(crate) fn gtod_cpu(draft: &mut Draft, value: &Value, context: Context) -> Applied {
    let cpu = u32::try_from(value.number()?).unwrap_or(u32::MAX);
    check_cpus(&[cpu], context.environment.n_cpus())?;
    draft.job.worker.gtod_cpu = Some(cpu);
    Ok(())
}

pub(crate) fn cpus_allowed(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    match value {
        Value::Cpus(cpus) => draft.job.worker.cpus_allowed = Some(cpus.clone()),
        _ => return Err(JobError::NotParsed),
    }
    Ok(())
}

pub(crate) fn cpus_allowed_policy(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    draft.job.worker.cpus_allowed_policy = if value.word()? == "split" { CpuPolicy::Split } else { CpuPolicy::Shared };
    Ok(())
}

pub(crate) fn exit_what(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    draft.job.grouping.exit_what = match value.word()? {
        "stonewall" => ExitWhat::Stonewall,
        "all" => ExitWhat::All,
        _ => ExitWhat::Group,
    };
    Ok(())
}

pub(crate) fn scramble_buffers(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    draft.job.buffers.scramble = Some(value.bool()?);
    Ok(())
}

pub(crate) fn percentile_list(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    match value {
        Value::Floats(list, digits) => {
            draft.job.reporting.percentiles.clone_from(list);
            draft.job.reporting.percentile_digits = *digits;
            Ok(())
        }
        _ => Err(JobError::NotParsed),
    }
}

pub(crate) fn gtod_reduce(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    let reduce = value.bool()?;
    let reporting = &mut draft.job.reporting;
    reporting.gtod_reduce = reduce;
    reporting.disable_lat = reduce;
    reporting.disable_clat = reduce;
    reporting.disable_slat = reduce;
    reporting.disable_bw = reduce;
    Ok(())
}

pub(crate) fn io_submit_mode(draft: &mut Draft, value: &Value, _: &mut ApplyContext<'_>) -> Applied {
    draft.job.submission.offload = value.word()? == "offload";
    Ok(())
}

pub(crate) fn unified_rw_reporting(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    draft.job.reporting.unified = match value.word()? {
        "mixed" | "1" => UnifiedReporting::Mixed,
        "both" | "2" => UnifiedReporting::Both,
        _ => UnifiedReporting::None,
    };
    Ok(())
}

pub(crate) fn continue_on_error(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    let (read, write, verify) = match value.word()? {
        "read" => (true, false, false),
        "write" => (false, true, false),
        "io" => (true, true, false),
        "verify" => (false, false, true),
        "all" | "1" => (true, true, true),
        _ => (false, false, false),
    };
    draft.job.errors.continue_on = ErrorClasses { read, write, verify };
    Ok(())
}

/// A list also makes its class one that does not end the job.
pub(crate) fn ignore_error(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    let Value::Errors(lists) = value else { return Err(JobError::NotParsed) };
    let classes = &mut draft.job.errors.continue_on;
    for (list, class) in lists.iter().zip([&mut classes.read, &mut classes.write, &mut classes.verify]) {
        *class |= list.is_some();
    }
    for (kept, list) in draft.job.errors.ignore.iter_mut().zip(lists) {
        if let Some(list) = list {
            kept.get_or_insert_default().extend(list);
        }
    }
    Ok(())
}

pub(crate) fn kb_base(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    draft.job.reporting.kb_base = if value.word()? == "1000" { 1000 } else { 1024 };
    Ok(())
}

pub(crate) fn unit_base(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    draft.job.reporting.unit_bits = match value.word()? {
        "1" => Some(true),
        "8" => Some(false),
        _ => None,
    };
    Ok(())
}

/// The form in which an engine receives the value of one of its options.
pub(crate) fn engine_value(value: &Value) -> Result<EngineValue, JobError> {
    Ok(match value {
        Value::Bool(on) => EngineValue::Bool(*on),
        Value::Number(number) => EngineValue::Int(*number),
        Value::Text(text) => EngineValue::Text(text.clone()),
        Value::Word(choice, _) => EngineValue::Text(choice.word.to_owned()),
        Value::Size(ferrio_spec::SizeSpec::Bytes(bytes)) => EngineValue::Int(*bytes as i64),
        Value::Nothing => EngineValue::Bool(true),
        _ => return Err(JobError::NotParsed),
    })
}
