//! The break-even tables of `experiments/pgas-cluster/break-even.md`, as Markdown.
#![allow(clippy::print_stdout)]

use hostwire_sim::experiments::pgas_cluster::{hit_rate_table, working_set_table};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("{}\n{}", hit_rate_table(), working_set_table()?);
    Ok(())
}
