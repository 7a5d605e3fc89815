//! Frames, and the numbers, texts and lists in them.

/// The longest frame that is accepted. A description has the arguments and variables of a program, of which Linux takes two
/// megabytes.
pub const FRAME_BYTES_MAX: usize = 8 << 20;

/// Why bytes are no frame.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// Its length is none that a frame has.
    #[error("a message of {got_bytes} bytes; expected 1 to {FRAME_BYTES_MAX}")]
    Length {
        /// The length that it says.
        got_bytes: usize,
    },
    /// Its kind is unknown.
    #[error("a message of the unknown kind {got}")]
    Kind {
        /// The kind.
        got: u8,
    },
    /// Its content is not that of its kind.
    #[error("a message of the kind {kind} with {problem}")]
    Content {
        /// The kind.
        kind: u8,
        /// What is wrong.
        problem: &'static str,
    },
}

/// One side's part of the protocol.
pub trait Message: Sized {
    /// The number of the kind, and the content.
    fn write(&self) -> (u8, Writer);

    /// The value of a frame. `None` if there is no such kind.
    ///
    /// # Errors
    /// What is wrong with the content.
    fn read(kind: u8, reader: &mut Reader<'_>) -> Option<Result<Self, &'static str>>;

    /// The whole frame.
    fn emit(&self) -> Vec<u8> {
        let (kind, content) = self.write();
        let mut frame = (content.0.len() as u32 + 1).to_le_bytes().to_vec();
        frame.push(kind);
        frame.extend(content.0);
        frame
    }

    /// The value of a frame without its length.
    ///
    /// # Errors
    /// [`FrameError`].
    fn parse(body: &[u8]) -> Result<Self, FrameError> {
        let (&kind, content) = body
            .split_first()
            .ok_or(FrameError::Length { got_bytes: 0 })?;
        let mut reader = Reader(content);
        let content = |problem| FrameError::Content { kind, problem };
        let value = Self::read(kind, &mut reader).ok_or(FrameError::Kind { got: kind })?;
        let value = value.map_err(content)?;
        match reader.0 {
            [] => Ok(value),
            _ => Err(content("bytes behind its end")),
        }
    }
}

/// The content of a frame, as it grows.
#[derive(Debug, Default)]
pub struct Writer(Vec<u8>);

impl Writer {
    pub(super) fn byte(mut self, byte: u8) -> Self {
        self.0.push(byte);
        self
    }

    pub(super) fn flag(self, flag: bool) -> Self {
        self.byte(flag.into())
    }

    pub(super) fn number(mut self, number: u32) -> Self {
        self.0.extend(number.to_le_bytes());
        self
    }

    pub(super) fn long(mut self, number: u64) -> Self {
        self.0.extend(number.to_le_bytes());
        self
    }

    /// Bytes that begin with their length.
    pub(super) fn bytes(self, bytes: &[u8]) -> Self {
        self.number(bytes.len() as u32).rest(bytes)
    }

    /// Bytes up to the end of the frame.
    pub(super) fn rest(mut self, bytes: &[u8]) -> Self {
        self.0.extend(bytes);
        self
    }

    pub(super) fn list(self, list: impl ExactSizeIterator<Item = impl AsRef<[u8]>>) -> Self {
        let begun = self.number(list.len() as u32);
        list.fold(begun, |writer, item| writer.bytes(item.as_ref()))
    }
}

/// What is left of the content of a frame.
#[derive(Debug)]
pub struct Reader<'a>(&'a [u8]);

const CUT_OFF: &str = "an end that comes too early";

impl<'a> Reader<'a> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], &'static str> {
        let (bytes, behind) = self.0.split_first_chunk::<N>().ok_or(CUT_OFF)?;
        self.0 = behind;
        Ok(*bytes)
    }

    pub(super) fn byte(&mut self) -> Result<u8, &'static str> {
        self.array().map(u8::from_le_bytes)
    }

    pub(super) fn flag(&mut self) -> Result<bool, &'static str> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err("an answer that is neither yes nor no"),
        }
    }

    pub(super) fn number(&mut self) -> Result<u32, &'static str> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn long(&mut self) -> Result<u64, &'static str> {
        self.array().map(u64::from_le_bytes)
    }

    pub(super) fn bytes(&mut self) -> Result<Vec<u8>, &'static str> {
        let len = self.number()? as usize;
        let (bytes, behind) = self.0.split_at_checked(len).ok_or(CUT_OFF)?;
        self.0 = behind;
        Ok(bytes.to_vec())
    }

    pub(super) fn text(&mut self) -> Result<String, &'static str> {
        String::from_utf8(self.bytes()?).map_err(|_| "a text that is not UTF-8")
    }

    pub(super) fn list(&mut self) -> Result<Vec<Vec<u8>>, &'static str> {
        // Each item takes bytes, so a wrong number ends soon.
        let count = self.number()?;
        (0..count).map(|_| self.bytes()).collect()
    }

    pub(super) fn rest(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.0).to_vec()
    }
}
