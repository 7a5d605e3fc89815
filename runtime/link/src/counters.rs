//! Two tables: the counters of links, and the causes of drops.

use core::ops::AddAssign;

/// Makes a struct of counters from a table: a row has the meaning, the field, and the name that
/// people read. The struct, its sum, its values and [names](Counters::table) come from it, so a
/// counter cannot be left out of one of them.
///
/// A field is a `u64` with one name, or an array with a name for each element; the names may be a
/// list, or an expression in parentheses that gives names and meanings.
///
/// ```
/// hostwire_link::counters! {
///     #[derive(Default)]
///     struct Seen {
///         /// Frames, by direction.
///         frames: [u64; 2] = ["frames in", "frames out"],
///     }
/// }
/// assert_eq!(Seen::table().count(), Seen::default().values().count());
/// ```
///
/// A number without a name does not compile:
///
/// ```compile_fail
/// hostwire_link::counters! {
///     struct Seen {
///         /// Frames, by direction.
///         frames: [u64; 2] = ["frames in"],
///     }
/// }
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! counters {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $($(#[doc = $help:literal])+ $field_vis:vis $field:ident: $type:ty = $counters:tt,)+
        }
    ) => {
        $(#[$meta])*
        $vis struct $name {
            $($(#[doc = $help])+ $field_vis $field: $type,)+
        }

        impl $name {
            /// The name and the meaning of each counter.
            pub fn table() -> impl Iterator<Item = (&'static str, &'static str)> {
                let rows = [$({
                    const ROWS: &[(&str, &str)] = $crate::counters!(@rows [$($help),+] $counters);
                    // A name for each number.
                    const _: () = assert!(ROWS.len() * size_of::<u64>() == size_of::<$type>());
                    ROWS
                }),+];
                rows.into_iter().flatten().map(|(name, help)| (*name, help.trim()))
            }

            /// The value of each, in the order of the [`table`](Self::table).
            pub fn values(&self) -> impl Iterator<Item = u64> {
                let values = [$($crate::Count::numbers(&self.$field)),+];
                values.into_iter().flatten().copied()
            }
        }

        impl ::core::ops::AddAssign<&$name> for $name {
            fn add_assign(&mut self, other: &$name) {
                $($crate::Count::add(&mut self.$field, &other.$field);)+
            }
        }
    };
    (@rows $help:tt [$($name:literal),+ $(,)?]) => {
        &[$(($name, $crate::counters!(@help $help))),+]
    };
    (@rows $help:tt ($rows:expr)) => { &$rows };
    (@help [$($help:literal),+]) => { concat!($($help),+) };
}

/// The type of a field of [`counters!`].
#[doc(hidden)]
pub trait Count {
    /// Each of them.
    fn numbers(&self) -> &[u64];
    /// Adds those of another.
    fn add(&mut self, other: &Self);
}

impl Count for u64 {
    fn numbers(&self) -> &[u64] {
        core::slice::from_ref(self)
    }

    fn add(&mut self, other: &Self) {
        self.add_assign(other);
    }
}

impl<const N: usize> Count for [u64; N] {
    fn numbers(&self) -> &[u64] {
        self
    }

    fn add(&mut self, other: &Self) {
        for (sum, count) in self.iter_mut().zip(other) {
            *sum += count;
        }
    }
}

/// Makes [`DropCause`] from a table: the meaning, the variant and the name of each cause.
macro_rules! causes {
    (
        $(#[$meta:meta])*
        pub enum DropCause { $($(#[doc = $help:literal])+ $cause:ident = $name:literal,)+ }
    ) => {
        $(#[$meta])*
        pub enum DropCause {
            $($(#[doc = $help])+ $cause,)+
        }

        impl DropCause {
            /// All causes.
            pub const ALL: [Self; [$(Self::$cause),+].len()] = [$(Self::$cause),+];

            /// Name and meaning of their counters.
            const COUNTERS: [(&str, &str); Self::ALL.len()] =
                [$((concat!("dropped, ", $name), concat!($($help),+))),+];

            /// A short name for tables.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$cause => $name,)+
                }
            }
        }
    };
}

causes! {
    /// Why a frame was dropped. Frames that the network damaged, and frames of strangers and
    /// forgers, are dropped. Missing frames are sent again.
    #[non_exhaustive]
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum DropCause {
        /// Too short, or shorter than its header says.
        Truncated = "truncated",
        /// A checksum does not match: damaged on its way.
        Corrupt = "corrupt",
        /// Not a frame of this protocol: version, type or contents.
        Malformed = "malformed",
        /// Of another job, or for another node.
        Foreign = "foreign",
        /// For a link that this endpoint does not have.
        NoLink = "no link",
        /// Of an earlier session of the link, or of an earlier life of an end.
        Stale = "stale",
        /// For a link that is closed or not open yet.
        NotOpen = "not open",
        /// Seen before.
        Duplicate = "duplicate",
        /// Ahead of a frame that is missing.
        OutOfOrder = "out of order",
        /// Acknowledges a frame that was never sent.
        BadAck = "bad ack",
        /// Broke the protocol; its sender was cut off.
        Misbehaved = "misbehaved",
        /// Not encrypted, where frames have to be.
        Unsealed = "not encrypted",
        /// Encrypted, where frames are not.
        Sealed = "encrypted",
        /// Encrypted, but not by a node of this job in this life, or changed on its way.
        Forged = "forged",
        /// Encrypted by a peer, but seen before, or too old to know whether it was.
        Replayed = "replayed",
        /// Encrypted by a peer, and of the link of another one.
        OfAnother = "of another's link",
    }
}

counters! {
    /// Counts since the endpoint was made, of one link or of all.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
    pub struct Counters {
        /// Data frames sent for the first time.
        pub frames_sent: u64 = ["frames sent"],
        /// Data frames sent again.
        pub frames_resent: u64 = ["frames sent again"],
        /// Data frames accepted, each once.
        pub frames_received: u64 = ["frames received"],
        /// Data frames that came before one that was missing, and were kept.
        pub frames_early: u64 = ["frames kept for their turn"],
        /// Frames that the network has marked on their way here, because it is congested.
        pub frames_marked: u64 = ["frames marked"],
        /// Bytes of all frames sent, without Ethernet header.
        pub bytes_sent: u64 = ["bytes sent"],
        /// Bytes of all frames accepted.
        pub bytes_received: u64 = ["bytes received"],
        /// Packets sent: posted, non-posted, response. Each once.
        pub packets_sent: [u64; 3] = [
            "packets sent, posted",
            "packets sent, non-posted",
            "packets sent, responses",
        ],
        /// Packets delivered.
        pub packets_received: [u64; 3] = [
            "packets received, posted",
            "packets received, non-posted",
            "packets received, responses",
        ],
        /// NOPs sent, each once.
        pub nops_sent: u64 = ["credit NOPs sent"],
        /// NOPs accepted.
        pub nops_received: u64 = ["credit NOPs received"],
        /// Packets that found no credit and had to queue, or were refused.
        pub credit_stalls: u64 = ["credit stalls"],
        /// Ack frames sent: frames that carry only an ack.
        pub acks_sent: u64 = ["acks sent"],
        /// Ack frames received.
        pub acks_received: u64 = ["acks received"],
        /// Gaps reported to the peer.
        pub naks_sent: u64 = ["naks sent"],
        /// Gaps reported by the peer and repaired.
        pub naks_received: u64 = ["naks received"],
        /// Retransmission timeouts.
        pub timeouts: u64 = ["timeouts"],
        /// Reset and close frames sent.
        pub sessions_sent: u64 = ["session frames sent"],
        /// Reset and close frames taken.
        pub sessions_received: u64 = ["session frames received"],
        /// Sessions that became open.
        pub opened: u64 = ["sessions opened"],
        /// Frames dropped, by cause.
        dropped: [u64; DropCause::ALL.len()] = (DropCause::COUNTERS),
    }
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

    /// Counts a frame that the caller dropped before the endpoint saw it.
    pub fn drop_frame(&mut self, cause: DropCause) {
        if let Some(count) = self.dropped.get_mut(cause as usize) {
            *count += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_has_all_of_them() {
        let mut one = Counters {
            frames_sent: 1,
            packets_sent: [2, 3, 4],
            opened: 5,
            ..Counters::default()
        };
        one.drop_frame(DropCause::Replayed);
        let mut sum = one;
        sum += &one;
        let doubled: Vec<u64> = one.values().map(|value| 2 * value).collect();
        assert_eq!(sum.values().collect::<Vec<_>>(), doubled);
        assert_eq!(doubled.iter().sum::<u64>(), 2 * (1 + 2 + 3 + 4 + 5 + 1));
    }

    #[test]
    fn each_number_has_a_name_and_a_meaning() {
        assert_eq!(
            Counters::table().count(),
            Counters::default().values().count()
        );
        let mut counters = Counters::default();
        counters.drop_frame(DropCause::Unsealed);
        counters.packets_received[2] = 1;
        let named = Counters::table().zip(counters.values());
        let seen: Vec<_> = named.filter(|(_, value)| *value > 0).collect();
        assert_eq!(
            seen,
            [
                (("packets received, responses", "Packets delivered."), 1),
                (
                    (
                        "dropped, not encrypted",
                        "Not encrypted, where frames have to be."
                    ),
                    1
                )
            ]
        );
    }
}
