//! A southbridge: the device at the end of a non-coherent chain that boots the
//! bootstrap processor. It absorbs what it gets; only its HyperTransport slave
//! capability and its count of broadcasts matter.

use crate::engine::{Component, Context};

use crate::models::DeviceEvent;
use crate::models::ht::Command;
use crate::models::ht::Port;
use crate::models::link::LinkEvent;

/// The component.
#[derive(Default)]
pub struct Southbridge {
    port: Option<Port>,
    /// BaseUnitID in the slave capability; 0 until firmware assigns one.
    pub base_unit_id: u8,
    /// UnitIDs it needs. Assumed: 4, as in an MCP55.
    pub unit_count: u8,
    /// Broadcasts that reached it.
    pub broadcasts: u64,
}

impl Southbridge {
    /// A southbridge on a link.
    pub fn new(port: Port) -> Southbridge {
        Southbridge {
            port: Some(port),
            base_unit_id: 0,
            unit_count: 4,
            broadcasts: 0,
        }
    }
}

impl Component<DeviceEvent> for Southbridge {
    fn handle(&mut self, event: DeviceEvent, ctx: &mut Context<'_, DeviceEvent>) {
        if let DeviceEvent::Ht(LinkEvent::Deliver { packet, .. }) = event {
            self.broadcasts += u64::from(matches!(packet.command, Command::Broadcast { .. }));
            if let Some(port) = &self.port {
                port.release(packet.channel(), packet.has_data(), ctx);
            }
        }
    }
}
