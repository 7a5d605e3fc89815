//! Reports of hosts with several interfaces about the paths between them.
//!
//! | bytes | field | meaning |
//! |---|---|---|
//! | 0 | version, type | 0: no frame of a link begins so |
//! | 1-4 | mark | `path` |
//! | 5 | hears | bit `n`: frames that the other host sends over path `n` arrive |
//! | 6 | asks | 1: the sender wants reports, because frames are in flight; else 0 |
//!
//! Ethernet may add bytes after them.

use hostwire_packet::htoe::place;

const MARK: &[u8; 5] = b"\0path";
const LEN: usize = MARK.len() + 2;

/// The offset and value of the byte in which a report differs from all other frames: the byte of
/// version and type.
pub(in super::super) const TOLD_BY: (usize, u8) = (place::TYPE, MARK[place::TYPE]);

/// Sent over every path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Report {
    /// Bit `n` is set if the sender hears something over path `n`.
    pub(super) hears: u8,
    /// Whether it wants reports.
    pub(super) asks: bool,
}

impl Report {
    pub(super) fn to_bytes(self) -> [u8; LEN] {
        let [a, b, c, d, e] = *MARK;
        [a, b, c, d, e, self.hears, self.asks.into()]
    }

    /// The report at the start of `bytes`, if there is one.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let [hears, asks, ..] = *bytes.strip_prefix(MARK)? else {
            return None;
        };
        // Later versions may use the rest.
        Some(Self {
            hears,
            asks: asks & 1 == 1,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_come_back() {
        let report = Report {
            hears: 0b101,
            asks: true,
        };
        assert_eq!(report.to_bytes(), *b"\0path\x05\x01");
        assert_eq!(Report::parse(&report.to_bytes()), Some(report));
        // Padded by Ethernet.
        let padded = [&b"\0path\x02\0"[..], &[0; 39]].concat();
        let quiet = Report {
            hears: 2,
            asks: false,
        };
        assert_eq!(Report::parse(&padded), Some(quiet));
    }

    #[test]
    fn other_frames_are_none() {
        for bytes in [
            &b""[..],
            b"\0path",
            b"\0path\x01",
            b"\x10path\x01\x01",
            &[0; 60],
        ] {
            assert_eq!(Report::parse(bytes), None);
        }
    }
}
