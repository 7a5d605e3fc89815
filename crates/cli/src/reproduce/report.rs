//! The numbers as text: a block per number, and the counts by class at the end.

use hostwire_sim::experiments::{Class, Row, Summary};

use crate::text::wrapped;

/// The indent of the text about a number.
const INDENT: &str = "    ";

/// The whole report, with sentences in lines of at most `columns`. Ends in a newline.
pub fn text(rows: &[Row], columns: usize) -> String {
    let mut out = String::new();
    let mut paper = "";
    for row in rows {
        if row.paper != paper {
            paper = &row.paper;
            let gap = if out.is_empty() { "" } else { "\n" };
            let version = env!("CARGO_PKG_VERSION");
            out += &format!("{gap}{paper} (hostwire {version})\n");
            let (authors, title, year) = (row.authors.join(", "), &row.title, row.year);
            out += &wrapped("", &format!("{authors}: {title} ({year})"), columns);
            let head = [
                "id",
                "published",
                "simulated",
                "unit",
                "deviation",
                "class",
                "verdict",
            ];
            out += &format!("\n{}\n", line(head));
        }
        out += &number(row, columns);
    }
    out + "\n" + &counts(&Summary::of(rows), columns)
}

fn number(row: &Row, columns: usize) -> String {
    let value = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.2}"));
    let deviation = row.deviation_pct;
    let deviation = deviation.map_or("-".to_owned(), |pct| format!("{pct:+.2} %"));
    let cells = [
        row.id.as_str(),
        &value(row.published),
        &value(row.simulated),
        &row.unit,
        &deviation,
        &row.class.to_string(),
        &word(&row.verdict),
    ];
    let mut out = line(cells) + "\n";
    out += &wrapped(
        INDENT,
        &format!("{}. {}", row.quantity, row.place()),
        columns,
    );
    let relation = row
        .relation
        .as_ref()
        .map(|name| format!("one statement with the other rows of {name}"));
    let said = [Some(row.reason.clone()), relation, row.remark.clone()];
    let said: Vec<String> = said.into_iter().flatten().collect();
    out + &wrapped(INDENT, &said.join("; "), columns)
}

fn line([id, published, simulated, unit, deviation, class, verdict]: [&str; 7]) -> String {
    format!(
        "{id:<15}{published:>10} {simulated:>10} {unit:<8} {deviation:>10}  {class:<17} {verdict}"
    )
}

/// The result of all numbers, by class.
fn counts(summary: &Summary, columns: usize) -> String {
    let line = |[class, rows, agree, disagree, as_set, fail, rest]: [String; 7]| {
        format!("{class:<17}{rows:>6} {agree:>6} {disagree:>9} {as_set:>7} {fail:>5} {rest:>13}\n")
    };
    let head = [
        "class",
        "rows",
        "agree",
        "disagree",
        "as set",
        "fail",
        "not compared",
    ];
    let mut out = line(head.map(str::to_owned));
    for count in &summary.classes {
        let [rows, agree, disagree, as_set, fail, rest] = [
            count.rows,
            count.agree,
            count.disagree,
            count.as_set,
            count.fail,
            count.not_compared,
        ]
        .map(|number| number.to_string());
        out += &line([
            count.class.to_string(),
            rows,
            agree,
            disagree,
            as_set,
            fail,
            rest,
        ]);
    }
    out += "\n";
    for class in Class::ALL {
        out += &wrapped("", &format!("{class}: {}", class.meaning()), columns);
    }
    out + "\n" + &wrapped("", &verdict(summary), columns)
}

/// The counts in words.
pub(super) fn verdict(summary: &Summary) -> String {
    let (rows, agree, statements) = (summary.rows(), summary.agree, summary.statements);
    let are = match statements {
        1 => "They are one statement of the models".to_owned(),
        some => format!("They are {some} statements of the models"),
    };
    let mut text = format!(
        "{agree} of {rows} numbers agree with the papers: only what was predicted, or is within a \
         bound, counts. {are}: rows that share a relation are one."
    );
    match summary.disagree() {
        0 => {}
        1 => text += " One prediction does not come out.",
        some => text += &format!(" {some} predictions do not come out."),
    }
    match summary.fail() {
        0 => {}
        1 => text += " One number is outside of its tolerance.",
        some => text += &format!(" {some} numbers are outside of their tolerance."),
    }
    text
}

/// The word that JSON has for it.
pub(super) fn word(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => "?".to_owned(),
    }
}
