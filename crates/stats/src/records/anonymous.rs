//! Records without what they tell about the machine and its users (`--anonymous`).
//!
//! Figures, options and queue settings stay, because the figures mean nothing without them. Names of hosts, of the kernel, of models and
//! mount options are left out; a path or a name of a file becomes `/path-1` or `file-2`, the same one everywhere, so that readers can
//! still tell targets apart. All texts of a record are searched for such names. What cannot be searched is left out.
//! Must not know: formats. Start reading at [`Anonymizer`]; docs/anonymous.md lists what is left.

mod texts;

use crate::{Accounts, Finding, IntervalStats, LoggedEvent, Provenance, RecordOrigin, RunRecord, wire};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use texts::Names;

/// Finds names in the parts of a record, then replaces them.
///
/// A part is shown twice: first to [`Anonymizer::look_at`], so that a name that only one part shows as a name is known in the texts of
/// all, then to [`Anonymizer::mask`].
#[derive(Debug, Default)]
pub struct Anonymizer {
    names: Names,
    /// The hosts of a run on several, with the names that they get.
    hosts: BTreeMap<String, String>,
}

impl Anonymizer {
    /// Finds the names in a part.
    pub fn look_at<T: Serialize>(&mut self, part: &T) {
        self.names.mask("", &mut wire::to_value(part));
    }

    /// Replaces the names in a part.
    pub fn mask<T: Serialize + DeserializeOwned + Default>(&mut self, part: &mut T) {
        let mut value = wire::to_value(&*part);
        self.names.mask("", &mut value);
        *part = wire::from_value(&value).unwrap_or_default();
    }

    /// As [`Anonymizer::mask`], for notes and failures, in which a single word that is a known name is that name.
    fn mask_notes<T: Serialize + DeserializeOwned + Default>(&mut self, part: &mut T) {
        self.names.finds_single_words(true);
        self.mask(part);
        self.names.finds_single_words(false);
    }

    /// Replaces what the environment put into the name of a job, which has no other names.
    pub fn mask_job_name(&self, name: &mut String) {
        *name = self.names.without_values(name);
    }

    /// The name of a host of several, which gets a number in its place.
    pub fn hide_host(&mut self, name: &str, rank: u32) {
        let alias = format!("host-{rank}");
        self.names.hide(name, &alias);
        self.hosts.insert(name.to_owned(), alias);
    }

    /// Replaces the name of a host of several, and why it was lost: that may be in the words of another program.
    pub fn mask_host(&self, name: &mut String, lost: &mut Option<String>) {
        *name = self.hosts.get(name).cloned().unwrap_or_default();
        *lost = lost.take().map(|_| "lost".to_owned());
    }

    fn mask_stretch(&self, stretch: &mut IntervalStats) {
        self.mask_job_name(&mut stretch.job_name);
        if let Some(host) = &mut stretch.host {
            self.mask_host(&mut host.name, &mut None);
        }
    }

    /// Replaces the names in findings.
    pub fn mask_findings(&mut self, findings: &mut Vec<Finding>) {
        for name in findings.iter_mut().flat_map(|finding| &mut finding.hosts) {
            *name = self.hosts.get(name).cloned().unwrap_or_default();
        }
        self.mask(findings);
    }

    /// Replaces the names in accounts: values of options are names as they were given.
    pub fn mask_accounts(&mut self, accounts: &mut Option<Box<Accounts>>) {
        self.mask_notes(accounts);
    }

    /// Finds the name of the host, what the environment put into jobs, and the names in the facts of a machine.
    pub fn look_at_provenance(&mut self, provenance: &Provenance) {
        self.names.hide(&provenance.host_name, "host");
        provenance.from_environment.iter().for_each(|value| self.names.hide_value(value));
        self.look_at(provenance);
    }

    /// Takes the facts out that tell which machine it was, and replaces the names in the others.
    pub fn mask_provenance(&mut self, provenance: &mut Provenance) {
        provenance.command_line.clear();
        provenance.from_environment.clear();
        provenance.host_name.clear();
        provenance.kernel_release.clear();
        provenance.cpu.model = None;
        for file_system in &mut provenance.file_systems {
            file_system.options.clear();
            file_system.source.clear();
        }
        provenance.devices.iter_mut().for_each(|device| device.model = None);
        self.mask(provenance);
    }
}

impl RunRecord {
    /// Takes out what the record tells about the machine and its users.
    pub fn make_anonymous(&mut self) {
        let mut names = Anonymizer::default();
        self.tell_names(&mut names);
        self.hide_names(&mut names);
    }

    /// Finds the names in the record, and in those of its hosts.
    fn tell_names(&self, names: &mut Anonymizer) {
        if let Some(provenance) = &self.provenance {
            names.look_at_provenance(provenance);
        }
        names.look_at(&self.global_options);
        for worker in &self.workers {
            names.look_at(&worker.given_options);
            names.look_at(&worker.fate.failure);
        }
        names.look_at(&self.evidence);
        names.look_at(&self.messages);
        for host in self.hosts() {
            host.record.tell_names(names);
            names.hide_host(&host.name, host.rank);
        }
    }

    fn hide_names(&mut self, names: &mut Anonymizer) {
        if let Some(provenance) = &mut self.provenance {
            names.mask_provenance(provenance);
        }
        names.mask(&mut self.global_options);
        for worker in &mut self.workers {
            names.mask_job_name(&mut worker.name);
            names.mask(&mut worker.given_options);
            names.mask(&mut worker.description);
            names.mask_notes(&mut worker.fate.failure);
        }
        names.mask(&mut self.evidence);
        names.mask_notes(&mut self.messages);
        if let Some(audit) = &mut self.audit {
            names.mask_findings(&mut audit.findings);
            names.mask(&mut audit.unexamined);
            names.mask_accounts(&mut audit.accounts);
        }
        if let RecordOrigin::Hosts(parts) = &mut self.origin {
            for part in parts {
                names.mask_host(&mut part.name, &mut part.lost);
                part.record.hide_names(names);
            }
        }
        self.precision.iter_mut().flatten().for_each(|precision| names.mask_job_name(&mut precision.job));
        self.course.retain_mut(|event| match event {
            LoggedEvent::Interval(stretch) => {
                names.mask_stretch(stretch);
                true
            }
            LoggedEvent::JobEnded(end) => {
                names.mask_stretch(&mut end.stretch);
                true
            }
            LoggedEvent::Message { message, .. } => {
                let mut masked = Some(message.clone());
                names.mask_notes(&mut masked);
                masked.is_some_and(|masked| {
                    *message = masked;
                    true
                })
            }
            _ => true,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::note::{ReplayNote, SystemError, TraceTrouble};
    use crate::records::provenance::{DeviceFacts, FileSystemFacts, JobOptions};
    use crate::{Audit, Failure, HostPart, JobTargets, MessageStream, Note, Severity, TargetPlace, WorkerRecord};
    use ferrio_spec::JobSpec;

    /// What the record of [`record`] tells about a machine.
    const TOLD: [&str; 9] = ["ada", "babbage", "6.1.0-13", "EPYC", "SN850", "customer", "noatime", "wwn-0x5", "/srv"];

    fn failed_worker(given_options: Vec<(String, String)>) -> WorkerRecord {
        let mut worker = WorkerRecord { name: "a".to_owned(), given_options, ..WorkerRecord::default() };
        let note = Note::text("connect to customer.db failed");
        worker.fate.failure = Some(Failure::new(5, "x.rs:1", "connect").explained(note));
        worker
    }

    fn finding() -> Finding {
        Finding {
            hosts: Vec::new(),
            id: "x".to_owned(),
            title: "t".to_owned(),
            severity: Severity::Note,
            jobs: vec!["a".to_owned()],
            direction: None,
            evidence: Vec::new(),
            explanation: "The file /srv/ada/customer.db has grown by 7 MB/s, see /proc/meminfo.".to_owned(),
            cure: "Write customer.db before.".to_owned(),
            page: "docs/findings/x.md".to_owned(),
        }
    }

    fn record() -> RunRecord {
        let options = vec![
            ("filename".to_owned(), "customer.db".to_owned()),
            ("directory".to_owned(), "/srv/ada".to_owned()),
            ("buffer_pattern".to_owned(), "'customer.seed'0xff".to_owned()),
        ];
        let mut spec = JobSpec { name: "a".to_owned(), given_options: options.clone(), ..JobSpec::default() };
        spec.target.filenames = vec!["customer.db".to_owned()];
        spec.target.directories = vec!["/srv/ada".into()];
        spec.target.filename_format = Some("customer.$jobnum".to_owned());
        spec.logs.bw = Some("customer".into());
        let mut provenance = Provenance {
            host_name: "babbage".to_owned(),
            kernel_release: "6.1.0-13-amd64".to_owned(),
            command_line: vec!["ferrio".to_owned(), "/people/ada/a.fio".to_owned()],
            memory_bytes: 5,
            ..Provenance::default()
        };
        provenance.cpu.model = Some("AMD EPYC".to_owned());
        provenance.file_systems.push(FileSystemFacts {
            mounted_on: "/srv".to_owned(),
            kind: "ext4".to_owned(),
            options: "rw,noatime".to_owned(),
            source: "/dev/disk/by-id/wwn-0x5".to_owned(),
            device: Some("vda".to_owned()),
        });
        let model = Some("WD SN850".to_owned());
        provenance.devices.push(DeviceFacts {
            name: "vda".to_owned(),
            model,
            n_tags: Some(64),
            ..DeviceFacts::default()
        });
        provenance.jobs.push(JobOptions {
            name: "a".to_owned(),
            options: Some(Box::new(spec)),
            ..JobOptions::default()
        });
        let place = TargetPlace {
            path: "/srv/ada/customer.db".to_owned(),
            mount_options: Some("rw,noatime".to_owned()),
            layer: Some("/srv".to_owned()),
            ..TargetPlace::default()
        };
        let mut record = RunRecord { provenance: Some(Box::new(provenance)), ..RunRecord::default() };
        record.global_options.push(("directory".to_owned(), "/srv/ada".to_owned()));
        record.workers.push(failed_worker(options));
        record.evidence.targets = Some(vec![JobTargets { places: vec![place], ..JobTargets::default() }]);
        record.messages.push(MessageStream::Error, Note::text("on babbage: cannot open customer.db in /srv/ada/."));
        let error = SystemError::Errno(2);
        let refused = ReplayNote::Refused { trace: "customer.log".to_owned(), why: TraceTrouble::System(error) };
        record.messages.push(MessageStream::Error, refused.into());
        let told = record.messages.kept()[0].clone();
        record.course.push(LoggedEvent::Message { epoch_ms: 1, message: told });
        record.audit = Some(Audit { findings: vec![finding()], ..Audit::default() });
        record
    }

    #[test]
    fn nothing_is_left_of_the_machine_and_the_figures_stay() {
        let mut masked = record();
        masked.make_anonymous();
        let text = serde_json::to_string(&masked).expect("serialises");
        for told in TOLD {
            assert!(!text.contains(told), "{told}: {text}");
        }
        let provenance = masked.provenance.as_ref().expect("a provenance");
        assert_eq!((provenance.memory_bytes, provenance.devices[0].n_tags), (5, Some(64)));
        assert_eq!(
            provenance.jobs[0].options.as_ref().expect("options").given_options,
            masked.workers[0].given_options
        );
        assert!(masked.workers[0].fate.failure.as_ref().is_some_and(|failure| failure.note.is_some()), "{masked:?}");
        let finding = &masked.audit.as_ref().expect("an audit").findings[0];
        assert_eq!(finding.page, "docs/findings/x.md");
        assert!(finding.explanation.contains("7 MB/s, see /proc/meminfo."), "{finding:?}");
        let place = &masked.targets()[0].places[0];
        assert!(finding.explanation.contains(&format!("The file {} has grown", place.path)), "{finding:?} {place:?}");
        assert_eq!(place.layer, Some(provenance.file_systems[0].mounted_on.clone()), "the same name everywhere");
        assert_eq!((masked.messages.kept().len(), masked.course.len()), (2, 1));
    }

    #[test]
    fn a_second_time_changes_nothing() {
        for mut masked in [record(), of_hosts()] {
            masked.make_anonymous();
            let once = masked.clone();
            masked.make_anonymous();
            assert_eq!(masked, once);
        }
    }

    /// A run on hosts with the machine of [`record`] and names of their own.
    fn of_hosts() -> RunRecord {
        let part = |(rank, name): (u32, &str)| HostPart {
            name: name.to_owned(),
            rank,
            lost: Some(format!("{name} has gone")),
            record: record(),
            ..HostPart::default()
        };
        let hosts: Vec<HostPart> = (0..).zip(["lovelace", "hopper"]).map(part).collect();
        let slow = Finding {
            hosts: vec!["hopper".to_owned()],
            explanation: "Host hopper did 5 I/Os a second.".to_owned(),
            ..finding()
        };
        let audit = Some(Audit { findings: vec![slow], ..Audit::default() });
        RunRecord { audit, origin: RecordOrigin::Hosts(hosts), ..record() }
    }

    #[test]
    fn hosts_have_numbers() {
        let mut masked = of_hosts();
        masked.make_anonymous();
        let text = serde_json::to_string(&masked).expect("serialises");
        for told in TOLD.iter().chain(&["lovelace", "hopper"]) {
            assert!(!text.contains(told), "{told}: {text}");
        }
        let names: Vec<&str> = masked.hosts().iter().map(|host| host.name.as_str()).collect();
        assert_eq!(names, ["host-0", "host-1"]);
        assert_eq!(masked.audit.expect("an audit").findings[0].hosts, ["host-1"]);
    }
}
