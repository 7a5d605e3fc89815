//! The counters of a job: what its wire has done, for others to read while it runs.
//!
//! They are in a sealed memory file without a name in any folder, one record of
//! [`RECORD_BYTES`] per PE. `hostwire run` makes one for its job and hands it to the PEs
//! (`HOSTWIRE_COUNTERS_FD`); a PE that another launcher started makes one for itself.
//! Others find it among the open files of those processes, which the kernel shows to the
//! same user and to root alone.
//!
//! A record is 64 slots of 64 bytes. Numbers are little endian.
//!
//! | slot | bytes | |
//! |---|---|---|
//! | 0 | 0..8 | [`MAGIC`] |
//! | 0 | 8..16 | the number of the PE, and how many there are, of 4 bytes each |
//! | 0 | 16..64 | the name of the wire, with zeros behind it |
//! | others | 0..8 | a value |
//! | others | 8..64 | its name, with zeros behind it; a slot without one is not used |
//!
//! Values are stored one by one, four times a second and at the end, so they need not be
//! of one moment. Processes of the job write the record, and only texts for people depend
//! on it.

#[cfg(target_os = "linux")]
mod publisher;

use hostwire_transport::PeId;
#[cfg(target_os = "linux")]
pub(crate) use publisher::Publisher;
#[cfg(target_os = "linux")]
pub use publisher::create;

/// Length of the record of a PE.
pub const RECORD_BYTES: usize = 4096;
/// Environment variable that carries the number of the file's descriptor.
pub const COUNTERS_FD_VARIABLE: &str = "HOSTWIRE_COUNTERS_FD";
/// The name of the file, as `/proc/PID/fd` shows it behind `/memfd:`.
pub const FILE_NAME: &str = "hostwire-counters";
/// The first word of a record that is in use.
pub const MAGIC: u64 = u64::from_le_bytes(*b"hwcount1");

const SLOT_BYTES: usize = 64;
const NAME_AT: usize = 8;
const WIRE_AT: usize = 16;

/// The name and the meaning of all that wires count.
#[cfg(target_os = "linux")]
pub fn counted() -> hostwire_bootstrap::Counters {
    let mut all = Vec::new();
    let of_wires = crate::settings::WireName::ALL;
    let of_wires = of_wires
        .into_iter()
        .flat_map(|wire| (wire.entry().counters)());
    for row in of_wires.chain(hostwire_transport::record::RecordCounters::table()) {
        if !all.contains(&row) {
            all.push(row);
        }
    }
    all
}

/// Counters are shown only under Linux.
#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
pub(crate) enum Publisher {}

#[cfg(not(target_os = "linux"))]
impl Publisher {
    pub(crate) fn publish(&self, _wire: &dyn hostwire_transport::Wire) {
        match *self {}
    }
}

/// What a record says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The number of the PE.
    pub pe: PeId,
    /// How many PEs the job has.
    pub pes: u32,
    /// The name of the wire.
    pub wire: String,
    /// Names and values.
    pub values: Vec<(String, u64)>,
}

impl Record {
    /// Reads a record. `None` if it is not in use, or not one.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let mut slots = bytes.get(..RECORD_BYTES)?.chunks_exact(SLOT_BYTES);
        let head = slots.next()?;
        if word(head, 0)? != MAGIC {
            return None;
        }
        let numbers = word(head, NAME_AT)?;
        let values = slots.filter_map(|slot| {
            let name = name(slot.get(NAME_AT..)?)?;
            Some((name, word(slot, 0)?))
        });
        Some(Self {
            pe: numbers as u32,
            pes: (numbers >> 32) as u32,
            wire: name(head.get(WIRE_AT..)?)?,
            values: values.collect(),
        })
    }

    /// The bytes of a record. Values that do not fit are left out; names that do not fit
    /// are cut.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; RECORD_BYTES];
        let mut slots = bytes.chunks_exact_mut(SLOT_BYTES);
        if let Some(head) = slots.next() {
            let numbers = u64::from(self.pes) << 32 | u64::from(self.pe);
            copy(head, 0, &MAGIC.to_le_bytes());
            copy(head, NAME_AT, &numbers.to_le_bytes());
            copy(head, WIRE_AT, self.wire.as_bytes());
        }
        for (slot, (name, value)) in slots.zip(&self.values) {
            copy(slot, 0, &value.to_le_bytes());
            copy(slot, NAME_AT, name.as_bytes());
        }
        bytes
    }
}

/// Copies what fits, and leaves a zero behind names.
fn copy(slot: &mut [u8], at: usize, bytes: &[u8]) {
    let places = slot.iter_mut().skip(at);
    for (place, byte) in places.zip(bytes) {
        *place = *byte;
    }
}

fn word(slot: &[u8], at: usize) -> Option<u64> {
    let bytes = slot.get(at..)?.first_chunk()?;
    Some(u64::from_le_bytes(*bytes))
}

/// Printable ASCII before zeros; `None` if there is none.
fn name(bytes: &[u8]) -> Option<String> {
    let len = bytes.iter().position(|byte| *byte == 0);
    let name = bytes.get(..len.unwrap_or(bytes.len()))?;
    let printable = |byte: &u8| byte.is_ascii_graphic() || *byte == b' ';
    let ok = name.iter().all(printable) && name.iter().any(u8::is_ascii_graphic);
    ok.then(|| name.iter().map(|byte| char::from(*byte)).collect())
}

/// The counters of one PE as text: a line for each that is not 0.
pub(crate) fn text(pe: PeId, values: &[(String, u64)]) -> String {
    let counted = values.iter().filter(|(_, value)| *value > 0);
    let words: Vec<String> = counted
        .map(|(name, value)| format!("{name}: {value}"))
        .collect();
    let words = match words.is_empty() {
        true => "nothing has crossed a wire between hosts".to_owned(),
        false => words.join("; "),
    };
    format!("hostwire: PE {pe}: {words}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_as_documented() {
        let mut bytes = vec![0; RECORD_BYTES];
        assert_eq!(Record::parse(&bytes), None);
        bytes[..8].copy_from_slice(b"hwcount1");
        bytes[8..16].copy_from_slice(&[2, 0, 0, 0, 5, 0, 0, 0]);
        bytes[16..21].copy_from_slice(b"ether");
        bytes[64] = 7;
        bytes[72..83].copy_from_slice(b"frames sent");
        bytes[128] = 9;
        let record = Record::parse(&bytes).unwrap();
        assert_eq!((record.pe, record.pes, &record.wire[..]), (2, 5, "ether"));
        // The third slot has no name.
        assert_eq!(record.values, [("frames sent".to_owned(), 7)]);
        bytes[128] = 0;
        assert_eq!(record.to_bytes(), bytes);
    }

    #[test]
    fn what_is_no_record_is_none() {
        assert_eq!(Record::parse(&[]), None);
        assert_eq!(Record::parse(&[0xff; RECORD_BYTES]), None);
        let mut bytes = vec![0x1b; RECORD_BYTES];
        bytes[..8].copy_from_slice(b"hwcount1");
        assert_eq!(Record::parse(&bytes), None);
    }
}
