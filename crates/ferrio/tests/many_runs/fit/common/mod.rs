//! Recipes on simulated devices, on virtual time.
//!
//! Must not know: what a device is to show. Start reading at [`OnVirtualTime`].

use ferrio::fit::Recipe;
use ferrio::session::runs::{RunDriver, RunNotice};
use ferrio::session::{Session, SessionOutcome};
use ferrio_run::RunError;
use ferrio_spec::JobSpec;
use ferrio_spec::engines::options::sim::SEED;

/// Runs sessions on virtual time, each on another device.
pub(crate) struct OnVirtualTime {
    seed: i64,
    device: fn(&mut JobSpec, i64),
    n_made: i64,
    /// Least number of runs that were told to follow, of each run.
    pub(crate) to_come: Vec<u32>,
    /// The time is over after so many runs.
    pub(crate) most_runs: Option<i64>,
}

impl OnVirtualTime {
    /// Runs with seeds from this one on. `device` changes the device of a job before a run, by the number of runs that were made before it.
    pub(crate) fn new(seed: i64, device: fn(&mut JobSpec, i64)) -> Self {
        Self { seed, device, n_made: 0, to_come: Vec::new(), most_runs: None }
    }
}

impl RunDriver for OnVirtualTime {
    fn begin(&mut self, notice: &RunNotice) {
        self.to_come.push((notice.whole - notice.done - 1) as u32);
    }

    fn run(&mut self, mut session: Session, _: Option<u32>) -> Result<SessionOutcome, RunError> {
        self.seed += 1;
        for job in &mut session.spec.jobs {
            job.engine.options.set(&SEED, self.seed);
            (self.device)(job, self.n_made);
        }
        self.n_made += 1;
        session.settings.is_virtual = true;
        session.run(&mut [])
    }

    fn is_stopped(&self) -> bool {
        false
    }

    fn is_out_of_time(&self) -> bool {
        self.most_runs.is_some_and(|most| self.n_made >= most)
    }
}

/// A recipe with one load of a job `a`, and one limit for a figure of it: at most so many nanoseconds, or at least so many I/Os a second.
pub(crate) fn recipe(jobs: &str, figure: &str, limit: f64, is_latency: bool) -> Recipe {
    Recipe::parse(&recipe_text(jobs, figure, limit, is_latency), "known").expect("a recipe")
}

/// The text of such a recipe, whose load has no scale.
pub(crate) fn recipe_text(jobs: &str, figure: &str, limit: f64, is_latency: bool) -> String {
    let (word, unit) = if is_latency { ("most", "ns") } else { ("least", "") };
    format!(
        "name = \"known\"\ntitle = \"A device that is known\"\nabout = \"It is simulated.\"\n[[load]]\nname = \"load\"\nabout = \"I/Os.\"\nseconds = 32\n\
         jobs = \"{jobs}\"\nscale = []\n[[limit]]\nload = \"load\"\njob = \"a\"\nfigure = \"{figure}\"\n{word} = \"{limit:.0}{unit}\"\nmeans = \"It is slow.\"\n\
         source = {{ title = \"Arithmetic\", url = \"https://example.org\", year = 2026, says = \"So.\" }}\n"
    )
}
