//! Verified blocks of any length (`bs_unaligned`).
//!
//! Start reading at [`blocks_of_any_length_are_verified`].

use crate::support::{Program, Scratch, peer_too};
use crate::verify::run;

/// Each block of any length has a header of its own, of its whole length. Expected values: the headers of fio 3.41, and its verdict.
#[test]
fn blocks_of_any_length_are_verified() {
    let peer = peer_too("blocks_of_any_length_are_verified");
    let scratch = Scratch::new("verify-unaligned");
    for (order, interval) in
        [("write", ""), ("randwrite", ""), ("rw", "--verify_interval=512"), ("write", "--ioengine=libaio --iodepth=8")]
    {
        let job = format!("--verify=md5 --bs_unaligned=1 --bsrange=1k-8k {interval} --rw={order}");
        let finished = run(Program::Ferrio, &scratch, &job);
        assert_eq!((finished.code, finished.stderr.is_empty()), (Some(0), true), "{job}: {}", finished.all());
        let ours = headers(&std::fs::read(scratch.join("f")).expect("the file"));
        assert!(ours.len() > 5 && ours.iter().any(|(_, length)| length % 512 != 0), "{job}: {ours:?}");
        let ahead = |at: usize| ours.get(at + 1).is_none_or(|(next, _)| ours[at].0 + ours[at].1 <= *next);
        assert!((0..ours.len()).all(ahead), "{job}: {ours:?}");
        let damaged = damage(&scratch, ours[ours.len() / 2].0 + 100);
        let found = run(Program::Ferrio, &scratch, &format!("{job} --verify_only"));
        assert_eq!(found.code, Some(1), "{job}, byte {damaged}: {}", found.all());
        if peer {
            assert_eq!(run(Program::Peer, &scratch, &job).code, Some(0), "{job}");
            assert_eq!(headers(&std::fs::read(scratch.join("f")).expect("the file")), ours, "{job}");
        }
    }
}

/// Offsets and lengths of the blocks with a header: its magic number, and the length behind it (reference, "Verify header").
fn headers(data: &[u8]) -> Vec<(usize, usize)> {
    let word = |at: usize, n: usize| {
        data[at..at + n].iter().rev().fold(0_usize, |value, byte| value << 8 | usize::from(*byte))
    };
    let (mut found, mut at) = (Vec::new(), 0);
    while at + 8 <= data.len() {
        let length = word(at + 4, 4);
        if word(at, 2) == 0xacca && (1..=8192).contains(&length) {
            found.push((at, length));
            at += length;
        } else {
            at += 1;
        }
    }
    found
}

/// Flips a byte of the file.
fn damage(scratch: &Scratch, at: usize) -> usize {
    let mut data = std::fs::read(scratch.join("f")).expect("the file");
    data[at] ^= 0xff;
    scratch.write("f", data);
    at
}
