use core::fmt;

use crate::bits::{need, room};
use crate::error::{Error, Result};

use super::session;

mod crc;

pub use crc::crc16_ccitt;
use crc::hcrc_over;

/// Length of the header in bytes.
pub const LEN: usize = 16;

/// Length of the payload of an ack frame that says how many frames are missing, in bytes.
pub(super) const MISSING_LEN: usize = 2;

/// Version of the format described in `docs/wire/htoe.md`.
pub const VERSION: u8 = 1;

/// View of the header of an HToE frame. All fields are big-endian.
///
/// | bytes | field |
/// |---|---|
/// | 0 | version in `[7:4]`, type in `[3:0]` |
/// | 1 | flags: 0 ACK valid, 1 NAK, 2 SYN, 3 ACK wanted, 4 marked |
/// | 2..4 | virtual link id |
/// | 4..6 | SEQ: number of this frame on its virtual link |
/// | 6..8 | ACK: number of the next frame expected |
/// | 8 | packets in the payload |
/// | 9 | NOPs in the payload |
/// | 10..12 | payload length in bytes |
/// | 12..14 | HCRC: CRC-16 over bytes 0..12 |
/// | 14..16 | key of the session at the receiver |
///
/// Source: own proposal, since the layout of the HToE specification is not
/// public; see `docs/wire/htoe.md`.
#[derive(Clone, Copy, Debug)]
pub struct Header<T: AsRef<[u8]>> {
    buffer: T,
}

pub(super) mod field {
    use core::ops::Range;

    pub const VERSION_TYPE: usize = 0;
    pub const FLAGS: usize = 1;
    pub const VIRTUAL_LINK: Range<usize> = 2..4;
    pub const SEQUENCE: Range<usize> = 4..6;
    pub const ACK: Range<usize> = 6..8;
    pub const PACKETS: usize = 8;
    pub const NOPS: usize = 9;
    pub const PAYLOAD_LEN: Range<usize> = 10..12;
    pub const HCRC: Range<usize> = 12..14;
    pub const KEY: Range<usize> = 14..16;

    const _: () = assert!(HCRC.end == KEY.start && KEY.end == super::LEN);

    pub const FLAG_ACK_VALID: u8 = 1 << 0;
    pub const FLAG_NAK: u8 = 1 << 1;
    pub const FLAG_SYN: u8 = 1 << 2;
    pub const FLAG_ACK_WANTED: u8 = 1 << 3;
    pub const FLAG_MARKED: u8 = 1 << 4;
}

impl<T: AsRef<[u8]>> Header<T> {
    /// Checks the length only; see [`check_hcrc`](Self::check_hcrc).
    ///
    /// # Errors
    /// [`Error::Truncated`].
    pub fn new_checked(buffer: T) -> Result<Self> {
        need("htoe.header", buffer.as_ref(), LEN)?;
        Ok(Self { buffer })
    }

    /// A view of a header that a frame has checked already.
    pub(super) fn over(buffer: T) -> Self {
        Self { buffer }
    }

    /// The buffer behind the view.
    pub fn into_inner(self) -> T {
        self.buffer
    }

    /// Version.
    pub fn version(&self) -> u8 {
        self.u8_at(field::VERSION_TYPE) >> 4
    }

    /// Type as in the header, 4 bits.
    pub fn frame_type(&self) -> u8 {
        self.u8_at(field::VERSION_TYPE) & 0xf
    }

    /// The ACK field means something.
    pub fn ack_valid(&self) -> bool {
        self.u8_at(field::FLAGS) & field::FLAG_ACK_VALID != 0
    }

    /// A gap was seen: send again from ACK on.
    pub fn nak(&self) -> bool {
        self.u8_at(field::FLAGS) & field::FLAG_NAK != 0
    }

    /// SEQ is the first number of a fresh numbering.
    pub fn syn(&self) -> bool {
        self.u8_at(field::FLAGS) & field::FLAG_SYN != 0
    }

    /// The sender wants an ACK at once.
    pub fn ack_wanted(&self) -> bool {
        self.u8_at(field::FLAGS) & field::FLAG_ACK_WANTED != 0
    }

    /// The network has marked frames that the sender of this one has received.
    pub fn marked(&self) -> bool {
        self.u8_at(field::FLAGS) & field::FLAG_MARKED != 0
    }

    /// Virtual link id.
    pub fn virtual_link(&self) -> u16 {
        self.u16_at(field::VIRTUAL_LINK)
    }

    /// SEQ.
    pub fn sequence(&self) -> u16 {
        self.u16_at(field::SEQUENCE)
    }

    /// ACK.
    pub fn ack(&self) -> u16 {
        self.u16_at(field::ACK)
    }

    /// Packets in the payload.
    pub fn packet_count(&self) -> u8 {
        self.u8_at(field::PACKETS)
    }

    /// NOPs in the payload.
    pub fn nop_count(&self) -> u8 {
        self.u8_at(field::NOPS)
    }

    /// Payload length in bytes.
    pub fn payload_len(&self) -> u16 {
        self.u16_at(field::PAYLOAD_LEN)
    }

    /// Key of the session.
    pub fn key(&self) -> u16 {
        self.u16_at(field::KEY)
    }

    /// HCRC as in the header.
    pub fn hcrc(&self) -> u16 {
        self.u16_at(field::HCRC)
    }

    /// Compares the HCRC with the bytes it covers.
    ///
    /// # Errors
    /// [`Error::Checksum`].
    pub fn check_hcrc(&self) -> Result<()> {
        let expected = self.computed_hcrc();
        if self.hcrc() != expected {
            return Err(Error::Checksum {
                field: "htoe.hcrc",
                expected: expected.into(),
                got: self.hcrc().into(),
            });
        }
        Ok(())
    }

    fn computed_hcrc(&self) -> u16 {
        self.buffer.as_ref().first_chunk().map_or(0, hcrc_over)
    }

    fn u8_at(&self, index: usize) -> u8 {
        self.buffer.as_ref().get(index).copied().unwrap_or(0)
    }

    fn u16_at(&self, range: core::ops::Range<usize>) -> u16 {
        let bytes = self.buffer.as_ref().get(range);
        u16::from_be_bytes(
            bytes
                .and_then(|b| b.first_chunk().copied())
                .unwrap_or([0; 2]),
        )
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Header<T> {
    fn put_u8(&mut self, index: usize, value: u8) {
        if let Some(slot) = self.buffer.as_mut().get_mut(index) {
            *slot = value;
        }
    }

    fn put_u16(&mut self, range: core::ops::Range<usize>, value: u16) {
        if let Some(slot) = self.buffer.as_mut().get_mut(range) {
            slot.copy_from_slice(&value.to_be_bytes());
        }
    }

    fn set_flag(&mut self, flag: u8, value: bool) {
        let flags = self.u8_at(field::FLAGS) & !flag;
        self.put_u8(field::FLAGS, if value { flags | flag } else { flags });
    }

    /// Sets ACK and marks it as valid, or marks it as not valid. Call
    /// [`fill_hcrc`](Self::fill_hcrc) afterwards.
    pub fn set_ack(&mut self, value: Option<u16>) {
        self.set_flag(field::FLAG_ACK_VALID, value.is_some());
        self.put_u16(field::ACK, value.unwrap_or(0));
    }

    /// Sets NAK. Call [`fill_hcrc`](Self::fill_hcrc) afterwards.
    pub fn set_nak(&mut self, value: bool) {
        self.set_flag(field::FLAG_NAK, value);
    }

    /// Sets ACK wanted. Call [`fill_hcrc`](Self::fill_hcrc) afterwards.
    pub fn set_ack_wanted(&mut self, value: bool) {
        self.set_flag(field::FLAG_ACK_WANTED, value);
    }

    /// Sets marked. Call [`fill_hcrc`](Self::fill_hcrc) afterwards.
    pub fn set_marked(&mut self, value: bool) {
        self.set_flag(field::FLAG_MARKED, value);
    }

    /// Sets SEQ. Call [`fill_hcrc`](Self::fill_hcrc) afterwards.
    pub fn set_sequence(&mut self, value: u16) {
        self.put_u16(field::SEQUENCE, value);
    }

    /// Computes the HCRC and puts it in.
    pub fn fill_hcrc(&mut self) {
        let hcrc = self.computed_hcrc();
        self.put_u16(field::HCRC, hcrc);
    }
}

/// The purpose of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FrameType {
    /// 1: sequenced; carries NOPs and packets.
    Data,
    /// 2: carries only an ACK, and with a NAK perhaps how many frames are missing. It has no number of
    /// its own: SEQ is that of the next data frame.
    Ack,
    /// 3: the virtual link starts again. Carries a
    /// [`SessionRepr`](super::SessionRepr).
    Reset,
    /// 4: the virtual link has ended. Carries a
    /// [`SessionRepr`](super::SessionRepr).
    Close,
}

impl FrameType {
    pub(super) const fn encode(self) -> u8 {
        match self {
            FrameType::Data => 1,
            FrameType::Ack => 2,
            FrameType::Reset => 3,
            FrameType::Close => 4,
        }
    }

    fn decode(bits: u8) -> Result<Self> {
        Ok(match bits {
            1 => FrameType::Data,
            2 => FrameType::Ack,
            3 => FrameType::Reset,
            4 => FrameType::Close,
            other => {
                return Err(Error::Value {
                    field: "htoe.type",
                    expected: "1 (data), 2 (ack), 3 (reset) or 4 (close)",
                    got: other.into(),
                });
            }
        })
    }
}

/// What the payload of a frame holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Contents {
    /// NOPs, 4 bytes each, in front.
    pub nops: u8,
    /// Packets behind them.
    pub packets: u8,
    /// Bytes of both together.
    pub len: u16,
}

/// Header of an HToE frame as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Repr {
    /// The purpose of the frame.
    pub frame_type: FrameType,
    /// Source and destination pair that this frame belongs to.
    pub virtual_link: u16,
    /// SEQ. In [`FrameType::Ack`] that of the next data frame.
    pub sequence: u16,
    /// ACK: number of the next frame expected; all before it have arrived.
    pub ack: Option<u16>,
    /// A gap was seen: send again from `ack` on. Needs `ack`.
    pub nak: bool,
    /// `sequence` is the first number of a fresh numbering.
    pub syn: bool,
    /// An ACK is wanted at once.
    pub ack_wanted: bool,
    /// The network has marked a frame that the sender of this one received since its previous frame: the
    /// direction towards it is congested (RFC 3168).
    pub marked: bool,
    /// Key that the receiver has chosen for this session, so that the receiver
    /// recognises frames of an earlier session. 0 in [`FrameType::Reset`].
    pub key: u16,
}

impl Repr {
    /// Header of a data frame.
    pub const fn data(virtual_link: u16, sequence: u16, ack: Option<u16>) -> Self {
        Self {
            frame_type: FrameType::Data,
            virtual_link,
            sequence,
            ack,
            nak: false,
            syn: false,
            ack_wanted: false,
            marked: false,
            key: 0,
        }
    }

    /// Header of a frame that only acknowledges.
    pub const fn ack(virtual_link: u16, ack: u16, nak: bool) -> Self {
        Self {
            frame_type: FrameType::Ack,
            virtual_link,
            sequence: 0,
            ack: Some(ack),
            nak,
            syn: false,
            ack_wanted: false,
            marked: false,
            key: 0,
        }
    }

    /// Header of a frame that starts a virtual link again at `sequence`.
    pub const fn reset(virtual_link: u16, sequence: u16) -> Self {
        Self {
            frame_type: FrameType::Reset,
            virtual_link,
            sequence,
            ack: None,
            nak: false,
            syn: true,
            ack_wanted: false,
            marked: false,
            key: 0,
        }
    }

    /// Header of a frame that says that a virtual link has ended.
    pub const fn close(virtual_link: u16) -> Self {
        Self {
            frame_type: FrameType::Close,
            virtual_link,
            sequence: 0,
            ack: None,
            nak: false,
            syn: false,
            ack_wanted: false,
            marked: false,
            key: 0,
        }
    }

    /// The same header with the key of a session.
    #[must_use]
    pub const fn with_key(self, key: u16) -> Self {
        Self { key, ..self }
    }

    /// Reads the header at the start of `bytes`. Checks the HCRC first: lengths are not used before they
    /// are known to be good.
    ///
    /// # Errors
    /// [`Error::Truncated`], [`Error::Checksum`]; [`Error::Value`] for an
    /// unknown version or type and for flags and contents that do not go with
    /// it.
    pub fn parse(bytes: &[u8]) -> Result<(Self, Contents)> {
        let bytes = need("htoe.header", bytes, LEN)?;
        // A copy whose length the compiler knows.
        let header = Header::over(bytes.first_chunk::<LEN>().copied().unwrap_or_default());
        header.check_hcrc()?;
        if header.version() != VERSION {
            return Err(Error::Value {
                field: "htoe.version",
                expected: "1",
                got: header.version().into(),
            });
        }
        let repr = Self {
            frame_type: FrameType::decode(header.frame_type())?,
            virtual_link: header.virtual_link(),
            sequence: header.sequence(),
            ack: header.ack_valid().then(|| header.ack()),
            nak: header.nak(),
            syn: header.syn(),
            ack_wanted: header.ack_wanted(),
            marked: header.marked(),
            key: header.key(),
        };
        let contents = Contents {
            nops: header.nop_count(),
            packets: header.packet_count(),
            len: header.payload_len(),
        };
        repr.check(&contents)?;
        Ok((repr, contents))
    }

    /// Checks that flags and contents go with the type.
    ///
    /// # Errors
    /// [`Error::Value`]: NAK without ACK, an ack frame without ACK, or NOPs
    /// and packets in a frame that is not a data frame. [`Error::Length`]: more NOPs
    /// than payload, bytes that belong to no NOP or packet, an ack frame with another payload than a number
    /// of missing frames, or a reset or close frame without its session.
    pub fn check(&self, contents: &Contents) -> Result<()> {
        if self.ack.is_none() && (self.nak || self.frame_type == FrameType::Ack) {
            return Err(Error::Value {
                field: "htoe.flags.ack_valid",
                expected: "1 with NAK and in ack frames",
                got: 0,
            });
        }
        let len = match self.frame_type {
            FrameType::Data => return check_data(contents),
            FrameType::Ack if self.nak && contents.len != 0 => MISSING_LEN as u16,
            FrameType::Ack => 0,
            FrameType::Reset | FrameType::Close => session::LEN as u16,
        };
        if contents.nops != 0 || contents.packets != 0 {
            return Err(Error::Value {
                field: "htoe.packet_count",
                expected: "no NOPs and packets outside data frames",
                got: u64::from(contents.nops) + u64::from(contents.packets),
            });
        }
        if contents.len != len {
            return Err(Error::Length {
                field: "htoe.payload_len",
                expected_bytes: len.into(),
                got_bytes: contents.len.into(),
            });
        }
        Ok(())
    }

    /// Bytes that [`emit`](Self::emit) writes.
    pub const fn buffer_len(&self) -> usize {
        LEN
    }

    /// Writes the header with its HCRC to the start of `buffer`; returns its
    /// length.
    ///
    /// # Errors
    /// As [`check`](Self::check), or [`Error::BufferTooSmall`]; with nothing
    /// written.
    pub fn emit(&self, contents: &Contents, buffer: &mut [u8]) -> Result<usize> {
        self.check(contents)?;
        let buffer = room("htoe.header", buffer, LEN)?;
        let mut header = Header { buffer: [0; LEN] };
        header.put_u8(field::VERSION_TYPE, VERSION << 4 | self.frame_type.encode());
        header.put_u16(field::VIRTUAL_LINK, self.virtual_link);
        header.set_sequence(self.sequence);
        header.set_ack(self.ack);
        header.set_nak(self.nak);
        header.set_flag(field::FLAG_SYN, self.syn);
        header.set_ack_wanted(self.ack_wanted);
        header.set_marked(self.marked);
        header.put_u16(field::KEY, self.key);
        header.put_u8(field::PACKETS, contents.packets);
        header.put_u8(field::NOPS, contents.nops);
        header.put_u16(field::PAYLOAD_LEN, contents.len);
        header.fill_hcrc();
        buffer.copy_from_slice(&header.buffer);
        Ok(LEN)
    }
}

fn check_data(contents: &Contents) -> Result<()> {
    let nops = usize::from(contents.nops) * 4;
    let len = usize::from(contents.len);
    if len < nops || (contents.packets == 0 && len != nops) {
        return Err(Error::Length {
            field: "htoe.payload_len",
            expected_bytes: nops,
            got_bytes: len,
        });
    }
    Ok(())
}

impl fmt::Display for Repr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.frame_type {
            FrameType::Data => "data",
            FrameType::Ack => "ack",
            FrameType::Reset => "reset",
            FrameType::Close => "close",
        };
        write!(f, "HToE {name} vl={}", self.virtual_link)?;
        if self.frame_type != FrameType::Close {
            write!(f, " seq={}", self.sequence)?;
        }
        if let Some(ack) = self.ack {
            write!(f, " {}={ack}", if self.nak { "nak" } else { "ack" })?;
        }
        if self.syn {
            f.write_str(" syn")?;
        }
        if self.ack_wanted {
            f.write_str(" ack-wanted")?;
        }
        if self.marked {
            f.write_str(" marked")?;
        }
        if self.key != 0 {
            write!(f, " key={}", self.key)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
