//! A TLP on its way through the simulation.

use std::rc::Rc;

use hostwire_packet::pcie::{
    ByteCount, Common, CompletionRepr, CompletionStatus, CreditClass, CreditCost, DwLength,
    HeaderRepr, LinkTlpRepr, LowerAddress, MemoryRepr, Operation, RoutingId, SequenceNumber,
    TlpRepr, tlp_wire_len,
};

use crate::models::ht::carry::Note;

/// A TLP. Clones share the data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tlp {
    /// The header.
    pub header: HeaderRepr,
    /// The data, in whole dwords.
    pub data: Rc<[u8]>,
    /// The note of the HyperTransport packet that it carries. Not on the wire.
    pub note: Note,
}

/// Largest number of bytes that a memory request covers: a request does not cross 4 KiB.
const BLOCK: u64 = 4096;

impl Tlp {
    /// A posted write of `bytes` to `address`, of any alignment.
    ///
    /// # Errors
    /// As [`MemoryRepr::covering`]: no bytes, or a boundary of 4 KiB crossed.
    pub fn write(
        requester: RoutingId,
        address: u64,
        bytes: &[u8],
    ) -> Result<Tlp, hostwire_packet::Error> {
        let header = MemoryRepr::covering(Operation::Write, requester, address, bytes.len())?;
        let skip = (address % 4) as usize;
        let data = if skip == 0 && header.dwords.len_bytes() == bytes.len() {
            bytes.into()
        } else {
            let mut padded = vec![0; header.dwords.len_bytes()];
            let place = padded.iter_mut().skip(skip);
            place.zip(bytes).for_each(|(to, from)| *to = *from);
            padded.into()
        };
        Ok(Tlp {
            header: header.into(),
            data,
            note: Note::default(),
        })
    }

    /// A read of whole dwords.
    ///
    /// # Errors
    /// As [`MemoryRepr::covering`].
    pub fn read(
        requester: RoutingId,
        tag: u8,
        address: u64,
        len_bytes: usize,
    ) -> Result<Tlp, hostwire_packet::Error> {
        let header = MemoryRepr::covering(Operation::Read, requester, address, len_bytes)?;
        Ok(Tlp {
            header: MemoryRepr { tag, ..header }.into(),
            data: Rc::from([]),
            note: Note::default(),
        })
    }

    /// The completion of a part of a read: `data` begins `offset` bytes into what was asked.
    /// `None` if the parts do not fit the read.
    pub fn completion(
        completer: RoutingId,
        read: &MemoryRepr,
        offset: usize,
        data: &[u8],
    ) -> Option<Tlp> {
        let left = read.dwords.len_bytes().checked_sub(offset)?;
        let dwords = DwLength::new(u16::try_from(data.len() / 4).ok()?).ok()?;
        let low = (read.address.wrapping_add(offset as u64) & 0x7f) as u8;
        let header = CompletionRepr {
            dwords: Some(dwords),
            byte_count: ByteCount::new(u16::try_from(left).ok()?).ok()?,
            lower_address: LowerAddress::new(low).ok()?,
            ..answer(completer, read, CompletionStatus::Success)
        };
        Some(Tlp {
            header: header.into(),
            data: data.into(),
            note: Note::default(),
        })
    }

    /// The answer to a read that no device serves: Unsupported Request.
    pub fn unsupported(completer: RoutingId, read: &MemoryRepr) -> Tlp {
        Tlp::refused(completer, read, CompletionStatus::UnsupportedRequest)
    }

    /// The end of a read that has failed.
    pub fn refused(completer: RoutingId, read: &MemoryRepr, status: CompletionStatus) -> Tlp {
        Tlp {
            header: answer(completer, read, status).into(),
            data: Rc::from([]),
            note: Note::default(),
        }
    }

    /// The same TLP for another address.
    pub fn readdressed(&self, address: u64) -> Tlp {
        let mut tlp = self.clone();
        if let HeaderRepr::Memory(header) = &mut tlp.header {
            header.address = address;
        }
        tlp
    }

    /// First byte that a write covers, and the bytes.
    pub fn written(&self) -> Option<(u64, &[u8])> {
        let HeaderRepr::Memory(header) = &self.header else {
            return None;
        };
        let skip = header.first_be.get().trailing_zeros().min(4) as usize;
        let last = if header.dwords.get() == 1 {
            header.first_be
        } else {
            header.last_be
        };
        // Byte enables have 4 bits.
        let cut = (last.get().leading_zeros() as usize).saturating_sub(4);
        let bytes = self.data.get(skip..self.data.len().saturating_sub(cut))?;
        Some((header.address + skip as u64, bytes))
    }

    /// The memory request, if it is one.
    pub fn memory(&self) -> Option<&MemoryRepr> {
        match &self.header {
            HeaderRepr::Memory(header) => Some(header),
            HeaderRepr::Completion(_) => None,
        }
    }

    /// Class of its flow control credits.
    pub fn class(&self) -> CreditClass {
        self.cost().class
    }

    /// Flow control credits that it takes.
    pub fn cost(&self) -> CreditCost {
        self.header.credit_cost()
    }

    /// What it is, and its data in bytes.
    pub fn name(&self) -> String {
        let bytes = self.data.len();
        match &self.header {
            HeaderRepr::Memory(read) if self.data.is_empty() => {
                format!("MRd {} B", read.dwords.len_bytes())
            }
            HeaderRepr::Memory(_) => format!("MWr {bytes} B"),
            HeaderRepr::Completion(_) if self.data.is_empty() => "Cpl".to_owned(),
            HeaderRepr::Completion(_) => format!("CplD {bytes} B"),
        }
    }

    /// Its bytes with number and LCRC. `None` if header and data do not go together.
    pub fn on_the_link(&self, sequence: SequenceNumber) -> Option<Vec<u8>> {
        let tlp = TlpRepr::new(self.header, &self.data).ok()?;
        let repr = LinkTlpRepr { sequence, tlp };
        let mut bytes = vec![0; repr.buffer_len()];
        repr.emit(&mut bytes).ok()?;
        Some(bytes)
    }

    /// Symbols on the wire.
    pub fn wire_bytes(&self) -> u64 {
        tlp_wire_len(&self.header) as u64
    }

    /// Stands for it in the event hash.
    pub(crate) fn digest(&self) -> u64 {
        let head = match &self.header {
            HeaderRepr::Memory(m) => m.address.rotate_left(8) ^ u64::from(m.tag) << 1,
            HeaderRepr::Completion(c) => u64::from(c.byte_count.get()) << 16 | u64::from(c.tag),
        };
        let data = self
            .data
            .chunks(8)
            .fold(self.data.len() as u64, |sum, chunk| {
                let word = chunk
                    .iter()
                    .rev()
                    .fold(0, |word, byte| word << 8 | u64::from(*byte));
                (sum.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            });
        head ^ data ^ (self.class() as u64) << 60
    }
}

fn answer(completer: RoutingId, read: &MemoryRepr, status: CompletionStatus) -> CompletionRepr {
    CompletionRepr {
        dwords: None,
        common: Common::default(),
        completer_id: completer,
        status,
        byte_count_modified: false,
        byte_count: ByteCount::new(read.dwords.get().saturating_mul(4)).unwrap_or(ByteCount::MIN),
        requester_id: read.requester_id,
        tag: read.tag,
        lower_address: LowerAddress::MIN,
    }
}

/// Cuts `bytes` from `address` on so that no part crosses a multiple of `step`, a power of
/// two of at most 4 KiB: offset and length of each part.
pub(crate) fn parts(address: u64, bytes: u64, step: u64) -> impl Iterator<Item = (u64, u64)> {
    let step = step.clamp(4, BLOCK);
    let mut offset = 0;
    std::iter::from_fn(move || {
        let at = address.wrapping_add(offset);
        let part = (step - at % step).min(bytes.saturating_sub(offset));
        let begin = offset;
        offset += part;
        (part > 0).then_some((begin, part))
    })
}
