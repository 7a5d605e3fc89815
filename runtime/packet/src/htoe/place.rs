//! The offsets of the fields that say for which endpoint a frame is. For filters in a kernel or an
//! adapter, which cannot use the code of this crate. All fields are big-endian, and offsets count
//! from the first byte of the header. They are derived from the layouts of this crate.

use super::header::{self, FrameType};
use super::{ethernet, sealed, session};

/// The byte that has the type in its low half.
pub const TYPE: usize = header::field::VERSION_TYPE;

/// The type in that byte.
pub const TYPE_MASK: u8 = 0x0f;

/// Frames of this type and the next ones, sealed frames apart, begin and end virtual links.
pub const FIRST_SESSION_TYPE: u8 = FrameType::Reset.encode();

/// The type of sealed frames.
pub const SEALED_TYPE: u8 = sealed::TYPE;

/// The virtual link of a frame that carries packets or an ACK: two bytes.
pub const VIRTUAL_LINK: usize = header::field::VIRTUAL_LINK.start;

/// The node that a reset or close frame is for: four bytes.
pub const SESSION_DESTINATION: usize = header::LEN + session::field::DESTINATION_NODE.start;

/// The node that a sealed frame is for: four bytes.
pub const SEALED_DESTINATION: usize = sealed::field::DESTINATION.start;

/// The EtherType, two bytes, from the first byte of an Ethernet header without 802.1Q tag.
pub const ETHER_TYPE: usize = ethernet::field::ETHER_TYPE.start;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::htoe::{
        CloseReason, Contents, EthernetRepr, HeaderRepr, MacAddress, SESSION_LEN, SessionRepr, seal,
    };

    /// A whole frame with this header and session.
    fn frame(header: HeaderRepr, session: &SessionRepr) -> [u8; 128] {
        let mut bytes = [0; 128];
        let contents = Contents {
            packets: 0,
            nops: 0,
            len: SESSION_LEN as u16,
        };
        session.emit(&mut bytes[header::LEN..]).unwrap();
        seal(&header, contents, &mut bytes).unwrap();
        bytes
    }

    fn word(bytes: &[u8], at: usize) -> u32 {
        u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap())
    }

    #[test]
    fn sessions_are_found() {
        let session = SessionRepr {
            job: 1,
            source_incarnation: 2,
            source_node: 3,
            destination_node: 0x1234_5678,
            ..SessionRepr::default()
        };
        let bytes = frame(HeaderRepr::reset(7, 5), &session);
        assert_eq!(bytes[TYPE] & TYPE_MASK, FIRST_SESSION_TYPE);
        assert_eq!(word(&bytes, SESSION_DESTINATION), 0x1234_5678);
        let close = SessionRepr {
            reason: Some(CloseReason::Finished),
            ..session
        };
        let bytes = frame(HeaderRepr::close(7), &close);
        assert!(bytes[TYPE] & TYPE_MASK > FIRST_SESSION_TYPE);
        assert_eq!(word(&bytes, SESSION_DESTINATION), 0x1234_5678);
    }

    #[test]
    fn virtual_links_are_found() {
        for header in [
            HeaderRepr::data(0x1234, 5, Some(9)),
            HeaderRepr::ack(0x1234, 9, false),
        ] {
            let contents = Contents {
                packets: 0,
                nops: 0,
                len: 0,
            };
            let mut bytes = [0; 64];
            header.emit(&contents, &mut bytes).unwrap();
            assert!(bytes[TYPE] & TYPE_MASK < FIRST_SESSION_TYPE);
            assert_eq!(bytes[VIRTUAL_LINK..VIRTUAL_LINK + 2], [0x12, 0x34]);
        }
    }

    #[test]
    fn sealed_frames_are_found() {
        let header = sealed::Repr {
            destination: 0x1234_5678,
            source: 1,
            number: 2,
        };
        let bytes = header.to_bytes();
        assert_eq!(bytes[TYPE] & TYPE_MASK, SEALED_TYPE);
        assert_eq!(word(&bytes, SEALED_DESTINATION), 0x1234_5678);
        assert!(SEALED_TYPE > FrameType::Close.encode());
    }

    #[test]
    fn ether_types_are_found() {
        let header = EthernetRepr {
            destination: MacAddress([1; 6]),
            source: MacAddress([2; 6]),
            vlan: None,
            ether_type: 0x88b5,
        };
        let mut bytes = [0; ethernet::LEN];
        header.emit(&mut bytes).unwrap();
        assert_eq!(bytes[ETHER_TYPE..ETHER_TYPE + 2], [0x88, 0xb5]);
    }
}
