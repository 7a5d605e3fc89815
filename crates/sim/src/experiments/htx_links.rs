//! Use of the links of hosts with HTX boards: to the boards, and the cables between them.

use hostwire_plan::htx::{Device, LinkPort};

use crate::devices::ht::Link;
use crate::devices::link::End;
use crate::devices::link_port::LinkPortCounters;
use crate::engine::Ps;
use crate::machine::htx::HtxCluster;

use super::traffic::LinkUse;

/// Use of the links before something runs: their buffers have been announced.
pub(super) struct BoardWatch(Vec<[Ps; 2]>);

const ENDS: [(End, &str); 2] = [(End::A, "A"), (End::B, "B")];

impl BoardWatch {
    pub(super) fn new(cluster: &HtxCluster) -> Self {
        let links = cluster.hosts().iter().map(|host| {
            let link = cluster.sim.component::<Link>(host.link);
            ENDS.map(|(end, _)| link.map_or(Ps::ZERO, |link| link.counters(end).busy))
        });
        Self(links.collect())
    }

    /// Every direction of every link, over `time`.
    pub(super) fn used(&self, cluster: &HtxCluster, time: Ps) -> Vec<LinkUse> {
        let time = time.as_s().max(f64::MIN_POSITIVE);
        let mut used = Vec::new();
        let hosts = cluster.hosts().iter().zip(cluster.plan().hosts());
        for ((host, plan), before) in hosts.zip(&self.0) {
            let Some(link) = cluster.sim.component::<Link>(host.link) else {
                continue;
            };
            used.extend(ENDS.into_iter().zip(before).map(|((end, from), before)| {
                let counters = link.counters(end);
                LinkUse {
                    link: format!("{} - its board", plan.name),
                    from,
                    payload_bytes: counters.payload_bytes,
                    utilisation: (counters.busy - *before).as_s() / time,
                }
            }));
        }
        for cable in cluster.plan().cables() {
            let [a, b] = cable.ends.map(|end| counters(cluster, end));
            let link = cable.ends.map(|end| cluster.plan().port_name(end));
            let directions = [("A", a, b), ("B", b, a)].map(|(from, out, into)| LinkUse {
                link: link.join(" - "),
                from,
                payload_bytes: into.delivered_bytes,
                utilisation: out.busy.as_s() / time,
            });
            used.extend(directions);
        }
        used
    }
}

fn counters(cluster: &HtxCluster, end: LinkPort) -> LinkPortCounters {
    let port = match end.device {
        Device::Host(host) => cluster.board(host).and_then(|nic| nic.link_port(end.port)),
        Device::Switch(at) => cluster.switch(at).and_then(|switch| switch.port(end.port)),
    };
    port.map(|port| port.counters).unwrap_or_default()
}
