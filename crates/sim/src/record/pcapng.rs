//! pcapng, as in the IETF draft "PCAP Now Generic": section header, one
//! interface description per interface, enhanced packet blocks.

use std::io::{self, Write};

use super::{Direction, Encapsulation, Interface, Record};

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;

/// LINKTYPE_USER0: for private use; the dissector claims it.
const LINKTYPE_USER0: u16 = 147;
const LINKTYPE_ETHERNET: u16 = 1;
/// LINKTYPE_USER1: there is no number for PCI Express.
const LINKTYPE_USER1: u16 = 148;

const OPTION_END: u16 = 0;
const OPTION_APPLICATION: u16 = 4;
const OPTION_IF_NAME: u16 = 2;
const OPTION_IF_TSRESOL: u16 = 9;
const OPTION_EPB_FLAGS: u16 = 2;

/// Times count 10^-12 s.
const TSRESOL_PICOSECONDS: u8 = 12;

pub(super) fn write(
    out: &mut impl Write,
    interfaces: &[Interface],
    records: &[&Record],
) -> io::Result<()> {
    let mut body = Vec::new();
    body.extend(BYTE_ORDER_MAGIC.to_le_bytes());
    body.extend(1u16.to_le_bytes()); // major
    body.extend(0u16.to_le_bytes()); // minor
    body.extend(u64::MAX.to_le_bytes()); // section length not given
    option(
        &mut body,
        OPTION_APPLICATION,
        concat!("hostwire-sim ", env!("CARGO_PKG_VERSION")).as_bytes(),
    );
    end_options(&mut body);
    block(out, SECTION_HEADER, &body)?;
    for interface in interfaces {
        let linktype = match interface.encapsulation {
            Encapsulation::HyperTransport => LINKTYPE_USER0,
            Encapsulation::Ethernet => LINKTYPE_ETHERNET,
            Encapsulation::PciExpress => LINKTYPE_USER1,
        };
        let mut body = Vec::new();
        body.extend(linktype.to_le_bytes());
        body.extend(0u16.to_le_bytes()); // reserved
        body.extend(0u32.to_le_bytes()); // no limit on packet length
        option(&mut body, OPTION_IF_NAME, interface.name.as_bytes());
        option(&mut body, OPTION_IF_TSRESOL, &[TSRESOL_PICOSECONDS]);
        end_options(&mut body);
        block(out, INTERFACE_DESCRIPTION, &body)?;
    }
    for record in records {
        let length = record.bytes.len() as u32;
        let time = record.begin.0;
        let mut body = Vec::with_capacity(record.bytes.len() + 40);
        body.extend(record.interface.to_le_bytes());
        body.extend(((time >> 32) as u32).to_le_bytes());
        body.extend((time as u32).to_le_bytes());
        body.extend(length.to_le_bytes());
        body.extend(length.to_le_bytes());
        body.extend(&record.bytes);
        pad(&mut body);
        // 01 inbound, 10 outbound: as end A sees it.
        let flags: u32 = match record.direction {
            Direction::AToB => 0b10,
            Direction::BToA => 0b01,
        };
        option(&mut body, OPTION_EPB_FLAGS, &flags.to_le_bytes());
        end_options(&mut body);
        block(out, ENHANCED_PACKET, &body)?;
    }
    Ok(())
}

fn block(out: &mut impl Write, kind: u32, body: &[u8]) -> io::Result<()> {
    let length = body.len() as u32 + 12;
    out.write_all(&kind.to_le_bytes())?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(body)?;
    out.write_all(&length.to_le_bytes())
}

/// Options are at most 65,535 bytes long; a longer name is cut.
fn option(body: &mut Vec<u8>, code: u16, value: &[u8]) {
    let value = &value[..value.len().min(usize::from(u16::MAX))];
    body.extend(code.to_le_bytes());
    body.extend((value.len() as u16).to_le_bytes());
    body.extend(value);
    pad(body);
}

fn end_options(body: &mut Vec<u8>) {
    body.extend(OPTION_END.to_le_bytes());
    body.extend(0u16.to_le_bytes());
}

fn pad(body: &mut Vec<u8>) {
    body.resize(body.len().next_multiple_of(4), 0);
}
