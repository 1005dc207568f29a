//! `cfg(peer)`: the tests that only compare with fio run (`FERRIO_PEER=1`); else the harness reports them as ignored.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(peer)");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=FERRIO_PEER");
    if std::env::var_os("FERRIO_PEER").is_some_and(|value| value == "1") {
        println!("cargo::rustc-cfg=peer");
    }
}
