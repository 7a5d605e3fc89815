//! Memory for messages that are set aside, used again: most are short, and come and go one by one.

/// Longer messages get memory of their own.
const BYTES_MAX: usize = 256;
/// Kept at most.
const COUNT_MAX: usize = 512;

/// See the [module text](self).
#[derive(Default)]
pub(super) struct FreeList(Vec<Vec<u8>>);

impl FreeList {
    /// So many zeros.
    pub(super) fn take(&mut self, len: usize) -> Vec<u8> {
        let fits = len <= BYTES_MAX;
        match self.0.pop_if(|_| fits) {
            Some(mut bytes) => {
                bytes.clear();
                bytes.resize(len, 0);
                bytes
            }
            None => vec![0; len],
        }
    }

    /// It is not needed any more.
    pub(super) fn give(&mut self, bytes: Vec<u8>) {
        if bytes.capacity() <= BYTES_MAX && self.0.len() < COUNT_MAX {
            self.0.push(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_there_before_is_not() {
        let mut spare = FreeList::default();
        spare.give(vec![7; 100]);
        assert_eq!(spare.take(40), [0; 40]);
        assert_eq!(spare.0.len(), 0);
        spare.give(vec![7; BYTES_MAX + 1]);
        assert_eq!(spare.0.len(), 0, "it is too long to be kept");
        for _ in 0..2 * COUNT_MAX {
            spare.give(vec![7; 9]);
        }
        assert_eq!(spare.0.len(), COUNT_MAX);
        assert_eq!(spare.take(BYTES_MAX + 1), [0; BYTES_MAX + 1]);
        assert_eq!(spare.0.len(), COUNT_MAX, "none of them is long enough");
        assert_eq!(spare.take(BYTES_MAX), [0; BYTES_MAX]);
    }
}
