//! The cards that PEs publish about themselves.

use core::fmt;
use core::str::FromStr;
use std::collections::BTreeMap;
use std::net::SocketAddr;

use hostwire_bootstrap::{Bootstrap, JoinError, unclear};
use hostwire_transport::error::Disagreement;
use hostwire_transport::os::random;
use hostwire_transport::terms::{self, TermWords, Terms};
use hostwire_transport::{EnvironmentFault, PeId, TransportError};

use super::offers::Offers;
use crate::join::Result;
use crate::{JobKey, Life};

/// The launcher's key under which every PE publishes its card.
const CARD: &str = "hostwire-ether";
/// In the place of a life: no encryption.
const BARE: &str = "bare";

/// The values that a PE publishes about itself: seven words.
#[derive(Debug, Clone)]
pub struct Card {
    /// Its [`Terms`].
    pub terms: TermWords,
    /// The one of PE 0 is the number of the job.
    pub job: u64,
    /// `None` if it runs without encryption.
    pub life: Option<Life>,
    /// From PE 0, if it runs with encryption.
    pub key: Option<JobKey>,
    /// Where its host is reached over each wire, or why not. Only from the first PE of the host.
    pub offers: Option<Offers>,
    /// For the other PEs of its host.
    pub ticket: Option<String>,
    /// Where its host listens for control connections. Only from the first PE of the host.
    pub control: Option<SocketAddr>,
}

impl fmt::Display for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            terms,
            job,
            life,
            key,
            offers,
            ticket,
            control,
        } = self;
        let terms = terms::to_text(terms);
        let life = life.map_or_else(|| BARE.to_owned(), |life| life.to_string());
        let key = key.as_ref().map_or_else(|| "-".to_owned(), JobKey::to_hex);
        let offers = offers
            .as_ref()
            .map_or_else(|| "-".to_owned(), Offers::to_string);
        let ticket = ticket.as_deref().unwrap_or("-");
        let control = control.map_or_else(|| "-".to_owned(), |address| address.to_string());
        write!(f, "{terms} {job} {life} {key} {offers} {ticket} {control}")
    }
}

impl FromStr for Card {
    type Err = ();

    fn from_str(text: &str) -> core::result::Result<Self, ()> {
        let words: Vec<&str> = text.split(' ').collect();
        let [terms, job, life, key, offers, ticket, control] = words[..] else {
            return Err(());
        };
        Ok(Self {
            terms: terms::from_text(terms).ok_or(())?,
            job: job.parse().map_err(drop)?,
            life: match life {
                BARE => None,
                life => Some(life.parse()?),
            },
            key: match key {
                "-" => None,
                key => Some(key.parse().map_err(drop)?),
            },
            offers: match offers {
                "-" => None,
                offers => Some(offers.parse()?),
            },
            ticket: (ticket != "-").then(|| ticket.to_owned()),
            control: match control {
                "-" => None,
                address => Some(address.parse().map_err(drop)?),
            },
        })
    }
}

/// Cards by PE.
pub type Cards = BTreeMap<PeId, Card>;

/// Reads cards, and checks that they agree with the own one.
pub(crate) fn read_cards(
    cards: impl IntoIterator<Item = (PeId, Vec<u8>)>,
    pe: PeId,
    (own, ours): (&Card, &Terms),
) -> Result<Cards> {
    let with = pe;
    let disagree = |pe, about| {
        let fault = EnvironmentFault::Disagreement { pe, with, about };
        JoinError::from(TransportError::environment("joining the job", fault))
    };
    let mut read = Cards::new();
    for (pe, card) in cards {
        let text = String::from_utf8_lossy(&card);
        // Does not quote the text: it may contain the key.
        let seen = format!("{} words", text.split(' ').count());
        // A card of another version may have other words.
        let version = terms::version_in(&text);
        let card: Card = text.parse().map_err(|()| match version {
            Some(theirs) if theirs != ours.version => {
                let ours = ours.version;
                disagree(pe, Disagreement::Version { theirs, ours })
            }
            _ => unclear(pe, &seen).into(),
        })?;
        if let Some(about) = ours.differ(&card.terms).or_else(|| card.differs(own)) {
            return Err(disagree(pe, about));
        }
        read.insert(pe, card);
    }
    Ok(read)
}

impl Card {
    /// The card of PE `pe`, before it speaks for its host.
    pub fn new(terms: &Terms, insecure: bool, pe: PeId) -> Result<Self> {
        Ok(Self {
            terms: terms.to_words(),
            job: u64::from_ne_bytes(random()?),
            life: match insecure {
                true => None,
                false => Some(Life(random()?)),
            },
            key: match (insecure, pe) {
                (false, 0) => Some(JobKey::new(random()?)),
                _ => None,
            },
            offers: None,
            ticket: None,
            control: None,
        })
    }

    /// Publishes this card, and gets the cards of PEs `of`. If each PE got all cards, those of a job would be as many as
    /// the square of its PEs.
    ///
    /// # Errors
    /// [`JoinError`]: errors of the launcher, or a card of another PE that makes no sense or does
    /// not agree.
    pub fn exchange(
        &self,
        launcher: &mut dyn Bootstrap,
        terms: &Terms,
        of: impl IntoIterator<Item = PeId>,
    ) -> Result<Cards> {
        launcher.put(CARD, self.to_string().as_bytes())?;
        launcher.fence()?;
        let cards = of.into_iter().map(|pe| Ok((pe, launcher.get(pe, CARD)?)));
        let cards: Vec<_> = cards.collect::<Result<_>>()?;
        read_cards(cards, launcher.rank(), (self, terms))
    }

    /// The first thing about which this PE and the own one disagree.
    fn differs(&self, own: &Self) -> Option<Disagreement> {
        let theirs = self.life.is_some();
        (theirs != own.life.is_some()).then_some(Disagreement::Encryption { theirs })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use hostwire_bootstrap::LaunchError;

    use super::*;

    const TEXT: &str = "1,4194304,0,4096,0,0,0,0,0,0 7 bare - udp:udp=10.9.0.1:4000 - -";
    pub(crate) const TERMS: Terms = Terms {
        version: 1,
        size_names: &["rings", "b", "c", "d", "e", "f", "g"],
        sizes: [4096, 0, 0, 0, 0, 0, 0],
        segment_bytes: 4_194_304,
        settings: &["HOSTWIRE_RECORD"],
        set: 0,
    };
    pub(crate) const LIFE: &str = "000102030405060708090a0b0c0d0e0f";
    pub(crate) const KEY: &str = "77777777777777777777777777777777777777777777777777777777777777ff";

    /// The error if PE 1 and this PE, PE 0, disagree.
    pub(crate) fn different(about: Disagreement) -> JoinError {
        let fault = EnvironmentFault::Disagreement {
            pe: 1,
            with: 0,
            about,
        };
        TransportError::environment("joining the job", fault).into()
    }

    #[test]
    fn cards_come_back() {
        let sealed = format!(
            "1,2,3,4,5,6,7,8,9,10 5 {LIFE} {KEY} xdp!in-use,ether:ether=02:00:00:00:00:01 some:ticket 10.9.0.1:99"
        );
        let guest = "1,4194304,0,4096,0,0,0,0,0,0 7 bare - - - -";
        for text in [TEXT, guest, &sealed] {
            assert_eq!(text.parse::<Card>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn cards_that_do_not_fit_are_named() {
        let own: Card = TEXT.parse().unwrap();
        let read = |text: &str| read_cards([(0, TEXT.into()), (1, text.into())], 0, (&own, &TERMS));
        let read_texts: Vec<_> = read(TEXT).unwrap().values().map(Card::to_string).collect();
        assert_eq!(read_texts, [TEXT; 2]);
        for bad in [
            "",
            "1,2,3,4,5,6,7,8,9,10 5 4 5",
            "1,2,3,4,5,6,7,8,9,10 5 bare - pigeon - -",
            "1,2,3,4,5,6,7,8,9,10 5 bare - udp:udp=10.9.0.1:4000 - - -",
            "1,2,3,4,5,6,7,8,9,10 5 bare - udp:udp=10.9.0.1:4000 - nowhere",
            "1,2,3,4,5,6,7,8,9,10 5 secret - udp:udp=10.9.0.1:4000 - -",
            "1,2,3,4,5,6,7,8,9,10 5 bare key udp:udp=10.9.0.1:4000 - -",
            "1,2,3,4 5 bare - udp:udp=10.9.0.1:4000 - -",
        ] {
            let error = read(bad).unwrap_err();
            assert!(
                matches!(error, JoinError::Launch(LaunchError::Card { pe: 1, .. })),
                "{error}"
            );
        }
        let (theirs, ours) = (8, 4_194_304);
        assert_eq!(
            read("1,8,0,4096,0,0,0,0,0,0 7 bare - udp:udp=10.9.0.1:4000 - -").unwrap_err(),
            different(Disagreement::SegmentBytes { theirs, ours })
        );
        // The version counts first, whatever follows.
        let (theirs, ours) = (2, 1);
        for text in [
            "2",
            "2 and more",
            "2,8,4096,0 7 bare - udp:udp=10.9.0.1:4000 - -",
        ] {
            let version = Disagreement::Version { theirs, ours };
            assert_eq!(read(text).unwrap_err(), different(version), "{text}");
        }
        let (setting, theirs) = ("HOSTWIRE_RECORD", true);
        assert_eq!(
            read("1,4194304,1,4096,0,0,0,0,0,0 7 bare - udp:udp=10.9.0.1:4000 - -").unwrap_err(),
            different(Disagreement::Setting { setting, theirs })
        );
    }
}
