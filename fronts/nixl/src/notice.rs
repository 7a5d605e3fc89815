//! A notification as it is sent.

/// | bytes | |
/// |---|---|
/// | 0 to 7 | the number of the transfer that it belongs to |
/// | 8 to 11 | how many puts of that transfer have been done before; 0 if it belongs to none |
/// | 12 to 15 | how long the name of the agent is |
/// | then | the name of the agent that sends it, and the message |
///
/// Numbers are little-endian.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Notice<'a> {
    pub(crate) transfer: u64,
    pub(crate) puts: u32,
    pub(crate) agent: &'a [u8],
    pub(crate) message: &'a [u8],
}

/// Bytes before the name.
const HEAD: usize = 16;

impl<'a> Notice<'a> {
    /// The longest, with all that belongs to it.
    pub(crate) const BYTES_MAX: usize = 1 << 20;

    /// `None` if it would be too long.
    pub(crate) fn to_bytes(self) -> Option<Vec<u8>> {
        let parts = [
            &self.transfer.to_le_bytes()[..],
            &self.puts.to_le_bytes(),
            &u32::try_from(self.agent.len()).ok()?.to_le_bytes(),
            self.agent,
            self.message,
        ];
        let len = HEAD
            .checked_add(self.agent.len())?
            .checked_add(self.message.len())?;
        (len <= Self::BYTES_MAX).then(|| parts.concat())
    }

    /// `None` if these bytes are none.
    pub(crate) fn from_bytes(bytes: &'a [u8]) -> Option<Self> {
        let (transfer, rest) = bytes.split_first_chunk()?;
        let (puts, rest) = rest.split_first_chunk()?;
        let (len, rest) = rest.split_first_chunk()?;
        let len = usize::try_from(u32::from_le_bytes(*len)).ok()?;
        let (agent, message) = rest.split_at_checked(len)?;
        Some(Self {
            transfer: u64::from_le_bytes(*transfer),
            puts: u32::from_le_bytes(*puts),
            agent,
            message,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_is_read_as_it_was_written() {
        for (agent, message) in [
            (&b""[..], &b""[..]),
            (b"a", b""),
            (b"agent", b"some\0bytes"),
        ] {
            let notice = Notice {
                transfer: u64::MAX - 1,
                puts: 7,
                agent,
                message,
            };
            let bytes = notice.to_bytes().unwrap();
            assert_eq!(Notice::from_bytes(&bytes), Some(notice));
        }
    }

    #[test]
    fn what_is_no_notice_is_none() {
        let whole = Notice {
            transfer: 1,
            puts: 0,
            agent: b"agent",
            message: b"",
        };
        let whole = whole.to_bytes().unwrap();
        for len in 0..whole.len() {
            assert_eq!(Notice::from_bytes(&whole[..len]), None, "{len}");
        }
        let mut long = whole.clone();
        long[12..16].fill(0xff);
        assert_eq!(Notice::from_bytes(&long), None);
    }

    #[test]
    fn the_longest_notice_is_sent_and_no_longer_one() {
        let message = vec![0; Notice::BYTES_MAX - HEAD - 1];
        let notice = |agent| Notice {
            transfer: 0,
            puts: 0,
            agent,
            message: &message,
        };
        assert_eq!(notice(b"a").to_bytes().unwrap().len(), Notice::BYTES_MAX);
        assert_eq!(notice(b"ab").to_bytes(), None);
    }
}
