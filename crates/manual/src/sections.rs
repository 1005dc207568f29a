//! The options in the order of a manual: sections with a title.
//!
//! Must not know: the form of any document. Start reading at [`sections`].

use ferrio_job::options::OPTIONS;
use ferrio_job::options::definition::{Category, OptionDef};

/// Options that are explained together.
pub struct OptionSection {
    pub title: String,
    /// Its options, in the order of the table.
    pub options: Vec<&'static OptionDef>,
}

/// Sections of the options of every job, in reading order: place in the table and title.
const TITLES: &[(Category, &str, &str)] = &[
    (Category::General, "desc", "Name and description"),
    (Category::File, "filename", "File names"),
    (Category::File, "io-basic", "File types"),
    (Category::Io, "io-basic", "Direction, engine and depth"),
    (Category::Io, "", "Amount, place and block size"),
    (Category::Io, "rwmix", "Mix of reads and writes"),
    (Category::Io, "random", "Random offsets"),
    (Category::Io, "io-type", "Direct, buffered and synchronous I/O"),
    (Category::Io, "io-buf", "Contents of buffers"),
    (Category::File, "", "Files"),
    (Category::General, "runtime", "Start, end and repetition"),
    (Category::General, "process", "Processes, threads and groups"),
    (Category::Io, "rate", "Rates"),
    (Category::Io, "thinktime", "Think time"),
    (Category::Io, "latprof", "Latency targets"),
    (Category::Io, "flow", "Flow between jobs"),
    (Category::Io, "verify", "Verification"),
    (Category::Io, "trim", "Trims"),
    (Category::Io, "zone", "Zones"),
    (Category::Io, "iolog", "Traces"),
    (Category::Engine, "", "Hints for the device"),
    (Category::General, "error", "Errors"),
    (Category::General, "cred", "Priority, processors and credentials"),
    (Category::General, "cgroup", "Control groups"),
    (Category::General, "clock", "Clocks"),
    (Category::Stat, "", "Statistics"),
    (Category::Log, "", "Log files"),
    (Category::General, "", "Other options"),
    (Category::Profile, "", "Profiles"),
];

/// All options: those of every job by subject, then those of each engine, then those of each profile.
pub fn sections() -> Vec<OptionSection> {
    let general = TITLES.iter().map(|&(category, group, title)| {
        let here = |def: &&OptionDef| def.is_general() && def.category == category && def.group == group;
        OptionSection { title: title.to_owned(), options: OPTIONS.iter().filter(here).collect() }
    });
    let mut sections: Vec<OptionSection> = general.filter(|section| !section.options.is_empty()).collect();
    for def in OPTIONS.iter().filter(|def| !def.is_general()) {
        let title = private_title(def);
        match sections.iter_mut().find(|section| section.title == title) {
            Some(section) => section.options.push(def),
            None => sections.push(OptionSection { title, options: vec![def] }),
        }
    }
    sections
}

fn private_title(def: &OptionDef) -> String {
    match def.profile {
        Some(profile) => format!("Profile {profile}"),
        None if def.engines.len() == 1 => format!("Engine {}", def.engines[0]),
        None => format!("Engines {}", def.engines.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_stands_in_one_section() {
        let listed: usize = sections().iter().map(|section| section.options.len()).sum();
        assert_eq!(listed, OPTIONS.len());
        for def in OPTIONS.iter().filter(|def| def.is_general()) {
            let titles = TITLES.iter().filter(|(category, group, _)| (def.category, def.group) == (*category, *group));
            assert_eq!(titles.count(), 1, "{}: no title for {:?} {:?}", def.name, def.category, def.group);
        }
    }
}
