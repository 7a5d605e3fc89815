use core::ops::AddAssign;

/// Why a frame was dropped. Dropping is how the network, strangers and
/// forgers are dealt with; Go-Back-N sends again what was missing.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DropCause {
    /// Too short, or shorter than it says.
    Truncated,
    /// A checksum does not match: damaged on its way.
    Corrupt,
    /// Not a frame of this protocol: version, type or contents.
    Malformed,
    /// Of another job, or for another node.
    Foreign,
    /// For a link that this endpoint does not have.
    NoLink,
    /// Of an earlier session of the link, or of an earlier life of an end.
    Stale,
    /// For a link that is closed or not open yet.
    NotOpen,
    /// Seen before.
    Duplicate,
    /// Ahead of one that is missing.
    OutOfOrder,
    /// Acknowledges a frame that was never sent.
    BadAck,
    /// Broke the protocol; its sender was cut off.
    Misbehaved,
    /// Not encrypted, where frames have to be.
    Unsealed,
    /// Encrypted, where frames are not.
    Sealed,
    /// Encrypted, but not by a node of this job in this life, or changed on its way.
    Forged,
    /// Encrypted by a peer, but seen before, or so late that nobody can tell.
    Replayed,
}

impl DropCause {
    /// All causes.
    pub const ALL: [Self; 15] = [
        Self::Truncated,
        Self::Corrupt,
        Self::Malformed,
        Self::Foreign,
        Self::NoLink,
        Self::Stale,
        Self::NotOpen,
        Self::Duplicate,
        Self::OutOfOrder,
        Self::BadAck,
        Self::Misbehaved,
        Self::Unsealed,
        Self::Sealed,
        Self::Forged,
        Self::Replayed,
    ];

    /// A word for tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Truncated => "truncated",
            Self::Corrupt => "corrupt",
            Self::Malformed => "malformed",
            Self::Foreign => "foreign",
            Self::NoLink => "no link",
            Self::Stale => "stale",
            Self::NotOpen => "not open",
            Self::Duplicate => "duplicate",
            Self::OutOfOrder => "out of order",
            Self::BadAck => "bad ack",
            Self::Misbehaved => "misbehaved",
            Self::Unsealed => "not encrypted",
            Self::Sealed => "encrypted",
            Self::Forged => "forged",
            Self::Replayed => "replayed",
        }
    }
}

/// What has happened, since the endpoint was made. Of one link, or of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Counters {
    /// Data frames sent for the first time.
    pub frames_sent: u64,
    /// Data frames sent again.
    pub frames_resent: u64,
    /// Data frames accepted, each once.
    pub frames_received: u64,
    /// Bytes of all frames sent, without Ethernet header.
    pub bytes_sent: u64,
    /// Bytes of all frames accepted.
    pub bytes_received: u64,
    /// Packets sent: posted, non-posted, response. Each once.
    pub packets_sent: [u64; 3],
    /// Packets delivered.
    pub packets_received: [u64; 3],
    /// NOPs sent, each once.
    pub nops_sent: u64,
    /// NOPs accepted.
    pub nops_received: u64,
    /// Ack frames sent: those that carry nothing else.
    pub acks_sent: u64,
    /// Ack frames received.
    pub acks_received: u64,
    /// Gaps reported to the peer.
    pub naks_sent: u64,
    /// Gaps reported by the peer and repaired.
    pub naks_received: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Packets that found no credit and had to queue, or were refused.
    pub credit_stalls: u64,
    /// Reset and close frames sent.
    pub sessions_sent: u64,
    /// Reset and close frames taken.
    pub sessions_received: u64,
    /// Sessions that became open.
    pub opened: u64,
    dropped: [u64; DropCause::ALL.len()],
}

impl Counters {
    /// Frames dropped for one cause.
    pub fn dropped(&self, cause: DropCause) -> u64 {
        self.dropped.get(cause as usize).copied().unwrap_or(0)
    }

    /// Frames dropped for any cause.
    pub fn dropped_total(&self) -> u64 {
        self.dropped.iter().sum()
    }

    /// Counts a frame that was dropped: for whoever does so before an endpoint sees it.
    pub fn drop_frame(&mut self, cause: DropCause) {
        if let Some(count) = self.dropped.get_mut(cause as usize) {
            *count += 1;
        }
    }
}

impl AddAssign<&Counters> for Counters {
    fn add_assign(&mut self, other: &Counters) {
        self.frames_sent += other.frames_sent;
        self.frames_resent += other.frames_resent;
        self.frames_received += other.frames_received;
        self.bytes_sent += other.bytes_sent;
        self.bytes_received += other.bytes_received;
        self.nops_sent += other.nops_sent;
        self.nops_received += other.nops_received;
        self.acks_sent += other.acks_sent;
        self.acks_received += other.acks_received;
        self.naks_sent += other.naks_sent;
        self.naks_received += other.naks_received;
        self.timeouts += other.timeouts;
        self.credit_stalls += other.credit_stalls;
        self.sessions_sent += other.sessions_sent;
        self.sessions_received += other.sessions_received;
        self.opened += other.opened;
        let pairs = [
            (&mut self.packets_sent[..], &other.packets_sent[..]),
            (&mut self.packets_received[..], &other.packets_received[..]),
            (&mut self.dropped[..], &other.dropped[..]),
        ];
        for (sums, counts) in pairs {
            for (sum, count) in sums.iter_mut().zip(counts) {
                *sum += count;
            }
        }
    }
}
