//! Processors that PEs can run on, of a machine or of hosts with boards.

use hostwire_plan::NodeId;

use crate::engine::ComponentId;
use crate::machine::Machine;
use crate::machine::htx::HtxCluster;
use crate::models::ht::nic::NicConfig;

/// A processor. A job names it by its place in the list of all.
#[derive(Clone, Debug)]
pub(super) struct Socket {
    /// Its name in reports.
    pub(super) name: String,
    /// Its component, an Opteron.
    pub(super) component: ComponentId,
    /// Its node. Processors of a node share memory.
    pub(super) node: NodeId,
    /// Where its memory begins.
    pub(super) memory_start: u64,
    /// The board over which it sends messages; `None` where stores reach remote memory.
    pub(super) board: Option<NetworkBoard>,
}

/// A board that carries messages.
#[derive(Clone, Debug)]
pub(super) struct NetworkBoard {
    /// Its parameters.
    pub(super) config: NicConfig,
    /// Hosts of the network.
    pub(super) hosts: usize,
}

/// Those of a machine.
pub(super) fn of_machine(machine: &Machine) -> Vec<Socket> {
    let plan = machine.plan();
    let sockets = machine.sockets().iter().map(|socket| Socket {
        name: socket.name.clone(),
        component: socket.component,
        node: socket.id.node,
        memory_start: plan
            .processor(socket.id)
            .map_or(0, |processor| processor.memory.start.0),
        board: None,
    });
    sockets.collect()
}

/// Those of hosts with boards, by number of the host.
pub(super) fn of_boards(cluster: &HtxCluster) -> Vec<Socket> {
    let hosts = cluster.hosts().iter().zip(cluster.plan().hosts());
    let hosts = (0_u16..).zip(hosts).map(|(number, (host, plan))| Socket {
        name: plan.name.clone(),
        component: host.host,
        node: NodeId(number),
        memory_start: 0,
        board: cluster
            .board_config(number.into())
            .map(|config| NetworkBoard {
                config: config.clone(),
                hosts: cluster.hosts().len(),
            }),
    });
    hosts.collect()
}
