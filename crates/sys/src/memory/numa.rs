//! NUMA nodes: which there are, their CPUs, and where the memory of a thread comes from.
//!
//! Must not know: jobs. Start reading at [`set_memory_policy`].
#![expect(unsafe_code, reason = "set_mempolicy has no wrapper")]

use crate::error::{Context, Error, Result};
use crate::processes::scheduling::parse_cpu_list;

/// More nodes than any kernel is built for.
const MAX_NODES: u32 = 1024;

/// Source of a thread's memory. The nodes are numbers of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryPolicy<'a> {
    Default,
    /// From this node, or from others when it has none left.
    Preferred(u32),
    /// Only from these nodes.
    Bind(&'a [u32]),
    /// From these nodes in turn.
    Interleave(&'a [u32]),
    /// From the node of the CPU that asks for the memory.
    Local,
}

/// The nodes that are online, ascending; node 0 where the kernel knows of none.
pub fn online_nodes() -> Vec<u32> {
    let text = std::fs::read_to_string("/sys/devices/system/node/online").unwrap_or_default();
    let nodes = parse_cpu_list(&text).unwrap_or_default();
    if nodes.is_empty() { vec![0] } else { nodes }
}

/// The CPUs of a node, ascending.
pub fn cpus_of(node: u32) -> Result<Vec<u32>> {
    let path = format!("/sys/devices/system/node/node{node}/cpulist");
    parse_cpu_list(&std::fs::read_to_string(&path).context("read", &path)?)
}

/// Sets the source of memory that the calling thread touches first from now on.
///
/// # Errors
/// `EINVAL` for nodes without memory; `ENOSYS` from a kernel without NUMA.
pub fn set_memory_policy(policy: MemoryPolicy<'_>) -> Result<()> {
    let one;
    let (mode, nodes): (libc::c_int, &[u32]) = match policy {
        MemoryPolicy::Default => (libc::MPOL_DEFAULT, &[]),
        MemoryPolicy::Preferred(node) => {
            one = [node];
            (libc::MPOL_PREFERRED, &one)
        }
        MemoryPolicy::Bind(nodes) => (libc::MPOL_BIND, nodes),
        MemoryPolicy::Interleave(nodes) => (libc::MPOL_INTERLEAVE, nodes),
        MemoryPolicy::Local => (libc::MPOL_LOCAL, &[]),
    };
    let mut mask = [0_u64; (MAX_NODES / 64) as usize];
    for &node in nodes {
        if node >= MAX_NODES {
            return Err(Error::Parse { what: "NUMA node", text: node.to_string() });
        }
        mask[node as usize / 64] |= 1 << (node % 64);
    }
    // The kernel uses one bit less than it is given.
    let n_bits = libc::c_ulong::from(MAX_NODES) + 1;
    // SAFETY: the kernel reads at most MAX_NODES bits of the mask, which has so many.
    let result = unsafe { libc::syscall(libc::SYS_set_mempolicy, mode, mask.as_ptr(), n_bits) };
    if result == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
        .context("set_mempolicy", format_args!("{policy:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::processes::scheduling::online_cpus;
    use ferrio_testing::{skip, skip_part};

    #[test]
    fn nodes_have_cpus() {
        let nodes = online_nodes();
        assert!(!nodes.is_empty());
        match nodes.iter().map(|node| cpus_of(*node)).collect::<Result<Vec<_>>>() {
            Ok(lists) => {
                let mut cpus = lists.concat();
                cpus.sort_unstable();
                assert_eq!(cpus, online_cpus().unwrap());
            }
            Err(error) => skip_part!("nodes_have_cpus", "{error}"),
        }
    }

    #[test]
    fn a_thread_takes_a_policy() {
        std::thread::spawn(|| {
            let nodes = online_nodes();
            if let Err(error) = set_memory_policy(MemoryPolicy::Bind(&nodes)) {
                skip!("a_thread_takes_a_policy", "{error}");
                return;
            }
            // proc_pid_numa_maps(5): the policy in force follows each address.
            let maps = std::fs::read_to_string("/proc/thread-self/numa_maps").unwrap_or_default();
            assert!(maps.is_empty() || maps.contains(" bind:"), "{maps}");
            set_memory_policy(MemoryPolicy::Interleave(&nodes)).unwrap();
            set_memory_policy(MemoryPolicy::Preferred(nodes[0])).unwrap();
            set_memory_policy(MemoryPolicy::Local).unwrap();
            set_memory_policy(MemoryPolicy::Default).unwrap();
            assert!(set_memory_policy(MemoryPolicy::Bind(&[MAX_NODES])).is_err());
            assert_eq!(
                set_memory_policy(MemoryPolicy::Bind(&[MAX_NODES - 1])).unwrap_err().errno(),
                Some(libc::EINVAL)
            );
        })
        .join()
        .unwrap();
    }
}
