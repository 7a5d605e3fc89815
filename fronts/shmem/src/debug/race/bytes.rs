//! Messages as bytes: numbers of as many bytes as they need, and runs of bytes.

/// Puts a message together.
#[derive(Debug, Default)]
pub(super) struct Writer(Vec<u8>);

impl Writer {
    /// Seven bits to a byte, the lowest first; the top bit says that more follow.
    pub(super) fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    pub(super) fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
    }

    pub(super) fn done(self) -> Vec<u8> {
        self.0
    }
}

/// Reads a message. The result is `None` if it is not valid.
#[derive(Debug)]
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(super) fn number(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    pub(super) fn small<T: TryFrom<u64>>(&mut self) -> Option<T> {
        T::try_from(self.number()?).ok()
    }

    pub(super) fn pe(&mut self, pes: u32) -> Option<u32> {
        self.small().filter(|pe| *pe < pes)
    }

    pub(super) fn text(&mut self) -> Option<&'a str> {
        let len = self.small()?;
        let (text, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        core::str::from_utf8(text).ok()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_texts_are_bytes_and_back() {
        let numbers = [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX];
        let mut writer = Writer::default();
        numbers.iter().for_each(|number| writer.number(*number));
        writer.text("shmem_put");
        let bytes = writer.done();
        let mut reader = Reader::new(&bytes);
        for number in numbers {
            assert_eq!(reader.number(), Some(number));
        }
        assert_eq!(reader.text(), Some("shmem_put"));
        assert!(reader.is_empty());
        assert_eq!(reader.number(), None);
    }

    #[test]
    fn what_is_cut_or_too_large_is_nothing() {
        assert_eq!(Reader::new(&[0x80]).number(), None);
        assert_eq!(Reader::new(&[0xff; 11]).number(), None);
        assert_eq!(Reader::new(&[5, b'a']).text(), None);
        assert_eq!(Reader::new(&[9]).pe(9), None);
        assert_eq!(Reader::new(&[0x80, 0x80, 4]).small::<u16>(), None);
    }
}
