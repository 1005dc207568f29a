//! Values cross the wire unchanged, in the form of the standard; other bytes are refused, in bounded memory.

use super::memory;
use super::{access, from_bytes, from_value, to_bytes};
use crate::{Finding, Histogram};
use ferrio_units::DataDirection;
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Kind {
    Bare,
    One(u8),
    Two(i64, String),
    Named { first: Option<bool>, second: [f64; 2] },
    Inner(Box<Kind>),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Parts {
    sum: u128,
    difference: i128,
    kinds: Vec<Kind>,
    letter: char,
    counts: BTreeMap<String, u32>,
    nothing: (),
    #[serde(default)]
    later: u16,
}

fn of_hex(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

fn parts() -> Parts {
    let kinds = vec![
        Kind::Bare,
        Kind::One(255),
        Kind::Two(i64::MIN, "text".to_owned()),
        Kind::Named { first: Some(true), second: [0.1, -2.5] },
        Kind::Named { first: None, second: [f64::INFINITY, 65504.0] },
        Kind::Inner(Box::new(Kind::Inner(Box::new(Kind::Bare)))),
    ];
    let counts = BTreeMap::from([("a".to_owned(), 1), (String::new(), u32::MAX)]);
    Parts { sum: u128::MAX, difference: i128::MIN, kinds, letter: '\u{e4}', counts, nothing: (), later: 3 }
}

#[test]
fn values_are_those_that_were_written() {
    assert_eq!(from_bytes(&to_bytes(&parts())), Ok(parts()));
    let document = serde_json::to_value((1, "a", [true], None::<u8>)).unwrap();
    assert_eq!(super::to_value(&(1, "a", [true], None::<u8>)), document);
    assert_eq!(super::to_value(&(f64::NAN, u64::MAX)), serde_json::json!([null, u64::MAX]));
    assert_eq!(super::to_value(&u128::MAX), serde_json::Value::Null);
    assert_eq!(from_value(&document), Ok((1_u8, "a".to_owned(), [true], None::<u8>)));
}

/// Examples of RFC 8949, appendix A.
#[test]
fn the_forms_are_those_of_the_standard() {
    let written = [
        (to_bytes(&(23_u8, 24_u32, 1_000_000_u64)), "83171818 1a000f4240"),
        (to_bytes(&(-1_i8, -1000_i64, u128::from(u64::MAX) + 1)), "8320 3903e7 c25000000000000000010000000000000000"),
        (to_bytes(&(100_000.0_f32, 1.1_f64, true)), "83fa47c35000 fb3ff199999999999a f5"),
        (to_bytes(&("IETF", None::<u8>, '\u{fc}')), "836449455446 f6 62c3bc"),
        (to_bytes(&BTreeMap::from([("a", 1)])), "a1616101"),
        (to_bytes(&vec![Kind::Bare, Kind::One(5)]), "82644261 7265 a1634f6e6505"),
    ];
    for (bytes, expected) in written {
        assert_eq!(bytes, of_hex(&expected.replace(' ', "")), "{expected}");
    }
}

#[test]
fn fields_that_are_not_there_have_defaults_and_unknown_ones_are_passed_over() {
    #[derive(Serialize)]
    struct Other {
        nothing: (),
        unknown: Vec<Kind>,
        letter: char,
        sum: u8,
        kinds: [Kind; 0],
        difference: i8,
        counts: BTreeMap<String, u32>,
    }
    let other = Other {
        nothing: (),
        unknown: parts().kinds,
        letter: 'x',
        sum: 1,
        kinds: [],
        difference: -1,
        counts: BTreeMap::new(),
    };
    let Parts { sum, difference, letter, later, .. } = from_bytes(&to_bytes(&other)).unwrap();
    assert_eq!((sum, difference, letter, later), (1, -1, 'x', 0));
}

/// Examples of RFC 8949, appendix A.
#[test]
fn the_examples_of_the_standard_are_read() {
    let bytes = of_hex;
    let whole = [("1818", 24), ("1bffffffffffffffff", u128::from(u64::MAX)), ("c249010000000000000000", 1 << 64)];
    for (hex, number) in whole {
        assert_eq!(from_bytes::<u128>(&bytes(hex)), Ok(number), "{hex}");
    }
    let negative = [("20", -1), ("3903e7", -1000), ("c349010000000000000000", -18_446_744_073_709_551_617)];
    for (hex, number) in negative {
        assert_eq!(from_bytes::<i128>(&bytes(hex)), Ok(number), "{hex}");
    }
    let floats = [
        ("f90000", 0.0),
        ("f93e00", 1.5),
        ("f97bff", 65504.0),
        ("f90001", 5.960_464_477_539_063e-8),
        ("f90400", 0.000_061_035_156_25),
        ("f9c400", -4.0),
        ("fa47c35000", 100_000.0),
        ("fb3ff199999999999a", 1.1),
        ("f9fc00", f64::NEG_INFINITY),
        ("1864", 100.0),
    ];
    for (hex, number) in floats {
        assert_eq!(from_bytes::<f64>(&bytes(hex)), Ok(number), "{hex}");
    }
    assert!(from_bytes::<f64>(&bytes("f97e00")).unwrap().is_nan());
    assert_eq!(from_bytes::<Vec<Vec<u8>>>(&bytes("9f8201029f0304ffff")), Ok(vec![vec![1, 2], vec![3, 4]]));
    let map = BTreeMap::from([("a".to_owned(), 1), ("b".to_owned(), 2)]);
    assert_eq!(from_bytes::<BTreeMap<String, u8>>(&bytes("bf616101616202ff")), Ok(map));
    assert_eq!(from_bytes::<u32>(&bytes("c11a514b67b0")), Ok(1_363_896_240));
    assert_eq!(
        from_bytes::<serde_json::Value>(&bytes("a26161016162820203")),
        Ok(serde_json::json!({"a": 1, "b": [2, 3]}))
    );
}

#[test]
fn bytes_that_are_no_value_are_refused() {
    let file = to_bytes(&parts());
    for length in 0..file.len() {
        assert!(from_bytes::<Parts>(&file[..length]).is_err(), "{length}");
    }
    assert!(from_bytes::<Parts>(&[&file[..], &[0]].concat()).is_err());
    // More numbers than bytes; a list without an end; more elements than a tuple has; a number out of range; a length that has no meaning.
    assert!(from_bytes::<Vec<u8>>(&[0x9b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]).is_err());
    assert!(from_bytes::<Vec<u8>>(&[0x9f, 1]).is_err());
    assert!(from_bytes::<(u8, u8)>(&[0x83, 1, 2, 3]).is_err());
    assert!(from_bytes::<u8>(&[0x19, 1, 0]).is_err());
    assert!(from_bytes::<u8>(&[0x1c]).is_err() && from_bytes::<u64>(&[0x20]).is_err());
    assert!(from_bytes::<String>(&[0x61, 0xff]).is_err() && from_bytes::<String>(&[0x7f, 0x61, b'a', 0xff]).is_err());
    assert!(from_bytes::<Vec<(u8, u8)>>(&[0x81, 0x83, 1, 2, 3]).is_err());
    assert!(from_bytes::<Kind>(&[0x63, b'O', b'n', b'e']).is_err());
}

#[test]
fn values_that_are_too_deep_are_refused() {
    for n_deep in [100, 1_000_000] {
        let lists = [vec![0x81; n_deep], vec![0]].concat();
        assert_eq!(from_bytes::<serde_json::Value>(&lists).is_ok(), n_deep == 100);
        assert_eq!(from_bytes::<serde::de::IgnoredAny>(&lists).is_ok(), n_deep == 100);
        let tags = [vec![0xc1; n_deep], vec![0]].concat();
        assert_eq!(from_bytes::<u8>(&tags), Ok(0));
        let kinds: Vec<u8> = [0xa1, 0x65, b'I', b'n', b'n', b'e', b'r'].repeat(n_deep);
        let kinds = [&kinds[..], &[0x64, b'B', b'a', b'r', b'e']].concat();
        assert_eq!(from_bytes::<Kind>(&kinds).is_ok(), n_deep == 100);
    }
}

/// A list of a thousand empty histograms takes 1,003 bytes in the file, and 32 KiB each in memory.
#[test]
fn small_bytes_for_large_values_are_refused() {
    let histograms = [&[0x99, 0x03, 0xe8][..], &[0x80; 1000]].concat();
    let read = |most_bytes| memory::within(most_bytes, || access::read::<Vec<Histogram>>(&histograms));
    let error = read(1 << 20).unwrap_err().to_string();
    assert!(error.contains("memory"), "{error}");
    assert_eq!(read(64 << 20).map(|read| read.len()), Ok(1000));
    // A million texts without a byte: 24 bytes each.
    let texts = [&[0x9a, 0, 0x0f, 0x42, 0x40][..], &vec![0x60; 1_000_000]].concat();
    let read = |most_bytes| memory::within(most_bytes, || access::read::<Vec<String>>(&texts));
    assert!(read(1 << 20).is_err() && read(64 << 20).is_ok());
    // A reader inside of a reader counts with it.
    let nested = memory::within(1 << 20, || from_bytes::<Vec<Histogram>>(&histograms));
    assert!(nested.is_err() && from_bytes::<Vec<Histogram>>(&histograms).is_ok());
}

/// The direction of a finding has a word for each value, and a reader refuses other words.
#[test]
fn the_direction_of_a_finding_is_a_word() {
    let text = r#"{"id":"x","title":"t","severity":"note","jobs":[],"direction":"none","evidence":[],"explanation":"e","cure":"c","page":"p"}"#;
    let words = DataDirection::ALL.map(|direction| (direction.name(), Some(direction)));
    for (word, direction) in [("none", None)].into_iter().chain(words) {
        let text = text.replace("none", word);
        let finding: Finding = serde_json::from_str(&text).unwrap();
        assert_eq!((finding.direction, serde_json::to_string(&finding).unwrap()), (direction, text));
        assert_eq!(from_bytes::<Finding>(&to_bytes(&finding)).unwrap(), finding);
    }
    assert!(serde_json::from_str::<Finding>(&text.replace("none", "sync")).is_err());
    let older: Finding = serde_json::from_str(&text.replace(r#""direction":"none","#, "")).unwrap();
    assert_eq!(older.direction, None);
}

proptest! {
    #[test]
    fn changed_bytes_do_not_panic(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut bytes = to_bytes(&parts());
        for (index, byte) in changes {
            let index = index.index(bytes.len());
            bytes[index] = byte;
        }
        let _ = from_bytes::<Parts>(&bytes);
        let _ = from_bytes::<serde_json::Value>(&bytes);
    }
}
