//! `--keep` of sweeps and repeats: their runs in the history, each by the name of all of them and its point.
//!
//! Must not know: how runs are stored. Start reading at [`keep`].

use crate::shared::keeping::{Keeping, RunOfMany};
use crate::ui::console::Console;
use ferrio::history::MAX_NAME_CHARS;
use ferrio::sweep::space::SweepPoint;
use ferrio::sweep::{SweepFolder, SweepPlan};

/// Keeps the runs of a folder that were made and are not kept yet. `name`: that of all of them, where `--keep` gave none; empty: none.
pub(super) fn keep(keeping: &Keeping, folder: &SweepFolder, name: &str, console: &mut Console) {
    let name = if keeping.name().is_empty() { name } else { keeping.name() };
    let runs = folder.plan.points.iter().enumerate().flat_map(|(index, point)| {
        folder.every_record(index).map(move |record| {
            let record = record?;
            let (name, command_line) = (name_at(name, point), command_line(&folder.plan, point));
            Ok(RunOfMany { name, command_line, record })
        })
    });
    keeping.keep_all(runs, console);
}

/// The name of the runs of a point, as far as a name may be long.
fn name_at(name: &str, point: &SweepPoint) -> String {
    if point.settings.is_empty() || name.is_empty() {
        return name.to_owned();
    }
    let is_fit = |letter: char| letter != '/' && !letter.is_control();
    let plain = |letter| if is_fit(letter) { letter } else { '_' };
    format!("{name} {point}").chars().map(plain).take(MAX_NAME_CHARS).collect::<String>().trim_end().to_owned()
}

/// Words that make a run of the point again.
fn command_line(plan: &SweepPlan, point: &SweepPoint) -> Vec<String> {
    let command = if point.settings.is_empty() { "run" } else { "sweep" };
    let values = point.settings.iter().flat_map(|(option, value)| ["--over".to_owned(), format!("{option}={value}")]);
    ["ferrio", command].map(str::to_owned).into_iter().chain(plan.jobs.words.iter().cloned()).chain(values).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio::sweep::space::SweptOption;

    fn point(settings: &[(&str, &str)]) -> SweepPoint {
        let setting =
            |(name, value): &(&str, &str)| (SweptOption::parse(name).expect("an option"), (*value).to_owned());
        SweepPoint { settings: settings.iter().map(setting).collect(), places: Vec::new() }
    }

    #[test]
    fn names_have_the_point() {
        assert_eq!(name_at("s.sweep", &point(&[("bs", "4k"), ("a.iodepth", "8")])), "s.sweep bs=4k a.iodepth=8");
        assert_eq!(name_at("s", &point(&[("filename", "/dev/x")])), "s filename=_dev_x");
        assert_eq!(name_at("nightly", &point(&[])), "nightly");
        let long = "v".repeat(200);
        assert_eq!(name_at("s", &point(&[("ioengine", &long)])).chars().count(), MAX_NAME_CHARS);
    }
}
