//! Which wires between hosts each PE can use, and which of them the job takes.
//!
//! The first PE of every host publishes its [`Offers`]. All PEs see the same offers, so all come to the same
//! [`Common`] wires.

use core::fmt;
use core::str::FromStr;

use hostwire_transport::PeId;

use crate::Address;
use crate::FrameWire;

/// Why a PE does not offer a wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// It has no right to use it.
    NotPermitted,
    /// The interface has no address.
    NoAddress,
    /// Another process has it, and only one can.
    InUse,
    /// The system refuses, for another reason.
    Failed,
    /// It was told to use another wire.
    ToldOther,
}

/// Their published names.
const NAMED: [(Refusal, &str); 5] = [
    (Refusal::NotPermitted, "rights"),
    (Refusal::NoAddress, "address"),
    (Refusal::InUse, "in-use"),
    (Refusal::Failed, "failed"),
    (Refusal::ToldOther, "told-other"),
];

impl Refusal {
    fn to_word(self) -> &'static str {
        let named = NAMED.iter().find(|(refusal, _)| *refusal == self);
        named.map_or("failed", |(_, name)| name)
    }

    fn from_word(word: &str) -> Option<Self> {
        let named = NAMED.iter().find(|(_, name)| *name == word);
        named.map(|(refusal, _)| *refusal)
    }

    /// As text that follows the names of the PE and the wire.
    pub fn of(self, wire: FrameWire) -> String {
        match self {
            Self::NotPermitted => format!("it may not: {wire} needs {}", wire.entry().needs),
            Self::NoAddress => "its interface has no IPv4 address".to_owned(),
            Self::InUse => "another process has it".to_owned(),
            Self::Failed => "its system refuses".to_owned(),
            Self::ToldOther => "it was told to use another wire".to_owned(),
        }
    }
}

/// The offers of a PE: where it is reached over each wire, or why not. In the order in which it tried the
/// wires; at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offers(pub Vec<(FrameWire, Result<Address, Refusal>)>);

impl Offers {
    /// Where this PE is reached over a wire.
    pub fn address(&self, wire: FrameWire) -> Option<Address> {
        self.of(wire).ok()
    }

    fn of(&self, wire: FrameWire) -> Result<Address, Refusal> {
        let said = self.0.iter().find(|(said, _)| *said == wire);
        said.map_or(Err(Refusal::ToldOther), |(_, offer)| *offer)
    }
}

/// `xdp!in-use,ether:ether=02:00:00:00:00:01`.
impl fmt::Display for Offers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (wire, offer)) in self.0.iter().enumerate() {
            let separator = if at == 0 { "" } else { "," };
            match offer {
                Ok(address) => write!(f, "{separator}{wire}:{address}")?,
                Err(refusal) => write!(f, "{separator}{wire}!{}", refusal.to_word())?,
            }
        }
        Ok(())
    }
}

impl FromStr for Offers {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let offer = |word: &str| {
            let at = word.find([':', '!']).ok_or(())?;
            let (name, rest) = word.split_at(at);
            let wire: FrameWire = name.parse().map_err(drop)?;
            let offer = match rest.strip_prefix('!') {
                Some(refusal) => Err(Refusal::from_word(refusal).ok_or(())?),
                None => Ok(rest.trim_start_matches(':').parse().map_err(drop)?),
            };
            Ok((wire, offer))
        };
        text.split(',')
            .map(offer)
            .collect::<Result<_, ()>>()
            .map(Self)
    }
}

/// Why a job does not take a wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// This PE does not offer it, and perhaps others do not either.
    Refused(PeId, Refusal),
    /// PEs did not hear each other over it.
    NotHeard,
}

/// A wire that a job does not take, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotTaken {
    /// The wire.
    pub wire: FrameWire,
    /// Why.
    pub why: Missing,
}

impl NotTaken {
    /// `place` says in words which PE it is.
    fn text(&self, place: impl Fn(PeId) -> String) -> String {
        let wire = self.wire;
        match self.why {
            Missing::Refused(pe, refusal) => {
                format!("not {wire} ({}: {})", place(pe), refusal.of(wire))
            }
            Missing::NotHeard => format!("not {wire} (PEs do not hear each other over it)"),
        }
    }
}

/// The text for several wires: `not xdp (...), not ether (...)`.
pub(crate) fn not_taken(all: &[NotTaken], place: impl Fn(PeId) -> String) -> String {
    let all: Vec<String> = all.iter().map(|it| it.text(&place)).collect();
    all.join(", ")
}

/// The wires that all PEs of a job can use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Common {
    /// The wires that all offer, the fastest first; wires that are used only by name come last.
    pub wires: Vec<FrameWire>,
    /// Other wires that a PE offers or was asked for.
    pub not_taken: Vec<NotTaken>,
}

impl Common {
    /// From the offers of all hosts, each made by its first PE.
    pub fn of<'a>(offers: impl Iterator<Item = (PeId, &'a Offers)> + Clone) -> Self {
        let mut common = Self {
            wires: Vec::new(),
            not_taken: Vec::new(),
        };
        let by_name = FrameWire::ALL.into_iter();
        let mut wires = FrameWire::fastest_first();
        let others = by_name.filter(|wire| !wires.contains(wire));
        wires.extend(others.collect::<Vec<_>>());
        for wire in wires {
            let is_named = |offers: &Offers| offers.0.iter().any(|(named, _)| *named == wire);
            if !offers.clone().any(|(_, offers)| is_named(offers)) {
                continue;
            }
            let mut said = offers.clone().map(|(pe, offers)| (pe, offers.of(wire)));
            let refused = said.find_map(|(pe, offer)| Some((pe, offer.err()?)));
            match refused {
                None => common.wires.push(wire),
                Some((pe, refusal)) => common.not_taken.push(NotTaken {
                    wire,
                    why: Missing::Refused(pe, refusal),
                }),
            }
        }
        common
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offers(text: &str) -> Offers {
        text.parse().unwrap()
    }

    fn common(texts: &[&str]) -> (String, String) {
        let all: Vec<Offers> = texts.iter().map(|text| offers(text)).collect();
        let Common { wires, not_taken } = Common::of((0..).zip(&all));
        let wires: Vec<&str> = wires.into_iter().map(|wire| wire.entry().name).collect();
        (
            wires.join(" "),
            super::not_taken(&not_taken, |pe| format!("PE {pe}")),
        )
    }

    #[test]
    fn offers_come_back() {
        for text in [
            "udp:udp=10.9.0.1:4000",
            "xdp!rights,ether:ether=02:00:00:00:00:01,udp:udp=[fe80::1]:9",
            "xdp!failed,ether!rights,udp!address",
            "xdp!in-use,udp!failed",
            "ether!told-other",
            "tcp:tcp=10.9.0.1:4000",
        ] {
            assert_eq!(offers(text).to_string(), text);
        }
        for bad in [
            "",
            ",",
            "xdp",
            "ether:",
            "ether!",
            "ether!queues-2",
            "pigeon!rights",
            "udp:udp=1,",
        ] {
            assert_eq!(bad.parse::<Offers>(), Err(()), "{bad}");
        }
    }

    const ALL: &str =
        "xdp:ether=02:00:00:00:00:01,ether:ether=02:00:00:00:00:01,udp:udp=10.9.0.1:4";

    #[test]
    fn the_fastest_wire_that_all_offer_comes_first() {
        assert_eq!(common(&[ALL, ALL]), ("xdp ether udp".into(), String::new()));
        let in_use = ALL.replace("xdp:ether=02:00:00:00:00:01", "xdp!in-use");
        let (wires, why) = common(&[ALL, &in_use, &in_use]);
        assert_eq!(wires, "ether udp");
        assert_eq!(why, "not xdp (PE 1: another process has it)");
        let (wires, why) = common(&["xdp!in-use,ether!rights,udp:udp=10.9.0.1:4", ALL]);
        assert_eq!(wires, "udp");
        assert_eq!(
            why,
            "not xdp (PE 0: another process has it), not ether (PE 0: it may not: ether needs \
             CAP_NET_RAW)"
        );
    }

    #[test]
    fn who_names_a_wire_offers_no_other() {
        let ether = "ether:ether=02:00:00:00:00:01";
        let all_named = common(&[ether, ether]);
        assert_eq!(all_named, ("ether".into(), String::new()));
        let (wires, why) = common(&[ether, "udp:udp=10.9.0.1:4"]);
        assert_eq!(wires, "");
        assert_eq!(
            why,
            "not ether (PE 1: it was told to use another wire), not udp (PE 0: it was told to use \
             another wire)"
        );
        assert_eq!(common(&[ether, ALL]).0, "ether");
        let tcp = "tcp:tcp=10.9.0.1:4000";
        assert_eq!(common(&[tcp, tcp]), ("tcp".into(), String::new()));
        assert_eq!(common(&[tcp, ALL]).0, "");
    }
}
