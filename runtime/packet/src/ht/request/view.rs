use crate::bits::need;
use crate::error::{Error, Result};
use crate::ht::command::Command;
use crate::ht::fields::{Address, SeqId, SrcTag, UnitId};

/// View of a request: the control packet with its address extension, if there
/// is one, but without the data phase.
///
/// | bits | field |
/// |---|---|
/// | dword 0 `[5:0]` | command |
/// | dword 0 `[7:6]` | `SeqID[3:2]` |
/// | dword 0 `[12:8]` | UnitID |
/// | dword 0 `[14:13]` | `SeqID[1:0]` |
/// | dword 0 `[15]` | PassPW |
/// | dword 0 `[20:16]` | SrcTag (non-posted) |
/// | dword 0 `[20]` | DataError (posted write) |
/// | dword 0 `[19]` | Chain (posted write) |
/// | dword 0 `[21]` | Compat; Isoc for Flush and Fence |
/// | dword 0 `[25:22]` | Mask/Count |
/// | dword 0 `[31:26]` | `Addr[7:2]` |
/// | dword 1 `[31:0]` | `Addr[39:8]` |
///
/// Flush and Fence end after dword 0. An address extension, command 111110 in
/// `[5:0]` and `Addr[63:40]` in `[31:8]`, goes in front of dword 0.
#[derive(Clone, Copy, Debug)]
pub struct Packet<T: AsRef<[u8]>> {
    pub(super) buffer: T,
    pub(super) command: Command,
    pub(super) extended: bool,
}

pub(in crate::ht) mod field {
    use crate::bits::{Field, tiles_word};

    pub(crate) use crate::ht::command::COMMAND;
    pub const SEQ_ID_HIGH: Field = Field::new(0, 7, 6);
    pub const UNIT_ID: Field = Field::new(0, 12, 8);
    pub const SEQ_ID_LOW: Field = Field::new(0, 14, 13);
    pub const PASS_PW: Field = Field::new(0, 15, 15);
    pub const SRC_TAG: Field = Field::new(0, 20, 16);
    pub const CHAIN: Field = Field::new(0, 19, 19);
    pub const DATA_ERROR: Field = Field::new(0, 20, 20);
    pub const COMPAT_OR_ISOC: Field = Field::new(0, 21, 21);
    pub const MASK_COUNT: Field = Field::new(0, 25, 22);
    pub const ADDRESS_7_2: Field = Field::new(0, 31, 26);
    pub const ADDRESS_39_8: Field = Field::new(1, 31, 0);

    pub const EXTENSION_ADDRESS: Field = Field::new(0, 31, 8);

    const DWORD_0: &[Field] = &[
        COMMAND,
        SEQ_ID_HIGH,
        UNIT_ID,
        SEQ_ID_LOW,
        PASS_PW,
        SRC_TAG,
        COMPAT_OR_ISOC,
        MASK_COUNT,
        ADDRESS_7_2,
    ];
    const _: () = assert!(tiles_word(0, DWORD_0, 0));
    const _: () = assert!(tiles_word(0, &[COMMAND, EXTENSION_ADDRESS], 0b1100_0000));
}

impl<T: AsRef<[u8]>> Packet<T> {
    /// Checks the command, that of an extended request too, and the length.
    ///
    /// # Errors
    /// [`Error::Truncated`], or [`Error::Value`] if this is no request or if
    /// an address extension precedes a packet without address.
    pub fn new_checked(buffer: T) -> Result<Self> {
        let bytes = buffer.as_ref();
        let first = Command::of(bytes)?;
        let extended = first == Command::AddressExtension;
        let command = if extended {
            let inner = Command::of(need("ht.request", bytes, 8)?.get(4..).unwrap_or(&[]))?;
            if !inner.has_address() {
                return Err(Error::Value {
                    field: "ht.request.extended_command",
                    expected: "a request with an address",
                    got: inner.encode().into(),
                });
            }
            inner
        } else {
            first
        };
        if !command.is_request() {
            return Err(Error::Value {
                field: "ht.request.command",
                expected: "a request",
                got: command.encode().into(),
            });
        }
        let packet = Self {
            command,
            extended,
            buffer,
        };
        need("ht.request", packet.buffer.as_ref(), packet.len())?;
        Ok(packet)
    }

    /// The buffer behind the view.
    pub fn into_inner(self) -> T {
        self.buffer
    }

    /// Length of the control packet in bytes: 4, 8 or 12.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        match (self.command.has_address(), self.extended) {
            (false, _) => 4,
            (true, false) => 8,
            (true, true) => 12,
        }
    }

    /// Dwords 0 and 1, after the address extension.
    fn dwords(&self) -> &[u8] {
        let bytes = self.buffer.as_ref();
        bytes
            .get(if self.extended { 4 } else { 0 }..)
            .unwrap_or(&[])
    }

    /// Command of the request proper, never [`Command::AddressExtension`].
    pub fn command(&self) -> Command {
        self.command
    }

    /// UnitID.
    pub fn unit_id(&self) -> UnitId {
        UnitId::from_wire(field::UNIT_ID.get_le(self.dwords()))
    }

    /// SeqID.
    pub fn seq_id(&self) -> SeqId {
        let high = field::SEQ_ID_HIGH.get_le(self.dwords());
        SeqId::from_wire(high << 2 | field::SEQ_ID_LOW.get_le(self.dwords()))
    }

    /// PassPW: the request may pass posted writes.
    pub fn pass_pw(&self) -> bool {
        field::PASS_PW.get_le(self.dwords()) != 0
    }

    /// SrcTag. Valid only in non-posted requests.
    pub fn src_tag(&self) -> SrcTag {
        SrcTag::from_wire(field::SRC_TAG.get_le(self.dwords()))
    }

    /// Chain. Valid only in posted writes.
    pub fn chain(&self) -> bool {
        field::CHAIN.get_le(self.dwords()) != 0
    }

    /// DataError. Valid only in posted writes.
    pub fn data_error(&self) -> bool {
        field::DATA_ERROR.get_le(self.dwords()) != 0
    }

    /// Compat, or Isoc in Flush and Fence.
    pub fn compat_or_isoc(&self) -> bool {
        field::COMPAT_OR_ISOC.get_le(self.dwords()) != 0
    }

    /// Mask/Count as in the packet.
    pub fn mask_count(&self) -> u8 {
        field::MASK_COUNT.get_le(self.dwords()) as u8
    }

    /// Address, `None` for Flush and Fence. Bit 2 of an atomic reads as zero.
    pub fn address(&self) -> Option<Address> {
        if !self.command.has_address() {
            return None;
        }
        let mut bits = u64::from(field::ADDRESS_39_8.get_le(self.dwords())) << 6
            | u64::from(field::ADDRESS_7_2.get_le(self.dwords()));
        if self.command == Command::Atomic {
            bits &= !1;
        }
        let extension = self
            .extended
            .then(|| field::EXTENSION_ADDRESS.get_le(self.buffer.as_ref()));
        Some(Address::from_wire(bits, extension))
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Packet<T> {
    pub(super) fn dwords_mut(&mut self) -> &mut [u8] {
        let start = if self.extended { 4 } else { 0 };
        self.buffer.as_mut().get_mut(start..).unwrap_or_default()
    }

    /// Sets UnitID, as a bridge does that forwards under its own number.
    pub fn set_unit_id(&mut self, value: UnitId) {
        field::UNIT_ID.set_le(self.dwords_mut(), value.get().into());
    }

    /// Sets SeqID.
    pub fn set_seq_id(&mut self, value: SeqId) {
        let value = u32::from(value.get());
        field::SEQ_ID_HIGH.set_le(self.dwords_mut(), value >> 2);
        field::SEQ_ID_LOW.set_le(self.dwords_mut(), value);
    }

    /// Sets PassPW.
    pub fn set_pass_pw(&mut self, value: bool) {
        field::PASS_PW.set_le(self.dwords_mut(), value.into());
    }

    /// Sets SrcTag; use it on non-posted requests only.
    pub fn set_src_tag(&mut self, value: SrcTag) {
        field::SRC_TAG.set_le(self.dwords_mut(), value.get().into());
    }

    /// Sets Chain; use it on posted writes only.
    pub fn set_chain(&mut self, value: bool) {
        field::CHAIN.set_le(self.dwords_mut(), value.into());
    }

    /// Sets DataError; use it on posted writes only.
    pub fn set_data_error(&mut self, value: bool) {
        field::DATA_ERROR.set_le(self.dwords_mut(), value.into());
    }

    /// Sets Compat, or Isoc in Flush and Fence.
    pub fn set_compat_or_isoc(&mut self, value: bool) {
        field::COMPAT_OR_ISOC.set_le(self.dwords_mut(), value.into());
    }

    pub(super) fn set_mask_count(&mut self, value: u32) {
        field::MASK_COUNT.set_le(self.dwords_mut(), value);
    }

    pub(super) fn set_address(&mut self, value: Address) {
        let bits = value.get() >> 2;
        field::ADDRESS_7_2.set_le(self.dwords_mut(), bits as u32);
        field::ADDRESS_39_8.set_le(self.dwords_mut(), (bits >> 6) as u32);
        if self.extended {
            let extension = (value.get() >> 40) as u32;
            field::EXTENSION_ADDRESS.set_le(self.buffer.as_mut(), extension);
        }
    }
}
