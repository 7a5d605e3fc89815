//! What must be the same at all PEs of a job. A PE sends it in [`Terms::WORDS`] words when PEs
//! meet, and the side that gathers them compares the words.

use crate::error::Disagreement;

/// The terms of one PE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// The version of the layout of segments and of the addresses in frames. All other terms are
    /// only comparable between PEs of one version.
    pub version: u64,
    /// What the sizes are of which its segment is made.
    pub size_names: &'static [&'static str; Self::SIZES],
    /// These sizes, in bytes. They may differ where the segment is as long.
    pub sizes: [u64; Self::SIZES],
    /// The requested size of its segment.
    pub segment_bytes: u64,
    /// The names of settings that change how a PE reaches others: all PEs have one, or none.
    pub settings: &'static [&'static str],
    /// A bit for each of these settings that this PE has; the first is the lowest bit.
    pub set: u64,
}

/// Terms as words: the version, the size of the segment, the settings, and the sizes.
pub type TermWords = [u64; Terms::WORDS];

impl Terms {
    /// Number of sizes.
    pub const SIZES: usize = 7;
    /// Number of words of the terms.
    pub const WORDS: usize = 3 + Self::SIZES;

    /// The terms as words.
    pub fn to_words(&self) -> TermWords {
        let mut words = [self.version, self.segment_bytes, self.set]
            .into_iter()
            .chain(self.sizes);
        core::array::from_fn(|_| words.next().unwrap_or(0))
    }

    /// The first difference between these terms and those of another PE.
    pub fn differ(&self, theirs: &TermWords) -> Option<Disagreement> {
        let [version, segment_bytes, set, ref sizes @ ..] = *theirs;
        let differ = |theirs: u64, ours: u64| (theirs != ours).then_some((theirs, ours));
        if let Some((theirs, ours)) = differ(version, self.version) {
            return Some(Disagreement::Version { theirs, ours });
        }
        for ((theirs, ours), what) in sizes.iter().zip(self.sizes).zip(self.size_names) {
            if let Some((theirs, ours)) = differ(*theirs, ours) {
                return Some(Disagreement::Size { what, theirs, ours });
            }
        }
        if let Some((theirs, ours)) = differ(segment_bytes, self.segment_bytes) {
            return Some(Disagreement::SegmentBytes { theirs, ours });
        }
        let bit = (set ^ self.set).trailing_zeros();
        let setting = self.settings.get(bit as usize).copied();
        differ(set, self.set).map(|_| Disagreement::Setting {
            setting: setting.unwrap_or("a setting that this version does not know"),
            theirs: set.checked_shr(bit).is_some_and(|set| set & 1 == 1),
        })
    }
}

/// The words of terms as one word of text.
pub fn to_text(words: &TermWords) -> String {
    let numbers: Vec<String> = words.iter().map(u64::to_string).collect();
    numbers.join(",")
}

/// The words of terms in such a text. `None` if it is none.
pub fn from_text(text: &str) -> Option<TermWords> {
    let numbers = text.split(',').map(|number| number.parse().ok());
    numbers.collect::<Option<Vec<u64>>>()?.try_into().ok()
}

/// The version in a text with which one of any version begins.
pub fn version_in(text: &str) -> Option<u64> {
    text.split([' ', ',']).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; Terms::SIZES] = ["a", "b", "c", "d", "e", "f", "g"];
    const OURS: Terms = Terms {
        version: 3,
        size_names: &NAMES,
        sizes: [256, 0, 0, 0, 0, 0, 7],
        segment_bytes: 4096,
        settings: &["RECORD", "FAULTS"],
        set: 0b01,
    };

    #[test]
    fn what_differs_first_is_told() {
        assert_eq!(OURS.to_words(), [3, 4096, 1, 256, 0, 0, 0, 0, 0, 7]);
        assert_eq!(OURS.differ(&OURS.to_words()), None);
        let setting = |setting, theirs| Disagreement::Setting { setting, theirs };
        let size = |what, theirs, ours| Disagreement::Size { what, theirs, ours };
        let theirs = |at: usize, word: u64| {
            let mut words = OURS.to_words();
            words[at] = word;
            words
        };
        let all_else = [2, 1, 9, 1, 1, 1, 1, 1, 1, 1];
        let mut all_sizes = theirs(3, 1);
        (all_sizes[1], all_sizes[2]) = (1, 9);
        for (theirs, about) in [
            (all_else, Disagreement::Version { theirs: 2, ours: 3 }),
            (all_sizes, size("a", 1, 256)),
            (theirs(9, 8), size("g", 8, 7)),
            (
                theirs(1, 1),
                Disagreement::SegmentBytes {
                    theirs: 1,
                    ours: 4096,
                },
            ),
            (theirs(2, 0), setting("RECORD", false)),
            (theirs(2, 3), setting("FAULTS", true)),
            (
                theirs(2, 1 << 63 | 1),
                setting("a setting that this version does not know", true),
            ),
        ] {
            assert_eq!(OURS.differ(&theirs), Some(about));
        }
    }

    /// Sizes that differ, with the same sum.
    #[test]
    fn segments_of_the_same_length_may_differ() {
        let mut theirs = OURS.to_words();
        (theirs[3], theirs[4]) = (128, 128);
        let what = "a";
        assert_eq!(
            OURS.differ(&theirs),
            Some(Disagreement::Size {
                what,
                theirs: 128,
                ours: 256
            })
        );
    }

    #[test]
    fn words_come_back_from_text() {
        let text = to_text(&OURS.to_words());
        assert_eq!(text, "3,4096,1,256,0,0,0,0,0,7");
        assert_eq!(from_text(&text), Some(OURS.to_words()));
        for bad in [
            "",
            "3,4096,1",
            "3,4096,1,256,0,0,0,0,0,7,8",
            "3,4096,1,256,0,0,0,0,0,x",
        ] {
            assert_eq!(from_text(bad), None);
        }
        for (text, version) in [
            (&*text, Some(3)),
            ("9 8192 4096", Some(9)),
            ("2", Some(2)),
            ("x", None),
        ] {
            assert_eq!(version_in(text), version);
        }
    }
}
