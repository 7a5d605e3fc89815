//! Hosts with HTX boards, as test clusters.

use std::sync::Arc;

use hostwire_plan::Cluster;
use hostwire_sim::machine::htx::HtxCluster;
use hostwire_sim::models::ht::opteron::OpteronConfig;
use hostwire_sim::wire::{Settings, run};
use hostwire_transport::Wire;
use hostwire_transport::conformance::{Program, Testbed};

/// So many hosts: two joined by a cable, more around a switch.
pub fn file(hosts: usize, ring: &str) -> String {
    let mut file = format!("fabric = \"htx\"\n[board]\nring = \"{ring}\"\n");
    for host in 0..hosts {
        file += &format!("[[node]]\nname = \"h{host}\"\nmemory = \"512MiB\"\n");
    }
    if hosts == 2 {
        return file + "[[cable]]\nfrom = \"h0.p0\"\nto = \"h1.p0\"\n";
    }
    file += &format!("[[switch]]\nname = \"s\"\nports = {}\n", hosts.max(2));
    for host in 0..hosts {
        file += &format!("[[cable]]\nfrom = \"h{host}.p0\"\nto = \"s.p{host}\"\n");
    }
    file
}

/// The cluster that a file describes.
pub fn cluster(file: &str) -> HtxCluster {
    match hostwire_plan::cluster("boards.toml", file.as_bytes()) {
        Ok(Cluster::Htx(plan)) => HtxCluster::new(plan, &OpteronConfig::opteron_246()).unwrap(),
        Ok(Cluster::AddressMap(_)) => panic!("not a cluster of boards"),
        Err(rejected) => panic!("{rejected}"),
    }
}

/// Hosts with so many PEs each, and rings of this size.
#[derive(Clone, Copy)]
pub struct Boards {
    pub pes_per_host: usize,
    pub ring: &'static str,
    pub events_max: u64,
}

impl Boards {
    pub const ONE_EACH: Boards = Boards {
        pes_per_host: 1,
        ring: "128KiB",
        events_max: 500_000_000,
    };

    pub fn cluster(&self, pes: usize) -> HtxCluster {
        cluster(&file(pes.div_ceil(self.pes_per_host).max(2), self.ring))
    }

    pub fn settings(&self, pes: usize, segment_bytes: usize) -> Settings {
        Settings {
            events_max: self.events_max,
            sockets: (0..pes).map(|pe| pe / self.pes_per_host).collect(),
            ..Settings::new(0, segment_bytes)
        }
    }
}

impl Testbed for Boards {
    fn run(&self, pes: u32, segment_bytes: usize, program: &Program<'_>) {
        let mut cluster = self.cluster(pes as usize);
        let settings = self.settings(pes as usize, segment_bytes);
        let ran = run(&mut cluster, &settings, &|wire| {
            program(wire as Arc<dyn Wire>)
        });
        if let Err(error) = ran {
            panic!("{error}");
        }
    }
}
