//! Networks and timelines of a paper, out of runs of the shipped experiments.

use hostwire_sim::experiments::ExperimentError;
use hostwire_sim::experiments::file::{Monitor, Outcome, RunResult};
use hostwire_sim::experiments::link_use::LinkUse;
use hostwire_sim::models::htea::fast::Timing;
use hostwire_sim::record::{Direction, Recording, Slice};

use super::timeline::Bar;
use super::{network, shipped, timeline};

/// A picture with its caption.
pub struct Picture {
    pub id: &'static str,
    pub caption: String,
    pub svg: String,
    /// The experiment behind it.
    pub file: &'static str,
}

/// A point of a shipped experiment, and what is drawn of it.
struct Source {
    id: &'static str,
    file: &'static str,
    /// The last point of a sweep, or the first one.
    last: bool,
    caption: &'static str,
}

const fn source(id: &'static str, file: &'static str, last: bool, caption: &'static str) -> Source {
    Source {
        id,
        file,
        last,
        caption,
    }
}

fn networks(paper: &str) -> Option<Source> {
    let [tccluster, htx, pgas, tca, htoe] = [
        source(
            "tccluster-links",
            "experiments/beyond/four-supernodes.toml",
            false,
            "Use of every link while 16 processors of four boards store 4 KiB to each other \
             (the paper's figure 4 as it is wired)",
        ),
        source(
            "htx-board-links",
            "experiments/htx-board/write-bandwidth.toml",
            true,
            "Use of the link between processor and board while it stores lines of 64 bytes",
        ),
        source(
            "pgas-cluster-regions",
            "experiments/pgas-cluster/scenarios.toml",
            false,
            "16P: share of the lines that come from and go to each board's memory. The paper's \
             simulator has no links, only a time for each access",
        ),
        source(
            "tca-peach2-links",
            "experiments/tca-peach2/dma-over-hops.toml",
            true,
            "Use of every link while node 0 writes 255 blocks of 4 KiB to a GPU of node 4",
        ),
        source(
            "htoe-links",
            "experiments/htoe/nodes.toml",
            true,
            "Use of every port while seven nodes send 1 GiB to the accelerator's node, which has \
             four ports: seven links modulo four",
        ),
    ];
    Some(match paper {
        "tccluster" => tccluster,
        "htx-board" => htx,
        "pgas-cluster" => pgas,
        "tca-peach2" => tca,
        "htoe" => htoe,
        _ => return None,
    })
}

fn timelines(paper: &str) -> Option<Source> {
    Some(match paper {
        "tccluster" => source(
            "tccluster-timeline",
            "experiments/tccluster/ping-pong.toml",
            false,
            "Packets of one ping-pong: a line there, a line back. What is between them is the \
             processors' own time",
        ),
        "htx-board" => source(
            "htx-board-timeline",
            "experiments/htx-board/message.toml",
            false,
            "Packets of one message that is looped back: the send, the payload and the status that \
             the processor polls",
        ),
        "tca-peach2" => source(
            "tca-peach2-timeline",
            "experiments/tca-peach2/ping-pong-over-hops.toml",
            true,
            "TLPs of one ping-pong between nodes 0 and 4 of a ring of eight: each hop takes the \
             whole TLP in before it goes on",
        ),
        "htoe" => source(
            "htoe-timeline",
            "experiments/htoe/one-packet.toml",
            false,
            "One packet through two adapters and the switch: the stages of Table I",
        ),
        _ => return None,
    })
}

/// The pictures of `paper`.
///
/// # Errors
/// [`ExperimentError`] if a run does not come to its end.
pub fn of(paper: &str) -> Result<Vec<Picture>, ExperimentError> {
    let mut pictures = Vec::new();
    if let Some(source) = networks(paper)
        && let Some((outcome, _)) = run(&source)?
        && let Some(result) = outcome.results.first()
    {
        pictures.push(drawn(&source, network_of(&source, result)));
    }
    if let Some(source) = timelines(paper)
        && let Some((outcome, recording)) = run(&source)?
        && let Some(result) = outcome.results.first()
    {
        let bars = match paper {
            "htoe" => table_1(&Timing::PAPER),
            _ => packets(&recording.slices(), result.metric("half_round_trip")),
        };
        pictures.push(drawn(&source, timeline::svg(source.caption, &bars)));
    }
    Ok(pictures)
}

fn drawn(source: &Source, svg: String) -> Picture {
    Picture {
        id: source.id,
        caption: source.caption.to_owned(),
        svg,
        file: source.file,
    }
}

/// Runs one point of a shipped experiment. `None` if there is no such file, which a test
/// excludes.
fn run(source: &Source) -> Result<Option<(Outcome, Recording)>, ExperimentError> {
    let Some(experiment) = shipped::experiment(source.file) else {
        return Ok(None);
    };
    let wanted = match (source.id, source.last) {
        // Scenarios in the order of the paper: the third one.
        ("pgas-cluster-regions", _) => {
            let labels: Vec<_> = experiment.labels().collect();
            labels.iter().position(|label| *label == Some("16P"))
        }
        (_, true) => experiment.points().checked_sub(1),
        (_, false) => Some(0),
    };
    let experiment = experiment.only(|place| Some(place) == wanted);
    let recording = Recording::new();
    let recorded = source.id.ends_with("-timeline") && experiment.has_links();
    let outcome = experiment.run(&Monitor::default(), recorded.then_some(&recording))?;
    Ok(Some((outcome, recording)))
}

fn network_of(source: &Source, result: &RunResult) -> String {
    if !result.regions.is_empty() {
        return network::svg(source.caption, &regions(result), &[]);
    }
    let links: Vec<LinkUse> = result
        .links
        .iter()
        .filter(|link| !link.link.ends_with("southbridge"))
        .cloned()
        .collect();
    let cluster = result.configuration.cluster.as_ref();
    let cables = cluster.map_or(&[][..], |cluster| &cluster.cables);
    let idle: Vec<(String, String)> = cables
        .iter()
        .map(|cable| (cable.from.clone(), cable.to.clone()))
        .collect();
    network::svg(source.caption, &links, &idle)
}

/// Boards as if there were a link to each: the share of all lines that its memory has.
fn regions(result: &RunResult) -> Vec<LinkUse> {
    const LINE_BYTES: u64 = 64;
    let mut boards: Vec<(&str, [u64; 2])> = Vec::new();
    for region in &result.regions {
        let board = region.owner.split(',').next().unwrap_or_default();
        let lines = [region.lines_written, region.lines_read];
        match boards.iter_mut().find(|(known, _)| *known == board) {
            Some((_, sum)) => sum.iter_mut().zip(lines).for_each(|(sum, own)| *sum += own),
            None => boards.push((board, lines)),
        }
    }
    let all: u64 = boards.iter().flat_map(|(_, lines)| lines).sum();
    let each = boards.iter().flat_map(|(board, lines)| {
        let one = |(from, lines): (&'static str, &u64)| LinkUse {
            link: format!("processor - {board}"),
            from,
            payload_bytes: lines * LINE_BYTES,
            utilisation: *lines as f64 / all.max(1) as f64,
        };
        ["A", "B"]
            .into_iter()
            .zip(lines)
            .map(one)
            .collect::<Vec<_>>()
    });
    each.collect()
}

/// One round of a ping-pong from the middle of the run; all of it where there are no rounds.
fn packets(slices: &[Slice], half_ns: Option<f64>) -> Vec<Bar> {
    let Some(first) = slices.first() else {
        return Vec::new();
    };
    let begin = |slice: &Slice| slice.begin.as_ns();
    let window = half_ns.and_then(|half| {
        let last = slices.last().map_or(0.0, begin);
        let middle = (begin(first) + last) / 2.0;
        let starts = |slice: &&Slice| {
            (&slice.interface, slice.direction) == (&first.interface, first.direction)
                && begin(slice) >= middle
        };
        let from = slices.iter().find(starts).map(begin)?;
        Some(from..from + 2.0 * half - 1.0)
    });
    let inside = |slice: &&Slice| window.as_ref().is_none_or(|w| w.contains(&begin(slice)));
    let bars = slices.iter().filter(inside).map(|slice| {
        let (a, b) = slice
            .interface
            .split_once(" - ")
            .unwrap_or(("processor", "board"));
        let row = match slice.direction {
            Direction::AToB => format!("{a} → {b}"),
            Direction::BToA => format!("{b} → {a}"),
        };
        Bar {
            row,
            what: slice.what.clone(),
            begin_ns: begin(slice),
            end_ns: slice.end.as_ns(),
        }
    });
    bars.collect()
}

/// The stages of one packet, each behind the other.
fn table_1(timing: &Timing) -> Vec<Bar> {
    let mut now = 0.0;
    [
        ("out: mapping, queuing", timing.mapping),
        ("out: credits, encapsulation", timing.encapsulation),
        ("out: Ethernet MAC", timing.mac_out),
        ("switch and cables", timing.switch),
        ("in: Ethernet MAC", timing.mac_in),
        ("in: de-encapsulation", timing.deencapsulation),
        ("in: queuing", timing.queuing),
    ]
    .map(|(row, time)| {
        let begin_ns = now;
        now += time.as_ns();
        Bar {
            row: row.to_owned(),
            what: format!("{} ns", time.as_ns()),
            begin_ns,
            end_ns: now,
        }
    })
    .into()
}
