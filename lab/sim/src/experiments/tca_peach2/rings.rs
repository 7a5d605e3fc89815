//! Two rings that become one network and two again, while a transfer within a ring goes on.

use crate::engine::Ps;
use crate::experiments::ExperimentError;
use crate::tca::{Device, DeviceAddress, SubCluster, TcaError};

use super::measure::Dma;

/// Where the node across the cable is written.
const FLAG: u64 = 0x1000;

/// How long things took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RingsTimes {
    /// From the first command until the drivers know that all links are up.
    pub coupling: Ps,
    /// A store of 4 bytes to the node at the other end of the cable, until a program sees it.
    pub across: Ps,
    /// From the first command until the drivers know that all ports are off.
    pub separating: Ps,
    /// Data of the transfer over the time to its handler, in GB/s.
    pub gb_s: f64,
    /// TLPs that chips dropped, and packets that links lost.
    pub lost: u64,
}

/// Runs a transfer on a cluster of two separate rings, couples them meanwhile, and separates them.
///
/// # Errors
/// [`ExperimentError::Tca`].
pub fn couple_and_separate(
    cluster: &mut SubCluster<'_>,
    dma: &Dma,
) -> Result<RingsTimes, ExperimentError> {
    let node = dma.from.0;
    let peer = cluster.south_peer(node).ok_or(TcaError::NoSouth)?;
    cluster.power_up()?;
    let transfer = cluster.launch(node, &dma.chain()?, dma.engine)?;
    let launched = transfer.launched();
    let coupled = cluster.couple()?;
    let begun = cluster.now();
    let place = DeviceAddress::new(peer, Device::Host, FLAG);
    cluster.store(node, place, &[1; 4])?;
    let across = cluster.wait_for(peer, place, &[1; 4])? - begun;
    let begun = cluster.now();
    let separated = cluster.separate()?;
    let handler = cluster.wait(transfer)? - launched;
    cluster.settle()?;
    let mut lost: u64 = cluster.links().iter().map(|link| link.counters.lost).sum();
    for node in 0..cluster.nodes() {
        lost += cluster.chip_counters(node as u16)?.dropped;
    }
    Ok(RingsTimes {
        coupling: coupled - launched,
        across,
        separating: separated - begun,
        gb_s: dma.total_bytes() as f64 / handler.as_s() / 1e9,
        lost,
    })
}
