//! HyperTransport I/O links: control packets, data phases, CRCs, ordering.
//!
//! Everything on a link is a multiple of 4 bytes, least significant first. A
//! *control packet* of 4, 8 or 12 bytes may be followed by a *data phase* of
//! up to 64 bytes. [`ControlRepr`] is the control packet as a value, what a
//! link model routes and queues; [`PacketRepr`] adds the data.
//!
//! ```
//! use hostwire_packet::ht::{Address, Dwords, PacketRepr, RequestRepr, UnitId, VirtualChannel};
//!
//! let line = [0x5a; 64];
//! let write = RequestRepr::posted_write(UnitId::new(0)?, Address::new(0x1000)?, Dwords::MAX);
//! let packet = PacketRepr::new(write, &line)?;
//! let mut bytes = [0; 72];
//! assert_eq!(packet.emit(&mut bytes)?, 72);
//!
//! let packet = PacketRepr::parse(&bytes)?;
//! assert_eq!(packet.control().wire_len(), 72);
//! assert_eq!(packet.control().virtual_channel(), Some(VirtualChannel::Posted));
//! assert_eq!(packet.data(), line);
//! # Ok::<(), hostwire_packet::Error>(())
//! ```
//!
//! Not covered: coherent HyperTransport, whose packets are not public, and
//! what firmware sees of a link (widths, frequencies, registers).

mod channel;
mod command;
mod data;
mod ext_flow;
mod fields;
pub(crate) mod nop;
mod ordering;
mod packet;
mod packet_buf;
pub mod packet_crc;
pub mod periodic_crc;
mod plain_write;
mod request;
mod response;
mod sync;

pub use self::channel::{CreditCost, VirtualChannel};
pub use self::command::Command;
pub use self::data::{
    DataPhase, LEN_MAX as DATA_LEN_MAX, MASKED_BLOCK, MASKED_LEN_MAX, Masked, MaskedBlock,
};
pub use self::ext_flow::{
    Free as ExtendedFlowFree, Packet as ExtendedFlowPacket, Repr as ExtendedFlowRepr,
};
pub use self::fields::{
    Address, ByteEnables, Dwords, MaskedDwords, RqUid, SeqId, SrcTag, UnitId, VcSet,
};
pub use self::nop::{
    CREDITS_MAX as NOP_CREDITS_MAX, ChannelCredits, LEN as NOP_LEN, Packet as NopPacket,
    Repr as NopRepr,
};
pub use self::ordering::{OrderingKey, Passing, may_pass};
pub use self::packet::{
    CONTROL_LEN_MAX, ControlRepr, PACKET_LEN_MAX, Packet, Packets, Repr as PacketRepr,
};
pub use self::packet_buf::PacketBuf;
pub(crate) use self::plain_write::WHOLE_LINE;
pub use self::plain_write::{LINE_LEN, LINE_PACKET_LEN, PlainWrite};
pub use self::request::{
    AtomicOperation, Kind as RequestKind, Packet as RequestPacket, Read, ReadSize,
    Repr as RequestRepr, Write, WriteMode, WriteSize,
};
pub use self::response::{
    Kind as ResponseKind, LEN as RESPONSE_LEN, Packet as ResponsePacket, Repr as ResponseRepr,
    Status as ResponseStatus,
};
pub use self::sync::{LEN as SYNC_LEN, Packet as SyncPacket, Repr as SyncRepr};
