//! Capture files, taken apart.

/// A packet of a capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet<'a> {
    /// The number of its interface.
    pub interface: u32,
    /// In what the interface counts.
    pub time: u64,
    /// Its bytes.
    pub data: &'a [u8],
}

/// Kind and body of all whole blocks of a capture. One that is cut short at the end is left
/// out.
///
/// # Panics
/// If the two lengths of a block differ, or are none.
pub fn blocks(capture: &[u8]) -> Vec<(u32, &[u8])> {
    let mut blocks = Vec::new();
    let mut rest = capture;
    while let (Some(kind), Some(len)) = (word(rest, 0), word(rest, 4)) {
        let len = len as usize;
        assert!(len >= 12 && len.is_multiple_of(4), "a block of {len} bytes");
        let Some((block, behind)) = rest.split_at_checked(len) else {
            break;
        };
        assert_eq!(word(block, len - 4), Some(len as u32), "the second length");
        blocks.push((kind, &block[8..len - 4]));
        rest = behind;
    }
    blocks
}

/// The packets of a capture, as far as they are whole.
///
/// # Panics
/// As [`blocks`].
pub fn packets(capture: &[u8]) -> Vec<Packet<'_>> {
    const ENHANCED_PACKET: u32 = 6;
    let blocks = blocks(capture).into_iter();
    let bodies = blocks.filter(|(kind, _)| *kind == ENHANCED_PACKET);
    let packets = bodies.map(|(_, body)| {
        let number = |at| word(body, at).expect("a packet block");
        let len = number(12) as usize;
        Packet {
            interface: number(0),
            time: u64::from(number(4)) << 32 | u64::from(number(8)),
            data: &body[20..20 + len],
        }
    });
    packets.collect()
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u32::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_whole_is_read() {
        let section = [&[1, 0, 0, 0, 12, 0, 0, 0][..], &[12, 0, 0, 0]].concat();
        let packet = [
            &[6, 0, 0, 0, 36, 0, 0, 0][..],
            &[2, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0],
            &[3, 0, 0, 0, 3, 0, 0, 0, 7, 8, 9, 0],
            &[36, 0, 0, 0],
        ]
        .concat();
        let capture = [&section[..], &packet, &packet[..35]].concat();
        assert_eq!(
            packets(&capture),
            [Packet {
                interface: 2,
                time: 1 << 32 | 5,
                data: &[7, 8, 9]
            }]
        );
        assert_eq!(blocks(&capture)[0], (1, &[][..]));
    }
}
