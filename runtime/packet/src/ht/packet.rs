use core::fmt;

use crate::bits::{need, put, room};
use crate::error::{Error, Result};

use super::channel::{CreditCost, VirtualChannel};
use super::command::Command;
use super::data::{DataPhase, LEN_MAX, Masked};
use super::fields::Address;
use super::request::{self, Kind, Write, WriteSize};
use super::{ext_flow, nop, plain_write, response, sync};

/// Longest control packet: a request with address extension.
pub const CONTROL_LEN_MAX: usize = 12;

/// Longest packet: extended request and 16 dwords of data.
pub const PACKET_LEN_MAX: usize = CONTROL_LEN_MAX + LEN_MAX;

/// A control packet of any kind as a value, without its data phase.
///
/// Link models pass it around: it is `Copy`, and it knows the size on the wire, the
/// virtual channel and the credits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ControlRepr {
    /// NOP.
    Nop(nop::Repr),
    /// Sync.
    Sync(sync::Repr),
    /// Extended flow control.
    ExtendedFlow(ext_flow::Repr),
    /// Request.
    Request(request::Repr),
    /// Response.
    Response(response::Repr),
}

impl ControlRepr {
    /// Reads the control packet at the start of `bytes`. Its data phase is not read and
    /// may be missing.
    ///
    /// # Errors
    /// As the `parse` of the format that the command selects.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        Ok(match Command::of(bytes)? {
            Command::Nop => Self::Nop(nop::Repr::parse(bytes)?),
            Command::Sync => Self::Sync(sync::Repr::parse(bytes)?),
            Command::ExtendedFlowControl => Self::ExtendedFlow(ext_flow::Repr::parse(bytes)?),
            Command::ReadResponse | Command::TargetDone => {
                Self::Response(response::Repr::parse(bytes)?)
            }
            _ => Self::Request(request::Repr::parse(bytes)?),
        })
    }

    /// Bytes that [`emit`](Self::emit) writes: 4, 8 or 12.
    #[inline]
    pub const fn buffer_len(&self) -> usize {
        match self {
            Self::Nop(repr) => repr.buffer_len(),
            Self::Sync(repr) => repr.buffer_len(),
            Self::ExtendedFlow(repr) => repr.buffer_len(),
            Self::Request(repr) => repr.buffer_len(),
            Self::Response(repr) => repr.buffer_len(),
        }
    }

    /// Writes the control packet to the start of `buffer`; returns its length.
    ///
    /// # Errors
    /// As the `emit` of the format; with nothing written.
    pub fn emit(&self, buffer: &mut [u8]) -> Result<usize> {
        match self {
            Self::Nop(repr) => repr.emit(buffer),
            Self::Sync(repr) => repr.emit(buffer),
            Self::ExtendedFlow(repr) => repr.emit(buffer),
            Self::Request(repr) => repr.emit(buffer),
            Self::Response(repr) => repr.emit(buffer),
        }
    }

    /// Length in bytes of the data phase that has to follow, 0 for none.
    #[inline]
    pub const fn data_len(&self) -> usize {
        match self {
            Self::Request(repr) => repr.data_len(),
            Self::Response(repr) => repr.data_len(),
            _ => 0,
        }
    }

    /// Bytes that the packet takes on a link: control packet and data phase,
    /// without CRC.
    #[inline]
    pub const fn wire_len(&self) -> usize {
        self.buffer_len() + self.data_len()
    }

    /// Virtual channel, `None` for NOP, Sync and extended flow control.
    #[inline]
    pub const fn virtual_channel(&self) -> Option<VirtualChannel> {
        match self {
            Self::Request(repr) => Some(repr.virtual_channel()),
            Self::Response(_) => Some(VirtualChannel::Response),
            _ => None,
        }
    }

    /// Credits that the packet takes at the receiver.
    #[inline]
    pub const fn credit_cost(&self) -> Option<CreditCost> {
        match self.virtual_channel() {
            None => None,
            Some(channel) => Some(CreditCost {
                channel,
                command: 1,
                data: (self.data_len() > 0) as u8,
            }),
        }
    }

    /// Address of a request that has one.
    pub const fn address(&self) -> Option<Address> {
        match self {
            Self::Request(repr) => repr.address(),
            _ => None,
        }
    }

    /// The command this packet is sent with.
    pub const fn command(&self) -> Command {
        match self {
            Self::Nop(_) => Command::Nop,
            Self::Sync(_) => Command::Sync,
            Self::ExtendedFlow(_) => Command::ExtendedFlowControl,
            Self::Request(repr) => repr.command(),
            Self::Response(repr) => repr.command(),
        }
    }

    /// Whether this control packet may be sent in the middle of the data
    /// phase of another one: it has no data of its own.
    pub const fn may_interrupt_data(&self) -> bool {
        self.data_len() == 0
    }

    fn check_data<'a>(&self, data: &'a [u8]) -> Result<DataPhase<'a>> {
        if data.len() != self.data_len() {
            return Err(Error::Length {
                field: "ht.data",
                expected_bytes: self.data_len(),
                got_bytes: data.len(),
            });
        }
        if let Self::Request(request::Repr {
            kind:
                Kind::Write(Write {
                    address,
                    size: WriteSize::Bytes(count),
                    ..
                }),
            ..
        }) = *self
        {
            return Masked::new_checked(address, count, data).map(DataPhase::Masked);
        }
        Ok(if data.is_empty() {
            DataPhase::None
        } else {
            DataPhase::Dwords(data)
        })
    }
}

impl From<nop::Repr> for ControlRepr {
    fn from(repr: nop::Repr) -> Self {
        Self::Nop(repr)
    }
}

impl From<sync::Repr> for ControlRepr {
    fn from(repr: sync::Repr) -> Self {
        Self::Sync(repr)
    }
}

impl From<ext_flow::Repr> for ControlRepr {
    fn from(repr: ext_flow::Repr) -> Self {
        Self::ExtendedFlow(repr)
    }
}

impl From<request::Repr> for ControlRepr {
    fn from(repr: request::Repr) -> Self {
        Self::Request(repr)
    }
}

impl From<response::Repr> for ControlRepr {
    fn from(repr: response::Repr) -> Self {
        Self::Response(repr)
    }
}

impl fmt::Display for ControlRepr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nop(repr) => repr.fmt(f),
            Self::Sync(repr) => repr.fmt(f),
            Self::ExtendedFlow(repr) => repr.fmt(f),
            Self::Request(repr) => repr.fmt(f),
            Self::Response(repr) => repr.fmt(f),
        }
    }
}

/// View of a whole packet: control packet and data phase, one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Packet<T: AsRef<[u8]>> {
    buffer: T,
    control_len: usize,
    data_len: usize,
}

impl<T: AsRef<[u8]>> Packet<T> {
    /// Checks the control packet, and that the whole data phase is present. Bytes
    /// behind the packet are ignored.
    ///
    /// # Errors
    /// As [`ControlRepr::parse`]; [`Error::Truncated`] for missing data,
    /// [`Error::Value`] for a bad byte mask.
    pub fn new_checked(buffer: T) -> Result<Self> {
        let repr = Repr::parse(buffer.as_ref())?;
        Ok(Self {
            control_len: repr.control.buffer_len(),
            data_len: repr.data.len(),
            buffer,
        })
    }

    /// The buffer behind the view.
    pub fn into_inner(self) -> T {
        self.buffer
    }

    /// Length of the packet in bytes, with data.
    #[allow(clippy::len_without_is_empty)]
    pub const fn len(&self) -> usize {
        self.control_len + self.data_len
    }

    /// Bytes of the control packet, with address extension.
    pub fn control(&self) -> &[u8] {
        self.buffer.as_ref().get(..self.control_len).unwrap_or(&[])
    }

    /// Bytes of the data phase, with the mask of a byte write.
    pub fn data(&self) -> &[u8] {
        let bytes = self.buffer.as_ref();
        bytes.get(self.control_len..self.len()).unwrap_or(&[])
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Packet<T> {
    /// Bytes of the data phase, to be changed in place.
    pub fn data_mut(&mut self) -> &mut [u8] {
        let range = self.control_len..self.len();
        self.buffer.as_mut().get_mut(range).unwrap_or_default()
    }
}

/// A whole packet as a value: control packet and data that fits it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repr<'a> {
    control: ControlRepr,
    data: &'a [u8],
}

impl<'a> Repr<'a> {
    /// Puts a control packet and its data phase together. For a byte write
    /// `data` starts with the mask.
    ///
    /// # Errors
    /// [`Error::Length`] if the data is not as long as the control packet
    /// says, [`Error::Value`] for a bad byte mask, and as
    /// [`request::Repr::check`]. Caller's fault.
    pub fn new(control: impl Into<ControlRepr>, data: &'a [u8]) -> Result<Self> {
        let control = control.into();
        if let ControlRepr::Request(request) = &control {
            request.check()?;
        }
        control.check_data(data)?;
        Ok(Self { control, data })
    }

    /// A packet whose parts are known to be valid and to fit.
    #[inline]
    pub(super) const fn from_valid(control: ControlRepr, data: &'a [u8]) -> Self {
        Self { control, data }
    }

    /// Reads the packet at the start of `bytes`. Its length is
    /// [`buffer_len`](Self::buffer_len); bytes behind it are left alone.
    ///
    /// # Errors
    /// As [`Packet::new_checked`].
    #[inline]
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        match plain_write::parse(bytes) {
            Some(packet) => Ok(packet),
            None => Self::parse_any(bytes),
        }
    }

    #[inline(never)]
    fn parse_any(bytes: &'a [u8]) -> Result<Self> {
        let control = ControlRepr::parse(bytes)?;
        let whole = need("ht.data", bytes, control.wire_len())?;
        let data = whole.get(control.buffer_len()..).unwrap_or(&[]);
        control.check_data(data)?;
        Ok(Self::from_valid(control, data))
    }

    /// Bytes that [`emit`](Self::emit) writes.
    #[inline]
    pub const fn buffer_len(&self) -> usize {
        self.control.buffer_len() + self.data.len()
    }

    /// Writes the packet to the start of `buffer`; returns its length.
    ///
    /// # Errors
    /// [`Error::BufferTooSmall`], and [`Error::OutOfRange`] for an extended
    /// flow control packet; with nothing written.
    #[inline]
    pub fn emit(&self, buffer: &mut [u8]) -> Result<usize> {
        match plain_write::emit(self, buffer) {
            Some(len) => Ok(len),
            None => self.emit_any(buffer),
        }
    }

    #[inline(never)]
    fn emit_any(&self, buffer: &mut [u8]) -> Result<usize> {
        let buffer = room("ht.packet", buffer, self.buffer_len())?;
        let control_len = self.control.emit(buffer)?;
        put(buffer, control_len, self.data);
        Ok(self.buffer_len())
    }

    /// The control packet.
    #[inline]
    pub const fn control(&self) -> &ControlRepr {
        &self.control
    }

    /// Bytes of the data phase, with the mask of a byte write.
    #[inline]
    pub const fn data(&self) -> &'a [u8] {
        self.data
    }

    /// The data phase, taken apart.
    pub fn data_phase(&self) -> DataPhase<'a> {
        // The constructor has checked the data; `None` stands for no data.
        self.control
            .check_data(self.data)
            .unwrap_or(DataPhase::None)
    }
}

impl fmt::Display for Repr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.control.fmt(f)?;
        match self.data_phase() {
            DataPhase::None => Ok(()),
            data => write!(f, ", {data}"),
        }
    }
}

/// Iterator over packets that lie one after the other.
///
/// Ends after the first error, since the length of a broken packet is not
/// known.
#[derive(Clone, Debug)]
pub struct Packets<'a> {
    rest: &'a [u8],
}

impl<'a> Packets<'a> {
    /// Starts at the first byte of `bytes`.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Bytes not yet read.
    pub const fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

impl<'a> Iterator for Packets<'a> {
    type Item = Result<Repr<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let packet = Repr::parse(self.rest);
        self.rest = match &packet {
            Ok(repr) => self.rest.get(repr.buffer_len()..).unwrap_or(&[]),
            Err(_) => &[],
        };
        Some(packet)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::ToString;
    use std::vec::Vec;

    use super::*;
    use crate::ht::fields::{Dwords, UnitId};

    /// Posted write of 8 bytes to 0x40, then a NOP, then a Fence.
    const STREAM: [u8; 24] = [
        0b0010_1100,
        0,
        0b0100_0000,
        0b0100_0000,
        0,
        0,
        0,
        0, // command
        1,
        2,
        3,
        4,
        5,
        6,
        7,
        8, // data
        0,
        0b0000_0101,
        0,
        0, // NOP with one credit of each kind for posted
        0b0011_1100,
        0,
        0,
        0,
    ];

    #[test]
    fn whole_packet() {
        let address = Address::new(0x40).unwrap();
        let write = request::Repr::posted_write(UnitId::MIN, address, Dwords::new(2).unwrap());
        let repr = Repr::new(write, &[1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
        assert_eq!(Repr::parse(&STREAM), Ok(repr));
        assert_eq!(repr.buffer_len(), 16);
        let mut out = [0; PACKET_LEN_MAX];
        assert_eq!(repr.emit(&mut out), Ok(16));
        assert_eq!(out[..16], STREAM[..16]);
        assert_eq!(repr.to_string(), "PWr unit=0 addr=0x40 len=8, 8 bytes");

        let control = repr.control();
        assert_eq!(control.wire_len(), 16);
        assert_eq!(control.address(), Some(address));
        assert!(!control.may_interrupt_data());
        assert_eq!(
            control.credit_cost(),
            Some(CreditCost {
                channel: VirtualChannel::Posted,
                command: 1,
                data: 1
            })
        );
    }

    #[test]
    fn stream() {
        let commands: Vec<_> = Packets::new(&STREAM)
            .map(|packet| packet.unwrap().control().command())
            .collect();
        assert!(matches!(
            commands[..],
            [Command::WritePosted { .. }, Command::Nop, Command::Fence]
        ));
        // Cut inside the data of the first packet: one error, then the end.
        let cut: Vec<_> = Packets::new(&STREAM[..12]).collect();
        assert_eq!(
            cut,
            [Err(Error::Truncated {
                field: "ht.data",
                expected_bytes: 16,
                got_bytes: 12
            })]
        );
    }

    #[test]
    fn flow_control_takes_no_credits() {
        for bytes in [[0; 4], [0xff; 4], [0b0011_0111, 0, 0, 0]] {
            let control = ControlRepr::parse(&bytes).unwrap();
            assert_eq!(control.virtual_channel(), None);
            assert_eq!(control.credit_cost(), None);
            assert!(control.may_interrupt_data());
        }
    }

    #[test]
    fn data_has_to_fit() {
        let write = request::Repr::posted_write(UnitId::MIN, Address::default(), Dwords::MIN);
        assert_eq!(
            Repr::new(write, &[0; 8]),
            Err(Error::Length {
                field: "ht.data",
                expected_bytes: 4,
                got_bytes: 8
            })
        );
    }

    #[test]
    fn view_changes_data_in_place() {
        let mut bytes = STREAM;
        let mut packet = Packet::new_checked(&mut bytes[..]).unwrap();
        packet.data_mut().fill(9);
        assert_eq!(packet.control(), &STREAM[..8]);
        assert_eq!(packet.len(), 16);
        assert_eq!(bytes[8..16], [9; 8]);
        assert_eq!(bytes[16..], STREAM[16..]);
    }
}
