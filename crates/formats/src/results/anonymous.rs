//! Results without what they tell about the machine and its users.
//!
//! Must not know: what that is, see [`Anonymizer`]. Start reading at [`RunResult::make_anonymous`].

use crate::results::RunResult;
use ferrio_stats::Anonymizer;

impl RunResult {
    /// Takes out what the result tells about the machine and its users.
    pub fn make_anonymous(&mut self) {
        let mut names = Anonymizer::default();
        if let Some(provenance) = &self.provenance {
            names.look_at_provenance(provenance);
        }
        names.look_at(&self.global_options);
        self.jobs.iter().for_each(|job| names.look_at(&job.options));
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
            names.mask(&mut audit.findings);
            names.mask(&mut audit.unexamined);
        }
        names.mask(&mut self.remarks);
    }
}
