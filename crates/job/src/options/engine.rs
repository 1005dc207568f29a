//! Rows of the private options of engines, made of their declarations in [`ferrio_spec::engines::options`].
//!
//! Must not know: which options exist. Start reading at [`OPTIONS`].

use super::command_priority;
use super::definition::{Apply, OptionDef, option};
use super::kind::Kind;
use ferrio_spec::engines::options::TABLES;
use ferrio_spec::engines::options::declaration::{CommandPriorityPart, EngineOptionDef, GoesTo, OptionSyntax};

const N_OPTIONS: usize = {
    let (mut total, mut table) = (0, 0);
    while table < TABLES.len() {
        total += TABLES[table].options.len();
        table += 1;
    }
    total
};

static ROWS: [OptionDef; N_OPTIONS] = {
    let mut rows = [option("", Kind::Flag, ""); N_OPTIONS];
    let (mut filled, mut table) = (0, 0);
    while table < TABLES.len() {
        let mut index = 0;
        while index < TABLES[table].options.len() {
            rows[filled] = row(&TABLES[table].options[index], TABLES[table].engines);
            filled += 1;
            index += 1;
        }
        table += 1;
    }
    rows
};

/// The rows, in the order of the tables.
pub(crate) const OPTIONS: &[OptionDef] = &ROWS;

const fn row(def: &EngineOptionDef, engines: &'static [&'static str]) -> OptionDef {
    let mut row = option("", kind(def.syntax), "").of_engines(engines);
    row.row = def.row;
    if def.row.status.is_built() {
        row.apply = apply(def.goes_to);
    }
    row
}

const fn kind(syntax: OptionSyntax) -> Kind {
    match syntax {
        OptionSyntax::Bool => Kind::Bool,
        OptionSyntax::Flag => Kind::Flag,
        OptionSyntax::Int(bounds) => Kind::Int(bounds),
        OptionSyntax::IntPerDirection(bounds) => Kind::IntPerDirection(bounds),
        OptionSyntax::Size(bounds) => Kind::Size(bounds),
        OptionSyntax::Text => Kind::Text,
        OptionSyntax::Word(words) => Kind::Choice(words),
    }
}

const fn apply(goes_to: GoesTo) -> Apply {
    match goes_to {
        GoesTo::Engine => Apply::Engine,
        GoesTo::CommandPriority(CommandPriorityPart::Percentage) => Apply::With(command_priority::percentage),
        GoesTo::CommandPriority(CommandPriorityPart::Class) => Apply::With(command_priority::class),
        GoesTo::CommandPriority(CommandPriorityPart::Hint) => Apply::With(command_priority::hint),
        GoesTo::CommandPriority(CommandPriorityPart::Level) => Apply::With(command_priority::level),
        GoesTo::CommandPriority(CommandPriorityPart::Splits) => Apply::With(command_priority::splits),
    }
}
