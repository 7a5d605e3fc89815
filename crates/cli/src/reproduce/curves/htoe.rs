//! Figures 5 to 10 of the HyperTransport over Ethernet paper, with the points that are in its text.

use hostwire_sim::experiments::ExperimentError;
use hostwire_sim::experiments::curves::Curve;
use hostwire_sim::experiments::htoe::{Optimised, bottlenecks, claims};
use hostwire_sim::htea::{Config, PAYLOAD_BYTES, Report, run};

use super::{Named, chart, published};
use crate::plot::Scale;

const MIB: u64 = 1 << 20;
const THROUGHPUT: &str = "throughput, Gb/s";

pub fn charts() -> Result<Vec<Named>, ExperimentError> {
    let claims = claims()?;
    let payload = |y, of: fn(&Report) -> f64| {
        let curves = [1, 10, 50].map(|nops| {
            over(
                format!("{nops} NOPs"),
                "packets per frame",
                y,
                &[1, 2, 5, 10, 15, 20],
                |packets| Ok(of(&ran(Optimised::Nothing.config(2, packets, nops), 32)?)),
            )
        });
        curves
            .into_iter()
            .collect::<Result<Vec<_>, ExperimentError>>()
    };
    let stages = Optimised::ALL.map(|(name, optimised)| {
        over(
            format!("{name} optimised"),
            "NOPs per frame",
            THROUGHPUT,
            &[1, 10, 20, 50],
            |nops| Ok(ran(optimised.config(8, 20, nops), 64)?.throughput_gb_s),
        )
    });
    let nodes = over(
        "both optimised".into(),
        "nodes",
        THROUGHPUT,
        &[2, 3, 4, 5, 6, 7, 8],
        |nodes| Ok(ran(Optimised::Both.config(nodes, 20, 50), 64)?.throughput_gb_s),
    );
    let losses = [4, 8, 16, 32].map(|incoming_frames| {
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
    let all = |curves: Vec<Result<Curve, ExperimentError>>| {
        curves.into_iter().collect::<Result<Vec<_>, _>>()
    };
    let linear = || (Scale::Linear, Scale::Linear);
    Ok(vec![
        (
            "htoe-payload.svg",
            chart(
                "HTEA: throughput over packets per frame, 2 nodes (figure 5)",
                linear(),
                payload(THROUGHPUT, |report| report.throughput_gb_s)?,
                published(&claims, &[]),
            ),
        ),
        (
            "htoe-credits.svg",
            chart(
                "HTEA: mean credits of the sender over packets per frame, 2 nodes (figure 6)",
                (Scale::Linear, Scale::Log),
                payload("credits", |report| report.credits_mean)?,
                published(&claims, &[]),
            ),
        ),
        (
            "htoe-nops.svg",
            chart(
                "HTEA: throughput over NOPs per frame, 8 nodes, 20 packets (figure 9)",
                linear(),
                all(stages.into())?,
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
                vec![nodes?],
                published(&claims, &[("E3-most", Some(8.0))]),
            ),
        ),
        (
            "htoe-losses.svg",
            chart(
                "HTEA: what could explain 2.80 Gb/s, marked at both ends: frames that are lost (a study)",
                linear(),
                all(losses.into())?,
                published(
                    &claims,
                    &[("E4-outgoing", Some(1.0)), ("E4-outgoing", Some(16.0))],
                ),
            ),
        ),
        ("htoe-transfer.svg", way(&claims)?),
    ])
}

/// Figure 10.
fn way(claims: &hostwire_sim::experiments::Claims) -> Result<crate::plot::Chart, ExperimentError> {
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

/// A run of a part of the paper's data, enough for a steady state.
fn ran(config: Config, mib: u64) -> Result<Report, ExperimentError> {
    let packets = mib * MIB / PAYLOAD_BYTES;
    Ok(run(Config { packets, ..config })?)
}
