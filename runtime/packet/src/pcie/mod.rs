//! PCI Express: the TLPs and DLLPs that a put-only fabric needs.
//!
//! Covered: memory reads and writes, completions, Ack and Nak, flow control
//! init and update, LCRC and CRC-16, as Gen1 and Gen2 links have them. Not
//! covered: I/O, configuration, message and AtomicOp TLPs, ECRC values, power
//! management, the physical layer beyond the length of its framing.
//!
//! Words are big-endian. [`HeaderRepr`] is the header of a TLP as a value;
//! [`TlpRepr`] adds the data, [`LinkTlpRepr`] sequence number and LCRC.
//!
//! ```
//! use hostwire_packet::pcie::{MemoryRepr, Operation, RoutingId, TlpRepr};
//!
//! let header = MemoryRepr::covering(Operation::Write, RoutingId(0x100), 0x80_0000_0000, 256)?;
//! let data = [7; 256];
//! let tlp = TlpRepr::new(header, &data)?;
//! let mut bytes = [0; 272];
//! assert_eq!(tlp.emit(&mut bytes)?, 272);
//! assert_eq!(TlpRepr::parse(&bytes)?, tlp);
//! // 16 bytes of header, 8 of framing, sequence number and LCRC.
//! assert_eq!(hostwire_packet::pcie::tlp_wire_len(tlp.header()), 256 + 24);
//! # Ok::<(), hostwire_packet::Error>(())
//! ```
//!
//! Source: PCI Express base specification, as generally known.

mod completion;
mod dllp;
mod fields;
mod first;
mod link_tlp;
mod memory;
mod tlp;

pub use self::completion::{
    Header as CompletionHeader, Repr as CompletionRepr, Status as CompletionStatus,
};
pub use self::dllp::{
    FlowControlPhase, LEN as DLLP_LEN, Packet as DllpPacket, Repr as DllpRepr,
    WIRE_LEN as DLLP_WIRE_LEN, crc16 as dllp_crc16,
};
pub use self::fields::{
    ByteCount, ByteEnables, CreditClass, CreditCost, DataCredits, DwLength, LowerAddress,
    RoutingId, SequenceNumber, TrafficClass, VcId,
};
pub use self::first::{Common, TlpType};
pub use self::link_tlp::{
    LCRC_LEN, Packet as LinkTlpPacket, Repr as LinkTlpRepr, SEQUENCE_LEN, tlp_wire_len,
};
pub use self::memory::{Header as MemoryHeader, Operation, Repr as MemoryRepr};
pub use self::tlp::{DIGEST_LEN, HeaderRepr, Packet as TlpPacket, Repr as TlpRepr, TLP_LEN_MAX};
