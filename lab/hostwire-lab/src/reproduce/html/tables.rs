//! Counts by class, and claims as a table whose rows can be filtered. On a narrow screen
//! each row is a card, and `data-label` names each cell.

use hostwire_sim::experiments::{Bound, Row, Summary};

use super::super::report::word;
use hostwire_cli::html::escape;

/// How many rows there are of each class, and what each class means.
pub fn summary(summary: &Summary) -> String {
    let head = [
        "class",
        "rows",
        "agree",
        "disagree",
        "as set",
        "fail",
        "not compared",
    ];
    let head: String = head.map(|name| format!("<th>{name}</th>")).concat();
    let line = |name: &str, meaning: &str, numbers: [(&str, usize); 6]| {
        let cells = numbers.map(|(label, number)| {
            format!("<td class=\"number\" data-label=\"{label}\">{number}</td>")
        });
        format!(
            "<tr><td class=\"name\">{}<small>{}</small></td>{}</tr>\n",
            escape(name),
            escape(meaning),
            cells.concat()
        )
    };
    let body: String = summary
        .classes
        .iter()
        .map(|count| {
            let numbers = [
                ("rows", count.rows),
                ("agree", count.agree),
                ("disagree", count.disagree),
                ("as set", count.as_set),
                ("fail", count.fail),
                ("not compared", count.not_compared),
            ];
            line(&count.class.to_string(), count.class.meaning(), numbers)
        })
        .collect();
    format!(
        "<table id=\"classes\" class=\"cards\"><thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody></table>\n"
    )
}

pub fn claims<'r>(rows: impl Iterator<Item = &'r Row>) -> String {
    let body: String = rows.map(line).collect();
    format!(
        "<table class=\"claims cards\"><thead><tr><th>id</th><th>quantity</th><th>published</th>\
         <th>simulated</th><th>unit</th><th>deviation</th><th>held to</th><th>class</th>\
         <th>verdict</th></tr></thead>\n<tbody>\n{body}</tbody></table>\n"
    )
}

fn line(row: &Row) -> String {
    let value = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.2}"));
    let deviation = row
        .deviation_pct
        .map_or("-".to_owned(), |pct| format!("{pct:+.2} %"));
    let relation = row.relation.as_ref();
    let relation = relation.map(|name| format!("one statement with the other rows of {name}"));
    let said = [
        Some(row.place()),
        Some(format!("{}: {}", row.class, row.reason)),
        relation,
        row.remark.clone(),
    ];
    let said = said.into_iter().flatten();
    let said: String = said
        .map(|text| format!("<small>{}</small>", escape(&text)))
        .collect();
    let (class, verdict) = (row.class.to_string(), word(&row.verdict));
    let cell = |kind: &str, label: &str, text: &str| {
        format!(
            "<td class=\"{kind}\" data-label=\"{label}\">{}</td>",
            escape(text)
        )
    };
    format!(
        "<tr data-class=\"{class}\" data-verdict=\"{verdict}\">{}<td class=\"name\">{}{said}</td>\
         {}{}{}{}{}{}{}</tr>\n",
        cell("id", "id", &row.id),
        escape(&row.quantity),
        cell("number", "published", &value(row.published)),
        cell("number", "simulated", &value(row.simulated)),
        cell("unit", "unit", &row.unit),
        cell("number", "deviation", &deviation),
        cell("held", "held to", &held_to(row)),
        cell("word", "class", &class),
        cell(&format!("word {verdict}"), "verdict", &verdict),
    )
}

fn held_to(row: &Row) -> String {
    match (row.tolerance_pct, row.rounded_to, row.bound) {
        (Some(pct), ..) => format!("{pct} %"),
        (_, Some(unit), _) => format!("rounds to {unit}"),
        (_, _, Some(Bound::Below)) => "below".to_owned(),
        (_, _, Some(Bound::Above)) => "above".to_owned(),
        _ => "-".to_owned(),
    }
}
