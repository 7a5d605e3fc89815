//! Claims as a table whose rows can be filtered.

use hostwire_sim::experiments::{Bound, Row};

use super::super::report::word;
use super::escape;

pub fn claims<'r>(rows: impl Iterator<Item = &'r Row>) -> String {
    let body: String = rows.map(line).collect();
    format!(
        "<table class=\"claims\"><thead><tr><th>id</th><th>quantity</th><th>published</th>\
         <th>simulated</th><th>unit</th><th>deviation</th><th>tolerance</th><th>class</th>\
         <th>verdict</th></tr></thead>\n<tbody>\n{body}</tbody></table>\n"
    )
}

fn line(row: &Row) -> String {
    let value = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.2}"));
    let deviation = row
        .deviation_pct
        .map_or("-".to_owned(), |pct| format!("{pct:+.2} %"));
    let remark = row.remark.as_ref();
    let remark = remark.map_or(String::new(), |remark| {
        format!("<small>{}</small>", escape(remark))
    });
    let (class, verdict) = (word(&row.class), word(&row.verdict));
    format!(
        "<tr data-class=\"{class}\" data-verdict=\"{verdict}\"><td>{}</td><td>{}{remark}</td>\
         <td class=\"number\">{}</td><td class=\"number\">{}</td><td>{}</td>\
         <td class=\"number\">{deviation}</td><td>{}</td><td>{class}</td>\
         <td class=\"{verdict}\">{verdict}</td></tr>\n",
        escape(&row.id),
        escape(&row.quantity),
        value(row.published),
        value(row.simulated),
        escape(&row.unit),
        tolerance(row),
    )
}

fn tolerance(row: &Row) -> String {
    match (row.tolerance_pct, row.rounded_to, row.bound) {
        (Some(pct), ..) => format!("{pct} %"),
        (_, Some(unit), _) => format!("rounds to {unit}"),
        (_, _, Some(Bound::Below)) => "below".to_owned(),
        (_, _, Some(Bound::Above)) => "above".to_owned(),
        _ => "-".to_owned(),
    }
}
