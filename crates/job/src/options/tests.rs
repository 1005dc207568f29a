//! The table is consistent, and complete by the list of fio's names.

use super::*;
use crate::error::JobError;
use crate::message::UserMessages;
use crate::options::definition::{Apply, Category, Status};
use crate::options::draft::{ApplyContext, Draft};
use crate::testing::World;
use std::collections::HashSet;

/// Name and engine (or `profile=...`) of every entry of fio's tables, one per line.
const REFERENCE_NAMES: &str = include_str!("reference-names.txt");

fn context<'a>(world: &'a World, messages: &'a mut UserMessages) -> ApplyContext<'a> {
    ApplyContext { environment: world, readonly: false, messages }
}

fn set_text(draft: &mut Draft, def: &'static OptionDef, text: Option<&str>) -> Result<(), JobError> {
    set::set(draft, def, text, &mut context(&World::default(), &mut UserMessages::new()))
}

#[test]
fn every_entry_of_the_reference_is_in_the_table() {
    let mut n_rows = 0;
    for line in REFERENCE_NAMES.lines() {
        let (name, owner) = line.split_once('\t').unwrap();
        n_rows += 1;
        let found = OPTIONS.iter().any(|def| match owner {
            "" => def.name == name && def.is_general(),
            _ if owner.starts_with("profile=") => def.name == name && def.profile == Some(&owner[8..]),
            "external sample" => def.name == name && def.engines == ["external"],
            _ => {
                let engines: Vec<&str> = owner.trim_end_matches(" (not Linux)").split(',').collect();
                def.name == name && def.engines == engines
            }
        });
        assert!(found, "{line}");
    }
    assert_eq!(n_rows, 413);
    // The other rows are ferrio's own: in their table, private options of an engine that fio has not, or marked as such.
    let owners =
        REFERENCE_NAMES.lines().filter_map(|line| line.split_once('\t')).flat_map(|(_, owner)| owner.split(','));
    let of_fio: HashSet<&str> = owners.filter_map(|owner| owner.split(' ').next()).collect();
    let is_own = |def: &&OptionDef| !def.engines.is_empty() && !def.engines.iter().any(|name| of_fio.contains(name));
    let n_own_private =
        ferrio_spec::engines::options::TABLES.iter().flat_map(|table| table.options).filter(|def| def.is_own).count();
    assert_eq!(OPTIONS.len(), n_rows + own::OPTIONS.len() + OPTIONS.iter().filter(is_own).count() + n_own_private);
}

#[test]
fn names_are_unique_within_their_owner() {
    let mut seen = HashSet::new();
    for def in OPTIONS {
        for name in def.names() {
            assert!(seen.insert((name, def.engines, def.profile)), "{name} {:?}", def.engines);
        }
    }
}

#[test]
fn private_names_do_not_shadow_general_ones() {
    for def in OPTIONS.iter().filter(|def| !def.engines.is_empty()) {
        for name in def.names() {
            assert!(find_general(name).is_none(), "{name}");
        }
    }
}

#[test]
fn rows_are_complete() {
    for def in OPTIONS {
        assert!(!def.help.is_empty() && !def.help.ends_with('.'), "{}: {}", def.name, def.help);
        if let Some(parent) = def.parent {
            assert!(OPTIONS.iter().any(|other| other.is_called(parent)), "{}", def.name);
        }
        for engine in def.engines {
            assert!(ferrio_spec::engines::by_name(engine).is_some(), "{} {engine}", def.name);
        }
        assert!(def.engines.is_empty() || def.category == Category::Engine, "{}", def.name);
        let silent = ["clocksource", "log_entries", "read_iolog_chunked"];
        let built_without_effect = def.is_built() && matches!(def.apply, Apply::Nothing);
        let allowed = silent.contains(&def.name) || matches!(def.kind, Kind::Deprecated | Kind::Removed);
        assert!(!built_without_effect || allowed, "{}", def.name);
        if let Some(choices) = def.kind.choices() {
            let words: HashSet<&str> = choices.iter().map(|choice| choice.word).collect();
            assert_eq!(words.len(), choices.len(), "{}", def.name);
        }
    }
}

// Setting an option to its default must not change a job: the table and the draft agree.
#[test]
fn setting_a_default_changes_nothing() {
    for def in OPTIONS.iter().filter(|def| def.is_general()) {
        let Some(default) = def.default else { continue };
        let mut draft = Draft::new();
        let result = set_text(&mut draft, def, Some(default));
        assert_eq!(result, Ok(()), "{}={default}", def.name);
        let mut expected = Draft::new();
        // The draft records whether these options were given, so that setting them changes it.
        match def.name {
            "randseed" => {
                expected.job.pattern.randseed = Some(0x89);
                expected.job.pattern.randrepeat = false;
            }
            "random_generator" => {
                expected.job.pattern.random_generator = Some(ferrio_spec::RandomGenerator::Tausworthe);
            }
            "filename_format" => expected.job.target.filename_format = Some(default.to_owned()),
            "scramble_buffers" => expected.job.buffers.scramble = Some(true),
            "bwavgtime" => expected.open.bw_window_ms = Some(500),
            "dataplacement" => expected.open.placement.kind = Some(ferrio_spec::PlacementKind::None),
            "dedupe_working_set_percentage" => expected.open.dedupe.working_set_percent = Some(5),
            "iopsavgtime" => expected.open.iops_window_ms = Some(500),
            "thinktime_blocks" => expected.job.pace.pauses.n_ios = Some(1),
            "iodepth" => expected.open.queue.iodepth = 1,
            "verify_header_seed" => expected.open.verify.header_seed = Some(true),
            "verify_header_layout" => expected.open.verify.layout = Some(ferrio_spec::HeaderLayout::V3),
            "verify_write_sequence" => expected.open.verify.write_sequence = Some(true),
            "buffer_compress_chunk" => expected.open.dedupe.compress_chunk_bytes = 512,
            _ => {}
        }
        assert_eq!(draft.job, expected.job, "{}", def.name);
        assert_eq!(format!("{:?}", draft.open), format!("{:?}", expected.open), "{}", def.name);
    }
}

#[test]
fn every_word_of_an_enumeration_is_parsed() {
    for def in OPTIONS.iter().filter(|def| def.is_general()) {
        for choice in def.kind.choices().unwrap_or_default() {
            let mut draft = Draft::new();
            // These words need a parameter.
            let rest = match (def.name, choice.word) {
                ("steadystate", _) => ":1%",
                (_, "zoned") => ":100",
                (_, "zoned_abs") => ":100/4k",
                (_, "sequence") => ":1",
                _ => "",
            };
            let result = set_text(&mut draft, def, Some(&format!("{}{rest}", choice.word)));
            let built = def.is_built() && choice.status == Status::Supported;
            let neutral = def.default == Some(choice.word);
            assert_eq!(result.is_ok(), built || neutral, "{}={}: {result:?}", def.name, choice.word);
        }
        if def.kind.choices().is_some() {
            let result = set_text(&mut Draft::new(), def, Some("nonsense"));
            assert!(matches!(result, Err(JobError::UnknownWord(_))), "{}", def.name);
        }
    }
}

#[test]
fn planned_options_accept_only_what_changes_nothing() {
    for (name, text, accepted) in [
        ("verify_async", Some("0"), true),
        ("verify_async", Some("2"), true),
        ("zonemode", Some("none"), true),
        ("verify_state_save", Some("0"), true),
        ("verify_state_save", Some("1"), true),
        ("verify_only", None, true),
        ("verify_only", Some("0"), true),
        ("experimental_verify", Some("0"), true),
        ("ioengine", Some("xnvme"), false),
        ("write_bw_log", None, true),
        ("gtod_cpu", Some("0"), true),
        ("percentile_list", Some("1:2"), true),
    ] {
        let result = set_text(&mut Draft::new(), find_general(name).unwrap(), text);
        assert_eq!(result.is_ok(), accepted, "{name}={text:?}: {result:?}");
    }
}

#[test]
fn no_text_makes_any_option_panic() {
    let texts =
        ["", "0", "1", "-1", "4k,8k,16k,32k", "a:b:c", "1-2", "99999999999999999999", "%", "50%", "1z", "\0", "é"];
    for def in OPTIONS {
        for text in texts {
            let _ = set_text(&mut Draft::new(), def, Some(text));
        }
        let _ = set_text(&mut Draft::new(), def, None);
    }
}

/// A user reads the first sentence of a difference from fio; rare cases come after it.
#[test]
fn every_difference_has_a_kind_and_begins_with_a_short_sentence() {
    const MAX_WORDS: usize = 25;
    let options = OPTIONS.iter().map(|def| (def.name, def.status));
    let switches = crate::command_line::switches::SWITCHES.iter().map(|row| (row.name, row.status));
    let engines = ferrio_spec::engines::ENGINES.iter().map(|def| (def.name, def.status));
    for (name, status) in options.chain(switches).chain(engines) {
        let Status::Deviates(deviations) = status else { continue };
        assert!(deviations.texts().next().is_some(), "{name}");
        for (kind, how) in deviations.texts() {
            let first = how.split(". ").next().unwrap_or_default();
            assert!(first.split_whitespace().count() <= MAX_WORDS, "{name}, {}: {first}", kind.name());
            assert!(how.ends_with('.') && how.split(". ").all(is_begun), "{name}, {}: {how}", kind.name());
        }
    }
}

/// A sentence begins with a capital letter, or with the name of an option or a program.
fn is_begun(sentence: &str) -> bool {
    let word = sentence.split([' ', '=', ',', ':']).next().unwrap_or_default();
    let is_name = OPTIONS.iter().any(|def| def.is_called(word))
        || ferrio_spec::engines::ENGINES.iter().any(|def| def.name == word)
        || ["offload", "fio"].contains(&word);
    is_name || word.starts_with(|first: char| first.is_uppercase() || first.is_ascii_digit())
}
