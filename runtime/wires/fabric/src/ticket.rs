//! What a PE publishes about its endpoint, through the launcher.

use core::fmt;
use core::str::FromStr;

/// Where an endpoint is, and the key of the segment behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ticket {
    /// The provider, as libfabric names it.
    pub(super) provider: String,
    /// Of the segment.
    pub(super) key: u64,
    /// The address of its first byte, as the provider counts.
    pub(super) base: u64,
    /// The name of the endpoint.
    pub(super) name: Vec<u8>,
}

impl Ticket {
    /// The provider, as libfabric names it.
    pub fn provider(&self) -> &str {
        &self.provider
    }
}

/// `tcp;ofi_rxm,1f,0,0200a12b0a090001`: without blanks.
impl fmt::Display for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            provider,
            key,
            base,
            name,
        } = self;
        write!(f, "{provider},{key:x},{base:x},")?;
        name.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for Ticket {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let words: Vec<&str> = text.split(',').collect();
        let &[provider, key, base, name] = &words[..] else {
            return Err(());
        };
        let number = |word| u64::from_str_radix(word, 16).map_err(drop);
        let is_clean = |c: char| c.is_ascii_graphic();
        if provider.is_empty() || !provider.chars().all(is_clean) || name.len() % 2 != 0 {
            return Err(());
        }
        let byte = |pair: &[u8]| {
            let digit = |byte: u8| char::from(byte).to_digit(16).ok_or(());
            match pair {
                &[high, low] => Ok((digit(high)? << 4 | digit(low)?) as u8),
                _ => Err(()),
            }
        };
        Ok(Self {
            provider: provider.to_owned(),
            key: number(key)?,
            base: number(base)?,
            name: name
                .as_bytes()
                .chunks(2)
                .map(byte)
                .collect::<Result<_, ()>>()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tickets_come_back() {
        for text in ["tcp;ofi_rxm,1f,0,0200a12b0a090001", "shm,0,7f0000000000,"] {
            assert_eq!(text.parse::<Ticket>().unwrap().to_string(), text);
        }
        for bad in [
            "",
            ",,,",
            "tcp",
            "tcp,1,2",
            "tcp,1,2,0",
            "tcp,1,2,0g",
            "tcp,x,2,00",
            "t p,1,2,00",
            "tcp,1,2,00,",
            "tcp,1,2,é",
        ] {
            assert_eq!(bad.parse::<Ticket>(), Err(()), "{bad}");
        }
    }
}
