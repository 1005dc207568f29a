//! The time before the workers: the layout of their files, during which reports may be asked for already.
//!
//! Must not know: how files are laid out. Start reading at [`prepare_workers`].

use super::RunSettings;
use super::agenda::Agenda;
use super::outcome::{self, Moment};
use super::record::{self, Record, Status};
use crate::events::{RunEvent, RunObserver};
use crate::files::FileSet;
use crate::plan::RunPlan;
use crate::zones::ZoneRegistry;
use ferrio_sys::signals;
use std::cell::RefCell;
use std::time::Instant;

/// Lays out the files of all workers that want it done before the start, one after another. A signal that ends the run
/// ends this too; what asks for a report gets one, with the time since the layout began.
pub(super) fn prepare_workers(plan: &RunPlan, settings: &RunSettings, observer: &mut dyn RunObserver) -> Vec<Record> {
    let started_at = Instant::now();
    let agenda = RefCell::new(Agenda::new(&settings.control, started_at));
    let zones = RefCell::new(ZoneRegistry::new(plan.workers.len()));
    let mut preparation = Preparation { plan, settings, agenda, started_at, records: Vec::new(), zones };
    preparation.records.resize_with(plan.workers.len(), Record::default);
    for index in 0..plan.workers.len() {
        let layout = &plan.workers[index].spec.layout;
        if layout.create_serialize || layout.create_only {
            preparation.prepare(index, observer);
        }
        if layout.create_only {
            preparation.records[index].status = Status::Ended;
        }
    }
    preparation.records
}

struct Preparation<'a> {
    plan: &'a RunPlan,
    settings: &'a RunSettings,
    agenda: RefCell<Agenda>,
    started_at: Instant,
    records: Vec<Record>,
    /// Zones of files, which jobs share.
    zones: RefCell<ZoneRegistry>,
}

impl Preparation<'_> {
    fn prepare(&mut self, index: usize, observer: &mut dyn RunObserver) {
        let shared = RefCell::new(&mut *observer);
        let look_up = || {
            self.report_if_asked(&mut **shared.borrow_mut());
            signals::is_end_pending()
        };
        let mut tell = |event| shared.borrow_mut().event(event);
        let (worker, readonly) = (&self.plan.workers[index], self.settings.readonly);
        let set = FileSet::prepare(worker, Some(&mut self.zones.borrow_mut()), readonly, &mut tell, &look_up);
        match set {
            Ok(set) => self.records[index].files = Some(set),
            // The watch ends those that wait.
            Err(error) if error.is_stopped() => {}
            Err(error) => record::setup_failed(&mut self.records[index], error, observer),
        }
    }

    fn report_if_asked(&self, observer: &mut dyn RunObserver) {
        let is_due = self.agenda.borrow_mut().take_due(Instant::now()).status;
        if signals::take_user1() > 0 || is_due {
            // The devices of the run are not known yet.
            let moment = Moment { elapsed: self.started_at.elapsed(), eta_secs: None, disks: None, idleness: None };
            let result = outcome::result(self.plan, self.settings, &self.records, &moment);
            observer.event(RunEvent::Status(Box::new(result)));
        }
    }
}
