//! Operations on memory of peers, and reports of what peers have done to memory here.

use core::ffi::c_void;
use std::sync::atomic::Ordering::Relaxed;

use hostwire::station::{Deed, Event, RegionRange, Use};
use hostwire_fabric_abi::{
    FI_ADDR_UNSPEC, FI_INJECT, FI_REMOTE_CQ_DATA, FI_REMOTE_READ, FI_REMOTE_WRITE, FI_RMA,
};

use crate::buffer::{Bytes, Loan, Note, OperationBytes, gather};
use crate::cq::Entry;
use crate::ep::{Endpoint, tells};
use crate::info::IOV_MAX;
use crate::object::Code;

/// An operation on memory of another, as the calls of libfabric have it.
pub(crate) struct Access<'a> {
    pub(crate) deed: Deed,
    /// Where the bytes of a put are, or where those of a get go.
    pub(crate) loans: &'a [Loan],
    pub(crate) to: u64,
    pub(crate) there: Vec<RegionRange>,
    pub(crate) context: *mut c_void,
    pub(crate) flags: u64,
    /// Flags of its completion.
    pub(crate) told: u64,
    /// Its success is never reported.
    pub(crate) is_silent: bool,
}

impl Endpoint {
    pub(crate) fn access(&self, access: Access<'_>) -> Result<(), Code> {
        let Access {
            deed,
            loans,
            to,
            there,
            context,
            flags,
            told,
            is_silent,
        } = access;
        let bound = self.tx.get().ok_or(-libc::EINVAL)?;
        if loans.len() > IOV_MAX {
            return Err(-libc::EINVAL);
        }
        let is_put = matches!(deed, Deed::Put { .. });
        let is_copied = is_put && (is_silent || flags & FI_INJECT != 0);
        let len = loans.iter().map(Loan::len).sum();
        self.check_start(bound, is_copied.then_some(len))?;
        let to = self.number(to)?;
        let note = Note {
            context,
            flags: told,
            tells: !is_silent && tells(bound, flags),
            is_silent,
        };
        let place = match loans {
            [one] if !is_copied => OperationBytes::Lent(*one),
            _ if is_put => OperationBytes::Kept(gather(loans), Vec::new()),
            _ => OperationBytes::Kept(vec![0; len], loans.to_vec()),
        };
        let bytes = Bytes {
            place,
            note,
            shared: None,
        };
        self.sending.fetch_add(1, Relaxed);
        let bytes = self.books().spare.boxed(bytes);
        let asked = self.station.ask(to, deed, there, bytes);
        asked.map(drop).map_err(|error| {
            self.sending.fetch_sub(1, Relaxed);
            crate::code(&error)
        })
    }

    /// Reports what was done with memory here. Returns whether anything was.
    pub(crate) fn tell_uses(&self) -> bool {
        let mut any = false;
        while let Some(Use { did, witnesses }) = self.station.take_use() {
            any = true;
            if !witnesses.is_empty() {
                for witness in witnesses {
                    witness.ended(did);
                }
                self.station.wake();
            }
            for (is, kind) in [(did.read, FI_REMOTE_READ), (did.write, FI_REMOTE_WRITE)] {
                if is {
                    self.counters.count(self, kind, true);
                }
            }
        }
        self.tell_events() || any
    }

    /// Reports data that came with writes, as long as there is room for more.
    fn tell_events(&self) -> bool {
        let Some(bound) = self.rx.get() else {
            return false;
        };
        let mut any = false;
        while !bound.queue.is_full()
            && let Some(Event {
                from,
                data,
                len_bytes,
            }) = self.station.take_event()
        {
            let flags = FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA;
            let mut entry = Entry::new(core::ptr::null_mut(), flags);
            entry.entry.data = data;
            entry.entry.len = len_bytes;
            entry.from = self.address(from).unwrap_or(FI_ADDR_UNSPEC);
            bound.queue.push(self, entry);
            any = true;
        }
        any
    }
}
