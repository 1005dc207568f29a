//! Patterns in which a hexadecimal number begins within another number: contents of buffers and of verified blocks.
//!
//! Must not know: how patterns are parsed. Start reading at [`files_hold_the_pattern`].

use crate::support::{Program, Run, Scratch, has_peer};

/// Patterns, and the bytes that are repeated. Source: the reference, "Patterns".
const PATTERNS: &[(&str, &[u8])] = &[
    ("\"abcd\"-120xdeadface", b"abcd\xf4\xff\xff\xff\xde\xad\xfa\xce"),
    ("-120xde", &[0xf4, 0xff, 0xff, 0xff, 0xde]),
    ("120xde", &[0x0c, 0xde]),
    ("120Xde", &[0x0c, 0xde]),
    ("00x12", &[0x00, 0x12]),
    ("10x12", &[0x01, 0x12]),
    ("-00xde", &[0x00, 0xde]),
    ("0xab0xcd", &[0xab, 0xcd]),
    ("0xab0Xcd", &[0xab, 0xcd]),
    ("0x1230xde", &[0x01, 0x23, 0xde]),
    ("0x12300xde", &[0x12, 0x30, 0xde]),
    ("0x120x34-5", &[0x12, 0x34, 0xfb, 0xff, 0xff, 0xff]),
    ("0x1-120xab", &[0x01, 0xf4, 0xff, 0xff, 0xff, 0xab]),
    ("120x34560x78", &[0x0c, 0x34, 0x56, 0x78]),
    ("\"abcd\"-120xdeadface-3\"x\"", b"abcd\xf4\xff\xff\xff\xde\xad\xfa\xce\xfd\xff\xff\xffx"),
];

/// Blocks that no pattern fills a whole number of times.
const BLOCK_BYTES: usize = 64;

fn written(program: Program, options: &str) -> Vec<u8> {
    let scratch = Scratch::new("patterns");
    let job = format!("--name=a --filename=f --rw=write --bs={BLOCK_BYTES} --size=192 {options}");
    Run::new(program, scratch.path(), &job).recorded("patterns", &["f"]).finish().succeeded();
    std::fs::read(scratch.join("f")).expect("it was written")
}

/// Three blocks, each of which begins with the pattern.
fn expected(bytes: &[u8]) -> Vec<u8> {
    let block: Vec<u8> = bytes.iter().copied().cycle().take(BLOCK_BYTES).collect();
    block.repeat(3)
}

#[test]
fn files_hold_the_pattern() {
    for (pattern, bytes) in PATTERNS {
        for options in [format!("--buffer_pattern={pattern}"), format!("--verify=pattern --verify_pattern={pattern}")] {
            assert_eq!(written(Program::Ferrio, &options), expected(bytes), "{options}");
        }
    }
}

#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn files_hold_the_pattern_of_the_peer() {
    if !has_peer("files_hold_the_pattern_of_the_peer") {
        return;
    }
    for (pattern, bytes) in PATTERNS {
        for options in [format!("--buffer_pattern={pattern}"), format!("--verify=pattern --verify_pattern={pattern}")] {
            assert_eq!(written(Program::Peer, &options), expected(bytes), "{options}");
        }
        // Headers contain times, so they cannot be compared byte by byte: fio verifies the data that ferrio wrote.
        let scratch = Scratch::new("patterns-headers");
        let job = "--name=a --filename=f --bs=512 --size=2k --verify=pattern_hdr";
        let run = |program, more: &str| {
            let arguments = format!("{job} --verify_pattern={pattern} {more}");
            Run::new(program, scratch.path(), &arguments).finish().succeeded();
        };
        run(Program::Ferrio, "--rw=write");
        run(Program::Peer, "--rw=read");
    }
}

#[test]
fn what_is_no_pattern_is_refused() {
    let scratch = Scratch::new("patterns-refused");
    for pattern in ["-0xde", "12-0x13", "0xa-0xb", "0xabxcd", "0x", "1x", "-", "0x0x12"] {
        for option in ["buffer_pattern", "verify_pattern"] {
            let job = format!("--name=a --ioengine=null --size=4k --{option}={pattern}");
            let finished = Run::new(Program::Ferrio, scratch.path(), &job).finish();
            assert_eq!(finished.code, Some(1), "{job}: {}", finished.all());
            let said = format!("failed parsing {option}={pattern}");
            assert!(finished.stderr.contains(&said), "{job}: {}", finished.all());
        }
    }
}
