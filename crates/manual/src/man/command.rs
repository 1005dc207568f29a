//! The manual page of a native command, by `clap_mangen`.

use super::ManPage;
use clap::Command;

/// Adds the page of a command, and those of its own commands. Their descriptions are named `ferrio history`, `list`, ...
pub(super) fn push(pages: &mut Vec<ManPage>, command: &Command, version: &str) {
    let mut command = command.clone();
    command.build();
    push_built(pages, &command, None, version);
}

fn push_built(pages: &mut Vec<ManPage>, command: &Command, parent: Option<&str>, version: &str) {
    let own = command.get_name().replace(' ', "-");
    let name = parent.map_or_else(|| own.clone(), |parent| format!("{parent}-{own}"));
    let described = command.clone().display_name(name.clone());
    let page = clap_mangen::Man::new(described)
        .title(name.to_uppercase())
        .section("1")
        // An empty one would be left out, and the next word would be the date.
        .date(" ")
        .source(format!("ferrio {version}"))
        .manual("User Commands");
    let mut text = Vec::new();
    // Infallible: writing to a Vec never fails.
    let _ = page.render(&mut text);
    let mut text = String::from_utf8_lossy(&text).into_owned();
    text.push_str(".SH SEE ALSO\n.BR ferrio (1)\n");
    pages.push(ManPage { name: name.clone(), text });
    for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
        push_built(pages, inner, Some(&name), version);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Arg;

    #[test]
    fn a_command_and_its_commands_have_pages() {
        let inner = Command::new("list").about("List them").arg(Arg::new("all").long("all").help("Old ones too"));
        let command = Command::new("ferrio history").about("Kept runs").subcommand(inner);
        let mut pages = Vec::new();
        push(&mut pages, &command, "1.2.3");
        let names: Vec<&str> = pages.iter().map(|page| page.name.as_str()).collect();
        assert_eq!(names, ["ferrio-history", "ferrio-history-list"]);
        assert!(pages[0].text.contains(".SH NAME\nferrio\\-history \\- Kept runs\n"), "{}", pages[0].text);
        assert!(
            pages[0].text.contains(".TH FERRIO-HISTORY 1 \" \" \"ferrio 1.2.3\" \"User Commands\""),
            "{}",
            pages[0].text
        );
        assert!(pages[1].text.contains("Old ones too") && pages[1].text.contains("\\-\\-all"), "{}", pages[1].text);
    }
}
