//! Virtual channels, and the credits that a packet takes in them.

use core::fmt;

/// One of the three base virtual channels.
///
/// Isochronous packets are put into the base channel of their kind. Links that
/// run the optional isochronous channels keep separate credits for them; look
/// at the Isoc bits of packets and NOPs then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum VirtualChannel {
    /// Requests without response.
    Posted,
    /// Requests with response.
    NonPosted,
    /// Responses.
    Response,
}

impl VirtualChannel {
    /// All of them, in the order of their index.
    pub const ALL: [Self; 3] = [Self::Posted, Self::NonPosted, Self::Response];

    /// 0, 1 or 2, for tables.
    pub const fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for VirtualChannel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            VirtualChannel::Posted => "posted",
            VirtualChannel::NonPosted => "non-posted",
            VirtualChannel::Response => "response",
        })
    }
}

/// Credits that a packet takes at the receiver: always one for its command,
/// and one for its data phase if it has one, whatever their lengths.
///
/// NOP, Sync and extended flow control take none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CreditCost {
    /// Channel whose buffers are taken.
    pub channel: VirtualChannel,
    /// Command buffers: 1.
    pub command: u8,
    /// Data buffers: 0 or 1.
    pub data: u8,
}
