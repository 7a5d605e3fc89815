//! A job whose PEs meet in a region of memory: the wire `window`.

use std::sync::Arc;
use std::time::Duration;

use hostwire_bootstrap::{Bootstrap, Entry, JoinError, Joined, LaunchError, Meets};
use hostwire_transport::terms::{self, TermWords, Terms};
use hostwire_transport::{EnvironmentFault, TransportError, printable};

use crate::settings::{self, Settings};
use crate::{Joining, Needs, Region, Spec, Ticket};

type Result<T> = core::result::Result<T, JoinError>;

/// `window`.
pub static WINDOW: Entry = Entry {
    needs: "a file or device that all map, or one kernel",
    settings: settings::TABLE,
    ..Entry::new(
        "window",
        "A region of memory that all hosts map: see HOSTWIRE_WINDOW",
        Meets::Anywhere(join),
    )
};

/// The launcher's key under which PE 0 publishes its card.
const TICKET: &str = "hostwire-window";

/// The beginning of its value if PE 0 has no room for the job.
const REFUSED: &str = "refused ";
const REFUSAL_CHARACTERS_MAX: usize = 300;

/// Joins the PEs of a job in the region that the settings name, or in memory of its own.
fn join(joining: hostwire_bootstrap::Joining<'_>) -> Result<Joined> {
    let settings = Settings::from_lookup(joining.lookup)?;
    let spec = settings.window.unwrap_or_default();
    let hostwire_bootstrap::Joining {
        launcher,
        segment,
        lost_after,
        ..
    } = joining;
    let terms = &segment.terms;
    let (pe, pes) = (launcher.rank(), launcher.size());
    let needs = Needs::new(pes, terms.segment_bytes);
    let own = match pe {
        0 => {
            let claimed = claim(&spec, &needs, lost_after);
            let card = match &claimed {
                Ok((_, ticket)) => Card::new(terms, ticket).to_string(),
                Err(error) => refusal(error),
            };
            launcher.put(TICKET, card.as_bytes())?;
            Some(claimed)
        }
        _ => None,
    };
    launcher.fence()?;
    let joining = match own {
        Some(Err(error)) => Err(error),
        Some(Ok((region, ticket))) => {
            Joining::new(region, &ticket, pe, &needs).map_err(JoinError::from)
        }
        None => follow(&spec, terms, &needs, launcher),
    };
    // Stores of all PEs have to be visible to all. A PE that could not join also comes here before
    // it fails, because the others wait for all.
    launcher.fence()?;
    Ok(Joined {
        wire: Arc::new(joining?.finish(lost_after)?),
        name: WINDOW.name,
    })
}

/// Joins the job that PE 0 has found room for.
fn follow(
    spec: &Spec,
    terms: &Terms,
    needs: &Needs,
    launcher: &mut dyn Bootstrap,
) -> Result<Joining> {
    let pe = launcher.rank();
    let card = launcher.get(0, TICKET)?;
    let card = String::from_utf8_lossy(&card);
    let failed = |fault| TransportError::environment("joining the job", fault);
    if let Some(why) = card.strip_prefix(REFUSED) {
        let why = format!("PE 0 could not join: {}", printable(why)).into();
        return Err(failed(EnvironmentFault::Refused { why }).into());
    }
    let card = Card::parse(&card)?;
    if let Some(about) = terms.differ(&card.terms) {
        let (pe, with) = (0, pe);
        return Err(failed(EnvironmentFault::Disagreement { pe, with, about }).into());
    }
    let region = Region::open_for(spec, &card.ticket)?;
    Ok(Joining::new(region, &card.ticket, pe, needs)?)
}

/// The value that PE 0 publishes in place of a card if there is no region for the job.
fn refusal(error: &JoinError) -> String {
    let text = format!("{REFUSED}{error}");
    // Launchers take short values.
    text.chars().take(REFUSAL_CHARACTERS_MAX).collect()
}

/// Claims room for the job, in the named region, or in one that ends with the job.
fn claim(spec: &Spec, needs: &Needs, lost_after: Duration) -> Result<(Region, Ticket)> {
    if spec.path.is_none() {
        let contract = spec.contract.unwrap_or_default();
        return Ok(Region::of_its_own(needs, contract)?);
    }
    let region = Region::open(spec)?;
    let ticket = region.claim(needs, lost_after)?;
    Ok((region, ticket))
}

/// What PE 0 says about itself and the region: two words.
#[derive(Debug)]
struct Card {
    terms: TermWords,
    ticket: Ticket,
}

impl Card {
    fn new(terms: &Terms, ticket: &Ticket) -> Self {
        Self {
            terms: terms.to_words(),
            ticket: ticket.clone(),
        }
    }

    fn parse(text: &str) -> Result<Self> {
        // Does not quote the text: it contains the key.
        let unclear = || {
            let seen = format!("{} words", text.split(' ').count());
            JoinError::from(LaunchError::Card { pe: 0, seen })
        };
        let words: Vec<&str> = text.split(' ').collect();
        let [terms, ticket] = words[..] else {
            return Err(unclear());
        };
        Ok(Self {
            terms: terms::from_text(terms).ok_or_else(unclear)?,
            ticket: ticket.parse::<Ticket>()?,
        })
    }
}

impl core::fmt::Display for Card {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} {}", terms::to_text(&self.terms), self.ticket)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_pe_0_says_comes_back_and_nonsense_is_not_repeated() {
        let ticket = "000000000000000000000000000000a1:67108864:3:9:\
                      0000000000000000000000000000feed:1:000000000000beef:77:5";
        let text = format!("1,2,3,4,5,6,7,8,9,10 {ticket}");
        let card = Card::parse(&text).unwrap();
        assert_eq!(
            (card.terms, card.to_string()),
            ([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], text.clone())
        );
        for bad in [
            "",
            "1,2,3,4,5,6,7,8,9,10",
            &format!("{text} 5"),
            &format!("x{text}"),
            "1,2,3,4,5,6,7,8,9,10 feed",
        ] {
            let error = Card::parse(bad).unwrap_err().to_string();
            assert!(!error.contains("feed"), "{error}");
        }
    }
}
