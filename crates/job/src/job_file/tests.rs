//! Sections and includes, with files held in memory.

use super::*;
use crate::testing::World;
use proptest::prelude::*;

fn world(text: impl Into<Vec<u8>>) -> World {
    World::default().with_file("d/job.fio", text)
}

fn sections(world: &World) -> Vec<(String, Vec<String>)> {
    let file = read("d/job.fio".as_ref(), world);
    assert_eq!(file.failure, None);
    let lines = |section: &RawSection| section.lines.iter().map(|line| line.text.clone()).collect();
    file.sections.iter().map(|section| (section.name.clone(), lines(section))).collect()
}

fn failure(world: &World) -> String {
    read("d/job.fio".as_ref(), world)
        .failure
        .unwrap()
        .lines()
        .into_iter()
        .map(|(_, line)| line.text(ferrio_units::Wording::Fio).to_owned())
        .collect()
}

#[test]
fn sections_hold_their_lines() {
    let world = world("[global]\nbs=4k\n  [a b] ; c\nrw\n[global]\n[a b]\n[jk");
    let expected: Vec<(String, Vec<String>)> =
        [("global", vec!["bs=4k"]), ("a b", vec!["rw"]), ("global", vec![]), ("a b", vec![]), ("j", vec![])]
            .into_iter()
            .map(|(name, lines)| (name.to_owned(), lines.into_iter().map(str::to_owned).collect()))
            .collect();
    assert_eq!(sections(&world), expected);
}

#[test]
fn sections_need_a_name() {
    for (text, line) in [("[]", 1), ("[ ]", 1), ("[a]\nrw=read\n[", 3), ("[a]\n[b", 2)] {
        let expected = format!("fio: d/job.fio:{line}:1: section without a name: {}\n", text.lines().last().unwrap());
        assert_eq!(failure(&world(text)), expected);
    }
}

#[test]
fn includes_are_inserted() {
    let world = world("[j]\nsize=4k\ninclude inc\nfilename=f\ninclude=other.fio\n")
        .with_file("d/inc", "bs=8k\ninclude deep")
        .with_file("d/deep", "rw=read")
        .with_file("other.fio", "thread");
    let expected = ["size=4k", "bs=8k", "rw=read", "filename=f", "thread"];
    assert_eq!(sections(&world)[0].1, expected);
}

#[test]
fn an_include_is_first_looked_for_in_the_current_directory() {
    let world = world("[j]\ninclude inc").with_file("inc", "here").with_file("d/inc", "there");
    assert_eq!(sections(&world)[0].1, ["here"]);
}

// First lines as fio 3.41 prints them; the places are ferrio's.
#[test]
fn failures_say_where() {
    for (text, expected) in [
        (
            "rw=read\n[j]",
            "fio: option <rw=read> outside of [] job section\nd/job.fio:1:1: a section such as [job] must come first\n",
        ),
        (
            "[j]\n include nofile",
            "fio: unable to open 'nofile' job file\nError 1 while parsing include file nofile\nd/job.fio:2:2: No such file or directory\n",
        ),
    ] {
        assert_eq!(failure(&world(text)), expected);
    }
    let nested = world("[j]\ninclude inc").with_file("inc", "bs=4k\n[k]");
    assert_eq!(
        failure(&nested),
        "No new sections in included files\nError 1 while parsing include file inc\ninc:2:1: sections belong into the job file itself\n"
    );
    let looped = world("[j]\ninclude job.fio").with_file("inc", "include inc");
    assert_eq!(
        failure(&looped),
        "No new sections in included files\nError 1 while parsing include file job.fio\nd/job.fio:1:1: sections belong into the job file itself\n"
    );
    let looped = world("[j]\ninclude inc").with_file("inc", "include inc");
    assert_eq!(failure(&looped), "fio: inc:1:1: includes nested deeper than 16: does inc include itself?\n");
    assert_eq!(
        failure(&World::default()),
        "fio: unable to open 'd/job.fio' job file\nd/job.fio: No such file or directory\n"
    );
}

#[test]
fn a_wide_tree_of_includes_is_bounded() {
    // 17 levels of 64 includes each would be 64^17 reads; the byte budget ends it.
    let text = "include inc\n".repeat(64);
    let world = world("[j]\ninclude inc").with_file("inc", text);
    assert!(read("d/job.fio".as_ref(), &world).failure.is_some());
}

#[test]
fn standard_input_is_a_job_file() {
    let world = World { stdin: b"[j]\nbs=4k\nx\0".to_vec(), ..World::default() };
    let file = read("-".as_ref(), &world);
    assert_eq!(file.sections[0].lines[0].text, "bs=4k");
    assert_eq!(file.failure.unwrap().to_string(), "stdin:3:2: NUL byte: not a job file");
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        let _ = read("d/job.fio".as_ref(), &world(bytes));
    }
}

/// A comment of such a form is an option that there is not.
#[test]
fn a_comment_includes_no_file() {
    let world = world("[j]\n# ferrio: include=inc\n").with_file("inc", "bs=8k");
    assert_eq!(sections(&world), [("j".to_owned(), vec!["include=inc".to_owned()])]);
}

/// A comment for this program is a line of the section in which it stands, and above all sections one of all jobs.
#[test]
fn options_in_comments_are_lines_of_their_section() {
    let text = "# ferrio: expect=memory\n[j] # ferrio: a=b\n;ferrio:expect=nothing\nbs=4k # ferrio: a=b\n# ferrio: see a=b\n# ferrio: note\n";
    let expected = [("global", vec!["expect=memory"]), ("j", vec!["expect=nothing", "bs=4k"])];
    let expected: Vec<(String, Vec<String>)> = expected
        .into_iter()
        .map(|(name, lines)| (name.to_owned(), lines.into_iter().map(str::to_owned).collect()))
        .collect();
    assert_eq!(sections(&world(text)), expected);
}
