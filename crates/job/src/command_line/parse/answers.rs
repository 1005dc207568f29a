//! Switches that print something and end the program: version, helps, tests of the machine.
//!
//! Must not know: jobs. Start reading at `answer`.

use super::{AfterSwitch, ArgumentReader};
use crate::collector::Stopped;
use crate::command_line::profile::Chosen;
use crate::command_line::switches::Switch;
use crate::help;
use crate::invocation::Mode;
use crate::machine_tests;
use crate::message::{OutputStream, UserLine};
use ferrio_units::Wording;

impl ArgumentReader<'_> {
    /// Switches that print something and end the program.
    pub(super) fn answer(&mut self, switch: Switch, value: Option<&str>) -> Result<AfterSwitch, Stopped> {
        let version = self.collector.environment.version();
        let mode = match switch {
            Switch::Version => {
                self.print(format!("{version}\n"));
                Mode::Version
            }
            Switch::Help => {
                self.print(help::usage::usage(&version));
                Mode::Help
            }
            Switch::Cmdhelp => {
                self.cmdhelp(value);
                Mode::CmdHelp
            }
            _ => {
                self.enghelp(value)?;
                Mode::EngHelp
            }
        };
        Ok(AfterSwitch::Leave(mode))
    }

    fn cmdhelp(&mut self, value: Option<&str>) {
        let own: Vec<_> = self.profiles.chosen.iter().flat_map(Chosen::options).collect();
        let Some(name) = value.filter(|name| !name.is_empty() && *name != "all") else {
            let text = if own.is_empty() { help::options::tree() } else { help::options::list(&own) };
            return self.print(text);
        };
        if let Some(def) = own.iter().find(|def| def.is_called(name)) {
            return self.print(UserLine::of(|wording| help::options::details(def, wording)));
        }
        let answer = help::options::one(name);
        self.complain(answer.complaint.unwrap_or_default().into());
        self.print(answer.text);
    }

    fn enghelp(&mut self, value: Option<&str>) -> Result<(), Stopped> {
        let answer = help::engines::answer(value);
        self.complain(answer.complaint);
        self.print(answer.text);
        if answer.exit_code == 0 { Ok(()) } else { Err(Stopped) }
    }

    pub(super) fn test_machine(&mut self, switch: Switch, value: Option<&str>) -> Result<AfterSwitch, Stopped> {
        let answer = machine_tests::asked(switch, value);
        self.complain(answer.complaint);
        self.print(answer.text);
        answer.test.map(|test| AfterSwitch::Leave(Mode::Machine(test))).ok_or(Stopped)
    }

    pub(super) fn print(&mut self, text: impl Into<UserLine>) {
        self.collector.messages.raw(OutputStream::Stdout, text);
    }

    pub(super) fn complain(&mut self, text: UserLine) {
        if !text.text(Wording::Fio).is_empty() {
            self.collector.messages.raw(OutputStream::Stderr, text);
        }
    }
}
