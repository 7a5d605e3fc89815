//! A wire in memory: a PE is a thread, a store is a packet, and a network carries packets in any
//! order that it may.
//!
//! It is the minimal result of "How to add a wire" in docs/ARCHITECTURE.md.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::JoinHandle;

use hostwire_address::{Place, SegmentId};
use hostwire_transport::Loss;
use hostwire_transport::conformance::Random;
use hostwire_transport::operation::apply;
use hostwire_transport::wait::WaitLimits;
use hostwire_transport::wire::{self, Capabilities};
use hostwire_transport::{
    Memory, Offload, PeId, Request, Route, TransportError, Visibility, Window, Wire,
    ring::PAYLOAD_BYTES,
};

/// A packet in flight, and its target.
struct Packet {
    from: PeId,
    to: PeId,
    /// How many fences its sender had made before it. Packets of a pair may pass each other only
    /// within one epoch.
    epoch: u64,
    offset_bytes: usize,
    stored: Stored,
}

enum Stored {
    Bytes(Vec<u8>),
    Word(u64),
    Line { header: u64, payload: Vec<u8> },
}

/// What all PEs share.
struct Network {
    windows: Vec<Window>,
    /// Memory that PEs have registered.
    registered: Mutex<HashMap<(PeId, SegmentId), Window>>,
    /// Whether the network does gets and atomics itself.
    offloads: bool,
    state: Mutex<ToyState>,
    changed: Condvar,
}

struct ToyState {
    packets: Vec<Packet>,
    /// By sender and target.
    epochs: Vec<u64>,
    alive: Vec<bool>,
    random: Random,
}

impl Network {
    fn lock(&self) -> MutexGuard<'_, ToyState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Delivers packets until no sender is left.
    fn carry(network: &Weak<Self>) {
        while let Some(network) = network.upgrade() {
            let mut state = network.lock();
            match state.take_any() {
                Some(packet) => {
                    network.deliver(&packet);
                    network.changed.notify_all();
                }
                None => {
                    let pause = std::time::Duration::from_millis(10);
                    drop(network.changed.wait_timeout(state, pause));
                }
            }
        }
    }

    /// The memory of `pe` at this place; `None` if there is none.
    fn find(&self, pe: PeId, offset_bytes: usize) -> Option<(Window, usize)> {
        match Place::of(offset_bytes as u64)? {
            Place::Near(_) => Some((self.windows[pe as usize].clone(), offset_bytes)),
            Place::Registered(segment, offset) => {
                let registered = self.registered.lock();
                let registered = registered.unwrap_or_else(PoisonError::into_inner);
                Some((registered.get(&(pe, segment))?.clone(), offset as usize))
            }
        }
    }

    fn deliver(&self, packet: &Packet) {
        // A real network would end the link.
        let Some((window, at)) = self.find(packet.to, packet.offset_bytes) else {
            return;
        };
        let done = match &packet.stored {
            Stored::Bytes(bytes) => window.put(at, bytes),
            Stored::Word(word) => window.put_word(at, *word),
            Stored::Line { header, payload } => window.put_line(at, *header, payload),
        };
        done.expect("the sender has checked it");
        self.windows[packet.to as usize].notify();
    }
}

impl ToyState {
    /// A random packet, or instead of it the first of its pair that has to come before it.
    fn take_any(&mut self) -> Option<Packet> {
        if self.packets.is_empty() {
            return None;
        }
        let chosen = self.random.below(self.packets.len());
        let Packet { from, to, .. } = self.packets[chosen];
        let pair = (0..).zip(&self.packets);
        let pair = pair.filter(|(_, packet)| (packet.from, packet.to) == (from, to));
        // The chosen one, if it belongs to the oldest epoch of its pair.
        let (index, _) = pair.min_by_key(|(index, packet)| (packet.epoch, *index != chosen))?;
        Some(self.packets.swap_remove(index))
    }

    fn epoch(&mut self, pes: u32, from: PeId, to: PeId) -> &mut u64 {
        &mut self.epochs[(from * pes + to) as usize]
    }
}

/// A PE's end of the wire.
pub struct Toy {
    pe: PeId,
    network: Arc<Network>,
    /// With the last end, the network ends.
    _carrier: Arc<Carrier>,
}

struct Carrier(Option<JoinHandle<()>>);

impl Drop for Carrier {
    fn drop(&mut self) {
        // The carrier notices by itself that no sender is left. Joining it here could deadlock.
        drop(self.0.take());
    }
}

/// The wires of a job of `pes` PEs.
pub fn connect(
    pes: u32,
    segment_bytes: usize,
    seed: u64,
    offloads: bool,
) -> Result<Vec<Toy>, TransportError> {
    let window = |_| Window::own(Memory::anonymous(segment_bytes), Visibility::Coherent);
    let network = Arc::new(Network {
        windows: (0..pes).map(window).collect::<Result<_, _>>()?,
        registered: Mutex::default(),
        offloads,
        state: Mutex::new(ToyState {
            packets: Vec::new(),
            epochs: vec![0; (pes * pes) as usize],
            alive: vec![true; pes as usize],
            random: Random::new(seed),
        }),
        changed: Condvar::new(),
    });
    let weak = Arc::downgrade(&network);
    let carrier = std::thread::spawn(move || Network::carry(&weak));
    let carrier = Arc::new(Carrier(Some(carrier)));
    let end = |pe| Toy {
        pe,
        network: Arc::clone(&network),
        _carrier: Arc::clone(&carrier),
    };
    Ok((0..pes).map(end).collect())
}

impl Toy {
    fn check(&self, pe: PeId) -> Result<(), TransportError> {
        let pes = self.pes();
        match pe < pes {
            true => Ok(()),
            false => Err(TransportError::NoSuchPe { pe, pes }),
        }
    }

    /// Finds the memory of `pe` to which a store goes, and the offset in it.
    fn target(&self, pe: PeId, offset_bytes: usize) -> Result<(Memory, usize), TransportError> {
        self.check(pe)?;
        let found = self.network.find(pe, offset_bytes);
        let found = found.map(|(window, at)| (window.memory().clone(), at));
        found.ok_or(TransportError::OutOfRange {
            offset_bytes,
            len_bytes: 1,
            segment_bytes: 0,
        })
    }

    fn send(&self, to: PeId, offset_bytes: usize, stored: Stored) {
        let mut state = self.network.lock();
        let is_word = matches!(stored, Stored::Word(_));
        let epoch = state.epoch(self.pes(), self.pe, to);
        // A word comes after all that was stored before it.
        *epoch += u64::from(is_word);
        let packet = Packet {
            from: self.pe,
            to,
            epoch: *epoch,
            offset_bytes,
            stored,
        };
        if to == self.pe {
            // A PE sees its own stores to itself at once.
            self.network.deliver(&packet);
        } else if state.alive[to as usize] {
            state.packets.push(packet);
            self.network.changed.notify_all();
        }
    }

    /// Waits until no packet is under way from here to those PEs.
    fn wait_for(&self, is_target: impl Fn(PeId) -> bool) {
        let mut state = self.network.lock();
        let is_ours = |packet: &Packet| packet.from == self.pe && is_target(packet.to);
        while state.packets.iter().any(is_ours) {
            let waited = self.network.changed.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Wire for Toy {
    fn pe(&self) -> PeId {
        self.pe
    }

    fn pes(&self) -> u32 {
        self.network.windows.len() as u32
    }

    fn segment(&self) -> &Window {
        &self.network.windows[self.pe as usize]
    }

    fn route(&self, pe: PeId) -> Option<Route> {
        let window = self.network.windows.get(pe as usize)?;
        Some(match pe == self.pe {
            true => Route::Mapped(window.clone()),
            false if self.network.offloads => Route::Offloaded,
            false => Route::Carried,
        })
    }

    fn store(&self, pe: PeId, offset_bytes: usize, src: &[u8]) -> Result<(), TransportError> {
        let (target, at) = self.target(pe, offset_bytes)?;
        target.range(at, src.len())?;
        self.send(pe, offset_bytes, Stored::Bytes(src.to_vec()));
        Ok(())
    }

    fn store_word(&self, pe: PeId, offset_bytes: usize, value: u64) -> Result<(), TransportError> {
        let (target, at) = self.target(pe, offset_bytes)?;
        target.word(at)?;
        self.send(pe, offset_bytes, Stored::Word(value));
        Ok(())
    }

    fn store_line(
        &self,
        pe: PeId,
        offset_bytes: usize,
        header: u64,
        payload: &[u8],
    ) -> Result<(), TransportError> {
        let (target, at) = self.target(pe, offset_bytes)?;
        target.line(at)?;
        if payload.len() > PAYLOAD_BYTES {
            return Err(TransportError::OutOfRange {
                offset_bytes,
                len_bytes: payload.len(),
                segment_bytes: target.len_bytes(),
            });
        }
        let payload = payload.to_vec();
        self.send(pe, offset_bytes, Stored::Line { header, payload });
        Ok(())
    }

    fn fence(&self) -> Result<(), TransportError> {
        let mut state = self.network.lock();
        for pe in 0..self.pes() {
            *state.epoch(self.pes(), self.pe, pe) += 1;
        }
        Ok(())
    }

    fn quiet(&self) -> Result<(), TransportError> {
        self.wait_for(|_| true);
        Ok(())
    }

    fn wait_limits(&self) -> WaitLimits {
        WaitLimits::SHARED
    }

    fn poll(&self) -> Result<bool, TransportError> {
        Ok(false)
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities {
            registration: Some(self),
            per_target: Some(self),
            liveness: Some(self),
            offload: self.network.offloads.then_some(self),
            ..Capabilities::NONE
        }
    }
}

impl wire::Registration for Toy {
    fn registered_route(&self, pe: PeId, _segment: SegmentId) -> Option<Route> {
        self.check(pe).ok()?;
        Some(match self.network.offloads {
            true => Route::Offloaded,
            false => Route::Carried,
        })
    }

    fn register(&self, segment: SegmentId, window: &Window) -> Result<(), TransportError> {
        let registered = self.network.registered.lock();
        let mut registered = registered.unwrap_or_else(PoisonError::into_inner);
        registered.insert((self.pe, segment), window.clone());
        Ok(())
    }

    fn unregister(&self, segment: SegmentId) {
        let registered = self.network.registered.lock();
        let mut registered = registered.unwrap_or_else(PoisonError::into_inner);
        registered.remove(&(self.pe, segment));
    }
}

impl wire::PerTarget for Toy {
    fn fence_of(&self, _pe: PeId) -> Result<(), TransportError> {
        self.fence()
    }

    fn quiet_of(&self, pe: PeId) -> Result<(), TransportError> {
        self.wait_for(|to| to == pe);
        Ok(())
    }
}

impl wire::Liveness for Toy {
    fn is_alive(&self, pe: PeId) -> Result<bool, TransportError> {
        self.check(pe)?;
        Ok(self.network.lock().alive[pe as usize])
    }

    fn loss(&self, _pe: PeId) -> Loss {
        Loss::Ended
    }

    fn give_up(&self, _pe: PeId) {}
}

impl Offload for Toy {
    fn get(&self, pe: PeId, offset_bytes: usize, dst: &mut [u8]) -> Result<(), TransportError> {
        self.wait_for(|to| to == pe);
        let (target, at) = self.target(pe, offset_bytes)?;
        target.copy_out(at, dst)
    }

    fn atomic(&self, pe: PeId, request: Request) -> Result<u64, TransportError> {
        self.wait_for(|to| to == pe);
        self.target(pe, request.offset_bytes)?;
        let found = self.network.find(pe, request.offset_bytes);
        let (window, offset_bytes) = found.expect("it was there, and nobody unregisters it");
        let old = apply(
            &window,
            &Request {
                offset_bytes,
                ..request
            },
        );
        self.network.windows[pe as usize].notify();
        old
    }
}

impl Drop for Toy {
    fn drop(&mut self) {
        let mut state = self.network.lock();
        state.alive[self.pe as usize] = false;
        state.packets.retain(|packet| packet.to != self.pe);
        self.network.changed.notify_all();
    }
}
