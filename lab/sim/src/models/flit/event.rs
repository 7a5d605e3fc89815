//! The events of devices on links of today.

use std::rc::Rc;

use super::Cell;

/// Events of a switch or host to itself.
#[derive(Debug)]
pub enum FlitEvent {
    /// A switch: what came in at a port may go on.
    Forward {
        /// The port.
        port: u8,
        /// What came.
        cell: Rc<Cell>,
    },
    /// A host: it may have something to send.
    Wake,
    /// A host: a time limit of its protocol.
    Timer,
}

impl FlitEvent {
    pub(in crate::models) fn digest(&self) -> u64 {
        match self {
            FlitEvent::Forward { port, cell } => 1 | u64::from(*port) << 8 | cell.digest() << 16,
            FlitEvent::Wake => 2,
            FlitEvent::Timer => 3,
        }
    }
}
