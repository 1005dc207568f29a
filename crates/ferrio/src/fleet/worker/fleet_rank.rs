//! The number of a worker among those of its fleet.
//!
//! Start reading at [`FleetRank`].

use std::fmt;
use std::str::FromStr;

/// A worker's number, and how many there are; as a text `RANK/HOSTS`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FleetRank {
    /// From 0.
    pub rank: u32,
    /// Number of hosts of the fleet, more than `rank`.
    pub n_hosts: u32,
}

impl fmt::Display for FleetRank {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.rank, self.n_hosts)
    }
}

/// A text is no rank of a fleet.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("RANK/HOSTS is expected, such as 0/3")]
pub struct NoFleetRank;

impl FromStr for FleetRank {
    type Err = NoFleetRank;

    fn from_str(text: &str) -> Result<Self, NoFleetRank> {
        let (rank, n_hosts) = text.split_once('/').ok_or(NoFleetRank)?;
        let number = |text: &str| text.parse::<u32>().map_err(|_| NoFleetRank);
        let (rank, n_hosts) = (number(rank)?, number(n_hosts)?);
        if rank < n_hosts { Ok(Self { rank, n_hosts }) } else { Err(NoFleetRank) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_ranks_and_nothing_else_is() {
        let rank = FleetRank { rank: 2, n_hosts: 3 };
        assert_eq!((rank.to_string().parse(), "2/3".parse()), (Ok(rank), Ok(rank)));
        for text in ["", "2", "/3", "3/3", "-1/3", "0/0", "1/4294967296", "1/3/5"] {
            assert_eq!(text.parse::<FleetRank>(), Err(NoFleetRank), "{text}");
        }
    }
}
