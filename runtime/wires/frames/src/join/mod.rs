//! How the PEs of a job on several hosts meet over a wire of this crate.
//!
//! | file | |
//! |---|---|
//! | this one | from the launcher to a wire between hosts |
//! | `card.rs` | what PEs publish about themselves |
//! | `offers.rs` | which wires all PEs can use |
//! | `sockets.rs` | the wires that this PE can use |
//! | `control.rs` | the control connections of this host |
//! | `trial.rs` | whether hosts hear each other, before any job |

pub mod card;
pub mod control;
mod offers;
mod sockets;
pub mod trial;

use core::time::Duration;
use std::io::Write;
use std::sync::Arc;
use std::time::Instant;

use hostwire_bootstrap::{
    Bootstrap, JoinError, Joined, Joining, LaunchError, Node, Nodes, Segment, host, unclear,
};
use hostwire_transport::shm::{Gathering, Host, Shm};
use hostwire_transport::{PeId, Wire, Wires};

use self::card::{Card, Cards};
use self::offers::{Common, Missing, NotTaken};
use self::sockets::Sockets;
use crate::settings::Settings;
use crate::{
    Adapter, AdapterMemory, ControlConnections, Door, Ether, EtherOptions, FrameWire, Guest,
    Interface, Life, Roster, Secrets, Socket,
};

type Result<T> = core::result::Result<T, JoinError>;

/// The number of the descriptor that the first PE of a host gives to the others beside the segments:
/// the memory that they share with their adapter.
const ADAPTER_MEMORY: u32 = 0;
/// How long hosts try to hear each other over a wire if another wire is left.
const TRY_LIMIT: Duration = Duration::from_secs(4);

/// Joins the PEs of this host by shared memory and those of other hosts by a wire between hosts.
/// Returns which wire.
pub(crate) fn join(joining: Joining<'_>) -> Result<Joined> {
    let settings = Settings::from_lookup(joining.lookup)?;
    let wanted = joining.wire.and_then(|name| name.parse::<FrameWire>().ok());
    let Joining {
        launcher,
        nodes,
        segment,
        ..
    } = joining;
    let (pe, pes) = (launcher.rank(), launcher.size());
    let here = host(pe, pes, nodes)?;
    // The first PE of a host speaks for all of them.
    let host = nodes.node_of(pe).unwrap_or(u32::MAX);
    let hosts = nodes.nodes().len() as u32;
    let (mut sockets, door) = match here.local() {
        0 => {
            let names = settings.interfaces.as_deref().unwrap_or_default();
            let interfaces = Interface::choose_all(names)?;
            let open = sockets::Open {
                interfaces: &interfaces,
                ether_type: settings.ether_type,
                faults: joining.faults,
                host,
                hosts,
            };
            let sockets = Sockets::open(wanted, &open)?;
            (Some(sockets), interfaces.first().and_then(control::listen))
        }
        _ => (None, None),
    };
    let gathering = match here.local() {
        0 if here.count() > 1 => Some(Gathering::open(here.count())?),
        _ => None,
    };
    let own = Card {
        offers: sockets.as_ref().map(Sockets::offers),
        ticket: gathering.as_ref().map(|door| door.ticket().to_string()),
        control: door.as_ref().map(Door::address),
        ..Card::new(&segment.terms, joining.is_insecure, pe)?
    };
    let first_pes: Vec<PeId> = nodes.nodes().iter().map(Node::first_pe).collect();
    let cards = own.exchange(launcher, &segment.terms, wanted_cards(&first_pes, &here))?;
    let firsts = first_cards(&first_pes, &cards)?;
    let common = common(&firsts)?;
    if let Some(sockets) = &mut sockets {
        sockets.keep(&common.wires);
    }
    let parties = (host, &first_pes[..]);
    let connections = control::connect(launcher, parties, &cards, door, segment.deadline)?;
    let host_of = (0..pes).map(|pe| nodes.node_of(pe).unwrap_or(u32::MAX));
    let host_of: Arc<[u32]> = host_of.collect();
    let control = ControlConnections::new(host_of.iter().copied(), connections);

    let (shm, adapter_memory) = meet(segment, &here, hosts, &cards, gathering)?;
    let between = Between {
        nodes,
        firsts: &firsts,
        host,
        host_of,
        shm: &shm,
        adapter_memory,
        control: Arc::new(control),
        options: EtherOptions {
            lost_after: joining.lost_after,
        },
        deadline: segment.deadline,
    };
    let (between, wire, not_taken) = between.connect(launcher, sockets, common)?;
    if wanted.is_none() && joining.says_choice && pe == 0 {
        say_choice(wire, &not_taken, nodes);
    }
    let wires = Wires::new(Arc::new(shm), [between])?;
    Ok(Joined {
        wire: Arc::new(wires),
        name: wire.entry().name,
    })
}

/// Joins the PEs of this host, and gets the memory that they share with their adapter, if there are
/// several.
fn meet(
    segment: &Segment,
    here: &Host,
    hosts: u32,
    cards: &Cards,
    gathering: Option<Gathering>,
) -> Result<(Shm, Option<AdapterMemory>)> {
    let (first, pes, count) = (here.first(), here.pes(), here.count());
    let gathering = gathering.map(|gathering| {
        let adapter_memory = AdapterMemory::create(pes, hosts, count)?;
        Ok::<_, JoinError>(gathering.with_more(vec![(ADAPTER_MEMORY, adapter_memory)]))
    });
    let ticket = cards.get(&first);
    let ticket = ticket.and_then(|card| card.ticket.as_deref());
    let mut shm = segment.share(here, gathering.transpose()?, ticket)?;
    let mut more = shm.take_more().into_iter();
    let adapter_memory = match more.find(|(what, _)| *what == ADAPTER_MEMORY) {
        Some((_, file)) => Some(AdapterMemory::open(&file, pes, hosts, count)?),
        None if count == 1 => None,
        None => return Err(unclear(first, "no adapter").into()),
    };
    Ok((shm, adapter_memory))
}

/// The wires that all hosts can use, as their first PEs say.
fn common(firsts: &[(PeId, &Card)]) -> Result<Common> {
    let offers = firsts.iter().map(|(first, card)| {
        let offers = card.offers.as_ref();
        Ok((*first, offers.ok_or_else(|| unclear(*first, "no wires"))?))
    });
    let offers = offers.collect::<Result<Vec<_>>>()?;
    Ok(Common::of(offers.into_iter()))
}

/// Whose cards this PE needs: those of the first PEs of all hosts. A first PE also needs the others of its host, to check that they agree.
fn wanted_cards<'a>(first_pes: &'a [PeId], here: &'a Host) -> impl Iterator<Item = PeId> + 'a {
    let others = match here.local() {
        0 => here.members(),
        _ => &[],
    };
    let others = others.iter().filter(|pe| **pe != here.first());
    first_pes.iter().chain(others).copied()
}

/// The card of the first PE of each host.
fn first_cards<'a>(first_pes: &[PeId], cards: &'a Cards) -> Result<Vec<(PeId, &'a Card)>> {
    let firsts = first_pes.iter().map(|first| {
        let card = cards.get(first);
        Ok((*first, card.ok_or_else(|| unclear(*first, "nothing"))?))
    });
    firsts.collect()
}

/// One line from one PE, if the user asked for it. It is no error if nobody reads it.
fn say_choice(wire: FrameWire, not_taken: &[NotTaken], nodes: &Nodes) {
    let why = match not_taken {
        [] => "the fastest".to_owned(),
        _ => offers::not_taken(not_taken, |pe| place(nodes, pe)),
    };
    let text = format!("hostwire: the wire between hosts is {wire}: {why}\n");
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// A PE in words.
fn place(nodes: &Nodes, pe: PeId) -> String {
    let node = nodes
        .node_of(pe)
        .and_then(|node| nodes.nodes().get(node as usize));
    match node {
        Some(node) => format!("PE {pe} on {}", node.host),
        None => format!("PE {pe}"),
    }
}

/// Everything needed to connect to the other hosts.
struct Between<'a> {
    nodes: &'a Nodes,
    /// By host: its first PE, and the card of this PE.
    firsts: &'a [(PeId, &'a Card)],
    /// The number of this host.
    host: u32,
    /// By PE: the number of its host.
    host_of: Arc<[u32]>,
    shm: &'a Shm,
    /// What several PEs of this host share with their adapter.
    adapter_memory: Option<AdapterMemory>,
    control: Arc<ControlConnections>,
    options: EtherOptions,
    deadline: Instant,
}

impl Between<'_> {
    /// Connects over the first of the `common` wires over which all hosts hear each other. Also returns
    /// the wires that were not taken.
    fn connect(
        &self,
        launcher: &mut dyn Bootstrap,
        mut sockets: Option<Sockets>,
        common: Common,
    ) -> Result<(Arc<dyn Wire>, FrameWire, Vec<NotTaken>)> {
        let Common {
            wires,
            mut not_taken,
        } = common;
        for (attempt, wire) in wires.iter().copied().enumerate() {
            let socket = sockets.as_mut().and_then(|sockets| sockets.take(wire));
            let is_last = attempt + 1 == wires.len();
            let deadline = match is_last {
                true => self.deadline,
                false => self.deadline.min(Instant::now() + TRY_LIMIT),
            };
            let made = self.attempt(wire, attempt, socket, deadline);
            if is_last {
                return Ok((made?, wire, not_taken));
            }
            let key = format!("hostwire-heard-over-{wire}");
            let all = hostwire_bootstrap::all_agree(launcher, &key, made.is_ok())?;
            if let (true, Ok(between)) = (all, made) {
                return Ok((between, wire, not_taken));
            }
            let why = Missing::NotHeard;
            not_taken.push(NotTaken { wire, why });
        }
        let why = offers::not_taken(&not_taken, |pe| place(self.nodes, pe));
        Err(LaunchError::NoWire { why }.into())
    }

    /// A single PE of a host connects itself. Of several PEs, the first one starts the adapter, and all
    /// join it.
    fn attempt(
        &self,
        wire: FrameWire,
        attempt: usize,
        socket: Option<Socket>,
        deadline: Instant,
    ) -> Result<Arc<dyn Wire>> {
        let roster = self.roster(wire, attempt)?;
        match (&self.adapter_memory, socket) {
            (None, Some(socket)) => {
                let segments = vec![self.shm.segment().clone()];
                let ether = Ether::connect(segments, socket, &roster, &self.options, deadline)?;
                return Ok(Arc::new(ether.with_control(Arc::clone(&self.control))));
            }
            (Some(adapter_memory), Some(socket)) => {
                let adapter = Adapter {
                    options: self.options.clone(),
                    control: Some(Arc::clone(&self.control)),
                    ..Adapter::new(self.shm, adapter_memory, roster, deadline)
                };
                adapter.start(socket)?;
            }
            (_, None) => {}
        }
        let adapter_memory = self.adapter_memory.as_ref();
        let adapter_memory = adapter_memory.ok_or_else(|| unclear(self.shm.pe(), "no socket"))?;
        let host_of = Arc::clone(&self.host_of);
        let guest = Guest::join(
            self.shm,
            adapter_memory,
            host_of,
            attempt as u64 + 1,
            deadline,
        )?;
        Ok(Arc::new(guest))
    }

    /// The roster for this wire. Each attempt has its own number and keys, so that frames of one
    /// attempt are not accepted by another.
    fn roster(&self, wire: FrameWire, attempt: usize) -> Result<Roster> {
        let peers = (0..).zip(self.firsts).map(|(host, (first, card))| {
            let offers = card.offers.as_ref();
            match (host == self.host, offers.and_then(|it| it.address(wire))) {
                (true, _) => Ok(None),
                (false, Some(address)) => Ok(Some(address)),
                (false, None) => Err(JoinError::from(unclear(*first, "no address"))),
            }
        });
        let job = self.firsts.first().map_or(0, |(_, card)| card.job);
        Ok(Roster {
            host: self.host,
            host_of: Arc::clone(&self.host_of),
            job: job.wrapping_add(attempt as u64),
            peers: peers.collect::<Result<_>>()?,
            secrets: secrets(self.firsts, attempt)?,
        })
    }
}

/// The secrets of an attempt; `None` without encryption.
fn secrets(firsts: &[(PeId, &Card)], attempt: usize) -> Result<Option<Secrets>> {
    let lives = firsts.iter().filter_map(|(_, card)| card.life);
    // Frames are numbered from 0 in each attempt, so each has lives of its own.
    let lives: Vec<Life> = lives
        .map(|Life([first, rest @ ..])| {
            let mut life = [first ^ attempt as u8; 16];
            life[1..].copy_from_slice(&rest);
            Life(life)
        })
        .collect();
    if lives.is_empty() {
        return Ok(None);
    }
    let key = firsts.first().and_then(|(_, card)| card.key.clone());
    let key = key.ok_or_else(|| unclear(0, "no key"))?;
    Ok(Some(Secrets { key, lives }))
}

#[cfg(test)]
mod tests {
    use hostwire_transport::error::Disagreement;

    use super::card::read_cards;
    use super::card::tests::{KEY, LIFE, TERMS, different};
    use super::*;

    #[test]
    fn all_or_none_encrypt_with_the_key_of_pe_0() {
        let card = |life: &str, key: &str| {
            format!("1,4194304,0,4096,0,0,0,0,0,0 7 {life} {key} udp:udp=10.9.0.1:4000 - -")
        };
        let read = |own: &str, other: &str| {
            let own: Card = own.parse().unwrap();
            read_cards(
                [(0, own.to_string().into()), (1, other.into())],
                0,
                (&own, &TERMS),
            )
        };
        let (first, other, bare) = (card(LIFE, KEY), card(LIFE, "-"), card("bare", "-"));
        let secrets = |cards: Cards, attempt| {
            let firsts: Vec<_> = cards.iter().map(|(pe, card)| (*pe, card)).collect();
            secrets(&firsts, attempt)
        };
        let made = secrets(read(&first, &other).unwrap(), 0).unwrap().unwrap();
        assert_eq!(made.key.to_hex(), KEY);
        assert_eq!(made.lives.len(), 2);
        // Another attempt has other keys for each pair of PEs.
        let again = secrets(read(&first, &other).unwrap(), 1);
        let again = again.unwrap().unwrap();
        assert_eq!(again.lives[0].to_string(), format!("01{}", &LIFE[2..]));
        assert!(secrets(read(&bare, &bare).unwrap(), 0).unwrap().is_none());
        assert!(secrets(read(&other, &other).unwrap(), 0).is_err());
        for (own, other, theirs) in [(&first, &bare, false), (&bare, &other, true)] {
            assert_eq!(
                read(own, other).unwrap_err(),
                different(Disagreement::Encryption { theirs })
            );
        }
        // A broken card is not quoted, because the key may be in it.
        let error = read(&first, &format!("{first} more"))
            .unwrap_err()
            .to_string();
        assert!(!error.contains(KEY), "{error}");
    }
}
