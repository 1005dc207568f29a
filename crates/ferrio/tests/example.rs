//! The example of the library runs.

#[path = "../examples/p99.rs"]
mod p99;

#[test]
fn the_example_runs() {
    p99::main().expect("a p99");
}
