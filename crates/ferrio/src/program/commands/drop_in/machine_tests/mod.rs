//! `--crctest`, `--memcpytest`, `--cpuclock-test`: measurements and tests of the machine, in fio's lines.
//!
//! Facts: reference engines.md, section 12. Must not know: jobs. Start reading at [`run`].

mod checksums;
mod clocks;
mod copies;
mod hashes;

use crate::ui::console::Console;
use ferrio_job::machine_tests::{CHECKSUMS, COPIES, MachineTest};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Runs a test and prints its lines as they come.
pub(crate) fn run(test: MachineTest, console: &mut Console) -> ExitCode {
    match test {
        MachineTest::Checksums(chosen) => {
            for (_, name) in CHECKSUMS.iter().enumerate().filter(|(place, _)| chosen.has(*place)) {
                // Two tabs up to six letters, so that the numbers are in one column.
                let tabs = if name.len() <= 6 { "\t\t" } else { "\t" };
                console.info(&format!("{name}:{tabs}{:8.2} MiB/sec\n", checksums::mib_per_sec(name)));
            }
            ExitCode::SUCCESS
        }
        MachineTest::Copies(chosen) => {
            for (_, name) in COPIES.iter().enumerate().filter(|(place, _)| chosen.has(*place)) {
                console.info(&format!("{name}\n"));
                for n_bytes in copies::SIZES {
                    console.info(&format!("\t{n_bytes} bytes:\t{:8.2} MiB/sec\n", copies::mib_per_sec(name, n_bytes)));
                }
            }
            ExitCode::SUCCESS
        }
        MachineTest::Clocks => clocks::run(console),
    }
}

const LENGTH: Duration = Duration::from_millis(100);

/// MiB a second of a work that handles so many bytes each time it is called.
fn speed(n_bytes: usize, mut work: impl FnMut()) -> f64 {
    work();
    let start = Instant::now();
    let (mut n_times, mut n_until_look) = (0_u64, 1_u64);
    loop {
        (0..n_until_look).for_each(|_| work());
        n_times += n_until_look;
        let elapsed = start.elapsed();
        if elapsed >= LENGTH {
            return n_times as f64 * n_bytes as f64 / (1024.0 * 1024.0) / elapsed.as_secs_f64();
        }
        // The clock is not read so often that it counts.
        n_until_look = n_until_look.saturating_mul(2).min(1 << 20);
        if elapsed > LENGTH / 4 {
            n_until_look = (n_times / 8).max(1);
        }
    }
}
