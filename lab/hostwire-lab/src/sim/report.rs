//! The results as text.

use std::fmt::Write as _;

use hostwire_plan::file::display_count;
use hostwire_sim::experiments::file::{ClusterFigures, Outcome, RunResult};
use serde_json::Value;

use hostwire_cli::text::{Align, Table, figure, fit, significant, wrapped};

/// The whole report, in lines of at most `columns`. Ends in a newline.
pub fn text(outcome: &Outcome, columns: usize) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = write_all(&mut out, outcome, columns);
    fit(&out, columns)
}

fn write_all(out: &mut String, outcome: &Outcome, columns: usize) -> std::fmt::Result {
    writeln!(out, "{} (hostwire {})\n", outcome.title, outcome.version)?;
    out.push_str(&results(outcome).text(INDENT, columns));
    for result in &outcome.results {
        write_links(out, result)?;
        write_regions(out, result)?;
        write_bottlenecks(out, result, columns)?;
        for hint in &result.hints {
            out.push('\n');
            out.push_str(&wrapped(
                "",
                &format!("{}hint: {hint}", prefix(result)),
                columns,
            ));
        }
        write_histogram(out, result, columns)?;
        write_flows(out, result, columns)?;
    }
    if let Some(first) = outcome.results.first() {
        write_configuration(out, outcome, first)?;
    }
    writeln!(out, "\nruns")?;
    out.push_str(&runs(outcome).text(INDENT, columns));
    if let Some(bytes) = outcome.peak_memory_bytes {
        writeln!(out, "  peak memory {}", figure(bytes as f64, "B"))?;
    }
    Ok(())
}

/// In front of what belongs to the line above.
const INDENT: &str = "  ";

fn prefix(result: &RunResult) -> String {
    let value = result.value.as_ref();
    value.map_or(String::new(), |value| format!("{value}: "))
}

/// A line per metric, or of a sweep a line per value and a column per metric.
fn results(outcome: &Outcome) -> Table {
    const HASH: &str = "configuration hash";
    let Some(key) = &outcome.sweep else {
        let mut table = Table::new([("", Align::Left), ("", Align::Right)]);
        for result in &outcome.results {
            for metric in &result.metrics {
                table.row([metric.name.to_string(), figure(metric.value, &metric.unit)]);
            }
            table.row([HASH.to_owned(), result.configuration_hash.clone()]);
        }
        return table;
    };
    let metrics = outcome.metrics();
    let names = metrics
        .iter()
        .map(|metric| (metric.name.to_string(), Align::Right));
    let mut table = Table::new(
        [(key.clone(), Align::Left)]
            .into_iter()
            .chain(names)
            .chain([(HASH.to_owned(), Align::Left)]),
    );
    for result in &outcome.results {
        let values = metrics.iter().map(|metric| {
            let value = result.metric(&metric.name);
            value.map_or("-".to_owned(), |value| figure(value, &metric.unit))
        });
        table.row(
            [result.value.clone().unwrap_or_default()]
                .into_iter()
                .chain(values)
                .chain([result.configuration_hash.clone()]),
        );
    }
    table
}

/// The cost of each run.
fn runs(outcome: &Outcome) -> Table {
    let key = outcome.sweep.as_deref().unwrap_or_default();
    let mut table = Table::new([
        (key, Align::Left),
        ("events", Align::Right),
        ("took", Align::Right),
        ("events/s", Align::Right),
        ("simulated", Align::Right),
        ("of real time", Align::Right),
        ("event hash", Align::Left),
    ]);
    for result in &outcome.results {
        let run = &result.run;
        table.row([
            result.value.clone().unwrap_or_default(),
            run.events.to_string(),
            figure(run.wall_s * 1e9, "ns"),
            figure(run.events_per_s, "/s"),
            figure(run.virtual_time_ns, "ns"),
            significant(run.virtual_over_wall, 3),
            run.event_hash.to_string(),
        ]);
    }
    table
}

fn write_links(out: &mut String, result: &RunResult) -> std::fmt::Result {
    let between = || {
        let links = result.links.iter();
        links.filter(|link| !link.link.ends_with("southbridge"))
    };
    if between().next().is_none() {
        return Ok(());
    }
    writeln!(out, "\n{}links, one line per direction", prefix(result))?;
    writeln!(
        out,
        "  {:>11}  {:>14}  from end A to B or back",
        "utilisation", "payload (B)"
    )?;
    for link in between() {
        writeln!(
            out,
            "  {:>9.1} %  {:>14}  {} {}",
            link.utilisation * 100.0,
            link.payload_bytes,
            link.link,
            if link.from == "A" { "->" } else { "<-" },
        )?;
    }
    Ok(())
}

fn write_regions(out: &mut String, result: &RunResult) -> std::fmt::Result {
    if result.regions.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{}regions, by owner", prefix(result))?;
    let head = ["lines read", "lines written", "pages in", "pages out"];
    write!(out, " ")?;
    for name in head {
        write!(out, " {name:>14}")?;
    }
    writeln!(out, "  owner")?;
    for region in &result.regions {
        writeln!(
            out,
            "  {:>14} {:>14} {:>14} {:>14}  {}",
            region.lines_read,
            region.lines_written,
            region.pages_in,
            region.pages_out,
            region.owner,
        )?;
    }
    Ok(())
}

fn write_bottlenecks(out: &mut String, result: &RunResult, columns: usize) -> std::fmt::Result {
    if result.bottlenecks.is_empty() {
        return Ok(());
    }
    let prefix = prefix(result);
    writeln!(
        out,
        "\n{prefix}bottlenecks: what each part could carry, and how much of that was used"
    )?;
    let mut table = Table::new([
        ("limit", Align::Right),
        ("used", Align::Right),
        ("", Align::Words),
    ]);
    for part in &result.bottlenecks {
        table.row([
            figure(part.limit_gb_s, "Gb/s"),
            format!("{:.1} %", part.used * 100.0),
            format!("{} ({})", part.part, part.source),
        ]);
    }
    out.push_str(&table.text(INDENT, columns));
    Ok(())
}

/// Flows in the text; `--json` has all.
const FLOWS_SHOWN: usize = 10;
/// Longest bar of a histogram.
const BAR_CHARS: u64 = 40;

fn write_histogram(out: &mut String, result: &RunResult, columns: usize) -> std::fmt::Result {
    let Some(most) = result.histogram.iter().map(|part| part.messages).max() else {
        return Ok(());
    };
    writeln!(out, "\n{}latencies", prefix(result))?;
    let mut table = Table::new([
        ("from", Align::Right),
        ("below", Align::Right),
        ("messages", Align::Right),
        ("", Align::Left),
    ]);
    for part in &result.histogram {
        let chars = (part.messages * BAR_CHARS).div_ceil(most.max(1));
        table.row([
            figure(part.from_ns, "ns"),
            figure(part.to_ns, "ns"),
            part.messages.to_string(),
            "#".repeat(usize::try_from(chars).unwrap_or_default()),
        ]);
    }
    out.push_str(&table.text(INDENT, columns));
    Ok(())
}

fn write_flows(out: &mut String, result: &RunResult, columns: usize) -> std::fmt::Result {
    if result.flows.is_empty() {
        return Ok(());
    }
    let mut slowest: Vec<_> = result.flows.iter().collect();
    slowest.sort_by(|a, b| b.latency_ns_p99.total_cmp(&a.latency_ns_p99));
    let prefix = prefix(result);
    match slowest.len() {
        count if count > FLOWS_SHOWN => writeln!(
            out,
            "\n{prefix}flows: the {FLOWS_SHOWN} slowest of {count}, --json has all"
        )?,
        _ => writeln!(out, "\n{prefix}flows")?,
    }
    let mut table = Table::new([
        ("from", Align::Left),
        ("to", Align::Left),
        ("messages", Align::Right),
        ("mean", Align::Right),
        ("p50", Align::Right),
        ("p99", Align::Right),
        ("max", Align::Right),
    ]);
    for flow in slowest.into_iter().take(FLOWS_SHOWN) {
        let ns = |value| figure(value, "ns");
        table.row([
            flow.from.clone(),
            flow.to.clone(),
            flow.messages.to_string(),
            ns(flow.latency_ns_mean),
            ns(flow.latency_ns_p50),
            ns(flow.latency_ns_p99),
            ns(flow.latency_ns_max),
        ]);
    }
    out.push_str(&table.text(INDENT, columns));
    Ok(())
}

fn write_configuration(out: &mut String, outcome: &Outcome, first: &RunResult) -> std::fmt::Result {
    let of = match outcome.sweep {
        Some(_) => format!(" of the first run ({})", first.configuration_hash),
        None => String::new(),
    };
    writeln!(out, "\nconfiguration{of}")?;
    if let Some(cluster) = &first.configuration.cluster {
        write_cluster(out, cluster)?;
    }
    if let Ok(Value::Object(keys)) = serde_json::to_value(&first.configuration.workload) {
        for (key, value) in keys {
            if let Value::Array(items) = &value {
                for (index, item) in items.iter().enumerate() {
                    let key = format!("{key}.{index}");
                    writeln!(out, "  workload.{key:<29} {}", words(item))?;
                }
                continue;
            }
            writeln!(out, "  workload.{key:<29} {}", words(&value))?;
        }
    }
    writeln!(
        out,
        "  limits.{:<31} {}",
        "events", first.configuration.events_max
    )?;
    for parameter in &first.configuration.parameters {
        let default = if parameter.overridden {
            format!("default {}, ", parameter.default)
        } else {
            String::new()
        };
        let class = format!("{:?}", parameter.class).to_lowercase();
        writeln!(
            out,
            "  parameters.{:<27} {:<10} ({default}{class})",
            parameter.key, parameter.value
        )?;
    }
    Ok(())
}

/// A value as words that can be wrapped: those of an object behind their keys.
fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(keys) => {
            let words = keys
                .iter()
                .map(|(key, value)| format!("{key} {}", words(value)));
            words.collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}

fn write_cluster(out: &mut String, cluster: &ClusterFigures) -> std::fmt::Result {
    const CABLES_SHOWN: usize = 8;
    let processors: usize = cluster.nodes.iter().map(|n| n.memory_bytes.len()).sum();
    writeln!(
        out,
        "  cluster: {}, {}, {}",
        display_count(cluster.nodes.len(), "node"),
        display_count(processors, "processor"),
        display_count(cluster.cables.len(), "cable")
    )?;
    for cable in cluster.cables.iter().take(CABLES_SHOWN) {
        write!(out, "    {} - {}", cable.from, cable.to)?;
        if let (Some(width), Some(frequency)) = (cable.width_bits, cable.frequency_mhz) {
            write!(out, ": {width} bit, {frequency} MHz")?;
        }
        writeln!(out)?;
    }
    if let Some(more) = cluster.cables.len().checked_sub(CABLES_SHOWN + 1) {
        writeln!(out, "    and {} more; --json has all", more + 1)?;
    }
    Ok(())
}
