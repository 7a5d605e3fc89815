//! Prints the published and the simulated numbers of all papers.
//! `cargo run --release -p hostwire-sim --example reproduce [--json]`

#![allow(clippy::print_stdout)]

use hostwire_sim::experiments::{Row, htoe, htx_board, pgas_cluster, tccluster};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rows: Vec<Row> = tccluster::reproduce()?
        .into_iter()
        .chain(htx_board::reproduce()?)
        .chain(pgas_cluster::reproduce()?)
        .chain(htoe::reproduce()?)
        .collect();
    if std::env::args().any(|argument| argument == "--json") {
        println!("{}", serde_json::to_string_pretty(&rows)?);
        return Ok(());
    }
    let number = |value: Option<f64>| value.map_or("-".to_string(), |value| format!("{value:.2}"));
    for row in &rows {
        println!(
            "{:<12} {:<14} {:<75} {:>9} {:>9} {:<7} {:>6}  {:?}, {:?}",
            row.paper,
            row.id,
            row.quantity,
            number(row.published),
            number(row.simulated),
            row.unit,
            row.deviation_pct
                .map_or(String::new(), |deviation| format!("{deviation:+.2}%")),
            row.class,
            row.verdict,
        );
    }
    let failed = rows.iter().filter(|row| row.verdict.is_failure()).count();
    println!("{} numbers, {failed} outside their tolerance", rows.len());
    Ok(())
}
