use core::fmt;

use crate::bits::{need, room};
use crate::error::{Error, Result};

use super::channel::VirtualChannel;
use super::command::Command;

/// Length of a NOP in bytes.
pub const LEN: usize = 4;

/// Most buffers that one credit field of one NOP can free.
pub const CREDITS_MAX: u8 = 3;

/// View of a NOP: idle filler, credits and acknowledgement.
///
/// | bits | field |
/// |---|---|
/// | `[5:0]` | command 000000 |
/// | `[6]` | DisCon |
/// | `[9:8]` | PostCmd |
/// | `[11:10]` | PostData |
/// | `[13:12]` | RespCmd |
/// | `[15:14]` | RespData |
/// | `[17:16]` | NonPostCmd |
/// | `[19:18]` | NonPostData |
/// | `[21]` | Isoc |
/// | `[22]` | Diag |
/// | `[31:24]` | RxNextPacketToAck (retry mode, else 0) |
#[derive(Clone, Copy, Debug)]
pub struct Packet<T: AsRef<[u8]>> {
    buffer: T,
}

mod field {
    use crate::bits::{Field, tiles_word};

    pub(crate) use crate::ht::command::COMMAND;
    pub const DISCON: Field = Field::new(0, 6, 6);
    pub const POST_CMD: Field = Field::new(0, 9, 8);
    pub const POST_DATA: Field = Field::new(0, 11, 10);
    pub const RESP_CMD: Field = Field::new(0, 13, 12);
    pub const RESP_DATA: Field = Field::new(0, 15, 14);
    pub const NON_POST_CMD: Field = Field::new(0, 17, 16);
    pub const NON_POST_DATA: Field = Field::new(0, 19, 18);
    pub const ISOC: Field = Field::new(0, 21, 21);
    pub const DIAG: Field = Field::new(0, 22, 22);
    pub const NEXT_TO_ACK: Field = Field::new(0, 31, 24);

    const RESERVED: u32 = 1 << 7 | 1 << 20 | 1 << 23;
    const _: () = assert!(tiles_word(
        0,
        &[
            COMMAND,
            DISCON,
            POST_CMD,
            POST_DATA,
            RESP_CMD,
            RESP_DATA,
            NON_POST_CMD,
            NON_POST_DATA,
            ISOC,
            DIAG,
            NEXT_TO_ACK,
        ],
        RESERVED
    ));
}

impl<T: AsRef<[u8]>> Packet<T> {
    /// Checks length and command.
    ///
    /// # Errors
    /// [`Error::Truncated`], or [`Error::Value`] if this is another packet.
    pub fn new_checked(buffer: T) -> Result<Self> {
        let bytes = need("ht.nop", buffer.as_ref(), LEN)?;
        let command = field::COMMAND.get_le(bytes);
        if command != u32::from(Command::Nop.encode()) {
            return Err(Error::Value {
                field: "ht.nop.command",
                expected: "000000 (NOP)",
                got: command.into(),
            });
        }
        Ok(Self { buffer })
    }

    /// The buffer behind the view.
    pub fn into_inner(self) -> T {
        self.buffer
    }

    /// The link is to be disconnected after this packet.
    pub fn disconnect(&self) -> bool {
        field::DISCON.get_le(self.buffer.as_ref()) != 0
    }

    /// Buffers freed in one virtual channel.
    pub fn credits(&self, channel: VirtualChannel) -> ChannelCredits {
        let (command, data) = credit_fields(channel);
        let bytes = self.buffer.as_ref();
        ChannelCredits {
            command: command.get_le(bytes) as u8,
            data: data.get_le(bytes) as u8,
        }
    }

    /// The credits are for the isochronous channels.
    pub fn isoc(&self) -> bool {
        field::ISOC.get_le(self.buffer.as_ref()) != 0
    }

    /// A CRC test phase begins.
    pub fn diag(&self) -> bool {
        field::DIAG.get_le(self.buffer.as_ref()) != 0
    }

    /// RxNextPacketToAck: id of the next packet expected. Everything before
    /// it has arrived. 0 outside retry mode.
    pub fn next_to_ack(&self) -> u8 {
        field::NEXT_TO_ACK.get_le(self.buffer.as_ref()) as u8
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Packet<T> {
    /// Sets DisCon.
    pub fn set_disconnect(&mut self, value: bool) {
        field::DISCON.set_le(self.buffer.as_mut(), value.into());
    }

    /// Sets the buffers freed in one virtual channel.
    pub fn set_credits(&mut self, channel: VirtualChannel, credits: ChannelCredits) {
        let (command, data) = credit_fields(channel);
        command.set_le(self.buffer.as_mut(), credits.command.into());
        data.set_le(self.buffer.as_mut(), credits.data.into());
    }

    /// Sets Isoc.
    pub fn set_isoc(&mut self, value: bool) {
        field::ISOC.set_le(self.buffer.as_mut(), value.into());
    }

    /// Sets Diag.
    pub fn set_diag(&mut self, value: bool) {
        field::DIAG.set_le(self.buffer.as_mut(), value.into());
    }

    /// Sets RxNextPacketToAck.
    pub fn set_next_to_ack(&mut self, value: u8) {
        field::NEXT_TO_ACK.set_le(self.buffer.as_mut(), value.into());
    }
}

/// Whether four bytes are a NOP: as [`Packet::new_checked`].
#[inline]
pub(crate) fn is_nop(bytes: [u8; LEN]) -> bool {
    field::COMMAND.extract(u32::from_le_bytes(bytes)) == Command::Nop.encode().into()
}

/// Command and data buffers that NOPs free together, by channel.
#[inline]
pub(crate) fn credits_of(nops: &[[u8; LEN]]) -> [(u32, u32); 3] {
    VirtualChannel::ALL.map(|channel| {
        let (command, data) = credit_fields(channel);
        nops.iter().fold((0, 0), |(commands, datas), nop| {
            let word = u32::from_le_bytes(*nop);
            (commands + command.extract(word), datas + data.extract(word))
        })
    })
}

#[inline]
const fn credit_fields(channel: VirtualChannel) -> (crate::bits::Field, crate::bits::Field) {
    match channel {
        VirtualChannel::Posted => (field::POST_CMD, field::POST_DATA),
        VirtualChannel::NonPosted => (field::NON_POST_CMD, field::NON_POST_DATA),
        VirtualChannel::Response => (field::RESP_CMD, field::RESP_DATA),
    }
}

/// Buffers of one virtual channel that one NOP frees: 0 to 3 of each kind.
///
/// One command credit is room for one control packet of 4 to 12 bytes, one
/// data credit room for one data phase of up to 64 bytes, however short.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct ChannelCredits {
    command: u8,
    data: u8,
}

impl ChannelCredits {
    /// No credits.
    pub const NONE: Self = Self {
        command: 0,
        data: 0,
    };

    /// Checks the range.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if one of them is above 3, caller's fault.
    pub const fn new(command: u8, data: u8) -> Result<Self> {
        if command > CREDITS_MAX {
            return Err(credit_range("ht.nop.command_credits", command));
        }
        if data > CREDITS_MAX {
            return Err(credit_range("ht.nop.data_credits", data));
        }
        Ok(Self { command, data })
    }

    /// Command buffers freed.
    pub const fn command(self) -> u8 {
        self.command
    }

    /// Data buffers freed.
    pub const fn data(self) -> u8 {
        self.data
    }
}

const fn credit_range(field: &'static str, got: u8) -> Error {
    Error::OutOfRange {
        field,
        min: 0,
        max: CREDITS_MAX as u64,
        got: got as u64,
    }
}

/// A NOP as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Repr {
    /// Disconnect the link after this packet.
    pub disconnect: bool,
    /// Buffers freed in the posted channel.
    pub posted: ChannelCredits,
    /// Buffers freed in the non-posted channel.
    pub non_posted: ChannelCredits,
    /// Buffers freed in the response channel.
    pub response: ChannelCredits,
    /// The credits are for the isochronous channels.
    pub isoc: bool,
    /// A CRC test phase begins.
    pub diag: bool,
    /// RxNextPacketToAck; 0 outside retry mode.
    pub next_to_ack: u8,
}

impl Repr {
    /// Reads the NOP at the start of `bytes`.
    ///
    /// # Errors
    /// As [`Packet::new_checked`].
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let packet = Packet::new_checked(bytes)?;
        Ok(Self {
            disconnect: packet.disconnect(),
            posted: packet.credits(VirtualChannel::Posted),
            non_posted: packet.credits(VirtualChannel::NonPosted),
            response: packet.credits(VirtualChannel::Response),
            isoc: packet.isoc(),
            diag: packet.diag(),
            next_to_ack: packet.next_to_ack(),
        })
    }

    /// Bytes that [`emit`](Self::emit) writes.
    pub const fn buffer_len(&self) -> usize {
        LEN
    }

    /// Writes the NOP to the start of `buffer`; returns its length.
    ///
    /// # Errors
    /// [`Error::BufferTooSmall`], with nothing written.
    #[inline]
    pub fn emit(&self, buffer: &mut [u8]) -> Result<usize> {
        let buffer = room("ht.nop", buffer, LEN)?;
        let mut packet = Packet { buffer: [0; LEN] };
        packet.set_disconnect(self.disconnect);
        for channel in VirtualChannel::ALL {
            packet.set_credits(channel, self.credits(channel));
        }
        packet.set_isoc(self.isoc);
        packet.set_diag(self.diag);
        packet.set_next_to_ack(self.next_to_ack);
        buffer.copy_from_slice(&packet.buffer);
        Ok(LEN)
    }

    /// Buffers freed in one virtual channel.
    pub const fn credits(&self, channel: VirtualChannel) -> ChannelCredits {
        match channel {
            VirtualChannel::Posted => self.posted,
            VirtualChannel::NonPosted => self.non_posted,
            VirtualChannel::Response => self.response,
        }
    }

    /// Sets the buffers freed in one virtual channel.
    pub fn set_credits(&mut self, channel: VirtualChannel, credits: ChannelCredits) {
        match channel {
            VirtualChannel::Posted => self.posted = credits,
            VirtualChannel::NonPosted => self.non_posted = credits,
            VirtualChannel::Response => self.response = credits,
        }
    }
}

impl fmt::Display for Repr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "NOP P={}/{} NP={}/{} R={}/{}",
            self.posted.command,
            self.posted.data,
            self.non_posted.command,
            self.non_posted.data,
            self.response.command,
            self.response.data,
        )?;
        if self.next_to_ack != 0 {
            write!(f, " ack={}", self.next_to_ack)?;
        }
        for (flag, name) in [
            (self.disconnect, " discon"),
            (self.isoc, " isoc"),
            (self.diag, " diag"),
        ] {
            if flag {
                f.write_str(name)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::ToString;

    use super::*;

    /// PostCmd 1, PostData 2, RespCmd 3, RespData 0, NonPostCmd 2,
    /// NonPostData 1, ack 0xa5.
    #[allow(clippy::unusual_byte_groupings)] // one group per field
    const BYTES: [u8; 4] = [0x00, 0b00_11_10_01, 0b0000_01_10, 0xa5];

    fn repr() -> Repr {
        Repr {
            posted: ChannelCredits::new(1, 2).unwrap(),
            response: ChannelCredits::new(3, 0).unwrap(),
            non_posted: ChannelCredits::new(2, 1).unwrap(),
            next_to_ack: 0xa5,
            ..Repr::default()
        }
    }

    #[test]
    fn parse() {
        assert_eq!(Repr::parse(&BYTES), Ok(repr()));
        assert_eq!(repr().to_string(), "NOP P=1/2 NP=2/1 R=3/0 ack=165");
    }

    #[test]
    fn emit() {
        let mut bytes = [0xff; 5];
        assert_eq!(repr().emit(&mut bytes), Ok(4));
        assert_eq!(bytes[..4], BYTES);
        assert_eq!(bytes[4], 0xff);
    }

    #[test]
    fn flags() {
        // DisCon, Isoc and Diag.
        let bytes = [0x40, 0, 0x60, 0];
        let repr = Repr::parse(&bytes).unwrap();
        assert!(repr.disconnect && repr.isoc && repr.diag);
        let mut out = [0; 4];
        repr.emit(&mut out).unwrap();
        assert_eq!(out, bytes);
    }

    #[test]
    fn credits_of_many_are_those_of_each() {
        for first in 0..=255 {
            let nops = [[first, 0x1b, 0x06, 0], [first & 0xc0, first, first, first]];
            let is_nop_too = Repr::parse(&nops[0]).is_ok();
            assert_eq!(is_nop(nops[0]), is_nop_too, "{first}");
            let Ok(one) = Repr::parse(&nops[0]) else {
                continue;
            };
            let two = Repr::parse(&nops[1]).unwrap();
            let sums = credits_of(&nops);
            for (channel, sum) in VirtualChannel::ALL.into_iter().zip(sums) {
                let (a, b) = (one.credits(channel), two.credits(channel));
                let expected = (a.command() + b.command(), a.data() + b.data());
                assert_eq!(sum, (expected.0.into(), expected.1.into()), "{channel:?}");
            }
        }
    }

    #[test]
    fn reserved_bits_are_ignored() {
        assert_eq!(Repr::parse(&[0x80, 0, 0x90, 0]), Ok(Repr::default()));
    }

    #[test]
    fn errors() {
        assert_eq!(
            Repr::parse(&[0, 0, 0]),
            Err(Error::Truncated {
                field: "ht.nop",
                expected_bytes: 4,
                got_bytes: 3
            })
        );
        assert_eq!(
            Repr::parse(&[0xff; 4]),
            Err(Error::Value {
                field: "ht.nop.command",
                expected: "000000 (NOP)",
                got: 0x3f
            })
        );
        assert_eq!(
            ChannelCredits::new(0, 4),
            Err(Error::OutOfRange {
                field: "ht.nop.data_credits",
                min: 0,
                max: 3,
                got: 4
            })
        );
        assert_eq!(
            repr().emit(&mut [0; 3]),
            Err(Error::BufferTooSmall {
                field: "ht.nop",
                expected_bytes: 4,
                got_bytes: 3
            })
        );
    }
}
