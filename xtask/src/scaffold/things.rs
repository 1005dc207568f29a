//! The dummies.
//!
//! Start reading at [`THINGS`].

use super::commands::{COMMAND, MANY_RUNS};
use super::{Call, Row, Thing};

/// The things; each has a section in CONTRIBUTING.md.
pub(super) const THINGS: &[Thing] = &[OPTION, ENGINE, VERIFY_METHOD, FORMAT, PROBE, FINDING, COMMAND, MANY_RUNS];

/// `dummy_last_ios`: a limit of I/Os that counts beside `number_ios`.
const OPTION: Thing = Thing {
    section: "Add an option",
    files: &[],
    rows: &[
        Row {
            path: "crates/job/src/options/own.rs",
            before: "option(\"verify_header_layout\"",
            text: "    option(\"dummy_last_ios\", Kind::Int(at_least(0)), \"A dummy: so many I/Os at most\")
        .default(\"0\")
        .place(Category::Io, \"basic\")
        .applies(Apply::U64(|draft| &mut draft.job.extent.dummy_last_ios)),",
        },
        Row {
            path: "crates/spec/src/access/extent.rs",
            before: "/// `number_ios`; 0",
            text: "    /// `dummy_last_ios`; 0: no limit.\n    pub dummy_last_ios: u64,",
        },
        Row { path: "crates/spec/src/defaults.rs", before: "number_ios: 0,", text: "            dummy_last_ios: 0," },
        Row {
            path: "crates/run/src/plan/limits.rs",
            before: "let limit = worker.spec.extent.number_ios",
            text: "    if worker.spec.extent.dummy_last_ios > 0 {
        return worker.spec.extent.dummy_last_ios;
    }",
        },
    ],
    calls: &[
        Call { arguments: &["--cmdhelp=dummy_last_ios"], says: "A dummy: so many I/Os at most" },
        Call {
            arguments: &["--name=a", "--ioengine=null", "--size=1m", "--dummy_last_ios=7", "--output-format=json"],
            says: "\"total_ios\" : 7,",
        },
    ],
};

/// `ioengine=dummy`: reads give bytes of the value of its option `dummy_fill`, writes go nowhere.
const ENGINE: Thing = Thing {
    section: "Add an engine",
    files: &[
        (
            "crates/spec/src/engines/options/dummy.rs",
            "//! Options of the engine `dummy`.

use super::declaration::number;
use crate::syntax::at_most;

engine_options! {
    DUMMY_FILL: i64 = number(\"dummy_fill\", \"A dummy: what reads give\", at_most(255)).default(\"1\");
}
",
        ),
        (
            "crates/engine/src/files/dummy.rs",
            "//! A dummy: reads give bytes of one value, writes go nowhere.

use crate::contract::{IoUnit, Prepare};
use crate::files::inline::{Inline, Transfer};
use ferrio_spec::engines::options::dummy::DUMMY_FILL;
use ferrio_sys::Errno;
use std::os::fd::BorrowedFd;

pub(crate) const PREPARE: Prepare =
    |options| Ok(Box::new(Inline(Dummy { fill: options.get(&DUMMY_FILL) as u8 })));

struct Dummy {
    fill: u8,
}

impl Transfer for Dummy {
    fn read(&mut self, _: BorrowedFd<'_>, _: &IoUnit, buffer: &mut [u8]) -> Result<usize, Errno> {
        buffer.fill(self.fill);
        Ok(buffer.len())
    }

    fn write(&mut self, _: BorrowedFd<'_>, _: &IoUnit, buffer: &[u8]) -> Result<usize, Errno> {
        Ok(buffer.len())
    }
}
",
        ),
    ],
    rows: &[
        Row { path: "crates/spec/src/engines/options/mod.rs", before: "pub mod e4defrag;", text: "pub mod dummy;" },
        Row {
            path: "crates/spec/src/engines/options/mod.rs",
            before: "e4defrag::OPTIONS",
            text: "    of(&[\"dummy\"], dummy::OPTIONS),",
        },
        Row {
            path: "crates/spec/src/engines/mod.rs",
            before: "engine(\"io_uring\",",
            text: "    engine(\"dummy\", \"A dummy: reads give ones\").keeps(Data::Untouched),",
        },
        Row { path: "crates/engine/src/files/mod.rs", before: "mod fd_table;", text: "pub(crate) mod dummy;" },
        Row {
            path: "crates/engine/src/registry.rs",
            before: "(\"psync\", Io(psync::PREPARE))",
            text: "    (\"dummy\", Io(crate::files::dummy::PREPARE)),",
        },
    ],
    calls: &[
        Call { arguments: &["--enghelp"], says: "dummy" },
        Call { arguments: &["--enghelp=dummy,dummy_fill"], says: "A dummy: what reads give" },
        Call {
            arguments: &[
                "--name=a",
                "--filename=dummy.data",
                "--ioengine=dummy",
                "--dummy_fill=171",
                "--rw=read",
                "--size=64k",
                "--verify=pattern",
                "--verify_pattern=0xab",
                "--verify_only=1",
                "--unlink=1",
            ],
            says: "err= 0",
        },
        Call {
            arguments: &[
                "--name=a",
                "--filename=dummy.data",
                "--ioengine=dummy",
                "--rw=randrw",
                "--size=1m",
                "--unlink=1",
            ],
            says: "ioengine=dummy",
        },
    ],
};

/// `verify=dummy`: a checksum that is the number of ones among the bits.
const VERIFY_METHOD: Thing = Thing {
    section: "Add a method of verification",
    files: &[(
        "crates/units/src/checksum/dummy.rs",
        "//! A dummy: how many bits are 1.

pub(super) fn store(data: &[u8], out: &mut [u8]) {
    let n_ones: u32 = data.iter().map(|byte| byte.count_ones()).sum();
    out.copy_from_slice(&n_ones.to_le_bytes());
}
",
    )],
    rows: &[
        Row {
            path: "crates/units/src/checksum/mod.rs",
            before: "/// XXH3 of 64 bits",
            text: "    /// A dummy.\n    Dummy, 4, Cheap, dummy::store;",
        },
        Row { path: "crates/units/src/checksum/mod.rs", before: "pub mod md5;", text: "mod dummy;" },
        Row {
            path: "crates/spec/src/verify.rs",
            before: "    Meta, 1, \"meta\"",
            text: "    Dummy, 99, \"dummy\", \"A dummy: counts bits\", VerifyForm::Header(Some(Checksum::Dummy));",
        },
    ],
    calls: &[
        Call { arguments: &["--cmdhelp=verify"], says: "A dummy: counts bits" },
        Call {
            arguments: &[
                "--name=a",
                "--filename=dummy.data",
                "--rw=write",
                "--size=1m",
                "--verify=dummy",
                "--verify_state_save=0",
                "--unlink=1",
            ],
            says: "READ:",
        },
    ],
};

/// `output-format=dummy`: prints the number of groups.
const FORMAT: Thing = Thing {
    section: "Add an output format",
    files: &[(
        "crates/formats/src/dummy.rs",
        "//! A dummy: how many groups there are.

use crate::view::FioView;

pub(crate) fn render(view: &FioView<'_>) -> String {
    format!(\"dummy: {} groups\\n\", view.groups.len())
}
",
    )],
    rows: &[
        Row { path: "crates/formats/src/lib.rs", before: "pub mod eta;", text: "mod dummy;" },
        Row {
            path: "crates/spec/src/running/format.rs",
            before: "    Terse, \"terse\"",
            text: "    Dummy, \"dummy\", &[\"dum\"], Lines, \"a dummy: counts groups\";",
        },
        Row {
            path: "crates/formats/src/render.rs",
            before: "OutputFormat::Terse =>",
            text: "        OutputFormat::Dummy => crate::dummy::render(view),",
        },
    ],
    calls: &[
        Call { arguments: &["--help"], says: "dummy, terse" },
        Call {
            arguments: &["--name=a", "--ioengine=null", "--size=1m", "--output-format=dum,normal"],
            says: "dummy: 1 groups",
        },
    ],
};

/// A probe that counts how often it has looked.
const PROBE: Thing = Thing {
    section: "Add a probe",
    files: &[(
        "crates/run/src/evidence/probe/dummy.rs",
        "//! A dummy: how often it has looked.

use super::{Begun, Probe, Site};
use ferrio_stats::Evidence;

struct DummyProbe {
    n_looks: u64,
}

pub(super) fn start(_: &Site<'_>, begun: &mut Begun) {
    begun.probes.push(Box::new(DummyProbe { n_looks: 0 }));
}

impl Probe for DummyProbe {
    fn look(&mut self) {
        self.n_looks += 1;
    }

    fn report(&self, evidence: &mut Evidence) {
        evidence.dummy = Some(self.n_looks);
    }
}
",
    )],
    rows: &[
        Row { path: "crates/run/src/evidence/probe/mod.rs", before: "mod idle;", text: "mod dummy;" },
        Row {
            path: "crates/run/src/evidence/probe/mod.rs",
            before: "of_fio(idle::start)",
            text: "    of_ferrio(dummy::start),",
        },
        Row {
            path: "crates/stats/src/records/evidence.rs",
            before: "/// The kernel's counters for the processes of the run.",
            text: "    /// How often the dummy has looked.\n    #[serde(skip_serializing_if = \"Option::is_none\")]\n    pub dummy: Option<u64>,",
        },
    ],
    calls: &[Call {
        arguments: &["--name=a", "--ioengine=null", "--size=1m", "--output-format=json"],
        says: "\"dummy\" : 0",
    }],
};

/// A rule that speaks about every job that is called `dummy`.
const FINDING: Thing = Thing {
    section: "Add a finding",
    files: &[(
        "crates/insight/src/rules/plan/dummy.rs",
        "//! A dummy: jobs of that name.

use crate::audit_input::AuditInput;
use crate::rules::{FindingRule, MeasuredState, Observation};
use ferrio_stats::Severity;

pub(crate) const RULE: FindingRule = FindingRule {
    id: \"dummy\",
    title: \"The job is called dummy\",
    severity: Severity::Note,
    what: \"The name of a job.\",
    why: \"It is a dummy.\",
    example: \"--name=dummy\",
    cure: \"Give it another name.\",
    needs: &[],
    looks_at_reports: true,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    let dummies = case.jobs.iter().filter(|job| job.name == \"dummy\");
    dummies.map(|job| Observation::of(job, Vec::new(), \"It is.\".to_owned())).collect()
}
",
    )],
    rows: &[
        Row { path: "crates/insight/src/rules/plan/mod.rs", before: "mod few_samples;", text: "pub(crate) mod dummy;" },
        Row {
            path: "crates/insight/src/rules/mod.rs",
            before: "    plan::few_samples::RULE,",
            text: "    plan::dummy::RULE,",
        },
    ],
    calls: &[Call {
        arguments: &["check", "--name=dummy", "--ioengine=null", "--size=1m"],
        says: "NOTE: The job is called dummy (dummy)",
    }],
};
