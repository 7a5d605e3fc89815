//! Figures 5 to 10 of the HyperTransport over Ethernet paper, with the points that are in its text.

use hostwire_sim::experiments::ExperimentError;
use hostwire_sim::experiments::curves::Curve;
use hostwire_sim::experiments::htoe::{Optimised, bottlenecks, claims};
use hostwire_sim::models::htea::fast::{Config, PAYLOAD_BYTES, Report, Timing, run};

use super::{Named, chart, published, value};
use hostwire_cli::plot::{Chart, Kind, Scale, Series};

const MIB: u64 = 1 << 20;
/// The paper's 1 GB. With one NOP per frame credits bind only behind the first few hundred MiB,
/// which are sent into empty buffers.
const ALL_MIB: u64 = 1 << 10;
/// Figure 8 takes half, which shows the same for half of the time.
const HALF_MIB: u64 = ALL_MIB / 2;
const PACKETS: [u64; 6] = [1, 2, 5, 10, 15, 20];
const NOPS: [u64; 4] = [1, 10, 20, 50];
const THROUGHPUT: &str = "throughput, Gb/s";

/// Throughput over NOPs per frame, with each of the stages optimised.
fn stages(nodes: u64, mib: u64) -> Result<Vec<Curve>, ExperimentError> {
    let curves = Optimised::ALL.map(|(name, optimised)| {
        over(
            format!("{name} optimised"),
            "NOPs per frame",
            THROUGHPUT,
            &NOPS,
            |nops| Ok(ran(optimised.config(nodes, 20, nops), mib)?.throughput_gb_s),
        )
    });
    curves.into_iter().collect()
}

/// Throughput over nodes.
fn nodes() -> Result<Curve, ExperimentError> {
    over(
        "both optimised".into(),
        "nodes",
        THROUGHPUT,
        &[2, 3, 4, 5, 6, 7, 8],
        |nodes| Ok(ran(Optimised::Both.config(nodes, 20, 50), ALL_MIB)?.throughput_gb_s),
    )
}

/// Throughput over frames in flight, where the MACs hold so many frames and lose the others.
fn losses() -> Result<Vec<Curve>, ExperimentError> {
    let curves = [4, 8, 16, 32].map(|incoming_frames| {
        let name = format!("MACs hold {incoming_frames}");
        over(
            name,
            "frames in flight per link",
            THROUGHPUT,
            &[1, 2, 4, 8, 12, 16],
            |retry_frames| {
                let config = Config {
                    incoming_frames,
                    retry_frames,
                    ..Optimised::Nothing.config(8, 20, 50)
                };
                Ok(ran(config, 16)?.throughput_gb_s)
            },
        )
    });
    curves.into_iter().collect()
}

pub fn charts() -> Result<Vec<Named>, ExperimentError> {
    let claims = claims()?;
    let payload = payload_runs()?;
    let over_payload =
        |y, of: fn(&Report) -> f64| payload.iter().map(move |runs| runs.curve(y, of));
    let linear = || (Scale::Linear, Scale::Linear);
    Ok(vec![
        (
            "htoe-payload.svg",
            chart(
                "HTEA: throughput over packets per frame, 2 nodes (figure 5)",
                linear(),
                over_payload(THROUGHPUT, |report| report.throughput_gb_s).collect(),
                published(&claims, &[]),
            ),
        ),
        (
            "htoe-credits.svg",
            chart(
                "HTEA: mean credits of the sender over packets per frame, 2 nodes (figure 6)",
                (Scale::Linear, Scale::Log),
                over_payload("credits", |report| report.credits_mean).collect(),
                published(&claims, &[]),
            ),
        ),
        ("htoe-delays.svg", delays(&claims, &payload)),
        (
            "htoe-nops-4-nodes.svg",
            chart(
                "HTEA: throughput over NOPs per frame, 4 nodes, 20 packets, 512 MiB (figure 8)",
                linear(),
                stages(4, HALF_MIB)?,
                published(&claims, &[]),
            ),
        ),
        (
            "htoe-nops.svg",
            chart(
                "HTEA: throughput over NOPs per frame, 8 nodes, 20 packets (figure 9)",
                linear(),
                stages(8, ALL_MIB)?,
                published(
                    &claims,
                    &[
                        ("E4-base", Some(1.0)),
                        ("E4-plain", Some(50.0)),
                        ("E4-outgoing", Some(50.0)),
                        ("E4-incoming", Some(50.0)),
                    ],
                ),
            ),
        ),
        (
            "htoe-nodes.svg",
            chart(
                "HTEA: throughput over nodes, four stages each way (predictions but for 8)",
                linear(),
                vec![nodes()?],
                published(&claims, &[("E3-most", Some(8.0))]),
            ),
        ),
        (
            "htoe-losses.svg",
            chart(
                "HTEA: what could explain 2.80 Gb/s, marked at both ends: frames that are lost (a study)",
                linear(),
                losses()?,
                published(
                    &claims,
                    &[("E4-outgoing", Some(1.0)), ("E4-outgoing", Some(16.0))],
                ),
            ),
        ),
        ("htoe-transfer.svg", way(&claims)?),
    ])
}

/// Two nodes, not optimised, with one number of NOPs per frame.
struct PayloadRuns {
    nops: u64,
    /// For each of [`PACKETS`].
    reports: Vec<Report>,
}

impl PayloadRuns {
    fn curve(&self, y: &'static str, of: fn(&Report) -> f64) -> Curve {
        let points = PACKETS.iter().zip(&self.reports);
        Curve {
            name: format!("{} NOPs", self.nops),
            x: "packets per frame",
            y,
            points: points.map(|(x, report)| (*x as f64, of(report))).collect(),
        }
    }
}

/// The runs of figures 5 to 7.
fn payload_runs() -> Result<Vec<PayloadRuns>, ExperimentError> {
    let runs = [1, 10, 50].map(|nops| {
        let of = |packets| ran(Optimised::Nothing.config(2, packets, nops), ALL_MIB);
        let reports = PACKETS.into_iter().map(of).collect::<Result<_, _>>()?;
        Ok(PayloadRuns { nops, reports })
    });
    runs.into_iter().collect()
}

/// A figure of a run.
type Measure = fn(&Report) -> f64;

/// Figure 7: delays of both ways, with its end points from the text.
fn delays(claims: &hostwire_sim::experiments::Claims, payload: &[PayloadRuns]) -> Chart {
    const Y: &str = "delay, ns";
    let ways: [(&str, Measure); 2] = [
        ("outgoing", |report| report.outgoing_delay_ns),
        // Table I has the queue behind the stage as a part of the incoming way.
        ("incoming", |report| {
            report.incoming_delay_ns + Timing::PAPER.queuing.as_ns()
        }),
    ];
    let curves = ways.into_iter().flat_map(|(way, of)| {
        payload.iter().map(move |runs| {
            let curve = runs.curve(Y, of);
            Curve {
                name: format!("{way}, {}", curve.name),
                ..curve
            }
        })
    });
    // The text has two in milliseconds.
    let ends = [
        ("E5-most", 1.0, 1e6),
        ("E5-least", 20.0, 1.0),
        ("E6-least", 1.0, 1.0),
        ("E6-most", 20.0, 1e6),
    ];
    let points = ends
        .into_iter()
        .filter_map(|(id, x, unit_ns)| Some((x, value(claims, id)? * unit_ns)));
    chart(
        "HTEA: delays over packets per frame, 2 nodes (figure 7; its policies are not known)",
        (Scale::Linear, Scale::Log),
        curves.collect(),
        Series::new("published (E5, E6)", points.collect(), Kind::Published),
    )
}

/// Figure 10.
fn way(claims: &hostwire_sim::experiments::Claims) -> Result<Chart, ExperimentError> {
    let names = [
        ("HyperTransport of a", "HT out"),
        ("encapsulation of a", "encaps."),
        ("Ethernet of the receiver", "Ethernet"),
        ("de-encapsulation,", "de-encaps."),
        ("credits: encaps", "NOPs out"),
        ("way from the adapter", "HT in"),
        ("PCI Express of query Q1", "PCIe Q1"),
        ("PCI Express of query Q21", "PCIe Q21"),
        ("computation of query Q1", "query 1"),
        ("computation of query Q21", "query 21"),
    ];
    let parts = bottlenecks()?;
    let mut points = Vec::new();
    for (place, (start, _)) in names.iter().enumerate() {
        let exact = parts.iter().find(|part| part.part == *start);
        let part = exact.or_else(|| parts.iter().find(|part| part.part.starts_with(start)));
        if let Some(part) = part {
            points.push((place as f64, part.limit_gb_s));
        }
    }
    let curve = Curve {
        name: "what each part could carry".into(),
        x: "part of the way",
        y: "limit, Gb/s",
        points,
    };
    let words = names.map(|(_, short)| short.to_owned()).into();
    let known = [
        ("E3-most", Some(3.0)),
        ("E9-pcie-Q1", Some(6.0)),
        ("E9-pcie-Q21", Some(7.0)),
        ("E9-query-Q1", Some(8.0)),
        ("E9-query-Q21", Some(9.0)),
    ];
    Ok(chart(
        "HTEA: the way to the query, 8 nodes, four stages each way (figure 10)",
        (Scale::Words(words), Scale::Log),
        vec![curve],
        published(claims, &known),
    ))
}

fn over(
    name: String,
    x: &'static str,
    y: &'static str,
    values: &[u64],
    measure: impl Fn(u64) -> Result<f64, ExperimentError>,
) -> Result<Curve, ExperimentError> {
    let points = values
        .iter()
        .map(|value| Ok((*value as f64, measure(*value)?)));
    Ok(Curve {
        name,
        x,
        y,
        points: points.collect::<Result<_, ExperimentError>>()?,
    })
}

/// A run of a part of the paper's data, or of all.
fn ran(config: Config, mib: u64) -> Result<Report, ExperimentError> {
    let packets = mib * MIB / PAYLOAD_BYTES;
    Ok(run(Config { packets, ..config })?)
}
