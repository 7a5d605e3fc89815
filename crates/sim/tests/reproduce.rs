//! The papers' numbers.

use hostwire_sim::experiments::{Class, Row, Verdict, htx_board, tccluster};

fn check(rows: &[Row]) {
    let table: String = rows
        .iter()
        .map(|row| {
            let value =
                |value: Option<f64>| value.map_or("-".to_string(), |value| format!("{value:.2}"));
            format!(
                "{:<12} {:<60} {:>10} {:>10} {:>7} {:?} {:?}\n",
                row.id,
                row.quantity,
                value(row.published),
                value(row.simulated),
                value(row.deviation_pct),
                row.class,
                row.verdict
            )
        })
        .collect();
    assert!(
        rows.iter().all(|row| !row.verdict.is_failure()),
        "\n{table}"
    );
    let missing = rows
        .iter()
        .filter(|row| row.verdict == Verdict::NotSimulated)
        .count();
    assert_eq!(missing, 0, "\n{table}");
    assert!(
        rows.iter()
            .all(|row| row.class != Class::Fitted || row.remark.is_some())
    );
}

/// Derived claims follow from public constants: 1 % is for what the paper rounded.
#[test]
fn derived_claims_are_held_to_one_percent() {
    for claims in [htx_board::claims().unwrap(), tccluster::claims().unwrap()] {
        for claim in claims.claim.iter().filter(|c| c.class == Class::Derived) {
            let held = match claim.rounded_to {
                Some(_) => claim.tolerance_pct.is_none() && claim.note.is_some(),
                None => claim
                    .tolerance_pct
                    .is_some_and(|tolerance| tolerance <= 1.0),
            };
            assert!(held, "{}", claim.id);
        }
    }
}

#[test]
fn htx_board() {
    check(&htx_board::reproduce().unwrap());
}

#[test]
fn tccluster() {
    check(&tccluster::reproduce().unwrap_or_else(|error| panic!("{error}")));
}
