//! `cfg(peer)` is set with `FERRIO_PEER=1`: it enables tests that only compare with fio; otherwise the harness reports
//! these as ignored.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(peer)");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=FERRIO_PEER");
    if std::env::var_os("FERRIO_PEER").is_some_and(|value| value == "1") {
        println!("cargo::rustc-cfg=peer");
    }
}
