//! The rank of this process among those that a launcher started side by side, from the variables that the launcher sets.
//!
//! Nothing is linked against Slurm or MPI. Must not know: how ranks find each other. Start reading at [`Ranks::from_environment`].

use crate::fleet::worker::FleetRank;

/// A launcher, and the variables in which it tells each process its rank.
struct Launcher {
    name: &'static str,
    rank: &'static str,
    size: &'static str,
    /// What names the step of the job, so that a second run does not meet the first one.
    step: &'static [&'static str],
}

/// The launchers, the more specific first: `mpirun` within a job of Slurm sets both.
const LAUNCHERS: [Launcher; 4] = [
    Launcher {
        name: "Open MPI",
        rank: "OMPI_COMM_WORLD_RANK",
        size: "OMPI_COMM_WORLD_SIZE",
        step: &["PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"],
    },
    Launcher { name: "MPI", rank: "PMI_RANK", size: "PMI_SIZE", step: &["PMI_JOBID", "PMI_ID_STRING"] },
    Launcher { name: "Slurm", rank: "SLURM_PROCID", size: "SLURM_NTASKS", step: &["SLURM_JOB_ID", "SLURM_STEP_ID"] },
    Launcher { name: "Kubernetes", rank: "JOB_COMPLETION_INDEX", size: "FERRIO_HOSTS", step: &["FERRIO_STEP"] },
];

/// Where this process stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ranks {
    /// The launcher.
    pub launcher: &'static str,
    /// The rank of this process, from 0; rank 0 coordinates.
    pub rank: u32,
    /// Number of processes.
    pub size: u32,
    /// Name of the step, the same for all of them.
    pub step: String,
}

/// Variables of a launcher that make no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RanksError {
    /// A number is missing or none.
    #[error("{launcher} has set {rank}, but {variable} is {value:?}: a number from 1 is expected")]
    Number {
        /// The launcher.
        launcher: &'static str,
        /// Its variable for the rank.
        rank: &'static str,
        /// The variable.
        variable: &'static str,
        /// Its value; empty: it is not set.
        value: String,
    },
    /// The rank is none of so many.
    #[error("{launcher} says that this is rank {rank} of {size}")]
    Rank {
        /// The launcher.
        launcher: &'static str,
        /// The rank.
        rank: u32,
        /// Number of processes.
        size: u32,
    },
}

impl Ranks {
    /// The worker of this process.
    pub fn place(&self) -> FleetRank {
        FleetRank { rank: self.rank, n_hosts: self.size }
    }

    /// The rank that the environment tells; `None`: no launcher that is known here has started this process.
    ///
    /// # Errors
    /// A launcher's variables make no sense.
    pub fn from_environment() -> Result<Option<Self>, RanksError> {
        Self::of(&|name| std::env::var(name).ok())
    }

    fn of(variable: &dyn Fn(&str) -> Option<String>) -> Result<Option<Self>, RanksError> {
        let Some(launcher) = LAUNCHERS.iter().find(|launcher| variable(launcher.rank).is_some()) else {
            return Ok(None);
        };
        let number = |name: &'static str| {
            let value = variable(name).unwrap_or_default();
            let (launcher, rank) = (launcher.name, launcher.rank);
            value.parse::<u32>().map_err(|_| RanksError::Number { launcher, rank, variable: name, value })
        };
        let (rank, size) = (number(launcher.rank)?, number(launcher.size)?);
        if rank >= size {
            return Err(RanksError::Rank { launcher: launcher.name, rank, size });
        }
        let step: Vec<String> = launcher.step.iter().filter_map(|name| variable(name)).collect();
        Ok(Some(Self { launcher: launcher.name, rank, size, step: step.join(".") }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Result<Option<Ranks>, RanksError> {
        Ranks::of(&|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn launchers_are_known_by_their_variables() {
        assert_eq!(of(&[("HOME", "/root")]), Ok(None));
        let slurm = [("SLURM_PROCID", "2"), ("SLURM_NTASKS", "3"), ("SLURM_JOB_ID", "7"), ("SLURM_STEP_ID", "0")];
        let ranks = of(&slurm).expect("sense").expect("a launcher");
        assert_eq!((ranks.launcher, ranks.rank, ranks.size, ranks.step.as_str()), ("Slurm", 2, 3, "7.0"));
        let mpi = [("OMPI_COMM_WORLD_RANK", "0"), ("OMPI_COMM_WORLD_SIZE", "2"), ("PMIX_NAMESPACE", "prte@1")];
        let ranks = of(&[&slurm[..], &mpi].concat()).expect("sense").expect("a launcher");
        assert_eq!((ranks.launcher, ranks.rank, ranks.size, ranks.step.as_str()), ("Open MPI", 0, 2, "prte@1"));
    }

    #[test]
    fn variables_without_sense_are_named() {
        let error = of(&[("JOB_COMPLETION_INDEX", "1")]).expect_err("no size");
        assert!(error.to_string().contains("FERRIO_HOSTS"), "{error}");
        assert!(of(&[("SLURM_PROCID", "3"), ("SLURM_NTASKS", "3")]).is_err());
        assert!(of(&[("SLURM_PROCID", "-1"), ("SLURM_NTASKS", "3")]).is_err());
    }
}
