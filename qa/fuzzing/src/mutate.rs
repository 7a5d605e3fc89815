//! Changes to inputs: bytes, numbers, lengths, words, and parts of other inputs.

use hostwire_transport::conformance::Random;

/// Longest input that is made.
const LEN_MAX: usize = 16 << 10;
/// Most inputs that are changed further.
const INPUTS_MAX: usize = 500;
/// Most changes to one input.
const CHANGES_MAX: usize = 6;
/// Shortest word that is worth remembering.
const WORD_BYTES_MIN: usize = 2;
const WORD_BYTES_MAX: usize = 32;

/// Numbers around which limits lie; every one of them and its neighbours are tried in widths of
/// 1, 2, 4 and 8 bytes, in both orders.
const EDGES: [u64; 12] = [
    0,
    1 << 7,
    1 << 8,
    1 << 12,
    1 << 15,
    1 << 16,
    1 << 20,
    1 << 31,
    1 << 32,
    1 << 48,
    1 << 62,
    1 << 63,
];
/// The same as texts.
const NUMBERS: [&str; 10] = [
    "0",
    "-1",
    "+1",
    "4096",
    "65536",
    "4294967295",
    "4294967296",
    "18446744073709551615",
    "99999999999999999999",
    "1e300",
];

/// Makes new inputs out of those that there are.
pub(crate) struct Mutator {
    random: Random,
    inputs: Vec<Vec<u8>>,
    /// How many of them are of the corpus.
    given: usize,
    words: Vec<Vec<u8>>,
}

impl Mutator {
    /// Begins with `inputs`.
    pub(crate) fn new(seed: u64, inputs: Vec<Vec<u8>>) -> Self {
        let mut words: Vec<Vec<u8>> = inputs.iter().flat_map(|input| words_of(input)).collect();
        words.sort();
        words.dedup();
        Self {
            random: Random::new(seed),
            given: inputs.len(),
            inputs,
            words,
        }
    }

    /// An input that is worth changing further.
    pub(crate) fn add(&mut self, input: &[u8]) {
        match self.inputs.len() < INPUTS_MAX {
            true => self.inputs.push(input.to_vec()),
            // Those of the corpus stay.
            false => {
                let at = self.given + self.random.below(INPUTS_MAX.saturating_sub(self.given));
                if let Some(place) = self.inputs.get_mut(at) {
                    *place = input.to_vec();
                }
            }
        }
    }

    /// The next input.
    pub(crate) fn next(&mut self) -> Vec<u8> {
        let mut bytes = self.any_input().to_vec();
        for _ in 0..=self.random.below(CHANGES_MAX) {
            self.change(&mut bytes);
        }
        bytes.truncate(LEN_MAX);
        bytes
    }

    fn any_input(&mut self) -> &[u8] {
        let index = self.random.below(self.inputs.len());
        self.inputs.get(index).map_or(&[], Vec::as_slice)
    }

    fn change(&mut self, bytes: &mut Vec<u8>) {
        let at = self.random.below(bytes.len() + 1);
        match self.random.below(16) {
            0 | 1 => with_byte(bytes, at, |byte| byte ^ 1 << self.random.below(8)),
            2 => {
                let byte = self.random.word() as u8;
                with_byte(bytes, at, |_| byte);
            }
            3 => {
                let step = self.random.below(9) as u8;
                with_byte(bytes, at, |byte| byte.wrapping_add(step).wrapping_sub(4));
            }
            4 => {
                let end = at + self.random.below((bytes.len() - at).min(64) + 1);
                bytes.drain(at..end);
            }
            5 => {
                let len = self.random.below(8) + 1;
                let new = self.random.bytes(len);
                bytes.splice(at..at, new);
            }
            6 | 7 => self.put_number(bytes, at),
            8 | 9 => {
                let index = self.random.below(self.words.len());
                let word = self.words.get(index).cloned().unwrap_or_default();
                self.put(bytes, at, &word);
            }
            10 => {
                let number = self.random.pick(&NUMBERS);
                self.put(bytes, at, number.as_bytes());
            }
            11 => self.repeat(bytes, at),
            12 => bytes.truncate(at),
            13 => {
                // The front of this one and the tail of another.
                let other = self.any_input().to_vec();
                let from = self.random.below(other.len() + 1);
                bytes.truncate(at);
                bytes.extend_from_slice(&other[from..]);
            }
            14 => {
                let other = self.any_input().to_vec();
                let from = self.random.below(other.len() + 1);
                let len = self.random.below((other.len() - from).min(64) + 1);
                bytes.splice(at..at, other[from..from + len].iter().copied());
            }
            _ => {
                let to = self.random.below(bytes.len() + 1);
                let len = self.random.below((bytes.len() - at.max(to)).min(32) + 1);
                bytes.copy_within(at..at + len, to);
            }
        }
    }

    /// A part of it, once more or many times: lengths have limits.
    fn repeat(&mut self, bytes: &mut Vec<u8>, at: usize) {
        let len = self.random.below((bytes.len() - at).min(64) + 1);
        let times = match self.random.one_in(8) {
            true => 1 << self.random.below(13),
            false => 1 + self.random.below(3),
        };
        let times = times.min((LEN_MAX - bytes.len().min(LEN_MAX)) / len.max(1));
        let part = bytes[at..at + len].repeat(times);
        bytes.splice(at..at, part);
    }

    fn put_number(&mut self, bytes: &mut Vec<u8>, at: usize) {
        let edge = self.random.pick(&EDGES);
        let number = edge
            .wrapping_add(self.random.below(3) as u64)
            .wrapping_sub(1);
        let width = 1 << self.random.below(4);
        let (little, big) = (number.to_le_bytes(), number.to_be_bytes());
        let number = match self.random.one_in(3) {
            true => &big[8 - width..],
            false => &little[..width],
        };
        self.put(bytes, at, number);
    }

    /// Over what is there, or between.
    fn put(&mut self, bytes: &mut Vec<u8>, at: usize, new: &[u8]) {
        let end = match self.random.one_in(2) {
            true => at,
            false => (at + new.len()).min(bytes.len()),
        };
        bytes.splice(at..end, new.iter().copied());
    }
}

fn with_byte(bytes: &mut [u8], at: usize, change: impl FnOnce(u8) -> u8) {
    if let Some(byte) = bytes.get_mut(at) {
        *byte = change(*byte);
    }
}

/// The words of a text in it, and what stands between them.
fn words_of(input: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
    let words = input.chunk_by(move |a, b| is_word(a) == is_word(b));
    let words = words.filter(|word| (WORD_BYTES_MIN..=WORD_BYTES_MAX).contains(&word.len()));
    words
        .filter(|word| word.iter().all(|byte| (b' '..0x7f).contains(byte)))
        .map(<[u8]>::to_vec)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs() -> Vec<Vec<u8>> {
        vec![b"key=value\n".to_vec(), vec![0, 1, 2, 3], vec![]]
    }

    #[test]
    fn a_seed_says_it_all() {
        let made = |seed| {
            let mut mutator = Mutator::new(seed, inputs());
            (0..100).map(|_| mutator.next()).collect::<Vec<_>>()
        };
        assert_eq!(made(1), made(1));
        assert_ne!(made(1), made(2));
    }

    #[test]
    fn inputs_are_changed_in_every_way() {
        let mut mutator = Mutator::new(1, inputs());
        let made: Vec<Vec<u8>> = (0..20_000).map(|_| mutator.next()).collect();
        assert!(made.iter().all(|input| input.len() <= LEN_MAX));
        let has = |what: &dyn Fn(&[u8]) -> bool| made.iter().any(|input| what(input));
        assert!(has(&|input| input.len() > 4096), "long ones");
        assert!(has(&|input| input.is_empty()), "empty ones");
        assert!(
            has(&|input| input.starts_with(b"key=") && input.ends_with(&[2, 3])),
            "spliced"
        );
        for word in [&b"key=key"[..], b"valuevalue", &[0xff; 8], b"4294967296"] {
            assert!(
                has(&|input| input.windows(word.len()).any(|w| w == word)),
                "{word:?}"
            );
        }
    }

    #[test]
    fn words_are_found() {
        let words: Vec<Vec<u8>> = words_of(b"cmd=put \x01\x02ab key").collect();
        assert_eq!(
            words,
            [&b"cmd"[..], b"put", b"ab", b"key"].map(<[u8]>::to_vec)
        );
    }
}
