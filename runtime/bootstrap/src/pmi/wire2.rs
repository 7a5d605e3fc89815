//! The messages of PMI-2: six characters with the length, then `cmd=NAME;key=value;`.
//!
//! [`Message::parse`] takes one message without its length and never panics. A semicolon in
//! a value is written twice.

use super::wire::{LINE_BYTES_MAX, LineError, command_and_fields, quoted};

/// Characters of the length.
const LENGTH_BYTES: usize = 6;
/// The longest message that either side sends or accepts here.
pub(crate) const MESSAGE_BYTES_MAX: usize = 64 << 10;

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    command: String,
    fields: Vec<(String, String)>,
}

impl Message {
    pub(crate) fn new(command: &str) -> Self {
        Self {
            command: command.to_owned(),
            fields: Vec::new(),
        }
    }

    /// Appends `key=value`; the key holds neither `=` nor `;`.
    pub(crate) fn with(mut self, key: &str, value: impl ToString) -> Self {
        self.fields.push((key.to_owned(), value.to_string()));
        self
    }

    pub(crate) fn command(&self) -> &str {
        &self.command
    }

    pub(crate) fn value(&self, key: &str) -> Option<&str> {
        let found = self.fields.iter().find(|(name, _)| name == key);
        found.map(|(_, value)| value.as_str())
    }

    /// The message as it is sent, length included.
    pub(crate) fn emit(&self) -> Vec<u8> {
        let body = self.to_string();
        format!("{:<LENGTH_BYTES$}{body}", body.len()).into_bytes()
    }

    /// Reads one message, given without its length.
    pub(crate) fn parse(body: &[u8]) -> Result<Self, LineError> {
        let text = str::from_utf8(body).map_err(|error| {
            let at = error.valid_up_to();
            let byte = body.get(at).copied().unwrap_or(0);
            LineError::NotText { byte, at }
        })?;
        let (command, fields) = command_and_fields(text, split(text))?;
        Ok(Self { command, fields })
    }
}

impl std::fmt::Display for Message {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "cmd={};", self.command)?;
        for (key, value) in &self.fields {
            write!(f, "{key}={};", value.replace(';', ";;"))?;
        }
        Ok(())
    }
}

/// The words between single semicolons, with double ones made single.
fn split(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut chars = text.trim_end_matches(['\n', '\0']).chars().peekable();
    while let Some(c) = chars.next() {
        if c == ';' && chars.next_if_eq(&';').is_none() {
            words.push(String::new());
        } else if let Some(word) = words.last_mut() {
            word.push(c);
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Cuts a stream of bytes into messages.
#[derive(Debug, Default)]
pub(crate) struct MessageBuffer {
    bytes: Vec<u8>,
}

impl MessageBuffer {
    pub(crate) fn extend(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Takes a line: the first one of a conversation.
    pub(crate) fn next_line(&mut self) -> Result<Option<Vec<u8>>, LineError> {
        match self.bytes.iter().position(|byte| *byte == b'\n') {
            Some(end) if end < LINE_BYTES_MAX => {
                let mut line: Vec<u8> = self.bytes.drain(..=end).collect();
                line.pop();
                Ok(Some(line))
            }
            None if self.bytes.len() < LINE_BYTES_MAX => Ok(None),
            _ => Err(LineError::TooLong {
                got_bytes: self.bytes.len(),
            }),
        }
    }

    /// Takes the next complete message, without its length. After an error the stream
    /// cannot be used any more.
    pub(crate) fn next_message(&mut self) -> Result<Option<Vec<u8>>, LineError> {
        let Some((head, rest)) = self.bytes.split_first_chunk::<LENGTH_BYTES>() else {
            return Ok(None);
        };
        let digits = str::from_utf8(head).ok().map(str::trim);
        // The parser of numbers would also accept a sign.
        let digits = digits.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_digit()));
        let len = digits.and_then(|digits| digits.parse::<usize>().ok());
        let Some(len) = len else {
            return Err(LineError::NoCommand {
                begin: quoted(&String::from_utf8_lossy(&self.bytes)),
            });
        };
        if len > MESSAGE_BYTES_MAX {
            return Err(LineError::TooLong { got_bytes: len });
        }
        let Some(body) = rest.get(..len).map(<[u8]>::to_vec) else {
            return Ok(None);
        };
        self.bytes.drain(..LENGTH_BYTES + len);
        Ok(Some(body))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn literal_messages() {
        let put = Message::new("kvs-put")
            .with("key", "k")
            .with("value", "a;b");
        assert_eq!(put.emit(), b"29    cmd=kvs-put;key=k;value=a;;b;");
        let body = b"cmd=fullinit-response;rc=0;rank=1;size=4;errmsg=a;;b=c;";
        let reply = Message::parse(body).unwrap();
        assert_eq!(reply.command(), "fullinit-response");
        assert_eq!(reply.value("size"), Some("4"));
        assert_eq!(reply.value("errmsg"), Some("a;b=c"));
        // With the end that Slurm writes, and with the right-aligned length that Hydra
        // writes.
        let mut buffer = MessageBuffer::default();
        buffer.extend(b"cmd=response_to_init rc=0\n    10cmd=x;a=1;2     c");
        let line = buffer.next_line().unwrap().unwrap();
        assert_eq!(line, b"cmd=response_to_init rc=0");
        let body = buffer.next_message().unwrap().unwrap();
        assert_eq!(Message::parse(&body), Ok(Message::new("x").with("a", 1)));
        assert_eq!(buffer.next_message(), Ok(None));
    }

    #[test]
    fn malformed_messages_say_what_is_wrong() {
        let error = |body: &[u8]| Message::parse(body).unwrap_err();
        for bad in ["", ";", "cmd=", "rc=0;cmd=x;"] {
            assert_eq!(
                error(bad.as_bytes()),
                LineError::NoCommand { begin: bad.into() }
            );
        }
        assert_eq!(
            error(b"cmd=x;word;"),
            LineError::NotKeyValue {
                word: "word".into()
            }
        );
        assert_eq!(
            error(b"cmd=x;a=1;a=2;"),
            LineError::Twice { key: "a".into() }
        );
        assert_eq!(error(b"cmd=\xff"), LineError::NotText { byte: 0xff, at: 4 });
        let mut buffer = MessageBuffer::default();
        buffer.extend(b"HTTP/1.1 400\n");
        assert!(buffer.next_message().is_err());
        let mut buffer = MessageBuffer::default();
        buffer.extend(b"+6    cmd=x;");
        assert!(buffer.next_message().is_err());
        let mut buffer = MessageBuffer::default();
        buffer.extend(b"999999cmd=x;");
        let got_bytes = 999_999;
        assert_eq!(buffer.next_message(), Err(LineError::TooLong { got_bytes }));
    }

    proptest! {
        #[test]
        fn what_is_emitted_comes_back(
            command in "[a-z-]{1,12}",
            fields in proptest::collection::btree_map("[a-z]{1,9}", "[!-~é]{1,20}", 0..6),
        ) {
            // A semicolon at either end of a value looks like the separators around it.
            let mut message = Message::new(&command);
            for (key, value) in &fields {
                message = message.with(key, value.trim_matches(';').to_owned() + ".");
            }
            let mut buffer = MessageBuffer::default();
            buffer.extend(&message.emit());
            let body = buffer.next_message().unwrap().unwrap();
            prop_assert_eq!(Message::parse(&body), Ok(message));
        }

        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), len in 0usize..300) {
            let _ = Message::parse(&bytes);
            let mut buffer = MessageBuffer::default();
            buffer.extend(format!("{len:<6}").as_bytes());
            buffer.extend(&bytes);
            while let Ok(Some(body)) = buffer.next_message() {
                let _ = Message::parse(&body);
            }
            let _ = buffer.next_line();
        }
    }
}
