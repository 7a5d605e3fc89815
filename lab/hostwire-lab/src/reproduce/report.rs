//! The numbers as text: a block per number, and the counts by class at the end.

use hostwire_sim::experiments::{Class, Row, Summary};

use hostwire_cli::text::wrapped;

/// What is said of the numbers that stand elsewhere.
pub(super) const ELSEWHERE: &str = "Figures of the same hardware in other papers and talks. Nothing \
    was set for them, and they are counted apart from the five papers.";
/// What is said of the numbers of RTL.
pub(super) const RTL: &str = "The HTX board as RTL, beside its model: the Verilated core alone with the model's logic behind it, \
    and whole designs of ours. They are counted apart.";
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
            out += &wrapped("", &heading(row), columns);
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
    let [papers, elsewhere, rtl] = Summary::apart(rows);
    for (summary, verdict) in [
        (&papers, verdict(&papers)),
        (&elsewhere, verdict_elsewhere(&elsewhere)),
        (&rtl, verdict_rtl(&rtl)),
    ] {
        if summary.rows() > 0 {
            out += &format!("\n{}\n{}", counts(summary), wrapped("", &verdict, columns));
        }
    }
    out += "\n";
    for class in Class::ALL {
        out += &wrapped("", &format!("{class}: {}", class.meaning()), columns);
    }
    out
}

/// What the rows of a paper are headed by.
fn heading(first: &Row) -> String {
    if first.device.is_some() {
        return RTL.to_owned();
    }
    if first.elsewhere {
        return ELSEWHERE.to_owned();
    }
    let (authors, title) = (first.authors.join(", "), &first.title);
    let year = first
        .year
        .map(|year| format!(" ({year})"))
        .unwrap_or_default();
    format!("{authors}: {title}{year}")
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
fn counts(summary: &Summary) -> String {
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
    out
}

/// The counts in words.
pub(super) fn verdict(summary: &Summary) -> String {
    let (rows, agree, statements) = (summary.rows(), summary.agree, summary.statements);
    let are = match statements {
        0 => String::new(),
        1 => {
            " They are one statement of the models: rows that share a relation are one.".to_owned()
        }
        some => format!(
            " They are {some} statements of the models: rows that share a relation are one."
        ),
    };
    let mut text = format!(
        "{agree} of {rows} numbers agree with the papers: only what was predicted, or is within a \
         bound, counts.{are}"
    );
    text += &misses(summary);
    text
}

/// The counts of what is published elsewhere, in words.
pub(super) fn verdict_elsewhere(summary: &Summary) -> String {
    let (rows, agree) = (summary.rows(), summary.agree);
    let misses = misses(summary);
    format!(
        "Published elsewhere: {agree} of {rows} numbers agree, of which none was set; they are counted apart.{misses}"
    )
}

/// The counts of RTL, in words.
pub(super) fn verdict_rtl(summary: &Summary) -> String {
    let (rows, agree) = (summary.rows(), summary.agree);
    let misses = misses(summary);
    format!("As RTL: {agree} of {rows} numbers agree; they are counted apart.{misses}")
}

fn misses(summary: &Summary) -> String {
    let disagree = match summary.disagree() {
        0 => String::new(),
        1 => " One prediction does not come out.".to_owned(),
        some => format!(" {some} predictions do not come out."),
    };
    let fail = match summary.fail() {
        0 => String::new(),
        1 => " One number is outside of its tolerance.".to_owned(),
        some => format!(" {some} numbers are outside of their tolerance."),
    };
    disagree + &fail
}

/// The word that JSON has for it.
pub(super) fn word(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => "?".to_owned(),
    }
}
