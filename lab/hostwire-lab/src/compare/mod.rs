//! `hostwire compare`: one program on several wires and on modelled hardware, in one table.
//!
//! | file | |
//! |---|---|
//! | [`place`] | what a program can run on |
//! | this one | runs it on each, and shows what it said |

mod place;

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use hostwire_sim::experiments::file::Metric;
use serde::Serialize;

use crate::metrics;
use hostwire_cli::plot::{Chart, Kind, Scale, Series, file_name};
use hostwire_cli::report;
use hostwire_cli::text::{Align, Table, figure};
use place::Platform;

const FAILED: u8 = 1;

/// Run one program on several wires and on modelled hardware, and compare.
///
/// The program prints lines `NAME: VALUE UNIT`, such as `step: 12.5 ns`; these are compared. On
/// modelled hardware its clocks show the time of the model.
#[derive(Debug, clap::Args)]
#[command(override_usage = "hostwire compare -n N [OPTIONS] [--] PROGRAM [ARGS]...")]
#[command(after_long_help = "\
EXAMPLES
    A step of a stencil over everything that there is, as a table and as plots:

        hostwire compare -n 4 --plot plots heat2d --size 64x64

    A program of one's own on shared memory and on two clusters:

        hostwire compare -n 2 --on shm,peach2,my-cluster.toml ./mine

EXIT STATUS
    0 if the program ran everywhere; 1 if it did not somewhere, which is said; 2 if the
    command line is wrong.")]
pub struct Args {
    /// How many PEs to start.
    #[arg(short = 'n', long = "pes", value_name = "N", value_parser = hostwire_cli::run::parse_pes_of_host)]
    pes: u32,

    /// What to run it on: wires, models by name, or cluster files.
    ///
    /// Wires: shm is shared memory; udp, tcp, ether, xdp and fabric join two hosts that are made on
    /// this machine, which needs root. Models, of four or eight nodes: tccluster, htx, peach2,
    /// htea.
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = place::USUAL)]
    on: Vec<Platform>,

    /// How often to run it on real wires; the median is shown.
    ///
    /// On modelled hardware each run is the same.
    #[arg(long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u32).range(1..=99))]
    rounds: u32,

    /// How long computing takes on modelled hardware: zero, measured, or measured=3.
    #[arg(long, value_name = "HOW", default_value = "zero")]
    compute: String,

    /// Heap of each PE, as of hostwire run.
    #[arg(long, value_name = "SIZE", default_value = "16M")]
    heap: String,

    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,

    /// Plot every figure, as SVG files in DIR.
    #[arg(long, value_name = "DIR")]
    plot: Option<PathBuf>,

    /// The program and its arguments.
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    command: Vec<String>,
}

/// What a program said on one place.
#[derive(Debug, Serialize)]
struct Row {
    /// The place, as on the command line.
    on: String,
    /// Whether the time is that of a model.
    modelled: bool,
    /// What it said.
    metrics: Vec<Metric>,
    /// Why it did not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<String>,
}

/// Runs the command.
pub fn main(args: &Args) -> ExitCode {
    match run(args) {
        Ok(rows) => {
            let failed = rows.iter().any(|row| row.failed.is_some());
            ExitCode::from(if failed { FAILED } else { 0 })
        }
        Err(why) => {
            report::line(&why);
            ExitCode::from(FAILED)
        }
    }
}

fn run(args: &Args) -> Result<Vec<Row>, String> {
    let rows: Vec<Row> = args.on.iter().map(|place| row(args, place)).collect();
    for row in &rows {
        if let Some(why) = &row.failed {
            report::line(&format!("{}: {why}", row.on));
        }
    }
    if args.json {
        let json = serde_json::to_string_pretty(&rows).map_err(|error| error.to_string())?;
        report::out(&json);
    } else {
        report::out(table(args, &rows).trim_end());
    }
    if let Some(folder) = &args.plot {
        std::fs::create_dir_all(folder)
            .map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        for (name, unit) in names(&rows) {
            plot(args, &rows, &name, &unit).write(&folder.join(file_name(&name)))?;
        }
    }
    Ok(rows)
}

fn row(args: &Args, place: &Platform) -> Row {
    let rounds = if place.is_model() { 1 } else { args.rounds };
    let ran: Result<Vec<Vec<Metric>>, String> = (0..rounds).map(|_| once(args, place)).collect();
    let (metrics, failed) = match ran {
        Ok(runs) => (medians(&runs), None),
        Err(why) => (Vec::new(), Some(why)),
    };
    Row {
        on: place.name().to_owned(),
        modelled: place.is_model(),
        metrics,
        failed,
    }
}

/// Runs the program once.
fn once(args: &Args, place: &Platform) -> Result<Vec<Metric>, String> {
    let program = std::env::current_exe();
    let program = program.map_err(|error| format!("cannot run the program: {error}"))?;
    let mut command = Command::new(program);
    command.arg("run").arg(format!("-n{}", args.pes));
    command.arg(format!("--heap={}", args.heap));
    // Kept until the job has ended.
    let _file = place.options(&mut command, &args.compute)?;
    command.arg("--").args(&args.command);
    let found = metrics::of(&metrics::printed(&mut command, &|| false)?);
    match found.is_empty() {
        true => Err("the program printed no line NAME: VALUE UNIT to compare".to_owned()),
        false => Ok(found),
    }
}

/// The median of each figure that all runs have.
fn medians(runs: &[Vec<Metric>]) -> Vec<Metric> {
    let of = |name: &str| {
        let values = runs
            .iter()
            .filter_map(|run| run.iter().find(|metric| metric.name == name));
        let mut values: Vec<f64> = values.map(|metric| metric.value).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let first = runs.first().map_or(&[][..], Vec::as_slice);
    let medians = first.iter().filter_map(|metric| {
        let values = of(&metric.name);
        let value = *values.get(values.len() / 2)?;
        Some(Metric {
            value,
            ..metric.clone()
        })
    });
    medians.collect()
}

/// Every figure of some row, with its unit.
fn names(rows: &[Row]) -> Vec<(String, String)> {
    let mut names: Vec<(String, String)> = Vec::new();
    for metric in rows.iter().flat_map(|row| &row.metrics) {
        if !names.iter().any(|(name, _)| *name == metric.name) {
            names.push((metric.name.to_string(), metric.unit.to_string()));
        }
    }
    names
}

fn value(row: &Row, name: &str) -> Option<f64> {
    let metric = row.metrics.iter().find(|metric| metric.name == name)?;
    Some(metric.value)
}

fn table(args: &Args, rows: &[Row]) -> String {
    let names = names(rows);
    let head = [
        ("on".to_owned(), Align::Left),
        ("time".to_owned(), Align::Left),
    ];
    let columns = names.iter().map(|(name, _)| (name.clone(), Align::Right));
    let mut table = Table::new(head.into_iter().chain(columns));
    for row in rows {
        let kind = match (&row.failed, row.modelled) {
            (Some(_), _) => "did not run",
            (None, true) => "modelled",
            (None, false) => "real",
        };
        let values = names.iter().map(|(name, unit)| {
            value(row, name).map_or("-".to_owned(), |value| figure(value, unit))
        });
        let cells = [row.on.clone(), kind.to_owned()].into_iter().chain(values);
        table.row(cells);
    }
    let title = format!("{}, {} PEs\n\n", args.command.join(" "), args.pes);
    title + &table.text("  ", hostwire_cli::text::columns())
}

fn plot(args: &Args, rows: &[Row], name: &str, unit: &str) -> Chart {
    let shown: Vec<&Row> = rows
        .iter()
        .filter(|row| value(row, name).is_some())
        .collect();
    let words = shown.iter().map(|row| row.on.clone()).collect();
    let of = |modelled: bool| {
        let points = shown.iter().enumerate();
        let points = points.filter(|(_, row)| row.modelled == modelled);
        let points = points.filter_map(|(place, row)| Some((place as f64, value(row, name)?)));
        points.collect::<Vec<(f64, f64)>>()
    };
    let all = of(true).into_iter().chain(of(false));
    Chart {
        title: format!("{}, {} PEs", args.command.join(" "), args.pes),
        x_label: String::new(),
        y_label: format!("{name}, {unit}"),
        x: Scale::Words(words),
        y: Scale::fitting(all.map(|point| point.1)),
        series: [
            ("real", false, Kind::Line),
            ("modelled", true, Kind::Published),
        ]
        .map(|(name, modelled, kind)| Series::new(name, of(modelled), kind))
        .into_iter()
        .filter(|series| !series.points.is_empty())
        .collect(),
    }
}
