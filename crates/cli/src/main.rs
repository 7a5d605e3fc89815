//! The `hostwire` command.
fn main() {}
