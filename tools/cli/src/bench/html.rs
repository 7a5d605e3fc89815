//! The figures as a page: how close to the limits, charts over size, and a table.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::bars;
use super::cores::Cores;
use super::report::{Line, is_time, name, size, without_limit};
use crate::html::{WHAT, escape, page};
use crate::plot::{Chart, Kind, Scale, Series};
use crate::text::scale;

/// A page of `lines`, taken on a machine that `machine` describes.
pub fn whole(lines: &[Line], machine: &str) -> String {
    let body = format!(
        "<header>\n<h1>hostwire bench</h1>\n<p>{WHAT}</p>\n<p class=\"cite\">{}</p>\n</header>\n<main>\n{}{}</main>\n\
         <footer><p class=\"cite\">hostwire {}</p></footer>\n",
        escape(machine),
        bars::section(lines, &[]),
        section(lines),
        env!("CARGO_PKG_VERSION"),
    );
    page("hostwire bench", body, "")
}

/// The figures of `lines` as a part of a page.
pub fn section(lines: &[Line]) -> String {
    if lines.is_empty() {
        return "<p>Nothing was measured.</p>\n".to_owned();
    }
    let charts: String = charts(lines)
        .iter()
        .map(|chart| {
            let (title, svg) = (escape(&chart.title), chart.svg());
            format!("<figure><figcaption>{title}</figcaption>{svg}</figure>\n")
        })
        .collect();
    format!(
        "<p class=\"lead\">{}</p>\n<p>Each figure was taken in turn with its limit, batch by batch: \
         what the machine does without the library. The ratio is hostwire over limit, the median over \
         the pairs. Of times (ns, ms) less is better, of rates (M/s, GB/s) more.</p>\n\
         {}<div class=\"figures\">\n{charts}</div>\n<h3>All figures</h3>\n{}",
        escape(&summary(lines)),
        conditions(lines),
        table(lines)
    )
}

/// How much slower than its limit a figure is: 1 is as fast.
fn slower(line: &Line) -> Option<f64> {
    let ratio = line
        .ratio
        .filter(|ratio| ratio.is_finite() && *ratio > 0.0)?;
    Some(if is_time(line) { ratio } else { 1.0 / ratio })
}

/// The counts in words: how many figures are within a tenth of their limit, and which is farthest.
fn summary(lines: &[Line]) -> String {
    let compared: Vec<(&Line, f64)> = lines
        .iter()
        .filter_map(|line| Some((line, slower(line)?)))
        .collect();
    let near = compared.iter().filter(|(_, slower)| *slower <= 1.1).count();
    let farthest = compared.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    let mut text = format!(
        "{} {}, {} of them beside a limit of this machine; {near} within a tenth of it or faster.",
        lines.len(),
        if lines.len() == 1 {
            "figure"
        } else {
            "figures"
        },
        compared.len()
    );
    if let Some((line, slower)) = farthest.filter(|(_, slower)| *slower > 1.1) {
        let _ = write!(
            text,
            " Farthest: {}, {slower:.2} times its limit's time.",
            name(line)
        );
    }
    text
}

/// In paragraphs: where the cores were, what was disturbed, and what has no limit.
fn conditions(lines: &[Line]) -> String {
    let mut said = Vec::new();
    let of = |cores| {
        lines
            .iter()
            .filter(|line| line.cores == Some(cores))
            .count()
    };
    let of: Vec<String> = [Cores::Near, Cores::Between, Cores::Far, Cores::Moved]
        .map(|cores| (cores.words(), of(cores)))
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(words, count)| format!("{words} in {count}"))
        .collect();
    if !of.is_empty() {
        let ns = lines.iter().filter_map(|line| line.line_ns);
        let (min, max) = ns.fold((f64::INFINITY, 0.0_f64), |(min, max), ns| {
            (min.min(ns), max.max(ns))
        });
        said.push(format!(
            "The two cores were {} figures of two PEs: a line took {min:.0} to {max:.0} ns from one to the other. \
             Only figures of cores that are as far from each other can be compared.",
            of.join(", ")
        ));
    }
    let noisy: Vec<String> = lines.iter().filter(|line| line.noisy).map(name).collect();
    if !noisy.is_empty() {
        said.push(format!(
            "Noisy, since something else used the machine or the cores moved: {}.",
            noisy.join("; ")
        ));
    }
    let without = without_limit(lines).into_iter();
    said.extend(without.map(|why| format!("{why}.").replacen("no limit", "No limit", 1)));
    let said = said.iter().map(|text| format!("<p>{}</p>\n", escape(text)));
    said.collect()
}

/// A chart over size for each benchmark and unit that has several sizes, and one for all others
/// of a unit. One figure alone makes no chart: the table has it.
fn charts(lines: &[Line]) -> Vec<Chart> {
    /// A benchmark, its PEs, and a unit.
    type Key = (String, u32, String);
    let mut groups: Vec<(Key, Vec<&Line>)> = Vec::new();
    for line in lines {
        let key = (line.bench.to_string(), line.pes, line.unit.to_string());
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, group)) => group.push(line),
            None => groups.push((key, vec![line])),
        }
    }
    let (over_size, alone): (Vec<_>, Vec<_>) = groups
        .into_iter()
        .partition(|(_, group)| group.len() > 1 && group.iter().all(|line| line.size_bytes > 0));
    let mut singles: BTreeMap<String, Vec<&Line>> = BTreeMap::new();
    for ((_, _, unit), group) in alone {
        singles.entry(unit).or_default().extend(group);
    }
    let over_size = over_size.into_iter().map(|((bench, pes, unit), group)| {
        let x = |line: &Line, _: usize| line.size_bytes as f64;
        let title = format!("{bench}, {pes} PEs");
        chart(title, ("size, B", Scale::Bytes), &unit, &group, x)
    });
    let singles = singles.into_iter().filter(|(_, group)| group.len() > 1);
    let singles = singles.map(|(unit, group)| {
        let words = group.iter().map(|line| name(line)).collect();
        let x = |_: &Line, at: usize| at as f64;
        let what = if matches!(&*unit, "ns" | "ms") {
            "Times"
        } else {
            "Rates"
        };
        chart(
            format!("{what}, {unit}"),
            ("", Scale::Words(words)),
            &unit,
            &group,
            x,
        )
    });
    over_size.chain(singles).collect()
}

fn chart(
    title: String,
    (x_label, x): (&str, Scale),
    unit: &str,
    group: &[&Line],
    place: impl Fn(&Line, usize) -> f64,
) -> Chart {
    let series = |value: &dyn Fn(&Line) -> Option<f64>| -> Vec<(f64, f64)> {
        let points = group.iter().enumerate();
        let points = points.filter_map(|(at, line)| Some((place(line, at), value(line)?)));
        points.collect()
    };
    let ours = Series::new("hostwire", series(&|line| Some(line.median)), Kind::Line);
    let limits = Series {
        colour: Some(1),
        ..Series::new(
            "limit of the machine",
            series(&|line| line.limit),
            Kind::Limit,
        )
    };
    let all = ours
        .points
        .iter()
        .chain(&limits.points)
        .map(|point| point.1);
    let y = Scale::fitting(all);
    let what = match unit {
        "ns" | "ms" => format!("time, {unit}"),
        "M/s" => "rate, million/s".to_owned(),
        unit => format!("bandwidth, {unit}"),
    };
    let mut series = vec![ours];
    if !limits.points.is_empty() {
        series.push(limits);
    }
    Chart {
        title,
        x_label: x_label.to_owned(),
        y_label: what,
        x,
        y,
        series,
    }
}

/// The columns of the table: what each is called, and its class on the page.
const COLUMNS: [(&str, &str); 11] = [
    ("bench", "id"),
    ("PEs", "number"),
    ("size", "number"),
    ("unit", "unit"),
    ("median", "number"),
    ("p99", "number"),
    ("min", "number"),
    ("limit", "number"),
    ("ratio", "number"),
    ("cores", "word"),
    ("mark", "word"),
];

fn table(lines: &[Line]) -> String {
    let head = COLUMNS.map(|(name, kind)| format!("<th class=\"{kind}\">{name}</th>"));
    let head = head.concat();
    let row = |line: &Line| {
        // All of a line in the unit that suits its median.
        let (factor, unit) = scale(line.median, &line.unit);
        let two = |value: f64| format!("{value:.2}");
        let number = |value: f64| two(value * factor);
        let values = [
            line.bench.to_string(),
            line.pes.to_string(),
            size(line.size_bytes),
            unit.to_owned(),
            number(line.median),
            number(line.p99),
            number(line.min),
            line.limit.map_or("-".to_owned(), number),
            line.ratio.map_or("-".to_owned(), two),
            line.cores.map_or("-", Cores::name).to_owned(),
            if line.noisy { "noisy" } else { "" }.to_owned(),
        ];
        let cells = COLUMNS.iter().zip(values).map(|((name, kind), value)| {
            format!(
                "<td class=\"{kind}\" data-label=\"{name}\">{}</td>",
                escape(&value)
            )
        });
        format!("<tr>{}</tr>\n", cells.collect::<String>())
    };
    let body: String = lines.iter().map(row).collect();
    format!(
        "<table class=\"cards\"><thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody></table>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(bench: &'static str, size_bytes: u64, unit: &'static str, ratio: Option<f64>) -> Line {
        Line {
            limit: ratio.map(|ratio| 2.0 / ratio),
            ratio,
            ..Line::alone(bench, "shm", 2, size_bytes, unit, vec![2.0], 1)
        }
    }

    #[test]
    fn the_summary_counts_what_is_near_its_limit() {
        let lines = [
            line("latency", 8, "ns", Some(1.05)),
            line("latency", 64, "ns", Some(2.5)),
            line("rate", 8, "M/s", Some(0.5)),
            line("rate", 64, "M/s", Some(1.2)),
            line("startup", 0, "ms", None),
        ];
        assert_eq!(
            summary(&lines),
            "5 figures, 4 of them beside a limit of this machine; 2 within a tenth of it or faster. \
             Farthest: latency of 64 B, 2 PEs, 2.50 times its limit's time."
        );
    }

    #[test]
    fn sizes_make_a_chart_and_single_figures_share_one() {
        let lines = [
            line("put", 8, "M/s", Some(0.9)),
            line("put", 64, "M/s", Some(0.9)),
            line("put", 1 << 20, "GB/s", Some(0.9)),
            line("get", 1 << 20, "GB/s", Some(0.9)),
            line("barrier", 0, "ns", Some(1.2)),
            line("atomic-add", 8, "ns", None),
            line("startup", 0, "ms", None),
        ];
        let charts = charts(&lines);
        let titles: Vec<&str> = charts.iter().map(|chart| chart.title.as_str()).collect();
        assert_eq!(titles, ["put, 2 PEs", "Rates, GB/s", "Times, ns"]);
        let kinds: Vec<Kind> = charts[0].series.iter().map(|series| series.kind).collect();
        assert_eq!(kinds, [Kind::Line, Kind::Limit]);
        assert_eq!(charts[2].series[0].points.len(), 2);
    }

    #[test]
    fn the_page_says_where_the_cores_were_and_what_was_disturbed() {
        let near = Line {
            cores: Some(Cores::Near),
            line_ns: Some(44.6),
            ..line("latency", 8, "ns", Some(1.1))
        };
        let far = Line {
            cores: Some(Cores::Far),
            line_ns: Some(200.0),
            ..near.clone().with_spread(Some(4.0))
        };
        let page = section(&[near.clone(), near.clone(), far]);
        for said in [
            "near in 2, far in 1 figures of two PEs: a line took 45 to 200 ns",
            "or the cores moved: latency of 8 B, 2 PEs.",
            "data-label=\"cores\">far</td>",
            "data-label=\"mark\">noisy</td>",
        ] {
            assert!(page.contains(said), "{said}: {page}");
        }
        assert!(!section(&[near]).contains("oisy"), "only what is there");
    }

    #[test]
    fn long_times_have_a_unit_that_people_read() {
        let long = Line {
            median: 2_397_119.1,
            min: 2_000_000.0,
            limit: Some(47_000.0),
            ..line("allreduce", 1 << 20, "ns", Some(1.5))
        };
        let table = table(&[long]);
        for cell in ["ms", "2.40", "2.00", "0.05", "1.50"] {
            assert!(table.contains(&format!(">{cell}</td>")), "{cell}: {table}");
        }
    }

    #[test]
    fn a_page_needs_nothing_else_and_text_is_escaped() {
        let page = whole(&[line("put", 8, "ns", Some(1.0))], "CPU <fast> & cheap");
        assert!(page.contains("CPU &lt;fast&gt; &amp; cheap"), "{page}");
        assert!(page.contains(WHAT), "{page}");
        for outside in ["http:", "https:", "src=", "<script", "url("] {
            assert!(!page.contains(outside), "{outside}");
        }
        assert!(whole(&[], "").contains("Nothing was measured"));
    }
}
