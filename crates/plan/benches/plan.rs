//! How long planning takes.
fn main() {}
