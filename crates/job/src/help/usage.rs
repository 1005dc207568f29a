//! The page that `--help` prints, and the list of `--debug=help`.
//!
//! Must not know: the effect of switches. The text is written from their table.

use crate::command_line::switches::SWITCHES;
use crate::message::UserLine;
use ferrio_spec::debug::GROUPS;

/// The page, beginning with the line of the version.
pub fn usage(version: &str) -> String {
    let mut text = format!("{version}\nfio [options] [job options] <job file(s)>\n");
    for def in SWITCHES.iter().filter(|def| !def.help.is_empty()) {
        let status = if def.is_built() { "" } else { " (not yet supported)" };
        for (index, line) in def.help.iter().enumerate() {
            match index {
                0 => text.extend([format!("  --{:<26}{line}{status}\n", def.shown)]),
                _ => text.extend([format!("{:30}{line}\n", "")]),
            }
        }
    }
    text
}

pub fn debug_groups() -> UserLine {
    UserLine::named(format!("dumping debug options:{},all\n", GROUPS.join(",")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_names_every_switch_once() {
        let page = usage("fio-3.42");
        assert!(page.starts_with("fio-3.42\nfio [options] [job options] <job file(s)>\n"));
        for def in SWITCHES.iter().filter(|def| !def.help.is_empty()) {
            assert_eq!(page.matches(&format!("  --{} ", def.shown)).count(), 1, "{}", def.name);
        }
        assert!(page.lines().all(|line| line.len() <= 110), "{page}");
    }

    // Expected value: the text of fio 3.41.
    #[test]
    fn debug_groups_are_listed() {
        assert_eq!(
            debug_groups(),
            "fio: dumping debug options:process,file,io,mem,blktrace,verify,random,parse,diskutil,job,mutex,profile,\
             time,net,rate,compress,steadystate,helperthread,zbd,sprandom,all\n"
        );
    }
}
