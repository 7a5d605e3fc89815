//! Jobs on clusters whose boards are RTL, beside the same clusters of models.

use hostwire_plan::Cluster;
use hostwire_transport::Wire as _;

use crate::engine::EventHash;
use crate::machine::htx::{BoardKind, HtxCluster};
use crate::models::ht::opteron::OpteronConfig;
use crate::wire::{self, Settings};

use super::tests::{built, figure};
use super::*;

const PAIR: &str = "\
fabric = \"htx\"
[board]
BOARD
[[node]]
name = \"a\"
memory = \"64MiB\"
[[node]]
name = \"b\"
memory = \"64MiB\"
[[cable]]
from = \"a.p0\"
to = \"b.p0\"
";

const STAR: &str = "\
fabric = \"htx\"
[board]
BOARD
[[node]]
name = \"a\"
memory = \"64MiB\"
[[node]]
name = \"b\"
memory = \"64MiB\"
[[node]]
name = \"c\"
memory = \"64MiB\"
[[switch]]
name = \"s\"
ports = 3
[[cable]]
from = \"a.p0\"
to = \"s.p0\"
[[cable]]
from = \"b.p0\"
to = \"s.p1\"
[[cable]]
from = \"c.p0\"
to = \"s.p2\"
";

/// What a job has done: its time, and what the simulation has handled.
#[derive(Debug, PartialEq)]
struct Ran {
    time: Ps,
    hash: EventHash,
}

/// Each PE stores to all others, and each finds what the others have stored.
fn job(file: &str, board: &str) -> Result<Ran, ExperimentError> {
    let file = file.replace("BOARD", board);
    let plan = match hostwire_plan::cluster("boards.toml", file.as_bytes()) {
        Ok(Cluster::Htx(plan)) => plan,
        Ok(Cluster::AddressMap(_)) => panic!("not a cluster of boards"),
        Err(rejected) => panic!("{rejected}"),
    };
    let mut cluster = HtxCluster::new(plan, &OpteronConfig::opteron_246())?;
    let (pes, begin) = (cluster.hosts().len(), cluster.sim.now());
    let ran = wire::run(&mut cluster, &Settings::new(pes, 1 << 16), &|wire| {
        let me = wire.pe();
        let others = || (0..wire.pes()).filter(|pe| *pe != me);
        for round in 1..=4_u8 {
            for pe in others() {
                let bytes = [16 * round + me as u8; 200];
                wire.store(pe, 256 * me as usize, &bytes).unwrap();
            }
            wire.quiet().unwrap();
            for pe in others() {
                let mut got = [0; 200];
                while got != [16 * round + pe as u8; 200] {
                    wire.poll().unwrap();
                    let memory = wire.segment().memory();
                    memory.copy_out(256 * pe as usize, &mut got).unwrap();
                }
            }
            wire.quiet().unwrap();
        }
    })?;
    Ok(Ran {
        time: cluster.sim.now() - begin,
        hash: ran.hash,
    })
}

fn job_on(
    file: &str,
    device: BoardKind,
    (name, link): (&str, &str),
) -> Result<Ran, ExperimentError> {
    let board = format!("device = \"{}\"\n{link}", device.name());
    let ran = job(file, &board)?;
    let hosts = file.matches("[[node]]").count();
    figure(&format!(
        "co-simulation | a job on {hosts} hosts, {name}, boards: {} | {}",
        device.name(),
        ran.time
    ));
    Ok(ran)
}

/// Links by name, and as in a file.
const LINKS: [(&str, &str); 3] = [
    ("8 bit at HT200", ""),
    ("16 bit at HT200", "link_width = \"16bit\""),
    (
        "16 bit at HT400",
        "link_width = \"16bit\"\nlink_frequency = \"400MHz\"\nuser_frequency = \"200MHz\"",
    ),
];

#[test]
fn jobs_run_on_boards_of_all_kinds() {
    for link in LINKS {
        let kinds = [BoardKind::RtlCore, BoardKind::Rtl, BoardKind::Model];
        let [Some(core), Some(rtl), Some(model)] =
            kinds.map(|kind| built(job_on(PAIR, kind, link)))
        else {
            return;
        };
        let share = |ran: &Ran| ran.time.as_ns() / model.time.as_ns();
        let text = format!("{link:?}: {core:?}, {rtl:?}, {model:?}");
        // Single messages differ by 2 %, and a poll sees other moments.
        assert!((0.9..1.1).contains(&share(&core)), "{text}");
        // Our design needs fewer clocks than the model.
        assert!((0.5..1.0).contains(&share(&rtl)), "{text}");
    }
}

#[test]
fn cores_that_are_rtl_are_behind_a_modelled_switch() {
    let kinds = [BoardKind::RtlCore, BoardKind::Model];
    let [Some(core), Some(model)] = kinds.map(|kind| built(job_on(STAR, kind, LINKS[0]))) else {
        return;
    };
    let share = core.time.as_ns() / model.time.as_ns();
    assert!((0.9..1.1).contains(&share), "{core:?}, {model:?}");
}

#[test]
fn one_board_is_a_model_and_the_other_has_a_core() {
    let file = PAIR.replacen("64MiB\"\n", "64MiB\"\ndevice = \"rtl-core\"\n", 1);
    let Some(ran) = built(job(&file, "")) else {
        return;
    };
    assert_eq!(built(job(&file, "")), Some(ran), "the same events");
}
