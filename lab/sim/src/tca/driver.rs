//! The driver of a node: chains of DMA, table by table.

use crate::engine::Ps;
use crate::models::Fabric;
use crate::models::pcie::peach2::chip::{
    self, CONTROL_EPLAST, CONTROL_INTERRUPT, Chip, Descriptor, DmaKind, DmaStatus, REGISTER_BYTES,
    TABLE_BYTES,
};
use crate::models::pcie::peach2::host::{Host, MEMORY_BUS};

use super::chain::{Chain, Piece};
use super::cluster::SubCluster;
use super::device_address::{Device, DeviceAddress};
use super::dma::{DRIVER_BYTES, Driver, Engine};
use super::error::TcaError;

/// A chain that was launched. Nothing happens if it is dropped: the chain runs on.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "wait for it"]
pub struct Transfer {
    node: u16,
    launched: Ps,
}

impl Transfer {
    /// When it was launched.
    pub fn launched(&self) -> Ps {
        self.launched
    }
}

impl SubCluster<'_> {
    /// Lets `node` run a chain: its driver writes the table into the host's memory, and the
    /// doorbell. Writing the table takes no time here.
    ///
    /// # Errors
    /// [`TcaError::RemoteRead`] if a source is another node, [`TcaError::EmptyChain`],
    /// [`TcaError::Busy`]; as [`address`](Self::address). Nothing happens then.
    pub fn launch(
        &mut self,
        node: u16,
        chain: &Chain,
        engine: Engine,
    ) -> Result<Transfer, TcaError> {
        self.check_chain(node, chain)?;
        if self.driver(node).busy {
            return Err(TcaError::Busy { node });
        }
        let phases = self.phases(node, chain, engine)?;
        let driver = self.driver(node);
        driver.busy = true;
        driver.phases = phases;
        let launched = self.sim.now();
        self.start_phase(node)?;
        Ok(Transfer { node, launched })
    }

    /// Whether `node` could run a chain.
    ///
    /// # Errors
    /// As [`launch`](Self::launch), without [`TcaError::Busy`].
    pub fn check_chain(&self, node: u16, chain: &Chain) -> Result<(), TcaError> {
        self.node(node)?;
        if chain.pieces().is_empty() {
            return Err(TcaError::EmptyChain);
        }
        for piece in chain.pieces() {
            if piece.source.node != node {
                return Err(TcaError::RemoteRead {
                    node,
                    target: piece.source,
                });
            }
            self.check(piece.source, piece.bytes)?;
            self.check(piece.destination, piece.bytes)?;
        }
        Ok(())
    }

    /// Waits until the handler of the transfer's last interrupt begins, and returns that time.
    ///
    /// This is local completion: the source may be used again, and all writes are under way in
    /// order. To know that they have arrived let the chain end with a word that the other node
    /// polls.
    ///
    /// # Errors
    /// [`TcaError::Dma`] if the controller ended early; [`TcaError::Never`],
    /// [`TcaError::Run`], [`TcaError::Interrupted`].
    pub fn wait(&mut self, transfer: Transfer) -> Result<Ps, TcaError> {
        let node = transfer.node;
        loop {
            if let Err(error) = self.wait_interrupt(node) {
                self.give_up(node);
                return Err(error);
            }
            if let Some(ended) = self.go_on(node)? {
                return Ok(ended);
            }
        }
    }

    /// Goes on with the transfer of `node` if its handler has been called since the last look.
    /// The time of its last interrupt, if that was it.
    ///
    /// # Errors
    /// [`TcaError::Dma`] if the controller ended early.
    pub(crate) fn go_on(&mut self, node: u16) -> Result<Option<Ps>, TcaError> {
        let Some(time) = self.next_interrupt(node)? else {
            return Ok(None);
        };
        self.driver(node).interrupts += 1;
        let status = self.dma_status(node)?;
        if status != DmaStatus::Done {
            self.give_up(node);
            return Err(TcaError::Dma { node, status });
        }
        if self.driver(node).phases.is_empty() {
            self.driver(node).busy = false;
            return Ok(Some(time));
        }
        self.start_phase(node)?;
        Ok(None)
    }

    /// Forgets the transfer of a node.
    fn give_up(&mut self, node: u16) {
        let driver = self.driver(node);
        driver.phases.clear();
        driver.busy = false;
    }

    /// The node must exist, which the caller has checked: there is a driver for each.
    fn driver(&mut self, node: u16) -> &mut Driver {
        &mut self.drivers[usize::from(node)]
    }

    /// The tables that a chain takes, the first one first.
    fn phases(
        &self,
        node: u16,
        chain: &Chain,
        engine: Engine,
    ) -> Result<Vec<(DmaKind, Vec<Descriptor>)>, TcaError> {
        let own = self.node(node)?;
        let address = |place| self.address(place);
        let each = |make: &dyn Fn(&Piece) -> Result<Descriptor, TcaError>| {
            chain
                .pieces()
                .iter()
                .map(make)
                .collect::<Result<Vec<_>, _>>()
        };
        if engine == Engine::Pipelined {
            let list = each(&|piece| {
                let source = address(piece.source)? - own.base;
                Ok(descriptor(piece, source, address(piece.destination)?))
            })?;
            return Ok(vec![(DmaKind::Pipelined, list)]);
        }
        let inside = |place: &DeviceAddress| place.node == node && place.device == Device::Internal;
        if chain.pieces().iter().all(|piece| inside(&piece.source)) {
            let list = each(&|piece| {
                Ok(descriptor(
                    piece,
                    piece.source.offset,
                    address(piece.destination)?,
                ))
            })?;
            return Ok(vec![(DmaKind::Write, list)]);
        }
        if chain
            .pieces()
            .iter()
            .all(|piece| inside(&piece.destination))
        {
            let list = each(&|piece| {
                Ok(descriptor(
                    piece,
                    piece.destination.offset,
                    address(piece.source)?,
                ))
            })?;
            return Ok(vec![(DmaKind::Read, list)]);
        }
        // Pieces follow each other in the chip's memory, from its end backwards in all.
        let end = own.backed[Device::Internal.block()];
        let Some(start) = end
            .checked_sub(chain.bytes())
            .filter(|start| *start >= REGISTER_BYTES)
        else {
            return Err(TcaError::OutOfRange {
                place: DeviceAddress::new(node, Device::Internal, REGISTER_BYTES),
                len: chain.bytes(),
                first: REGISTER_BYTES,
                end,
            });
        };
        let mut at = start - start % 4;
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        for piece in chain.pieces() {
            reads.push(descriptor(piece, at, address(piece.source)?));
            writes.push(descriptor(piece, at, address(piece.destination)?));
            at += piece.bytes;
        }
        Ok(vec![(DmaKind::Read, reads), (DmaKind::Write, writes)])
    }

    /// Writes the table of the next phase into the host's memory and rings the doorbell.
    fn start_phase(&mut self, node: u16) -> Result<(), TcaError> {
        let own = self.node(node)?;
        let (host, port) = (own.host, own.port);
        let memory_bytes = own.backed[Device::Host.block()];
        let registers = own.base + Device::Internal.block() as u64 * own.block_bytes;
        let driver = self.driver(node);
        if driver.phases.is_empty() {
            return Err(TcaError::EmptyChain);
        }
        let (kind, list) = driver.phases.remove(0);
        // One table for each board of the host.
        let table = memory_bytes - DRIVER_BYTES + TABLE_BYTES * (u64::from(port) % 4);
        let table = MEMORY_BUS + table;
        let bytes = chip::table(&list, kind == DmaKind::Pipelined);
        if let Some(host) = self.sim.component_mut::<Host>(host) {
            host.write(table, &bytes);
        }
        let control = CONTROL_INTERRUPT | CONTROL_EPLAST;
        let doorbell = chip::doorbell(table, list.len() as u32, control);
        self.issue(host, port, registers + kind.header(), &doorbell);
        Ok(())
    }

    fn dma_status(&self, node: u16) -> Result<DmaStatus, TcaError> {
        let chip = self.sim.component::<Chip>(self.node(node)?.chip);
        Ok(chip.map(Chip::dma_status).unwrap_or_default())
    }

    /// When the next handler began that no call has looked at.
    fn next_interrupt(&self, node: u16) -> Result<Option<Ps>, TcaError> {
        let own = self.node(node)?;
        let seen = self.drivers[usize::from(node)].interrupts;
        let host = self.sim.component::<Host>(own.host);
        Ok(host.and_then(|host| host.interrupt(own.port, seen)))
    }

    fn wait_interrupt(&mut self, node: u16) -> Result<(), TcaError> {
        let own = self.node(node)?;
        let (host, port) = (own.host, own.port);
        let seen = self.driver(node).interrupts;
        self.step_until(node, "an interrupt", &mut |sim: &mut Fabric| {
            let host = sim.component::<Host>(host);
            host.is_some_and(|host| host.interrupt(port, seen).is_some())
        })
    }
}

fn descriptor(piece: &Piece, local: u64, address: u64) -> Descriptor {
    Descriptor {
        dwords: (piece.bytes / 4) as u16,
        local,
        address,
    }
}
