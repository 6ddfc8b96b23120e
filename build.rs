//! Builds again when a scenario is added: the files are embedded by a macro, which sees only those that were there.

fn main() {
    println!("cargo::rerun-if-changed=scenarios");
}
