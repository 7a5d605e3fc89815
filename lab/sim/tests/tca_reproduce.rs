//! The numbers of the TCA paper.

use hostwire_sim::experiments::{Class, Row, Verdict, tca_peach2};

#[test]
fn tca_peach2() {
    let rows = tca_peach2::reproduce().unwrap_or_else(|error| panic!("{error}"));
    let line = |row: &Row| {
        format!(
            "{:<14} {:<75} {:?} {:?} {:?} {:?}\n",
            row.id, row.quantity, row.published, row.simulated, row.class, row.verdict
        )
    };
    let table: String = rows.iter().map(line).collect();
    let sound = |row: &Row| {
        !row.verdict.is_failure()
            && row.verdict != Verdict::NotSimulated
            && (row.class != Class::Fitted || row.remark.is_some())
    };
    assert!(rows.iter().all(sound), "\n{table}");
}
