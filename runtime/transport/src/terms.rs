//! What must be the same at all PEs of a job. A PE sends it in [`Terms::WORDS`] words when PEs
//! meet, and the side that gathers them compares the words.

use crate::error::Disagreement;

/// The terms of one PE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// The version of the layout of segments and of the addresses in frames. All other terms are
    /// only comparable between PEs of one version.
    pub version: u64,
    /// The requested size of its segment.
    pub segment_bytes: u64,
    /// The size of the message rings in it.
    pub ring_bytes: u64,
    /// The names of settings that change how a PE reaches others: all PEs have one, or none.
    pub settings: &'static [&'static str],
    /// A bit for each of these settings that this PE has; the first is the lowest bit.
    pub set: u64,
}

impl Terms {
    /// Number of words of the terms.
    pub const WORDS: usize = 4;

    /// The terms as words.
    pub fn to_words(&self) -> [u64; Self::WORDS] {
        [self.version, self.segment_bytes, self.ring_bytes, self.set]
    }

    /// The first difference between these terms and those of another PE.
    pub fn differ(&self, theirs: &[u64; Self::WORDS]) -> Option<Disagreement> {
        let [version, segment_bytes, ring_bytes, set] = *theirs;
        let differ = |theirs: u64, ours: u64| (theirs != ours).then_some((theirs, ours));
        if let Some((theirs, ours)) = differ(version, self.version) {
            return Some(Disagreement::Version { theirs, ours });
        }
        if let Some((theirs, ours)) = differ(segment_bytes, self.segment_bytes) {
            return Some(Disagreement::SegmentBytes { theirs, ours });
        }
        if let Some((theirs, ours)) = differ(ring_bytes, self.ring_bytes) {
            return Some(Disagreement::RingBytes { theirs, ours });
        }
        let bit = (set ^ self.set).trailing_zeros();
        let setting = self.settings.get(bit as usize).copied();
        differ(set, self.set).map(|_| Disagreement::Setting {
            setting: setting.unwrap_or("a setting that this version does not know"),
            theirs: set.checked_shr(bit).is_some_and(|set| set & 1 == 1),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_first_is_told() {
        let ours = Terms {
            version: 3,
            segment_bytes: 4096,
            ring_bytes: 256,
            settings: &["RECORD", "FAULTS"],
            set: 0b01,
        };
        assert_eq!(ours.to_words(), [3, 4096, 256, 1]);
        assert_eq!(ours.differ(&ours.to_words()), None);
        let setting = |setting, theirs| Disagreement::Setting { setting, theirs };
        for (theirs, about) in [
            ([2, 1, 1, 9], Disagreement::Version { theirs: 2, ours: 3 }),
            (
                [3, 1, 1, 9],
                Disagreement::SegmentBytes {
                    theirs: 1,
                    ours: 4096,
                },
            ),
            (
                [3, 4096, 1, 9],
                Disagreement::RingBytes {
                    theirs: 1,
                    ours: 256,
                },
            ),
            ([3, 4096, 256, 0], setting("RECORD", false)),
            ([3, 4096, 256, 3], setting("FAULTS", true)),
            (
                [3, 4096, 256, 1 << 63 | 1],
                setting("a setting that this version does not know", true),
            ),
        ] {
            assert_eq!(ours.differ(&theirs), Some(about));
        }
    }
}
