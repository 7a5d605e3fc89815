//! HyperTransport over Ethernet: many packets and credits in one frame.
//!
//! [`FrameBuilder`] packs NOPs and packets up to the MTU, [`FrameRepr`] takes
//! a frame apart after checking all of it. The protocol engine handles sequence numbers,
//! timers and credits; this crate does not.
//!
//! The layout of the HToE specification (version 1.0, 2010) is not public. This layout
//! is a proposal that agrees with what the papers say; `docs/wire/htoe.md` describes
//! it. It is not compatible with other adapters.

mod builder;
mod burst;
/// Ethernet II headers and lengths on the wire.
pub mod ethernet;
mod frame;
mod header;
pub mod place;
/// Frames that are encrypted and authenticated as a whole.
pub mod sealed;
mod session;

pub use self::builder::FrameBuilder;
pub use self::burst::{LINE_CONTROL_LEN, line_control};
pub use self::ethernet::{
    ETHER_TYPE_HTOE, Header as EthernetHeader, MacAddress, Repr as EthernetRepr, VlanTag,
};
pub use self::frame::{
    BuffersTaken, CRC_LEN, CarriedPackets, Frame, OVERHEAD, Repr as FrameRepr, seal,
};
pub use self::header::{
    Contents, FrameType, Header, LEN as HEADER_LEN, Repr as HeaderRepr, VERSION, crc16_ccitt,
};
pub use self::session::{CloseReason, LEN as SESSION_LEN, Repr as SessionRepr};
