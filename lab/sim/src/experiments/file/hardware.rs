//! Modelled hardware without a workload, for programs that come from elsewhere: a cluster, and
//! parameters of its models.

use std::collections::BTreeMap;

use hostwire_plan::diagnostic::{Rejected, Source, Span};
use hostwire_plan::file::{Findings, Section, decode, parse};
use hostwire_plan::{Cluster, Fabric};
use toml::de::DeTable;

use crate::engine::{Ps, Summary};
use crate::experiments::ExperimentError;
use crate::experiments::link_use::{LinkUse, LinkWatch};
use crate::machine::Machine;
use crate::machine::htx::HtxCluster;
use crate::models;
use crate::record::{Events, RecordError, Recording};
use crate::tca::{SubCluster, TcaError};
use crate::wire::{CallCosts, Platform};

use super::calls;
use super::parameters::{self, Family, Models};
use super::read::{BadExperiment, Clusters, FILE_BYTES_MAX, Load, check_damage, check_title};

/// A cluster with parameters, read and checked.
#[derive(Clone, Debug)]
pub struct Hardware {
    cluster: Cluster,
    models: Models,
    calls: CallCosts,
}

/// Where PEs can run: a processor, or a host with a board or a chip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its name in the plan.
    pub name: String,
    /// Memory of it for programs.
    pub memory_bytes: u64,
}

/// The use of links until some moment: see [`Built::watch_links`].
pub struct LinksBefore(LinkWatch);

/// Hardware that has been built and has booted.
pub enum Built {
    /// Processors joined by HyperTransport.
    Sockets(Box<Machine>),
    /// Hosts with HTX boards.
    Boards(Box<HtxCluster>),
    /// Hosts with PEACH2 chips.
    SubCluster(Box<SubCluster<'static>>),
}

/// Reads a cluster file; or a file that names a cluster as an experiment does, with `[parameters]`
/// of its models. `load` gives the bytes of a cluster file by the path in it.
///
/// # Errors
/// [`BadExperiment`] says what is wrong and where. Never panics.
pub fn read_hardware(name: &str, bytes: &[u8], load: Load<'_>) -> Result<Hardware, BadExperiment> {
    let mut out = Findings::default();
    let mut clusters = Clusters {
        load,
        files: BTreeMap::new(),
        inline: None,
        rejected: None,
    };
    let text = decode(bytes, FILE_BYTES_MAX, "a cluster file", &mut out);
    let root = text.and_then(|text| parse(text, &mut out));
    let names_one = |root: &DeTable<'_>| root.iter().any(|(key, _)| key.get_ref() == "cluster");
    let Some(root) = root.filter(|root| names_one(root.get_ref())) else {
        // A cluster file, or a file that is neither.
        return match hostwire_plan::cluster(name, bytes) {
            Ok(cluster) => Ok(Hardware {
                models: Models::new(Family::of(&cluster)),
                cluster,
                calls: CallCosts::default(),
            }),
            Err(rejected) => Err(BadExperiment {
                files: vec![rejected],
            }),
        };
    };
    match read_named(root.get_ref(), &mut clusters, &mut out) {
        Some(hardware) if !out.has_errors() => Ok(hardware),
        _ => {
            let own = Rejected {
                source: Source::new(name, text.unwrap_or_default()),
                diagnostics: out.into_vec(),
            };
            let files = clusters.rejected.into_iter().chain([own]).collect();
            Err(BadExperiment { files })
        }
    }
}

fn read_named(
    root: &DeTable<'_>,
    clusters: &mut Clusters<'_>,
    out: &mut Findings,
) -> Option<Hardware> {
    let whole = Span::default();
    let mut file = Section::new("a file of hardware", root, whole);
    check_title(&mut file, out);
    let cluster = file
        .value("cluster")
        .and_then(|cluster| clusters.any(cluster, out))?;
    let section = file.table("parameters", "[parameters]", out);
    let place = section.as_ref().map_or(whole, Section::span);
    let (models, _) = parameters::read(section, Family::of(&cluster), cluster.plan(), out);
    if let (Cluster::AddressMap(plan), true) = (&cluster, models.damages()) {
        check_damage(plan, place, out);
    }
    let calls = calls::read(file.table("calls", "[calls]", out), out);
    file.finish(out);
    Some(Hardware::new(cluster, models, calls))
}

impl Hardware {
    pub(super) fn new(cluster: Cluster, models: Models, calls: CallCosts) -> Hardware {
        Hardware {
            cluster,
            models,
            calls,
        }
    }

    /// What calls of programs cost beside what the hardware takes.
    pub fn calls(&self) -> &CallCosts {
        &self.calls
    }

    /// Builds it and lets it boot.
    ///
    /// # Errors
    /// [`ExperimentError`] if the plan cannot be built, or does not boot.
    pub fn build(&self) -> Result<Built, ExperimentError> {
        let plan = match &self.cluster {
            Cluster::AddressMap(plan) => plan,
            Cluster::Htx(plan) => {
                let models = &self.models;
                let cluster =
                    HtxCluster::with_boards(plan.clone(), &models.processor, &models.boards())?;
                return Ok(Built::Boards(Box::new(cluster)));
            }
        };
        Ok(match plan.fabric() {
            Fabric::TcCluster => Built::Sockets(Box::new(self.models.booted(plan)?)),
            Fabric::Peach2 => {
                let cluster = SubCluster::new(plan, &self.models.tca.resolved())?;
                Built::SubCluster(Box::new(cluster))
            }
        })
    }

    /// Checks that what [`build`](Self::build) gives has all names in `events`.
    ///
    /// # Errors
    /// [`ExperimentError::Record`] if one does not; others if the plan cannot be built.
    pub fn check_events(&self, events: &Events) -> Result<(), ExperimentError> {
        match &self.cluster {
            // It need not boot for that.
            Cluster::AddressMap(plan) if plan.fabric() == Fabric::TcCluster => {
                events.check(&self.models.built(plan)?.sim)?;
            }
            _ => events.check(self.build()?.sim())?,
        }
        Ok(())
    }

    /// The places where PEs can run, in order: processors, or hosts with boards or chips.
    ///
    /// # Errors
    /// [`ExperimentError`] if the plan cannot be built, or a board is RTL that nobody has built.
    pub fn places(&self) -> Result<Vec<Place>, ExperimentError> {
        let place = |name: &str, memory_bytes| Place {
            name: name.to_owned(),
            memory_bytes,
        };
        let plan = match &self.cluster {
            Cluster::AddressMap(plan) => plan,
            Cluster::Htx(plan) => {
                HtxCluster::find_designs(plan)?;
                let hosts = plan.hosts().iter();
                return Ok(hosts
                    .map(|host| place(&host.name, host.memory_bytes))
                    .collect());
            }
        };
        Ok(match plan.fabric() {
            Fabric::TcCluster => {
                let machine = Machine::new((**plan).clone(), &self.models.processor)?;
                let sockets = machine.sockets().iter();
                let memory = |id| plan.processor(id).map_or(0, |of| of.memory.bytes);
                let places = sockets.map(|socket| place(&socket.name, memory(socket.id)));
                places.collect()
            }
            Fabric::Peach2 => {
                let cluster = SubCluster::new(plan, &self.models.tca.resolved())?;
                let nodes = (0..).zip(plan.nodes());
                let places =
                    nodes.map(|(number, node)| Ok(place(&node.name, cluster.host_bytes(number)?)));
                places.collect::<Result<_, TcaError>>()?
            }
        })
    }
}

impl Built {
    /// To run a job on it.
    pub fn platform(&mut self) -> Platform<'_, 'static> {
        match self {
            Built::Sockets(machine) => Platform::Sockets(machine),
            Built::Boards(cluster) => Platform::Boards(cluster),
            Built::SubCluster(cluster) => Platform::SubCluster(cluster),
        }
    }

    /// Records what crosses its links from now on, and its events if they are wanted. Times count
    /// from now on.
    ///
    /// # Errors
    /// [`RecordError`] if the event trace cannot begin.
    pub fn record(&mut self, recording: &Recording) -> Result<(), RecordError> {
        let sim = self.sim_mut();
        recording.count_from(sim.now());
        recording.watch_all(sim)
    }

    fn sim_mut(&mut self) -> &mut models::Fabric {
        match self {
            Built::Sockets(machine) => &mut machine.sim,
            Built::Boards(cluster) => &mut cluster.sim,
            Built::SubCluster(cluster) => cluster.sim_mut(),
        }
    }

    /// Counts the use of its links from now on.
    pub fn watch_links(&self) -> LinksBefore {
        LinksBefore(LinkWatch::new(self.sim()))
    }

    /// Every direction of every link that was used, over `time`.
    pub fn links(&self, before: &LinksBefore, time: Ps) -> Vec<LinkUse> {
        let mut links = before.0.used(self.sim(), time);
        links.retain(|link| link.utilisation > 0.0 && !link.link.ends_with("southbridge"));
        links
    }

    fn sim(&self) -> &models::Fabric {
        match self {
            Built::Sockets(machine) => &machine.sim,
            Built::Boards(cluster) => &cluster.sim,
            Built::SubCluster(cluster) => cluster.sim(),
        }
    }

    /// Figures so far.
    pub fn summary(&self) -> Summary {
        match self {
            Built::Sockets(machine) => machine.sim.summary(),
            Built::Boards(cluster) => cluster.sim.summary(),
            Built::SubCluster(cluster) => cluster.summary(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tca::Engine;

    const RING: &str = "fabric = \"peach2\"\n[topology]\nkind = \"ring\"\nnodes = 4\n\
                        [topology.node]\nmemory = \"8GiB\"\n";

    const BOARDS: &str = include_str!("../../../clusters/htx-switch.toml");

    fn read(text: &str) -> Result<Hardware, String> {
        let load = |path: &str| match path {
            "ring.toml" => Ok(RING.as_bytes().to_vec()),
            "boards.toml" => Ok(BOARDS.as_bytes().to_vec()),
            _ => Err("no such file".to_owned()),
        };
        read_hardware("it.toml", text.as_bytes(), &load).map_err(|error| error.to_string())
    }

    fn names(hardware: &Hardware) -> Vec<String> {
        let places = hardware.places().unwrap().into_iter();
        places.map(|place| place.name).collect()
    }

    #[test]
    fn places_have_the_memory_of_the_plan() {
        let bytes = |text: &str| read(text).unwrap().places().unwrap()[0].memory_bytes;
        let boards = include_str!("../../../clusters/two-boards.toml");
        assert_eq!(bytes(boards), 8 << 30);
        assert_eq!(bytes(BOARDS), 2 << 30);
        // The driver has some of it.
        assert!((1..8 << 30).contains(&bytes(RING)), "{}", bytes(RING));
    }

    #[test]
    fn a_cluster_file_has_the_usual_parameters() {
        let ring = read(RING).unwrap();
        assert_eq!(names(&ring), ["n0", "n1", "n2", "n3"]);
        assert_eq!(ring.models.tca.config.puts.dma_from_bytes, 16 << 10);
        let boards = include_str!("../../../clusters/two-boards.toml");
        assert_eq!(read(boards).unwrap().places().unwrap().len(), 2);
        assert_eq!(names(&read(BOARDS).unwrap()), ["a", "b", "c", "d"]);
    }

    #[test]
    fn a_file_that_names_a_cluster_has_parameters() {
        let text = "title = \"a later chip\"\ncluster = \"ring.toml\"\n[parameters]\n\
                    link_rate = \"8GT/s\"\ndma_from = \"4KiB\"\nput_engine = \"two-phase\"\n";
        let config = read(text).unwrap().models.tca.resolved();
        assert_eq!(config.link.speed.rate_mt_s, 8_000);
        assert_eq!(config.puts.dma_from_bytes, 4096);
        assert_eq!(config.puts.engine, Engine::TwoPhase);
    }

    #[test]
    fn boards_have_parameters_too() {
        let text = "cluster = \"boards.toml\"\n[parameters]\ncompleter_cycles = 9\n\
                    send_work = \"40ns\"\nio_read = \"40ns\"\n";
        let boards = read(text).unwrap();
        assert_eq!(names(&boards), ["a", "b", "c", "d"]);
        assert_eq!(boards.models.nic.completer_cycles, 9);
        assert_eq!(boards.models.processor.io_read, Ps::from_ns(40));
        assert_eq!(boards.models.processor.send_work, Ps::from_ns(40));
        // As a cluster file by itself has it.
        assert_eq!(boards.models.nic.crossbar_cycles, 4);
        let Ok(Built::Boards(built)) = boards.build() else {
            panic!("not boards");
        };
        assert_eq!(built.board(0).unwrap().config().completer_cycles, 9);
        let table = format!(
            "[cluster]\n{}",
            BOARDS
                .replace("[[", "[[cluster.")
                .replace("[board]", "[cluster.board]")
        );
        assert_eq!(read(&table).unwrap().places().unwrap().len(), 4);
        let error = read("cluster = \"boards.toml\"\n[parameters]\nhop = \"1ns\"\n").unwrap_err();
        assert!(error.contains("hop"), "{error}");
    }

    #[test]
    fn experiments_sweep_boards() {
        let load = |_: &str| Ok(BOARDS.as_bytes().to_vec());
        let text = "cluster = \"boards.toml\"\n[workload]\nkind = \"program\"\nprogram = [\"x\"]\npes = 2\n\
                    [sweep]\nkey = \"cluster.board.user_frequency\"\nvalues = [\"100MHz\", \"200MHz\"]\n";
        let experiment = super::super::read("it.toml", text.as_bytes(), &load).unwrap();
        for (point, mhz) in [100, 200].into_iter().enumerate() {
            let Ok(Built::Boards(built)) = experiment.hardware(point).unwrap().build() else {
                panic!("not boards");
            };
            assert_eq!(built.plan().hosts()[0].user_mhz, mhz);
        }
        let ping_pong = "cluster = \"boards.toml\"\n[workload]\nkind = \"ping-pong\"\n";
        let error = super::super::read("it.toml", ping_pong.as_bytes(), &load).unwrap_err();
        assert!(
            error.to_string().contains("this one is of HTX boards"),
            "{error}"
        );
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        for (text, expected) in [
            ("cluster = \"none.toml\"", "no such file"),
            ("cluster = 3", "cluster"),
            (
                "cluster = \"ring.toml\"\n[parameters]\nsend_work = \"1ns\"",
                "send_work",
            ),
            (
                "cluster = \"ring.toml\"\n[parameters]\nput_engine = \"x\"",
                "pipelined",
            ),
            ("cluster = \"ring.toml\"\nworkload = 1", "workload"),
            ("fabric = \"peach3\"", "peach3"),
            ("=", "it.toml"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
