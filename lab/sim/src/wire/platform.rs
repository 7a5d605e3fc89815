//! The modelled hardware under a job. The driver, the board and the wire of a PE are the same for
//! all of it.

use hostwire_transport::Memory;

use crate::engine::{Ps, Stepped};
use crate::machine::Machine;
use crate::machine::htx::HtxCluster;
use crate::models::Fabric;
use crate::tca::SubCluster;

use super::board::Sent;
use super::{VirtualWire, WireError};

/// A machine that runs a job.
pub enum Platform<'a, 'w> {
    /// Booted processors, joined by HyperTransport.
    Sockets(&'a mut Machine),
    /// Hosts with HTX boards.
    Boards(&'a mut HtxCluster),
    /// Hosts with PEACH2 chips.
    SubCluster(&'a mut SubCluster<'w>),
}

impl<'a> From<&'a mut Machine> for Platform<'a, 'static> {
    fn from(machine: &'a mut Machine) -> Self {
        Platform::Sockets(machine)
    }
}

impl<'a> From<&'a mut HtxCluster> for Platform<'a, 'static> {
    fn from(cluster: &'a mut HtxCluster) -> Self {
        Platform::Boards(cluster)
    }
}

impl<'a, 'w> From<&'a mut SubCluster<'w>> for Platform<'a, 'w> {
    fn from(cluster: &'a mut SubCluster<'w>) -> Self {
        Platform::SubCluster(cluster)
    }
}

impl Platform<'_, '_> {
    /// For jobs of processes.
    #[cfg(target_os = "linux")]
    pub(super) fn sim(&self) -> &Fabric {
        match self {
            Platform::Sockets(machine) => &machine.sim,
            Platform::Boards(cluster) => &cluster.sim,
            Platform::SubCluster(cluster) => cluster.sim(),
        }
    }
}

/// The cores that carry out what PEs ask for: what differs from one kind of hardware to another.
pub(super) trait Cores {
    /// The simulation.
    fn sim(&self) -> &Fabric;

    /// The simulation, to go on with it.
    fn sim_mut(&mut self) -> &mut Fabric;

    /// Makes the wires. From here on what arrives appears in the segments.
    fn attach(&mut self, segments: Vec<Memory>) -> Result<Vec<VirtualWire>, WireError>;

    /// Nothing appears in the segments any more.
    fn detach(&mut self);

    /// A PE asks its core for an operation, which is on the board.
    ///
    /// # Errors
    /// If the hardware cannot do it.
    fn take(&mut self, pe: usize) -> Result<(), WireError>;

    /// The core of a PE shall look at the board at `time`, or now if that has passed.
    fn wake(&mut self, pe: usize, time: Ps);

    /// An event has been handled.
    ///
    /// # Errors
    /// If the hardware cannot do what a PE has asked for.
    fn handled(&mut self, _: Stepped) -> Result<(), WireError> {
        Ok(())
    }

    /// Where a PE runs.
    fn name(&self, pe: usize) -> &str;

    /// What the components that send for this PE have sent, as the board counts arrivals.
    fn sent(&self, pe: usize) -> Vec<Sent>;

    /// Whether this wait of a component is that of a core which has nothing to do.
    fn is_idle_core(&self, component: &str, resource: &str) -> bool;
}
