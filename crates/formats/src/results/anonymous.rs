//! Results without what they tell about the machine and its users.
//!
//! Must not know: what that is, see [`Anonymizer`]. Start reading at [`RunResult::make_anonymous`].

use crate::results::RunResult;
use ferrio_stats::Anonymizer;

impl RunResult {
    /// Takes out what the result tells about the machine and its users.
    pub fn make_anonymous(&mut self) {
        let mut names = Anonymizer::default();
        self.tell_names(&mut names);
        self.hide_names(&mut names);
    }

    fn tell_names(&self, names: &mut Anonymizer) {
        if let Some(provenance) = &self.provenance {
            names.look_at_provenance(provenance);
        }
        names.look_at(&self.global_options);
        self.jobs.iter().for_each(|job| names.look_at(&job.options));
        for (rank, host) in (0..).zip(&self.hosts) {
            host.result.tell_names(names);
            names.hide_host(&host.name, rank);
        }
    }

    fn hide_names(&mut self, names: &mut Anonymizer) {
        if let Some(provenance) = &mut self.provenance {
            names.mask_provenance(provenance);
        }
        names.mask(&mut self.global_options);
        for job in &mut self.jobs {
            names.mask_job_name(&mut job.name);
            names.mask(&mut job.options);
            names.mask(&mut job.description);
        }
        self.precision.iter_mut().for_each(|precision| names.mask_job_name(&mut precision.job));
        if let Some(audit) = &mut self.audit {
            names.mask_findings(&mut audit.findings);
            names.mask(&mut audit.unexamined);
            names.mask_accounts(&mut audit.accounts);
        }
        names.mask(&mut self.remarks);
        for host in &mut self.hosts {
            names.mask_host(&mut host.name, &mut host.lost);
            host.result.name.clone_from(&host.name);
            host.result.hide_names(names);
        }
    }
}
