use core::fmt;

use crate::bits::{need, put, room};
use crate::crc32::crc32_ieee;
use crate::error::{Error, Result};
use crate::ht::nop::{credits_of, is_nop};
use crate::ht::{NOP_LEN, NopRepr, PacketRepr, PlainWrite, VirtualChannel};

use super::burst::Burst;
use super::header::{self, Contents, FrameType, Header};
use super::session;

/// Length of the CRC-32 at the end, in bytes.
pub const CRC_LEN: usize = 4;

/// Bytes of a frame besides its payload.
pub const OVERHEAD: usize = header::LEN + CRC_LEN;

/// View of an HToE frame, from its header on (behind the Ethernet header).
///
/// | bytes | field |
/// |---|---|
/// | 0..16 | header |
/// | 16.. | NOPs, 4 bytes each |
/// | | packets: 4, 8 or 12 bytes of control packet, 0 to 64 bytes of data; or a burst: many lines after
/// one control packet of 8 |
/// | last 4 | CRC-32 over header and payload, big-endian |
///
/// Bytes behind the CRC-32 are Ethernet padding.
#[derive(Clone, Copy, Debug)]
pub struct Frame<T: AsRef<[u8]>> {
    pub(super) buffer: T,
    pub(super) contents: Contents,
}

impl<T: AsRef<[u8]>> Frame<T> {
    /// Checks the header with its HCRC, and that payload and CRC-32 are present. It
    /// checks neither the CRC-32 nor the packets.
    ///
    /// # Errors
    /// As [`header::Repr::parse`]; [`Error::Truncated`].
    pub fn new_checked(buffer: T) -> Result<Self> {
        Self::open(buffer).map(|(frame, _)| frame)
    }

    fn open(buffer: T) -> Result<(Self, header::Repr)> {
        let (header, contents) = header::Repr::parse(buffer.as_ref())?;
        let frame = Self { buffer, contents };
        need("htoe.payload", frame.buffer.as_ref(), frame.len())?;
        Ok((frame, header))
    }

    /// The buffer behind the view.
    pub fn into_inner(self) -> T {
        self.buffer
    }

    /// Length of the frame in bytes, without padding.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.payload_end() + CRC_LEN
    }

    /// The header.
    pub fn header(&self) -> Header<&[u8]> {
        Header::over(self.buffer.as_ref())
    }

    /// NOPs and packets.
    pub fn payload(&self) -> &[u8] {
        let range = header::LEN..self.payload_end();
        self.buffer.as_ref().get(range).unwrap_or(&[])
    }

    /// CRC-32 as in the frame.
    pub fn crc(&self) -> u32 {
        let bytes = self.buffer.as_ref().get(self.payload_end()..);
        u32::from_be_bytes(
            bytes
                .and_then(|b| b.first_chunk().copied())
                .unwrap_or([0; 4]),
        )
    }

    /// Compares the CRC-32 with the bytes it covers.
    ///
    /// # Errors
    /// [`Error::Checksum`].
    pub fn check_crc(&self) -> Result<()> {
        let expected = self.computed_crc();
        if self.crc() != expected {
            return Err(Error::Checksum {
                field: "htoe.crc",
                expected,
                got: self.crc(),
            });
        }
        Ok(())
    }

    fn payload_end(&self) -> usize {
        header::LEN + usize::from(self.contents.len)
    }

    fn computed_crc(&self) -> u32 {
        crc32_ieee(
            self.buffer
                .as_ref()
                .get(..self.payload_end())
                .unwrap_or(&[]),
        )
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Frame<T> {
    /// Puts a new ACK into a frame that is about to be sent again, and
    /// computes both CRCs. A NAK without ACK is dropped.
    ///
    /// The CRC-32 is always computed again, so this does not detect a frame that was
    /// damaged in memory.
    pub fn update_ack(&mut self, ack: Option<u16>, nak: bool) {
        let mut header = Header::over(self.buffer.as_mut());
        header.set_ack(ack);
        header.set_nak(nak && ack.is_some());
        header.fill_hcrc();
        self.fill_crc();
    }

    pub(super) fn fill_crc(&mut self) {
        let crc = self.computed_crc().to_be_bytes();
        let range = self.payload_end()..self.len();
        if let Some(slot) = self.buffer.as_mut().get_mut(range) {
            slot.copy_from_slice(&crc);
        }
    }
}

/// Writes header and CRC-32 around a payload that lies in `buffer` already,
/// [`HEADER_LEN`](super::HEADER_LEN) bytes behind its start; returns the
/// length of the frame.
///
/// For engines that pack in place. The payload is not checked: the caller has to make
/// sure that it agrees with `contents`.
///
/// # Errors
/// As [`header::Repr::check`], or [`Error::BufferTooSmall`]; with nothing
/// written.
pub fn seal(header: &header::Repr, contents: Contents, buffer: &mut [u8]) -> Result<usize> {
    let len = OVERHEAD + usize::from(contents.len);
    let buffer = room("htoe.frame", buffer, len)?;
    header.emit(&contents, buffer)?;
    Frame { buffer, contents }.fill_crc();
    Ok(len)
}

/// Buffers that the packets of a frame take in one virtual channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct BuffersTaken {
    /// Command buffers, one per packet.
    pub command: u8,
    /// Data buffers, one per packet with data.
    pub data: u8,
}

/// An HToE frame as a value: header, NOPs and packets, all of them valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repr<'a> {
    header: header::Repr,
    nops: &'a [u8],
    packets: &'a [u8],
    packet_count: u8,
    taken: [BuffersTaken; 3],
    session: Option<session::Repr>,
    missing: Option<u16>,
}

impl<'a> Repr<'a> {
    /// Reads the frame at the start of `bytes`. Checks both CRCs and every
    /// NOP and packet, so that a frame is taken as a whole or not at all.
    ///
    /// # Errors
    /// As [`Frame::new_checked`] and [`Frame::check_crc`]; as
    /// [`NopRepr::parse`], [`PacketRepr::parse`] and
    /// [`SessionRepr::parse`](super::SessionRepr::parse); [`Error::Value`] for
    /// a packet outside the virtual channels; [`Error::Length`] if the packets
    /// do not fill the payload.
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        let (frame, header) = Frame::open(bytes)?;
        frame.check_crc()?;
        let contents = frame.contents;
        let payload = bytes.get(header::LEN..frame.payload_end()).unwrap_or(&[]);
        if header.frame_type != FrameType::Data {
            return Self::parse_without_packets(header, payload);
        }
        let mut taken = [BuffersTaken::default(); 3];
        let (nops, packets) = payload
            .split_at_checked(usize::from(contents.nops) * NOP_LEN)
            .unwrap_or((&[], payload));
        for nop in nops.as_chunks::<NOP_LEN>().0 {
            if !is_nop(*nop) {
                NopRepr::parse(nop)?;
            }
        }
        let mut rest = packets;
        let mut plain = 0_u8;
        let mut left = contents.packets;
        while left > 0 {
            if let Some((_, behind)) = PlainWrite::split_first(rest) {
                left -= 1;
                plain += 1;
                rest = behind;
                continue;
            }
            if let Some((burst, behind)) = Burst::split_first(rest)? {
                let lines = burst.lines.len() as u8;
                left = left.checked_sub(lines).ok_or(Error::OutOfRange {
                    field: "htoe.burst.lines",
                    min: 2,
                    max: left.into(),
                    got: lines.into(),
                })?;
                plain += lines;
                rest = behind;
                continue;
            }
            left -= 1;
            let packet = PacketRepr::parse(rest)?;
            let channel = check_carried(&packet)?;
            // 255 packets at most, so neither can overflow.
            if let Some(taken) = taken.get_mut(channel.index()) {
                taken.command = taken.command.saturating_add(1);
                let data = u8::from(!packet.data().is_empty());
                taken.data = taken.data.saturating_add(data);
            }
            rest = rest.get(packet.buffer_len()..).unwrap_or(&[]);
        }
        if let Some(taken) = taken.get_mut(VirtualChannel::Posted.index()) {
            taken.command = taken.command.saturating_add(plain);
            taken.data = taken.data.saturating_add(plain);
        }
        if !rest.is_empty() {
            return Err(Error::Length {
                field: "htoe.payload",
                expected_bytes: payload.len() - rest.len(),
                got_bytes: payload.len(),
            });
        }
        Ok(Self {
            header,
            nops,
            packets,
            packet_count: contents.packets,
            taken,
            session: None,
            missing: None,
        })
    }

    /// An ack, reset or close frame.
    fn parse_without_packets(header: header::Repr, payload: &[u8]) -> Result<Self> {
        let mut frame = Self::empty(header);
        match header.frame_type {
            FrameType::Reset | FrameType::Close => {
                frame.session = Some(session::Repr::parse(payload)?);
            }
            FrameType::Ack | FrameType::Data => {
                frame.missing = payload
                    .first_chunk()
                    .map(|count| u16::from_be_bytes(*count));
            }
        }
        Ok(frame)
    }

    /// A frame without contents: ack, or a data frame that only takes a
    /// number.
    pub const fn empty(header: header::Repr) -> Self {
        Self {
            header,
            nops: &[],
            packets: &[],
            packet_count: 0,
            taken: [BuffersTaken {
                command: 0,
                data: 0,
            }; 3],
            session: None,
            missing: None,
        }
    }

    /// An ack frame with a NAK: the first `missing` frames from ACK on are missing, and the receiver has
    /// the one after them.
    pub const fn of_missing(header: header::Repr, missing: u16) -> Self {
        Self {
            missing: Some(missing),
            ..Self::empty(header)
        }
    }

    /// A frame that starts or ends a virtual link.
    pub const fn of_session(header: header::Repr, session: session::Repr) -> Self {
        Self {
            session: Some(session),
            ..Self::empty(header)
        }
    }

    /// Bytes that [`emit`](Self::emit) writes, without Ethernet header.
    pub const fn buffer_len(&self) -> usize {
        let own = match (self.session, self.missing) {
            (Some(_), _) => session::LEN,
            (None, Some(_)) => header::MISSING_LEN,
            (None, None) => 0,
        };
        OVERHEAD + own + self.nops.len() + self.packets.len()
    }

    /// Writes the frame with its CRCs to the start of `buffer`; returns its
    /// length.
    ///
    /// # Errors
    /// As [`header::Repr::check`], or [`Error::BufferTooSmall`]; with nothing
    /// written.
    pub fn emit(&self, buffer: &mut [u8]) -> Result<usize> {
        let len = self.buffer_len();
        let buffer = room("htoe.frame", buffer, len)?;
        // The counts come from a parsed frame and fit their fields.
        let contents = Contents {
            nops: (self.nops.len() / NOP_LEN) as u8,
            packets: self.packet_count,
            len: (len - OVERHEAD) as u16,
        };
        self.header.emit(&contents, buffer)?;
        if let Some(session) = &self.session {
            session.emit(buffer.get_mut(header::LEN..).unwrap_or_default())?;
        } else if let Some(missing) = self.missing {
            put(buffer, header::LEN, &missing.to_be_bytes());
        }
        put(buffer, header::LEN, self.nops);
        put(buffer, header::LEN + self.nops.len(), self.packets);
        Frame { buffer, contents }.fill_crc();
        Ok(len)
    }

    /// The session of a reset or close frame; `None` in other frames.
    pub const fn session(&self) -> Option<&session::Repr> {
        self.session.as_ref()
    }

    /// How many frames are missing from ACK on, in an ack frame that says it.
    pub const fn missing(&self) -> Option<u16> {
        self.missing
    }

    /// Buffers that the packets take in one virtual channel.
    pub const fn taken(&self, channel: VirtualChannel) -> BuffersTaken {
        self.taken[channel.index()]
    }

    /// Header.
    pub const fn header(&self) -> &header::Repr {
        &self.header
    }

    /// The NOPs, first one first.
    pub fn nops(&self) -> impl ExactSizeIterator<Item = NopRepr> + 'a {
        // `parse` has checked every NOP, so the default is never used.
        let chunks = self.nops.as_chunks::<NOP_LEN>().0;
        chunks
            .iter()
            .map(|nop| NopRepr::parse(nop).unwrap_or_default())
    }

    /// The packets, first one first.
    pub const fn packets(&self) -> CarriedPackets<'a> {
        CarriedPackets {
            rest: self.packets,
            burst: Burst::NONE,
            count: self.packet_count,
        }
    }

    /// Credits that all NOPs together return for one virtual channel: command
    /// buffers, data buffers.
    pub fn credits(&self, channel: VirtualChannel) -> (u32, u32) {
        self.all_credits()[channel.index()]
    }

    /// [`credits`](Self::credits) of all channels, by index.
    #[inline]
    pub fn all_credits(&self) -> [(u32, u32); 3] {
        credits_of(self.nops.as_chunks::<NOP_LEN>().0)
    }
}

/// Packets of a frame. Ends at the last one; there are no errors, since
/// [`Repr::parse`] has checked them all.
#[derive(Clone, Debug)]
pub struct CarriedPackets<'a> {
    rest: &'a [u8],
    /// The remaining lines of the present burst, which come before the rest.
    burst: Burst<'a>,
    count: u8,
}

impl<'a> CarriedPackets<'a> {
    /// The next packet if it is a plain write, or all remaining lines of a burst as one write: the fast
    /// path for nearly all packets. [`next`](Iterator::next) gives all packets, one by one.
    #[inline]
    pub fn next_plain(&mut self) -> Option<PlainWrite<'a>> {
        let count = self.count.checked_sub(1)?;
        if self.burst.lines.is_empty() {
            if let Some((write, rest)) = PlainWrite::split_first(self.rest) {
                self.count = count;
                self.rest = rest;
                return Some(write);
            }
            self.start_burst()?;
        }
        let Burst { address, lines } = core::mem::replace(&mut self.burst, Burst::NONE);
        self.count = self.count.checked_sub(lines.len() as u8)?;
        Some(PlainWrite {
            address,
            data: lines.as_flattened(),
        })
    }

    /// Takes a burst from the rest, if one is next.
    #[inline]
    fn start_burst(&mut self) -> Option<()> {
        let (burst, rest) = Burst::split_first(self.rest).ok()??;
        self.burst = burst;
        self.rest = rest;
        Some(())
    }
}

impl<'a> Iterator for CarriedPackets<'a> {
    type Item = PacketRepr<'a>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.count = self.count.checked_sub(1)?;
        if self.burst.lines.is_empty() && self.start_burst().is_none() {
            let packet = PacketRepr::parse(self.rest).ok()?;
            self.rest = self.rest.get(packet.buffer_len()..).unwrap_or(&[]);
            return Some(packet);
        }
        self.burst.take_line()?.packet()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.count.into(), Some(self.count.into()))
    }
}

impl ExactSizeIterator for CarriedPackets<'_> {}

impl fmt::Display for Repr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} nops={} packets={} len={}",
            self.header,
            self.nops.len() / NOP_LEN,
            self.packet_count,
            self.buffer_len()
        )?;
        match &self.session {
            Some(session) => write!(f, " {session}"),
            None => Ok(()),
        }
    }
}

/// Only packets of a virtual channel are carried: each takes a credit.
#[inline]
pub(super) fn check_carried(packet: &PacketRepr<'_>) -> Result<VirtualChannel> {
    match packet.control().virtual_channel() {
        Some(channel) => Ok(channel),
        None => Err(Error::Value {
            field: "htoe.packet.command",
            expected: "a request or a response",
            got: packet.control().command().encode().into(),
        }),
    }
}

#[cfg(test)]
mod tests;
