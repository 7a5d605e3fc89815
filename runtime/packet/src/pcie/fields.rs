//! Field values that several PCI Express formats share.

use core::fmt;

use crate::bits::bounded;

bounded! {
    /// Traffic class of a TLP, 3 bits.
    TrafficClass(u8), 0 ..= 7, "pcie.tlp.traffic_class"
}

bounded! {
    /// Length of the data of a TLP in dwords: 1 to 1024. On the wire 1024 is 0.
    DwLength(u16), 1 ..= 1024, "pcie.tlp.length"
}

bounded! {
    /// Byte enables of one dword, bit 0 for the lowest address. 4 bits.
    ByteEnables(u8), 0 ..= 15, "pcie.tlp.byte_enables"
}

bounded! {
    /// Bytes still to be completed, this completion included: 1 to 4096. On
    /// the wire 4096 is 0.
    ByteCount(u16), 1 ..= 4096, "pcie.completion.byte_count"
}

bounded! {
    /// Low address bits of the first byte of a completion, 7 bits.
    LowerAddress(u8), 0 ..= 127, "pcie.completion.lower_address"
}

bounded! {
    /// Sequence number of the data link layer, 12 bits.
    SequenceNumber(u16), 0 ..= 4095, "pcie.sequence_number"
}

bounded! {
    /// Virtual channel of a flow control DLLP, 3 bits.
    VcId(u8), 0 ..= 7, "pcie.dllp.vc"
}

bounded! {
    /// Data credits of a flow control DLLP, in units of 16 bytes, modulo
    /// 4096. 12 bits.
    DataCredits(u16), 0 ..= 4095, "pcie.dllp.data_credits"
}

impl DwLength {
    /// Length in bytes, 4 to 4096.
    pub const fn len_bytes(self) -> usize {
        self.get() as usize * 4
    }

    /// Bits of the Length field; 0 stands for 1024.
    pub(crate) const fn from_field(bits: u32) -> Self {
        Self::from_wire(if bits == 0 { 1024 } else { bits })
    }

    pub(crate) const fn field(self) -> u32 {
        self.get() as u32 % 1024
    }
}

impl ByteCount {
    pub(crate) const fn from_field(bits: u32) -> Self {
        Self::from_wire(if bits == 0 { 4096 } else { bits })
    }

    pub(crate) const fn field(self) -> u32 {
        self.get() as u32 % 4096
    }
}

impl SequenceNumber {
    /// The number after this one; 0 follows 4095.
    pub const fn next(self) -> Self {
        Self::from_wire((self.get() as u32 + 1) % 4096)
    }

    /// How far this number lies ahead of `earlier`, modulo 4096.
    ///
    /// A sender stops when NEXT lies 2048 or more ahead of ACKD.
    pub const fn ahead_of(self, earlier: Self) -> u16 {
        self.get().wrapping_sub(earlier.get()) % 4096
    }
}

/// Routing ID: bus, device and function. Names requesters and completers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct RoutingId(pub u16);

impl RoutingId {
    /// Bus number.
    pub const fn bus(self) -> u8 {
        (self.0 >> 8) as u8
    }

    /// Device number, 0 to 31.
    pub const fn device(self) -> u8 {
        (self.0 >> 3) as u8 & 31
    }

    /// Function number, 0 to 7.
    pub const fn function(self) -> u8 {
        self.0 as u8 & 7
    }
}

impl fmt::Display for RoutingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:02x}:{:02x}.{}",
            self.bus(),
            self.device(),
            self.function()
        )
    }
}

/// Which flow control credits a TLP takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CreditClass {
    /// Memory writes.
    Posted,
    /// Reads.
    NonPosted,
    /// Completions.
    Completion,
}

impl CreditClass {
    /// Short name as in the names of DLLPs: P, NP, Cpl.
    pub const fn name(self) -> &'static str {
        match self {
            CreditClass::Posted => "P",
            CreditClass::NonPosted => "NP",
            CreditClass::Completion => "Cpl",
        }
    }
}

/// Credits that a TLP takes: one for the header, and one per started 16 bytes of data.
/// The digest takes none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CreditCost {
    /// Which credits.
    pub class: CreditClass,
    /// Header credits: 1.
    pub header: u16,
    /// Data credits, in units of 16 bytes.
    pub data: u16,
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::ToString;

    use super::*;

    #[test]
    fn largest_values_are_zero_on_the_wire() {
        assert_eq!(DwLength::MAX.field(), 0);
        assert_eq!(DwLength::from_field(0), DwLength::MAX);
        assert_eq!(DwLength::from_field(1023).len_bytes(), 4092);
        assert_eq!(ByteCount::MAX.field(), 0);
        assert_eq!(ByteCount::from_field(0), ByteCount::MAX);
    }

    #[test]
    fn sequence_numbers_wrap() {
        assert_eq!(SequenceNumber::MAX.next(), SequenceNumber::MIN);
        let five = SequenceNumber::new(5).unwrap();
        assert_eq!(five.ahead_of(SequenceNumber::MAX), 6);
        assert_eq!(SequenceNumber::MAX.ahead_of(five), 4090);
    }

    #[test]
    fn routing_id() {
        let id = RoutingId(0x1a_3d);
        assert_eq!(id.to_string(), "1a:07.5");
    }
}
