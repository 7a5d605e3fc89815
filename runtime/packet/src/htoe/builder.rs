use crate::bits::{put, room};
use crate::error::{Error, Result};
use crate::ht::{Address, LINE_LEN, NOP_LEN, NopRepr, PacketRepr};

use super::burst::{LINE_CONTROL_LEN, line_control};
use super::frame::{Frame, OVERHEAD, check_carried};
use super::header::{self, Contents};

/// Packs NOPs and packets into one data frame, in place.
///
/// The length of the buffer is the limit: give it as many bytes as the MTU
/// allows. NOPs come first. Dropping the builder without
/// [`finish`](Self::finish) leaves a buffer without a frame.
///
/// ```
/// use hostwire_packet::ht::{Address, Dwords, NopRepr, PacketRepr, RequestRepr, UnitId};
/// use hostwire_packet::htoe::{FrameBuilder, FrameRepr, HeaderRepr};
///
/// let line = [0x5a; 64];
/// let write = RequestRepr::posted_write(UnitId::new(0)?, Address::new(0x1000)?, Dwords::MAX);
/// let packet = PacketRepr::new(write, &line)?;
///
/// let mut buffer = [0; 1500];
/// let mut builder = FrameBuilder::new(HeaderRepr::data(7, 1, None), &mut buffer)?;
/// builder.push_nop(&NopRepr::default())?;
/// while builder.fits_packet(packet.buffer_len()) {
///     builder.push_packet(&packet)?;
/// }
/// let len = builder.finish()?;
///
/// let frame = FrameRepr::parse(&buffer[..len])?;
/// assert_eq!(frame.packets().count(), 20);
/// # Ok::<(), hostwire_packet::Error>(())
/// ```
#[derive(Debug)]
pub struct FrameBuilder<'a> {
    buffer: &'a mut [u8],
    header: header::Repr,
    contents: Contents,
}

impl<'a> FrameBuilder<'a> {
    /// Starts a frame.
    ///
    /// # Errors
    /// As [`header::Repr::check`], or [`Error::BufferTooSmall`] if not even an
    /// empty frame fits.
    pub fn new(header: header::Repr, buffer: &'a mut [u8]) -> Result<Self> {
        header.check(&Contents::default())?;
        room("htoe.frame", buffer, OVERHEAD)?;
        Ok(Self {
            buffer,
            header,
            contents: Contents::default(),
        })
    }

    /// Whether one more NOP fits.
    pub fn fits_nop(&self) -> bool {
        self.contents.packets == 0 && self.contents.nops < u8::MAX && NOP_LEN <= self.room_len()
    }

    /// Whether one more packet of `len` bytes fits.
    pub fn fits_packet(&self, len: usize) -> bool {
        self.contents.packets < u8::MAX && len <= self.room_len()
    }

    /// Payload bytes still free.
    pub fn room_len(&self) -> usize {
        let used = usize::from(self.contents.len);
        let limit = self
            .buffer
            .len()
            .saturating_sub(OVERHEAD)
            .min(u16::MAX.into());
        limit.saturating_sub(used)
    }

    /// The packets so far.
    pub const fn contents(&self) -> &Contents {
        &self.contents
    }

    /// Adds a NOP.
    ///
    /// # Errors
    /// [`Error::Value`] after a packet or outside a data frame, [`Error::OutOfRange`] for the
    /// 256th, [`Error::BufferTooSmall`]. The frame stays as it was.
    pub fn push_nop(&mut self, nop: &NopRepr) -> Result<()> {
        if self.contents.packets > 0 {
            return Err(Error::Value {
                field: "htoe.nop",
                expected: "NOPs in front of all packets",
                got: self.contents.packets.into(),
            });
        }
        let nops = next_count("htoe.nop_count", self.contents.nops)?;
        self.push(
            NOP_LEN,
            |buffer| nop.emit(buffer),
            |contents| contents.nops = nops,
        )
    }

    /// Adds a packet.
    ///
    /// # Errors
    /// [`Error::Value`] for a packet outside the virtual channels or outside
    /// a data frame, [`Error::OutOfRange`] for the 256th,
    /// [`Error::BufferTooSmall`]. The frame stays as it was.
    pub fn push_packet(&mut self, packet: &PacketRepr<'_>) -> Result<()> {
        check_carried(packet)?;
        let packets = next_count("htoe.packet_count", self.contents.packets)?;
        self.push(
            packet.buffer_len(),
            |buffer| packet.emit(buffer),
            |contents| contents.packets = packets,
        )
    }

    /// Adds whole lines to be written from `address` on: one line as a posted write, more
    /// lines as a burst.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for no lines, for more than 255 packets, and for lines that are
    /// not below 2^40; [`Error::Misaligned`], [`Error::BufferTooSmall`]. The frame stays as it
    /// was.
    pub fn push_lines(&mut self, address: u64, lines: &[[u8; LINE_LEN]]) -> Result<()> {
        if !address.is_multiple_of(LINE_LEN as u64) {
            return Err(Error::Misaligned {
                field: "htoe.burst.address",
                align_bytes: LINE_LEN as u64,
                got: address,
            });
        }
        let max = u8::MAX - self.contents.packets;
        let count = u8::try_from(lines.len()).ok().filter(|count| *count <= max);
        let control = count.and_then(|count| Some((count, line_control(address, count)?)));
        let Some((count, control)) = control else {
            return Err(Error::OutOfRange {
                field: "htoe.burst.lines",
                min: 1,
                max: (Address::PLAIN_END.saturating_sub(address) / LINE_LEN as u64).min(max.into()),
                got: lines.len() as u64,
            });
        };
        self.push(
            LINE_CONTROL_LEN + lines.as_flattened().len(),
            |buffer| {
                put(buffer, 0, &control);
                put(buffer, LINE_CONTROL_LEN, lines.as_flattened());
                Ok(buffer.len())
            },
            |contents| contents.packets += count,
        )
    }

    /// Writes header and CRCs; returns the length of the frame.
    ///
    /// # Errors
    /// No error is possible: `new` and the pushes have checked everything.
    pub fn finish(self) -> Result<usize> {
        let Self {
            buffer,
            header,
            contents,
        } = self;
        header.emit(&contents, buffer)?;
        let mut frame = Frame { buffer, contents };
        frame.fill_crc();
        Ok(frame.len())
    }

    fn push(
        &mut self,
        len: usize,
        emit: impl FnOnce(&mut [u8]) -> Result<usize>,
        count: impl FnOnce(&mut Contents),
    ) -> Result<()> {
        let free = self.room_len();
        if len > free {
            return Err(Error::BufferTooSmall {
                field: "htoe.payload",
                expected_bytes: len,
                got_bytes: free,
            });
        }
        let mut contents = self.contents;
        contents.len = contents.len.saturating_add(len as u16);
        count(&mut contents);
        self.header.check(&contents)?;
        let start = header::LEN + usize::from(self.contents.len);
        emit(self.buffer.get_mut(start..start + len).unwrap_or_default())?;
        self.contents = contents;
        Ok(())
    }
}

fn next_count(field: &'static str, count: u8) -> Result<u8> {
    count.checked_add(1).ok_or(Error::OutOfRange {
        field,
        min: 0,
        max: u8::MAX.into(),
        got: u64::from(u8::MAX) + 1,
    })
}
