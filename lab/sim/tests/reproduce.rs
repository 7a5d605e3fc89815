//! The papers' numbers.

use std::collections::{BTreeMap, BTreeSet};

use hostwire_sim::experiments::{
    Claim, Claims, Class, Row, Verdict, elsewhere, htoe, htx_board, htx_rtl, pgas_cluster,
    tca_peach2, tccluster,
};

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

/// Predictions follow from the paper's description of its machine: 1 % is for its
/// rounding.
#[test]
fn predictions_are_held_to_one_percent() {
    let others = [elsewhere::claims().unwrap(), htx_rtl::claims().unwrap()];
    for claims in papers().into_iter().chain(others) {
        let predicted = |claim: &&Claim| claim.class == Class::Predicted;
        for claim in claims.claim.iter().filter(predicted) {
            let tolerance = claim.tolerance_pct.is_some_and(|pct| pct <= 1.0);
            assert!(tolerance || claim.rounded_to.is_some(), "{}", claim.id);
        }
    }
}

/// The table of `docs/sim/README.md` agrees with the claims.
#[test]
fn the_documented_counts_are_current() {
    let papers = papers();
    let claims = || papers.iter().flat_map(|claims| &claims.claim);
    let mut table = String::from("| class | numbers | what an agreement says |\n|---|---:|---|\n");
    for class in Class::ALL {
        let count = claims().filter(|claim| claim.class == class).count();
        table += &format!("| {class} | {count} | {} |\n", class.meaning());
    }
    let agree = || claims().filter(|claim| claim.class.counts() && claim.disagrees.is_none());
    let statements: BTreeSet<&str> = agree()
        .map(|claim| claim.relation.as_ref().unwrap_or(&claim.id).as_str())
        .collect();
    let sentence = format!(
        "{} of {} numbers agree; they are {} statements.",
        agree().count(),
        claims().count(),
        statements.len()
    );
    let page = include_str!("../../../docs/sim/README.md");
    assert!(page.contains(&table), "it should have:\n{table}");
    assert!(page.contains(&sentence), "it should say:\n{sentence}");
}

/// Rows that share a relation are statements of one kind, in one place or several.
#[test]
fn relations_have_several_rows() {
    let papers = papers();
    let mut relations: BTreeMap<&str, usize> = BTreeMap::new();
    for claim in papers.iter().flat_map(|claims| &claims.claim) {
        if let Some(relation) = &claim.relation {
            *relations.entry(relation).or_default() += 1;
        }
    }
    assert!(relations.values().all(|rows| *rows > 1), "{relations:?}");
    assert!(relations.contains_key("packet-efficiency"));
}

fn papers() -> [Claims; 5] {
    [
        tccluster::claims(),
        htx_board::claims(),
        pgas_cluster::claims(),
        tca_peach2::claims(),
        htoe::claims(),
    ]
    .map(|claims| claims.unwrap_or_else(|error| panic!("{error}")))
}

/// What is published elsewhere has a source of its own in each row, and says what does not come out.
#[test]
fn published_elsewhere() {
    let claims = elsewhere::claims().unwrap();
    assert!(claims.claim.iter().all(|claim| claim.source.is_some()));
    let rows = elsewhere::reproduce().unwrap();
    check(&rows);
    assert!(rows.iter().all(|row| row.elsewhere));
}

#[test]
fn htx_board() {
    check(&htx_board::reproduce().unwrap());
}

#[test]
fn tccluster() {
    check(&tccluster::reproduce().unwrap_or_else(|error| panic!("{error}")));
}
