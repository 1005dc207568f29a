//! The option table: one row for every option of fio and of ferrio's own engines.
//!
//! There is one file of rows per subject; [`OPTIONS`] joins them in the order of fio's own list, on which the help and
//! the suggestions depend. Must not know: job files, command lines.
//! Start reading at [`definition::OptionDef`], then any file of rows.

pub(crate) mod apply;
mod apply_buffers;
mod apply_log;
pub(crate) mod apply_pace;
pub(crate) mod apply_replay;
mod apply_surroundings;
mod block_split;
pub mod command_priority;
pub mod definition;
mod directories;
pub(crate) mod distribution;
pub mod draft;
mod drafts;
mod engine;
pub mod engines;
mod error;
mod files;
mod grouping;
mod io;
pub mod kind;
mod lifecycle;
mod log;
mod own;
pub(crate) mod patterns;
pub(crate) mod placement;
mod process;
mod profile;
mod random;
mod rate;
mod replay;
mod runtime;
pub(crate) mod secret;
pub mod set;
pub(crate) mod shared_stream;
pub(crate) mod sprandom;
mod stat;
pub(crate) mod steady_state;
mod target;
pub(crate) mod verification;
mod verify;
pub(crate) mod whole_files;
mod zone;
pub(crate) mod zone_mode;
pub(crate) mod zone_sequential;

use definition::{OptionDef, option};
use kind::Kind;
use std::collections::HashMap;
use std::sync::LazyLock;

const TABLES: &[&[OptionDef]] = &[
    target::OPTIONS,
    io::OPTIONS,
    random::OPTIONS,
    files::OPTIONS,
    runtime::OPTIONS,
    verify::OPTIONS,
    replay::OPTIONS,
    zone::OPTIONS,
    process::OPTIONS,
    rate::OPTIONS,
    lifecycle::OPTIONS,
    grouping::OPTIONS,
    log::OPTIONS,
    stat::OPTIONS,
    error::OPTIONS,
    own::OPTIONS,
    engine::OPTIONS,
    profile::OPTIONS,
];

const N_OPTIONS: usize = {
    let (mut total, mut table) = (0, 0);
    while table < TABLES.len() {
        total += TABLES[table].len();
        table += 1;
    }
    total
};

static JOINED: [OptionDef; N_OPTIONS] = {
    let mut joined = [option("", Kind::Flag, ""); N_OPTIONS];
    let (mut filled, mut table) = (0, 0);
    while table < TABLES.len() {
        let mut row = 0;
        while row < TABLES[table].len() {
            joined[filled] = TABLES[table][row];
            filled += 1;
            row += 1;
        }
        table += 1;
    }
    joined
};

/// Every option.
pub static OPTIONS: &[OptionDef] = &JOINED;

/// Options of every job, in the order of fio's list.
pub fn general() -> impl Iterator<Item = &'static OptionDef> {
    OPTIONS.iter().filter(|def| def.is_general())
}

/// True for an option of every job that fio does not have.
pub(crate) fn is_own(name: &str) -> bool {
    own::OPTIONS.iter().any(|def| def.is_called(name))
}

/// The private options of `engine`.
pub fn of_engine(engine: &str) -> impl Iterator<Item = &'static OptionDef> {
    OPTIONS.iter().filter(move |def| def.engines.contains(&engine))
}

/// The rows by every name they have: a job file may have a million lines.
static BY_NAME: LazyLock<HashMap<&'static str, Vec<&'static OptionDef>>> = LazyLock::new(|| {
    let mut rows: HashMap<&str, Vec<&OptionDef>> = HashMap::new();
    for def in OPTIONS {
        for name in def.names() {
            rows.entry(name).or_default().push(def);
        }
    }
    rows
});

fn called(name: &str) -> impl Iterator<Item = &'static OptionDef> {
    BY_NAME.get(name).into_iter().flatten().copied()
}

/// The name that the tables give the option of this name, which may be another name of it; `None`: there is no such option.
pub fn canonical_name(name: &str) -> Option<&'static str> {
    find_general(name).or_else(|| called(name).next()).map(|def| def.name)
}

/// The option of every job that is called `name`.
pub fn find_general(name: &str) -> Option<&'static OptionDef> {
    called(name).find(|def| def.is_general())
}

pub fn find_private(engine: &str, name: &str) -> Option<&'static OptionDef> {
    called(name).find(|def| def.engines.contains(&engine))
}

/// Options whose names only profiles have. As in fio every job accepts them, without effect.
pub fn of_profiles_alone() -> impl Iterator<Item = &'static OptionDef> {
    let is_alone = |def: &&OptionDef| def.profile.is_some() && find_general(def.name).is_none();
    let mut found: Vec<&OptionDef> = OPTIONS.iter().filter(is_alone).collect();
    // fio lists the options of tiobench first.
    found.sort_by_key(|def| std::cmp::Reverse(def.profile));
    found.into_iter()
}

/// The option that only a profile has by this name.
pub fn find_of_profile(name: &str) -> Option<&'static OptionDef> {
    of_profiles_alone().find(|def| def.is_called(name))
}

#[cfg(test)]
mod tests;
