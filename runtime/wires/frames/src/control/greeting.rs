//! How two hosts prove to each other that they belong to one job: one message in each direction.
//!
//! | bytes | field | |
//! |---|---|---|
//! | 0..8 | magic | [`MAGIC`] |
//! | 8..12 | from | the number of the host that sends it, little endian |
//! | 12..16 | to | the number of the host that it is for, little endian |
//! | 16..48 | proof | only the hosts of the job can make it: [`Proof`] |
//!
//! The host that connects sends its own first. The other one answers only if that is right, so
//! strangers get no answer. Any byte after the greeting means that the sender no longer uses the
//! connection, so its end says nothing about the sender.

use hostwire_link::seal::{PROOF_LEN, Proof};

/// "hwhosts" and the version of this exchange.
pub(crate) const MAGIC: [u8; 8] = *b"hwhosts\x01";
/// Bytes of a greeting.
pub(crate) const GREETING_LEN: usize = 16 + PROOF_LEN;
/// See the [module text](self).
pub(super) const LET_GO: [u8; 1] = [0xff];

/// The contents of a greeting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Greeting {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) shown: [u8; PROOF_LEN],
}

const _: () = assert!(GREETING_LEN == 48);

impl Greeting {
    pub(super) fn new(from: u32, to: u32, proof: Proof) -> Self {
        Self {
            from,
            to,
            shown: proof.to_bytes(),
        }
    }

    pub(crate) fn to_bytes(self) -> [u8; GREETING_LEN] {
        let mut bytes = [0; GREETING_LEN];
        let (head, shown) = bytes.split_at_mut(GREETING_LEN - PROOF_LEN);
        let (magic, hosts) = head.split_at_mut(MAGIC.len());
        magic.copy_from_slice(&MAGIC);
        let (from, to) = hosts.split_at_mut(size_of::<u32>());
        from.copy_from_slice(&self.from.to_le_bytes());
        to.copy_from_slice(&self.to.to_le_bytes());
        shown.copy_from_slice(&self.shown);
        bytes
    }

    /// `None` for bytes that are no greeting.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let (magic, rest) = bytes.split_first_chunk::<8>()?;
        let (from, rest) = rest.split_first_chunk::<4>()?;
        let (to, shown) = rest.split_first_chunk::<4>()?;
        (*magic == MAGIC).then_some(Self {
            from: u32::from_le_bytes(*from),
            to: u32::from_le_bytes(*to),
            shown: shown.try_into().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_greeting_comes_back_and_nothing_else_is_one() {
        let greeting = Greeting {
            from: 1,
            to: 0x0203_0405,
            shown: core::array::from_fn(|at| at as u8),
        };
        let bytes = greeting.to_bytes();
        assert_eq!(bytes[..16], *b"hwhosts\x01\x01\0\0\0\x05\x04\x03\x02");
        assert_eq!(bytes[16..20], [0, 1, 2, 3]);
        assert_eq!(Greeting::parse(&bytes), Some(greeting));
        assert_eq!(Greeting::parse(&bytes[..47]), None);
        assert_eq!(Greeting::parse(&[&bytes[..], &[0]].concat()), None);
        assert_eq!(Greeting::parse(&[0; GREETING_LEN]), None);
        assert_eq!(Greeting::parse(&[]), None);
    }
}
