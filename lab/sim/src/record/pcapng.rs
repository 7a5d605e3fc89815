//! A recording as a pcapng file.

use std::io::{self, Write};

use hostwire_packet::pcapng::{Block, Direction as Way, LinkType, Resolution};

use super::{Direction, Encapsulation, Interface, Record};

pub(super) fn write(
    out: &mut impl Write,
    interfaces: &[Interface],
    records: &[&Record],
) -> io::Result<()> {
    let mut buffer = Vec::new();
    let mut add = |block: Block<'_>| {
        buffer.resize(block.buffer_len(), 0);
        let len = block.emit(&mut buffer).map_err(io::Error::other)?;
        out.write_all(buffer.get(..len).unwrap_or_default())
    };
    add(Block::Section {
        application: concat!("hostwire-sim ", env!("CARGO_PKG_VERSION")),
    })?;
    for interface in interfaces {
        add(Block::Interface {
            link_type: match interface.encapsulation {
                Encapsulation::HyperTransport => LinkType::User0,
                Encapsulation::Ethernet => LinkType::Ethernet,
                Encapsulation::PciExpress => LinkType::User1,
                Encapsulation::HtxBoard => LinkType::User2,
            },
            name: &interface.name,
            resolution: Resolution::Picoseconds,
        })?;
    }
    for record in records {
        add(Block::Packet {
            interface: record.interface,
            time: record.begin.0,
            // As end A sees it.
            direction: match record.direction {
                Direction::AToB => Way::Outbound,
                Direction::BToA => Way::Inbound,
            },
            data: &record.bytes,
        })?;
    }
    Ok(())
}
