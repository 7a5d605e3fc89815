//! Why a peer is lost, as two words of memory that processes share.

use hostwire_packet::htoe::CloseReason;

use super::Loss;

impl Loss {
    /// A kind, from 3 to 14, and a number that some kinds have. Other kinds are free for the owner of
    /// the words.
    pub fn to_words(self) -> (u64, u64) {
        match self {
            Self::Ended => (3, 0),
            Self::Silent {
                silent_ms,
                may_have_ended: false,
            } => (4, silent_ms),
            Self::Silent { silent_ms, .. } => (5, silent_ms),
            Self::Unacknowledged { stalled_ms } => (6, stalled_ms),
            Self::Unreachable { after_ms } => (7, after_ms),
            Self::Restarted => (8, 0),
            Self::GaveUp => (9, 0),
            Self::NoAdapter => (10, 0),
            Self::Disconnected => (11, 0),
            Self::CutOff(why) => (12, why.encode().into()),
            Self::HostSilent { silent_ms } => (13, silent_ms),
            Self::Stopped { silent_ms } => (14, silent_ms),
        }
    }

    /// The inverse of [`to_words`](Self::to_words). `None` if these words name no loss.
    pub fn from_words(kind: u64, value: u64) -> Option<Self> {
        Some(match kind {
            3 => Self::Ended,
            4 | 5 => Self::Silent {
                silent_ms: value,
                may_have_ended: kind == 5,
            },
            6 => Self::Unacknowledged { stalled_ms: value },
            7 => Self::Unreachable { after_ms: value },
            8 => Self::Restarted,
            9 => Self::GaveUp,
            10 => Self::NoAdapter,
            11 => Self::Disconnected,
            12 => Self::CutOff(u8::try_from(value).ok().and_then(CloseReason::decode)?),
            13 => Self::HostSilent { silent_ms: value },
            14 => Self::Stopped { silent_ms: value },
            _ => return None,
        })
    }
}
