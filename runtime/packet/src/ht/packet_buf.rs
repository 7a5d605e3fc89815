use core::fmt;

use crate::bits::put;

use super::data::LEN_MAX;
use super::packet::{ControlRepr, Repr};

/// A whole packet that owns its data, in one place of fixed size.
///
/// What a receive buffer holds: room for one control packet and 64 bytes. For
/// queues of packets without a heap.
///
/// ```
/// use hostwire_packet::ht::{PacketBuf, PacketRepr};
///
/// let packet = {
///     let received = [0x00, 0x06, 0x00, 0x00];
///     PacketBuf::from(PacketRepr::parse(&received)?)
/// };
/// assert_eq!(packet.control().wire_len(), 4);
/// # Ok::<(), hostwire_packet::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PacketBuf {
    control: ControlRepr,
    /// Zero behind the data.
    data: [u8; LEN_MAX],
}

impl PacketBuf {
    /// The packet, borrowed.
    pub fn as_repr(&self) -> Repr<'_> {
        Repr::from_valid(self.control, self.data())
    }

    /// The control packet.
    pub const fn control(&self) -> &ControlRepr {
        &self.control
    }

    /// Bytes of the data phase, with the mask of a byte write.
    pub fn data(&self) -> &[u8] {
        self.data.get(..self.control.data_len()).unwrap_or(&[])
    }
}

impl From<Repr<'_>> for PacketBuf {
    fn from(packet: Repr<'_>) -> Self {
        let mut data = [0; LEN_MAX];
        put(&mut data, 0, packet.data());
        Self {
            control: *packet.control(),
            data,
        }
    }
}

impl fmt::Debug for PacketBuf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PacketBuf")
            .field("control", &self.control)
            .field("data", &self.data())
            .finish()
    }
}

impl fmt::Display for PacketBuf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_repr().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ht::fields::{Address, Dwords, UnitId};
    use crate::ht::request;

    #[test]
    fn keeps_the_packet() {
        let line = [0x5a; 64];
        for len in (4..=64).step_by(4) {
            let dwords = Dwords::from_len_bytes(len).unwrap();
            let write = request::Repr::posted_write(UnitId::MIN, Address::default(), dwords);
            let packet = Repr::new(write, &line[..len]).unwrap();
            let owned = PacketBuf::from(packet);
            assert_eq!(owned.as_repr(), packet);
            assert_eq!(owned.data(), &line[..len]);
        }
    }
}
