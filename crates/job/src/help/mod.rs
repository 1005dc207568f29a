//! Help texts: of the program, of options, of engines. All of them come from the tables.
//!
//! Must not know: the effect of options. Start reading at [`options::tree`] and [`options::one`].

pub mod engines;
pub mod options;
pub mod usage;

use crate::options::definition::OptionDef;
use ferrio_units::Wording;

/// The explanation that follows when an option's own check refused its value.
pub fn correct_format(def: &OptionDef, wording: Wording) -> String {
    let mut text = "Correct format for offending option\n".to_owned();
    text += &options::head(def, wording);
    text.trim_end().to_owned()
}
