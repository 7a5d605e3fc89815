//! The ticket: what PE 0 tells the others about the job's place in a region.

use core::fmt;
use core::str::FromStr;

use hostwire_transport::error::{EnvironmentFault, TransportError};

/// Where the memory of a job is: the region, the place in its table, and the key.
#[derive(Clone, PartialEq, Eq)]
pub struct Ticket {
    /// Of the region.
    pub(crate) identity: u128,
    /// Of the region.
    pub(crate) size_bytes: u64,
    pub(crate) slot: u32,
    pub(crate) incarnation: u64,
    pub(crate) key: u128,
    /// The memory of the job is zeroed already.
    pub(crate) is_zeroed: bool,
    /// Of the host of PE 0; 0 if that is not known.
    pub(crate) epoch: u64,
    /// Of a region without a name: the process that has it, and its number there.
    pub(crate) nameless: Option<(u32, u32)>,
}

impl Ticket {
    /// Whether PE 0 is on another host, as far as that is known.
    pub(crate) fn is_far(&self) -> bool {
        let here = super::file::epoch();
        self.epoch != 0 && here != 0 && self.epoch != here
    }

    /// Where PEs find the region, if it has no name.
    pub fn path(&self) -> Option<String> {
        let (process, number) = self.nameless?;
        Some(format!("/proc/{process}/fd/{number}"))
    }
}

/// The key is not shown.
impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ticket")
            .field("identity", &self.identity)
            .field("slot", &self.slot)
            .field("incarnation", &self.incarnation)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            identity,
            size_bytes,
            slot,
            incarnation,
            key,
            is_zeroed,
            epoch,
            nameless,
        } = self;
        let (process, number) = nameless.unwrap_or_default();
        let is_zeroed = u8::from(*is_zeroed);
        write!(
            f,
            "{identity:032x}:{size_bytes}:{slot}:{incarnation}:{key:032x}:{is_zeroed}:\
             {epoch:016x}:{process}:{number}"
        )
    }
}

impl FromStr for Ticket {
    type Err = TransportError;

    fn from_str(text: &str) -> Result<Self, TransportError> {
        parse(text).ok_or_else(|| {
            // Does not quote the text: it may contain the key.
            let got = format!("{} characters", text.chars().count());
            let fault = EnvironmentFault::unexpected("a place in a region", got);
            TransportError::environment("the ticket of the job, from the launcher", fault)
        })
    }
}

fn parse(text: &str) -> Option<Ticket> {
    let words: Vec<&str> = text.split(':').collect();
    let &[
        identity,
        size_bytes,
        slot,
        incarnation,
        key,
        is_zeroed,
        epoch,
        process,
        number,
    ] = &words[..]
    else {
        return None;
    };
    let process: u32 = decimal(process)?;
    let number = decimal(number)?;
    Some(Ticket {
        identity: hexadecimal(identity, 32)?,
        size_bytes: decimal(size_bytes)?,
        slot: decimal(slot)?,
        incarnation: decimal(incarnation)?,
        key: hexadecimal(key, 32)?,
        is_zeroed: match is_zeroed {
            "0" => false,
            "1" => true,
            _ => return None,
        },
        epoch: u64::try_from(hexadecimal(epoch, 16)?).ok()?,
        nameless: match (process, number) {
            (0, 0) => None,
            (0, _) => return None,
            nameless => Some(nameless),
        },
    })
}

/// Only digits, without leading zeros.
fn decimal<T: FromStr + fmt::Display>(word: &str) -> Option<T> {
    let number: T = word.parse().ok()?;
    (number.to_string() == word).then_some(number)
}

fn hexadecimal(word: &str, len: usize) -> Option<u128> {
    let digits = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let whole = word.len() == len && word.bytes().all(digits);
    u128::from_str_radix(word, 16).ok().filter(|_| whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tickets_come_back_and_hide_their_key() {
        let ticket = Ticket {
            identity: 0xa1,
            size_bytes: 64 << 20,
            slot: 3,
            incarnation: 9,
            key: 0xfeed,
            is_zeroed: true,
            epoch: 0xbeef,
            nameless: Some((77, 5)),
        };
        let text = ticket.to_string();
        assert_eq!(
            text,
            "000000000000000000000000000000a1:67108864:3:9:\
             0000000000000000000000000000feed:1:000000000000beef:77:5"
        );
        assert_eq!(text.parse::<Ticket>().unwrap(), ticket);
        assert_eq!(ticket.path().unwrap(), "/proc/77/fd/5");
        assert!(!format!("{ticket:?}").contains(&0xfeed.to_string()));
        for bad in [
            "",
            "1:2",
            &text.replace(":1:0000", ":2:0000"),
            &text.replace("beef:", "bee:"),
            &text.replace("77:5", "0:5"),
        ] {
            let error = bad.parse::<Ticket>().unwrap_err().to_string();
            assert!(
                error.contains("launcher") && !error.contains("feed"),
                "{error}"
            );
        }
    }
}
