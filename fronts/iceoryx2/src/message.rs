//! What tunnels say to each other: the tags of their messages, and services as bytes.
//!
//! Each message of a [station](hostwire::station) has a tag: version, kind, and the number that the *owner* of the service gave to
//! it. The owner of an offer is who made it; [`Kind::Want`] and [`Kind::Enough`] go back to the owner, and have its number.

use crate::description::{Description, Event, Pattern, PublishSubscribe, Type};

/// Tunnels of other versions do not understand each other.
pub const VERSION: u16 = 1;

/// What a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The first to a peer.
    Hello,
    /// Programs here use this service. Bytes: its description.
    Offer,
    /// They do so no longer.
    Withdraw,
    /// Programs here read what yours write to this service.
    Want,
    /// They do so no longer.
    Enough,
    /// The user header of the sample that follows, if the service has one.
    Header,
    /// The payload of a sample.
    Sample,
    /// Notifications. Data: the id. Bytes: how many, as 8 bytes.
    Event,
    /// Never sent. Who waits for it learns of the end of a peer.
    End,
}

impl Kind {
    const ALL: [Self; 9] = [
        Self::Hello,
        Self::Offer,
        Self::Withdraw,
        Self::Want,
        Self::Enough,
        Self::Header,
        Self::Sample,
        Self::Event,
        Self::End,
    ];

    /// The tag of a message of this kind about a service.
    pub fn tag(self, number: u32) -> u64 {
        u64::from(VERSION) << 48 | (self as u64) << 32 | u64::from(number)
    }
}

/// What a tag says; `None` if it is one of another version.
pub fn read_tag(tag: u64) -> Option<(Kind, u32)> {
    let kind = *Kind::ALL.get(usize::from((tag >> 32) as u16))?;
    ((tag >> 48) as u16 == VERSION).then_some((kind, tag as u32))
}

/// A service as bytes: see [`read`].
pub fn write(description: &Description) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_text(&mut bytes, &description.name);
    match &description.pattern {
        Pattern::PublishSubscribe(what) => {
            bytes.push(0);
            write_type(&mut bytes, &what.header);
            write_type(&mut bytes, &what.payload);
            bytes.push(what.overflows.into());
            for number in what.numbers() {
                write_number(&mut bytes, number);
            }
        }
        Pattern::Event(what) => {
            bytes.push(1);
            for number in what.numbers() {
                write_number(&mut bytes, number);
            }
            for number in what.choices() {
                bytes.push(number.is_some().into());
                write_number(&mut bytes, number.unwrap_or(0));
            }
        }
    }
    bytes
}

fn write_text(bytes: &mut Vec<u8>, text: &str) {
    // Names of iceoryx2 have at most 256 bytes.
    let text = &text.as_bytes()[..text.len().min(usize::from(u16::MAX))];
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text);
}

fn write_number(bytes: &mut Vec<u8>, number: u64) {
    bytes.extend(number.to_le_bytes());
}

fn write_type(bytes: &mut Vec<u8>, what: &Type) {
    bytes.push(what.is_slice.into());
    write_text(bytes, &what.name);
    write_number(bytes, what.size_bytes);
    write_number(bytes, what.alignment);
}

/// The service that a peer describes; `None` if these bytes are no description. Whether it can be opened here is another question:
/// [`Description::check`].
pub fn read(bytes: &[u8]) -> Option<Description> {
    let mut reader = Reader(bytes);
    let name = reader.text()?;
    let pattern = match reader.byte()? {
        0 => {
            let (header, payload) = (reader.kind_of_data()?, reader.kind_of_data()?);
            let overflows = reader.flag()?;
            let numbers = reader.numbers()?;
            Pattern::PublishSubscribe(PublishSubscribe::new(header, payload, overflows, numbers))
        }
        1 => {
            let numbers = reader.numbers()?;
            let mut choices = [None; 4];
            for choice in &mut choices {
                let (is_some, number) = (reader.flag()?, reader.number()?);
                *choice = is_some.then_some(number);
            }
            Pattern::Event(Event::new(numbers, choices))
        }
        _ => return None,
    };
    reader.0.is_empty().then_some(Description { name, pattern })
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*first)
    }

    fn byte(&mut self) -> Option<u8> {
        self.array().map(|[byte]| byte)
    }

    fn flag(&mut self) -> Option<bool> {
        match self.byte()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    fn number(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn numbers<const N: usize>(&mut self) -> Option<[u64; N]> {
        let mut numbers = [0; N];
        for number in &mut numbers {
            *number = self.number()?;
        }
        Some(numbers)
    }

    fn text(&mut self) -> Option<String> {
        let len = usize::from(u16::from_le_bytes(self.array()?));
        let (text, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        String::from_utf8(text.to_vec()).ok()
    }

    fn kind_of_data(&mut self) -> Option<Type> {
        Some(Type {
            is_slice: self.flag()?,
            name: self.text()?,
            size_bytes: self.number()?,
            alignment: self.number()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn examples() -> [Description; 2] {
        let data = |name: &str, is_slice| Type {
            is_slice,
            name: name.into(),
            size_bytes: 8,
            alignment: 4,
        };
        let topic = PublishSubscribe::new(
            data("head", false),
            data("é", true),
            true,
            [1, 2, 3, 4, 5, 6],
        );
        let event = Event::new([7, 8, 9, 10], [None, Some(0), Some(u64::MAX), None]);
        [Pattern::PublishSubscribe(topic), Pattern::Event(event)].map(|pattern| Description {
            name: "My/Service".into(),
            pattern,
        })
    }

    #[test]
    fn descriptions_survive_the_wire_and_nothing_else_is_one() {
        for description in examples() {
            let bytes = write(&description);
            assert_eq!(read(&bytes).as_ref(), Some(&description));
            for len in 0..bytes.len() {
                assert_eq!(read(&bytes[..len]), None, "{len}");
            }
            assert_eq!(read(&[&bytes[..], &[0]].concat()), None);
            // What else a peer may write is read without a panic, and is written the same.
            for at in 0..bytes.len() {
                for value in [0, 1, 2, 0x7f, 0xff] {
                    let mut other = bytes.clone();
                    other[at] = value;
                    if let Some(read) = read(&other) {
                        assert_eq!(super::read(&write(&read)), Some(read.clone()));
                        let _ = read.check();
                    }
                }
            }
        }
    }

    #[test]
    fn tags_say_kind_and_number_and_those_of_other_versions_say_nothing() {
        for kind in Kind::ALL {
            assert_eq!(read_tag(kind.tag(u32::MAX)), Some((kind, u32::MAX)));
            assert_eq!(read_tag(kind.tag(0) + (1 << 48)), None);
        }
        assert_eq!(read_tag(u64::from(VERSION) << 48 | 9 << 32), None);
        assert_eq!(read_tag(u64::MAX), None);
    }
}
