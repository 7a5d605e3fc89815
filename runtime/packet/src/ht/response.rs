use core::fmt;

use crate::bits::{need, room};
use crate::error::{Error, Result};

use super::command::Command;
use super::fields::{Dwords, RqUid, SrcTag, UnitId};

/// Length of a response without its data, in bytes.
pub const LEN: usize = 4;

/// View of a response, without the data phase.
///
/// | bits | field |
/// |---|---|
/// | `[5:0]` | command 110000 (RdResponse) or 110011 (TgtDone) |
/// | `[7]` | Isoc |
/// | `[12:8]` | UnitID |
/// | `[14]` | Bridge: sent by the host or a bridge, that is downstream |
/// | `[15]` | PassPW |
/// | `[20:16]` | SrcTag |
/// | `[21]` | Error0 |
/// | `[25:22]` | Count (RdResponse) |
/// | `[29]` | Error1 |
/// | `[31:30]` | `RqUID[1:0]` |
///
/// A response is routed by UnitID, RqUID, Bridge and SrcTag, never by an address. So a
/// TCCluster cannot route reads.
#[derive(Clone, Copy, Debug)]
pub struct Packet<T: AsRef<[u8]>> {
    buffer: T,
    command: Command,
}

mod field {
    use crate::bits::{Field, tiles_word};

    pub(crate) use crate::ht::command::COMMAND;
    pub const ISOC: Field = Field::new(0, 7, 7);
    pub const UNIT_ID: Field = Field::new(0, 12, 8);
    pub const BRIDGE: Field = Field::new(0, 14, 14);
    pub const PASS_PW: Field = Field::new(0, 15, 15);
    pub const SRC_TAG: Field = Field::new(0, 20, 16);
    pub const ERROR_0: Field = Field::new(0, 21, 21);
    pub const COUNT: Field = Field::new(0, 25, 22);
    pub const ERROR_1: Field = Field::new(0, 29, 29);
    pub const RQ_UID: Field = Field::new(0, 31, 30);

    const RESERVED: u32 = 1 << 6 | 1 << 13 | 0b111 << 26;
    const _: () = assert!(tiles_word(
        0,
        &[
            COMMAND, ISOC, UNIT_ID, BRIDGE, PASS_PW, SRC_TAG, ERROR_0, COUNT, ERROR_1, RQ_UID
        ],
        RESERVED
    ));
}

impl<T: AsRef<[u8]>> Packet<T> {
    /// Checks length and command.
    ///
    /// # Errors
    /// [`Error::Truncated`], or [`Error::Value`] if this is no response.
    pub fn new_checked(buffer: T) -> Result<Self> {
        let command = Command::of(need("ht.response", buffer.as_ref(), LEN)?)?;
        if !command.is_response() {
            return Err(Error::Value {
                field: "ht.response.command",
                expected: "110000 (RdResponse) or 110011 (TgtDone)",
                got: command.encode().into(),
            });
        }
        Ok(Self { buffer, command })
    }

    /// The buffer behind the view.
    pub fn into_inner(self) -> T {
        self.buffer
    }

    /// Command.
    pub fn command(&self) -> Command {
        self.command
    }

    /// Isochronous.
    pub fn isoc(&self) -> bool {
        field::ISOC.get_le(self.buffer.as_ref()) != 0
    }

    /// UnitID: the requester if `bridge`, else the unit that answers.
    pub fn unit_id(&self) -> UnitId {
        UnitId::from_wire(field::UNIT_ID.get_le(self.buffer.as_ref()))
    }

    /// Sent by the host or a bridge.
    pub fn bridge(&self) -> bool {
        field::BRIDGE.get_le(self.buffer.as_ref()) != 0
    }

    /// The response may pass posted writes.
    pub fn pass_pw(&self) -> bool {
        field::PASS_PW.get_le(self.buffer.as_ref()) != 0
    }

    /// Tag of the request answered.
    pub fn src_tag(&self) -> SrcTag {
        SrcTag::from_wire(field::SRC_TAG.get_le(self.buffer.as_ref()))
    }

    /// Count + 1. Valid only in RdResponse.
    pub fn dwords(&self) -> Dwords {
        Dwords::from_count(field::COUNT.get_le(self.buffer.as_ref()))
    }

    /// How the request ended.
    pub fn status(&self) -> Status {
        let bytes = self.buffer.as_ref();
        match (field::ERROR_0.get_le(bytes), field::ERROR_1.get_le(bytes)) {
            (0, 0) => Status::Normal,
            (0, _) => Status::DataError,
            (_, 0) => Status::TargetAbort,
            (_, _) => Status::MasterAbort,
        }
    }

    /// Low bits of the requester's UnitID.
    pub fn rq_uid(&self) -> RqUid {
        RqUid::from_wire(field::RQ_UID.get_le(self.buffer.as_ref()))
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Packet<T> {
    /// Sets Isoc.
    pub fn set_isoc(&mut self, value: bool) {
        field::ISOC.set_le(self.buffer.as_mut(), value.into());
    }

    /// Sets UnitID.
    pub fn set_unit_id(&mut self, value: UnitId) {
        field::UNIT_ID.set_le(self.buffer.as_mut(), value.get().into());
    }

    /// Sets Bridge.
    pub fn set_bridge(&mut self, value: bool) {
        field::BRIDGE.set_le(self.buffer.as_mut(), value.into());
    }

    /// Sets PassPW.
    pub fn set_pass_pw(&mut self, value: bool) {
        field::PASS_PW.set_le(self.buffer.as_mut(), value.into());
    }

    /// Sets SrcTag.
    pub fn set_src_tag(&mut self, value: SrcTag) {
        field::SRC_TAG.set_le(self.buffer.as_mut(), value.get().into());
    }

    /// Sets Error0 and Error1.
    pub fn set_status(&mut self, value: Status) {
        let (error_0, error_1) = match value {
            Status::Normal => (0, 0),
            Status::DataError => (0, 1),
            Status::TargetAbort => (1, 0),
            Status::MasterAbort => (1, 1),
        };
        field::ERROR_0.set_le(self.buffer.as_mut(), error_0);
        field::ERROR_1.set_le(self.buffer.as_mut(), error_1);
    }

    /// Sets RqUID.
    pub fn set_rq_uid(&mut self, value: RqUid) {
        field::RQ_UID.set_le(self.buffer.as_mut(), value.get().into());
    }
}

/// How a request ended: (Error0, Error1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Status {
    /// 00
    #[default]
    Normal,
    /// 01: the data was damaged.
    DataError,
    /// 10: the target could not.
    TargetAbort,
    /// 11: no device has this address.
    MasterAbort,
}

impl Status {
    /// Name as the specification has it.
    pub const fn name(self) -> &'static str {
        match self {
            Status::Normal => "normal",
            Status::DataError => "data error",
            Status::TargetAbort => "target abort",
            Status::MasterAbort => "master abort",
        }
    }
}

/// Which response this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// RdResponse, with data; also answers atomics.
    Read {
        /// Data that follows.
        dwords: Dwords,
    },
    /// TgtDone, without data: a non-posted write or a Flush is finished.
    TargetDone,
}

/// A response as a value, without its data phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Repr {
    /// Which response.
    pub kind: Kind,
    /// The requester if `bridge`, else the unit that answers.
    pub unit_id: UnitId,
    /// Tag of the request answered.
    pub src_tag: SrcTag,
    /// Low bits of the requester's UnitID.
    pub rq_uid: RqUid,
    /// Sent by the host or a bridge.
    pub bridge: bool,
    /// May pass posted writes.
    pub pass_pw: bool,
    /// Isochronous.
    pub isoc: bool,
    /// How the request ended.
    pub status: Status,
}

impl Repr {
    /// Reads the response at the start of `bytes`. Its data phase is not read and may
    /// be missing.
    ///
    /// # Errors
    /// As [`Packet::new_checked`].
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let packet = Packet::new_checked(bytes)?;
        let kind = if packet.command() == Command::ReadResponse {
            Kind::Read {
                dwords: packet.dwords(),
            }
        } else {
            Kind::TargetDone
        };
        Ok(Self {
            kind,
            unit_id: packet.unit_id(),
            src_tag: packet.src_tag(),
            rq_uid: packet.rq_uid(),
            bridge: packet.bridge(),
            pass_pw: packet.pass_pw(),
            isoc: packet.isoc(),
            status: packet.status(),
        })
    }

    /// Bytes that [`emit`](Self::emit) writes.
    pub const fn buffer_len(&self) -> usize {
        LEN
    }

    /// Length in bytes of the data phase that has to follow, 0 for none.
    pub const fn data_len(&self) -> usize {
        match self.kind {
            Kind::Read { dwords } => dwords.len_bytes(),
            Kind::TargetDone => 0,
        }
    }

    /// Writes the response to the start of `buffer`; returns its length.
    ///
    /// # Errors
    /// [`Error::BufferTooSmall`], with nothing written.
    pub fn emit(&self, buffer: &mut [u8]) -> Result<usize> {
        let buffer = room("ht.response", buffer, LEN)?;
        buffer.fill(0);
        let command = self.command();
        field::COMMAND.set_le(buffer, command.encode().into());
        if let Kind::Read { dwords } = self.kind {
            field::COUNT.set_le(buffer, dwords.count());
        }
        let mut packet = Packet { buffer, command };
        packet.set_unit_id(self.unit_id);
        packet.set_src_tag(self.src_tag);
        packet.set_rq_uid(self.rq_uid);
        packet.set_bridge(self.bridge);
        packet.set_pass_pw(self.pass_pw);
        packet.set_isoc(self.isoc);
        packet.set_status(self.status);
        Ok(LEN)
    }

    /// The command this response is sent with.
    pub const fn command(&self) -> Command {
        match self.kind {
            Kind::Read { .. } => Command::ReadResponse,
            Kind::TargetDone => Command::TargetDone,
        }
    }
}

impl fmt::Display for Repr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} unit={} tag={}",
            self.command(),
            self.unit_id,
            self.src_tag
        )?;
        if let Kind::Read { dwords } = self.kind {
            write!(f, " len={}", dwords.len_bytes())?;
        }
        if self.bridge {
            f.write_str(" bridge")?;
        }
        if self.pass_pw {
            f.write_str(" passpw")?;
        }
        if self.status != Status::Normal {
            write!(f, " {}", self.status.name())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::ToString;

    use super::*;

    /// RdResponse: Isoc, UnitID 9, Bridge, PassPW, SrcTag 3, Count 15,
    /// Error1 (data error), RqUID 2.
    const READ: [u8; 4] = [0b1011_0000, 0b1100_1001, 0b1100_0011, 0b1010_0011];

    fn read() -> Repr {
        Repr {
            kind: Kind::Read {
                dwords: Dwords::MAX,
            },
            unit_id: UnitId::new(9).unwrap(),
            src_tag: SrcTag::new(3).unwrap(),
            rq_uid: RqUid::new(2).unwrap(),
            bridge: true,
            pass_pw: true,
            isoc: true,
            status: Status::DataError,
        }
    }

    #[test]
    fn read_response() {
        assert_eq!(Repr::parse(&READ), Ok(read()));
        let mut bytes = [0; 4];
        assert_eq!(read().emit(&mut bytes), Ok(4));
        assert_eq!(bytes, READ);
        assert_eq!(read().data_len(), 64);
        assert_eq!(
            read().to_string(),
            "RdResponse unit=9 tag=3 len=64 bridge passpw data error"
        );
    }

    #[test]
    fn target_done() {
        let repr = Repr {
            kind: Kind::TargetDone,
            rq_uid: RqUid::MIN,
            bridge: false,
            pass_pw: false,
            isoc: false,
            ..read()
        };
        for (status, high) in [
            (Status::Normal, [0x03, 0x00]),
            (Status::DataError, [0x03, 0x20]),
            (Status::TargetAbort, [0x23, 0x00]),
            (Status::MasterAbort, [0x23, 0x20]),
        ] {
            let bytes = [0b0011_0011, 9, high[0], high[1]];
            let repr = Repr { status, ..repr };
            assert_eq!(Repr::parse(&bytes), Ok(repr));
            let mut out = [0; 4];
            repr.emit(&mut out).unwrap();
            assert_eq!(out, bytes);
        }
        assert_eq!(repr.data_len(), 0);
    }

    #[test]
    fn errors() {
        assert_eq!(
            Repr::parse(&[0xff; 4]),
            Err(Error::Value {
                field: "ht.response.command",
                expected: "110000 (RdResponse) or 110011 (TgtDone)",
                got: 0x3f
            })
        );
        assert_eq!(
            Repr::parse(&READ[..2]),
            Err(Error::Truncated {
                field: "ht.response",
                expected_bytes: 4,
                got_bytes: 2
            })
        );
    }
}
