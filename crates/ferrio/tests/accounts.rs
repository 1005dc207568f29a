//! The accounts of runs: complete by construction, and right on a simulated device whose truth is known.
//!
//! Start reading at [`each_option_has_one_row`].

use ferrio_insight::accounts::options::effects;
use ferrio_job::options::OPTIONS;
use std::collections::BTreeMap;

#[test]
fn each_option_has_one_row() {
    let mut rows: BTreeMap<&str, usize> = BTreeMap::new();
    effects().flat_map(|effect| effect.names).for_each(|name| *rows.entry(name).or_default() += 1);
    let names: std::collections::BTreeSet<&str> = OPTIONS.iter().map(|option| option.name).collect();
    let missing: Vec<&&str> = names.iter().filter(|name| !rows.contains_key(**name)).collect();
    let twice: Vec<&str> = rows.iter().filter(|(_, n)| **n > 1).map(|(name, _)| *name).collect();
    let unknown: Vec<&&str> = rows.keys().filter(|name| !names.contains(**name)).collect();
    assert!(missing.is_empty() && twice.is_empty() && unknown.is_empty(), "{missing:?} {twice:?} {unknown:?}");
}
