//! The curves of the papers, with the published points marked.

use std::path::Path;

use hostwire_sim::experiments::curves::{
    Curve, bandwidth_over_clock, bandwidth_over_size, latency_over_hops, latency_over_size,
};
use hostwire_sim::experiments::{
    Claims, ExperimentError, htx_board, pgas_cluster, tca_peach2, tccluster,
};

mod htoe;

use super::{BAD_OUTPUT, FAILED, Paper};
use hostwire_cli::plot::{Chart, Kind, Scale, Series};

/// Largest message of the paper's figures.
const LARGEST_BYTES: u64 = 4 << 20;
const LARGEST: f64 = LARGEST_BYTES as f64;

type Failure = (u8, String);

/// Writes charts into `folder`.
pub fn write(charts: Vec<Named>, folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|error| {
        (
            BAD_OUTPUT,
            format!("cannot make {}: {error}", folder.display()),
        )
    })?;
    for (name, chart) in charts {
        chart
            .write(&folder.join(name))
            .map_err(|why| (BAD_OUTPUT, why))?;
    }
    Ok(())
}

/// The charts of `paper`, with the names of their files.
pub fn charts(paper: Paper) -> Result<Vec<Named>, Failure> {
    let mut charts = Vec::new();
    let failed = |error: ExperimentError| (FAILED, error.to_string());
    if paper.includes(Paper::Tccluster) {
        charts.extend(tccluster_charts().map_err(failed)?);
    }
    if paper.includes(Paper::HtxBoard) {
        charts.extend(htx_charts().map_err(failed)?);
    }
    if paper.includes(Paper::PgasCluster) {
        charts.extend(pgas_charts().map_err(failed)?);
    }
    if paper.includes(Paper::TcaPeach2) {
        charts.extend(tca_charts().map_err(failed)?);
    }
    if paper.includes(Paper::Htoe) {
        charts.extend(htoe::charts().map_err(failed)?);
    }
    Ok(charts)
}

/// Name of its file, and a chart.
pub type Named = (&'static str, Chart);

fn tccluster_charts() -> Result<Vec<Named>, ExperimentError> {
    let claims = tccluster::claims()?;
    let latency = [false, true].map(|ordered| latency_over_size(ordered, LARGEST_BYTES));
    let bandwidth = [false, true].map(|ordered| bandwidth_over_size(ordered, LARGEST_BYTES));
    let peak_bytes = value(&claims, "T7-size").map(|kib| kib * 1024.0);
    let clock = [8, 16].map(bandwidth_over_clock);
    Ok(vec![
        (
            "tccluster-latency-over-size.svg",
            chart(
                "TCCluster: half round trip over message size, 16 bit at 800 MHz",
                (Scale::Bytes, Scale::Log),
                all(latency)?,
                published(&claims, &[("T1", Some(64.0))]),
            ),
        ),
        (
            "tccluster-bandwidth-over-size.svg",
            chart(
                "TCCluster: bandwidth as the sender sees it, 16 bit at 800 MHz",
                (Scale::Bytes, Scale::Linear),
                all(bandwidth)?,
                published(
                    &claims,
                    &[
                        ("T4", Some(LARGEST)),
                        ("T5", Some(LARGEST)),
                        ("T6", Some(64.0)),
                        ("T7", peak_bytes),
                    ],
                ),
            ),
        ),
        (
            "tccluster-latency-over-hops.svg",
            chart(
                "TCCluster: half round trip of one line over nodes in between",
                (Scale::Linear, Scale::Linear),
                vec![latency_over_hops()?],
                published(&claims, &[("T1", Some(0.0))]),
            ),
        ),
        (
            "tccluster-bandwidth-over-clock.svg",
            chart(
                "TCCluster: sustained bandwidth over link clock and width",
                (Scale::Linear, Scale::Linear),
                all(clock)?,
                published(&claims, &[("T4", Some(800.0))]),
            ),
        ),
    ])
}

fn htx_charts() -> Result<Vec<Named>, ExperimentError> {
    let claims = htx_board::claims()?;
    let sizes = [4usize, 8, 16, 32, 64];
    let over_size = |y, measure: fn(usize) -> Result<f64, ExperimentError>| {
        let points = sizes.map(|bytes| Ok((bytes as f64, measure(bytes)?)));
        let points = points.into_iter().collect::<Result<_, ExperimentError>>()?;
        Ok::<_, ExperimentError>(Curve {
            name: "8 bit at 200 MHz".into(),
            x: "size, B",
            y,
            points,
        })
    };
    let writes = [
        ("H1", 64.0),
        ("H2", 32.0),
        ("H3", 16.0),
        ("H4", 8.0),
        ("H5", 4.0),
    ];
    let reads = [("H6", 4.0), ("H7", 8.0), ("H8", 64.0)];
    Ok(vec![
        (
            "htx-board-write-bandwidth.svg",
            chart(
                "HTX board: write bandwidth over packet size (Table IV)",
                (Scale::Bytes, Scale::Linear),
                vec![over_size("bandwidth, MiB/s", htx_board::write_mib_s)?],
                published(&claims, &writes.map(|(id, x)| (id, Some(x)))),
            ),
        ),
        (
            "htx-board-read-latency.svg",
            chart(
                "HTX board: read latency over size (Table V)",
                (Scale::Bytes, Scale::Log),
                vec![over_size("latency, ns", htx_board::read_ns)?],
                published(&claims, &reads.map(|(id, x)| (id, Some(x)))),
            ),
        ),
    ])
}

/// Figures 3 and 4, time and traffic. Of their points, only two each are in the text.
fn pgas_charts() -> Result<Vec<Named>, ExperimentError> {
    let claims = pgas_cluster::claims()?;
    let local_s = pgas_cluster::run(pgas_cluster::Scenario::Local)?.mean_s();
    let others = pgas_cluster::SCENARIOS.into_iter().skip(1);
    let times = others
        .clone()
        .map(|(_, scenario)| Ok(pgas_cluster::run(scenario)?.mean_s() / local_s))
        .collect::<Result<Vec<f64>, ExperimentError>>()?;
    let names: Vec<String> = others.map(|(name, _)| name.to_owned()).collect();
    let drawn = |title: &str, y, scale, of: fn(f64) -> f64, known: &[(&str, Option<f64>)]| {
        let points = (0_u32..).zip(&times);
        let curve = Curve {
            name: "STREAM, 20 M elements".into(),
            x: "scenario",
            y,
            points: points
                .map(|(place, time)| (place.into(), of(*time)))
                .collect(),
        };
        let scales = (Scale::Words(names.clone()), scale);
        chart(title, scales, vec![curve], published(&claims, known))
    };
    Ok(vec![
        (
            "pgas-cluster-scenarios.svg",
            drawn(
                "PGAS cluster: increase in time (4P and 16P fitted, the others ours)",
                "time over that of 1P, %",
                Scale::Log,
                |times| (times - 1.0) * 100.0,
                &[("P1-pct", Some(0.0)), ("P2-pct", Some(1.0))],
            ),
        ),
        (
            "pgas-cluster-traffic.svg",
            // The paper draws means of four rates and does not say which mean. This is bytes over the mean time.
            drawn(
                "PGAS cluster: decrease in traffic (4P and 16P fitted, the others ours)",
                "traffic below that of 1P, %",
                Scale::Linear,
                |times| (1.0 - 1.0 / times) * 100.0,
                &[("P3-4P-pct", Some(0.0)), ("P3-16P-pct", Some(1.0))],
            ),
        ),
    ])
}

/// Figures 7 to 9 and 12, with the points that are in the text.
fn tca_charts() -> Result<Vec<Named>, ExperimentError> {
    let claims = tca_peach2::claims()?;
    let (a4, gpu_read) = (value(&claims, "A4"), value(&claims, "A8"));
    let points = |points: Vec<(f64, Option<f64>)>, name: &str| {
        let points = points.into_iter().filter_map(|(x, y)| Some((x, y?)));
        Series::new(
            format!("published ({name})"),
            points.collect(),
            Kind::Published,
        )
    };
    let four = a4
        .zip(value(&claims, "A5"))
        .map(|(max, pct)| max * pct / 100.0);
    let largest = tca_peach2::LARGE_BYTES as f64;
    let chain = tca_peach2::CHAIN as f64;
    Ok(vec![
        (
            "tca-peach2-bandwidth-over-size.svg",
            chart(
                "TCA: bandwidth of 255 DMA requests over their size",
                (Scale::Bytes, Scale::Linear),
                tca_peach2::bandwidth_over_size()?,
                points(
                    vec![(largest, a4), (largest, gpu_read.map(|mb_s| mb_s / 1e3))],
                    "A4, A8",
                ),
            ),
        ),
        (
            "tca-peach2-single-over-size.svg",
            chart(
                "TCA: bandwidth of one DMA request over its size (figure 8)",
                (Scale::Bytes, Scale::Linear),
                tca_peach2::bandwidth_of_one_over_size()?,
                points(Vec::new(), "none"),
            ),
        ),
        (
            "tca-peach2-bandwidth-over-requests.svg",
            chart(
                "TCA: bandwidth of DMA writes of 4 KB over their number",
                (Scale::Linear, Scale::Linear),
                vec![tca_peach2::bandwidth_over_requests()?],
                points(vec![(4.0, four), (chain, a4)], "A5, A4"),
            ),
        ),
    ])
}

fn all<const N: usize>(
    curves: [Result<Curve, ExperimentError>; N],
) -> Result<Vec<Curve>, ExperimentError> {
    curves.into_iter().collect()
}

fn value(claims: &Claims, id: &str) -> Option<f64> {
    claims.claim.iter().find(|claim| claim.id == id)?.published
}

/// The published values of some claims, each at its x.
fn published(claims: &Claims, places: &[(&str, Option<f64>)]) -> Series {
    let points = places
        .iter()
        .filter_map(|(id, x)| Some(((*x)?, value(claims, id)?)));
    let mut names: Vec<&str> = places.iter().map(|(id, _)| *id).collect();
    names.dedup();
    let name = format!("published ({})", names.join(", "));
    Series::new(name, points.collect(), Kind::Published)
}

fn chart(title: &str, (x, y): (Scale, Scale), curves: Vec<Curve>, published: Series) -> Chart {
    let labels = curves.first().map_or(("", ""), |curve| (curve.x, curve.y));
    let published = (!published.points.is_empty()).then_some(published);
    let lines = curves
        .into_iter()
        .map(|curve| Series::new(curve.name, curve.points, Kind::Line));
    Chart {
        title: title.to_owned(),
        x_label: labels.0.to_owned(),
        y_label: labels.1.to_owned(),
        x,
        y,
        series: lines.chain(published).collect(),
    }
}
