//! Long puts and gets: writes and reads of remote memory by RDMA.

use std::sync::PoisonError;
use std::time::Instant;

use hostwire_address::Place;
use hostwire_transport::error::{PeId, TransportError};
use hostwire_transport::operation::Request;
use hostwire_transport::wire::Offload;

use super::core::{COPIED, COPIED_BYTES};
use super::ffi::endpoint::Key;
use super::ffi::{Endpoint, FabricError, Remote, Token};
use super::message::{Kind, Outgoing};
use super::peer::End;
use super::{Fabric, LAST_ERRORS, Patience};

/// Memory of a peer as the provider addresses it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Far(Key);

impl Far {
    fn remote(self, to: u64, offset_bytes: usize) -> Remote {
        let Self(Key { key, base }) = self;
        Remote {
            to,
            address: base.wrapping_add(offset_bytes as u64),
            key,
        }
    }
}

/// The state of a transfer for which a thread waits.
struct Transfer {
    pe: PeId,
    token: Token,
    begin: Instant,
}

impl Fabric {
    /// How to reach `len` bytes at a place of a peer by RDMA; `None` if that is not possible.
    pub(super) fn far(
        &self,
        pe: PeId,
        offset_bytes: usize,
        len: usize,
    ) -> Result<Option<Far>, TransportError> {
        if Place::is_registered(offset_bytes as u64) {
            return Ok(self.given(pe, offset_bytes, len)?.map(Far));
        }
        let core = self.hold()?;
        Ok(core.peer(pe).map(|peer| {
            let base = peer.key.base.wrapping_add(offset_bytes as u64);
            Far(Key { base, ..peer.key })
        }))
    }

    /// Puts bytes by RDMA.
    pub(super) fn put_long(&self, pe: PeId, far: Far, src: &[u8]) -> Result<(), TransportError> {
        let Some(fenced) = self.hold()?.open(pe)?.map(|peer| peer.fenced) else {
            return Ok(());
        };
        // A write could overtake them.
        self.applied(pe, fenced)?;
        let delivered = !self.orders_writes;
        let mut at = 0;
        for piece in src.chunks(self.piece_bytes()) {
            let copying = self.copying.lock().unwrap_or_else(PoisonError::into_inner);
            let begin = |endpoint: &mut Endpoint, token, remote| {
                let from = match self.copies {
                    false => piece.as_ptr(),
                    true => copied_in(endpoint, piece)?,
                };
                // SAFETY: `transfer` returns when the operation has ended or the endpoint is
                // closed, and the piece is borrowed until then; as is the buffer, by `copying`.
                unsafe { endpoint.write(token, (from, piece.len()), remote, delivered) }
            };
            self.transfer(pe, (far, at), begin)?;
            drop(copying);
            self.shared.lock().counted.writes += 1;
            at += piece.len();
        }
        self.store_message(pe, Outgoing::one(Kind::Bell, 0, &[]))
    }

    /// The size of one write or read.
    fn piece_bytes(&self) -> usize {
        let most = match self.copies {
            true => COPIED_BYTES,
            false => 1 << 30,
        };
        most.min(self.operation_bytes_max).max(1)
    }

    /// Reads or writes memory of a PE. Returns when that is done or has failed.
    fn transfer(
        &self,
        pe: PeId,
        (far, at): (Far, usize),
        mut begin: impl FnMut(&mut Endpoint, Token, Remote) -> Result<bool, FabricError>,
    ) -> Result<(), TransportError> {
        let mut patience = Patience::default();
        let since = Instant::now();
        let token = loop {
            let mut core = self.hold()?;
            let Some(remote) = core.open(pe)?.map(|peer| far.remote(peer.to, at)) else {
                return Ok(());
            };
            let begun = core.begin_transfer(|endpoint, token| begin(endpoint, token, remote));
            match begun {
                Ok(Some(token)) => break token,
                Ok(None) => {}
                Err(_) => {
                    core.failed(pe);
                    return core.open(pe).map(drop);
                }
            }
            let came = core.drive();
            drop(core);
            if !came && patience.wait(self) {
                self.look_after(pe, since);
            }
        };
        self.finish_transfer(&Transfer {
            pe,
            token,
            begin: since,
        })
    }

    fn finish_transfer(&self, transfer: &Transfer) -> Result<(), TransportError> {
        let &Transfer { pe, token, begin } = transfer;
        let mut patience = Patience::default();
        loop {
            let mut core = self.shared.lock();
            if core.fault().is_err() {
                // The endpoint has ended, so this transfer has too.
                return core.fault();
            }
            let came = core.drive();
            if let Some(result) = core.end_of_transfer(token) {
                return match result {
                    Ok(()) => Ok(()),
                    Err(_) => {
                        core.failed(pe);
                        core.open(pe).map(drop)
                    }
                };
            }
            drop(core);
            if came {
                patience = Patience::default();
            } else if patience.wait(self) {
                self.look_after(pe, begin);
                self.end_hopeless(transfer)?;
            }
        }
    }

    /// A provider may never complete a transfer to a lost peer. Then the endpoint is closed, because
    /// it could still use the caller's memory.
    fn end_hopeless(&self, transfer: &Transfer) -> Result<(), TransportError> {
        let mut core = self.shared.lock();
        let end = core.peer(transfer.pe).and_then(|peer| peer.end);
        if let Some(end @ End::Lost(_)) = end
            && transfer.begin.elapsed() > LAST_ERRORS
        {
            let lost = end.result(transfer.pe);
            if let Err(error) = &lost {
                core.close(error.clone());
            }
            return lost;
        }
        Ok(())
    }
}

/// Copies bytes to the buffer from which they can be sent.
fn copied_in(endpoint: &Endpoint, bytes: &[u8]) -> Result<*const u8, FabricError> {
    let at = endpoint.own(COPIED, bytes.len())?;
    let copied = endpoint.buffers().copy_in(COPIED, bytes);
    copied.map_err(|_| FabricError::lacks("room"))?;
    Ok(at)
}

impl Offload for Fabric {
    fn get(&self, pe: PeId, offset_bytes: usize, dst: &mut [u8]) -> Result<(), TransportError> {
        self.fork_guard.check()?;
        self.addresses.of(pe, offset_bytes, dst.len(), 1)?;
        let stored = self.hold()?.open(pe)?.map_or(0, |peer| peer.ordered);
        self.applied(pe, stored)?;
        let far = self.far(pe, offset_bytes, dst.len())?;
        let far = far.ok_or(TransportError::OutOfRange {
            offset_bytes,
            len_bytes: dst.len(),
            segment_bytes: 0,
        })?;
        let mut at = 0;
        for piece in dst.chunks_mut(self.piece_bytes()) {
            let copying = self.copying.lock().unwrap_or_else(PoisonError::into_inner);
            let (to, len) = (piece.as_mut_ptr(), piece.len());
            let begin = |endpoint: &mut Endpoint, token, remote| {
                let to = match self.copies {
                    false => to,
                    true => endpoint.own(COPIED, len)?,
                };
                // SAFETY: `transfer` returns when the operation has ended or the endpoint is
                // closed, and the piece is borrowed until then; as is the buffer, by `copying`.
                unsafe { endpoint.read(token, (to, len), remote) }
            };
            self.transfer(pe, (far, at), begin)?;
            if self.copies {
                let core = self.shared.lock();
                core.endpoint.buffers().copy_out(COPIED, piece)?;
            }
            drop(copying);
            self.shared.lock().counted.reads += 1;
            at += len;
        }
        Ok(())
    }

    /// Left to the agent: CPUs of the PE's host also do atomics on its segment.
    fn atomic(&self, pe: PeId, _request: Request) -> Result<u64, TransportError> {
        Err(TransportError::misused(
            "an atomic operation past the agent",
            "a route that is offloaded",
            format_args!("the one to PE {pe}, where only gets are"),
        ))
    }
}
