//! The results as text.

use std::fmt::Write as _;

use hostwire_plan::file::display_count;
use hostwire_sim::experiments::file::{ClusterFigures, Outcome, RunResult};
use serde_json::Value;

/// Everything there is to say. Ends in a newline.
pub fn text(outcome: &Outcome) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = write_all(&mut out, outcome);
    out
}

fn write_all(out: &mut String, outcome: &Outcome) -> std::fmt::Result {
    writeln!(out, "{} (hostwire {})\n", outcome.title, outcome.version)?;
    write_results(out, outcome)?;
    for result in &outcome.results {
        write_links(out, result)?;
        write_regions(out, result)?;
        write_bottlenecks(out, result)?;
    }
    if let Some(first) = outcome.results.first() {
        write_configuration(out, outcome, first)?;
    }
    writeln!(out, "\nruns")?;
    for result in &outcome.results {
        let run = &result.run;
        writeln!(
            out,
            "  {}{} events in {:.3} s ({:.1} M events/s), {:.3} us simulated ({:.2e} of real time), event hash {}",
            prefix(result),
            run.events,
            run.wall_s,
            run.events_per_s / 1e6,
            run.virtual_time_ns / 1e3,
            run.virtual_over_wall,
            run.event_hash
        )?;
    }
    if let Some(bytes) = outcome.peak_memory_bytes {
        writeln!(
            out,
            "  peak memory {:.1} MiB",
            bytes as f64 / f64::from(1 << 20)
        )?;
    }
    Ok(())
}

fn prefix(result: &RunResult) -> String {
    let value = result.value.as_ref();
    value.map_or(String::new(), |value| format!("{value}: "))
}

fn write_results(out: &mut String, outcome: &Outcome) -> std::fmt::Result {
    let Some(key) = &outcome.sweep else {
        for result in &outcome.results {
            for metric in &result.metrics {
                writeln!(
                    out,
                    "  {:<20} {:>14.3} {}",
                    metric.name, metric.value, metric.unit
                )?;
            }
            writeln!(
                out,
                "  {:<20} {}",
                "configuration hash", result.configuration_hash
            )?;
        }
        return Ok(());
    };
    let values = outcome.results.iter().filter_map(|r| r.value.as_ref());
    let width = values.map(|value| value.chars().count()).max().unwrap_or(0);
    let width = width.max(key.chars().count());
    write!(out, "  {key:<width$}")?;
    let metrics = outcome.metrics();
    for metric in &metrics {
        write!(
            out,
            "  {:>24}",
            format!("{} ({})", metric.name, metric.unit)
        )?;
    }
    writeln!(out, "  configuration hash")?;
    for result in &outcome.results {
        write!(out, "  {:<width$}", result.value.as_deref().unwrap_or(""))?;
        for metric in &metrics {
            match result.metric(&metric.name) {
                Some(value) => write!(out, "  {value:>24.3}")?,
                None => write!(out, "  {:>24}", "-")?,
            }
        }
        writeln!(out, "  {}", result.configuration_hash)?;
    }
    Ok(())
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

fn write_bottlenecks(out: &mut String, result: &RunResult) -> std::fmt::Result {
    if result.bottlenecks.is_empty() {
        return Ok(());
    }
    let prefix = prefix(result);
    writeln!(
        out,
        "\n{prefix}bottlenecks: what each part could carry, and how much of that was used"
    )?;
    writeln!(out, "  {:>12}  {:>8}", "limit (Gb/s)", "used")?;
    for part in &result.bottlenecks {
        writeln!(
            out,
            "  {:>12.2}  {:>6.1} %  {} ({})",
            part.limit_gb_s,
            part.used * 100.0,
            part.part,
            part.source,
        )?;
    }
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
                    writeln!(out, "  workload.{key:<29} {item}")?;
                }
                continue;
            }
            let value = value.as_str().map_or(value.to_string(), str::to_owned);
            writeln!(out, "  workload.{key:<29} {value}")?;
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
        writeln!(
            out,
            "    {} - {}: {} bit, {} MHz",
            cable.from,
            cable.to,
            cable.width_bits.unwrap_or(0),
            cable.frequency_mhz.unwrap_or(0)
        )?;
    }
    if let Some(more) = cluster.cables.len().checked_sub(CABLES_SHOWN + 1) {
        writeln!(out, "    and {} more; --json has all", more + 1)?;
    }
    Ok(())
}
