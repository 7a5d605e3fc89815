//! Which way a send or a receive goes. There are two, which [`Send::way`] and [`Receive::way`] choose:
//!
//! | call | message | route | way |
//! |---|---|---|---|
//! | send | up to 112 B, or 320 B where memory is not shared | any | at once: into lines of the ring |
//! | send | up to 32 KiB | any but virtual time | at once: into the eager buffer, and one line |
//! | send | up to half a ring | virtual time | at once: into lines of the ring |
//! | send | longer; or no room now; or others wait before it | any | background: it enters the ring later, or is announced |
//! | send | with `FI_DELIVERY_COMPLETE`, of several pieces | any | background |
//! | receive | is there, of up to 8 KiB; no receive is posted, and one peer is named | any whose ring here is coherent | at once: out of ring or eager buffer into the program's memory |
//! | receive | has not come | any | posted. The [look](hostwire::station::Station::glance) that finds it gives it to the receive that was posted first, at once as above, and its completion to the call that looks |
//! | receive | all else: it is longer, set aside, announced or not there whole, or another receive is posted | any | background |
//! | receive | of several pieces, with `FI_PEEK`, `FI_CLAIM`, `FI_DISCARD` or `FI_MULTI_RECV` | any | background |
//!
//! Data and the upper half of a tag count as 16 B of a message.
//! *At once* is [`Station::send_at_once`](hostwire::station::Station::send_at_once) and
//! [`receive_at_once`](hostwire::station::Station::receive_at_once): the message has left or come when the call returns, and
//! its completion is in the queue. What these do not take goes on in the *background*:
//! [`Station::send`](hostwire::station::Station::send) and [`receive`](hostwire::station::Station::receive), which also
//! posts. Sizes are those of the ring and the eager buffer; this crate knows none of them but the bound for memory that is
//! copied.

use core::ffi::c_void;

use hostwire::Tag;
use hostwire::station::{Label, Lane};
use hostwire_fabric_abi::{
    FI_CLAIM, FI_DELIVERY_COMPLETE, FI_DISCARD, FI_INJECT, FI_MSG, FI_MULTI_RECV, FI_PEEK, FI_RECV,
    FI_SEND, FI_TAGGED,
};

use crate::buffer::{Loan, Note};

/// Longest message that is copied before the call returns.
pub(crate) const INJECT_BYTES_MAX: usize = 4096;

/// Memory of the program that a call names.
#[derive(Clone, Copy)]
pub(crate) enum Loans<'a> {
    One(Loan),
    Several(&'a [Loan]),
}

impl Loans<'_> {
    pub(crate) fn as_slice(&self) -> &[Loan] {
        match self {
            Self::One(one) => core::slice::from_ref(one),
            Self::Several(several) => several,
        }
    }
}

/// A send, as the calls of libfabric have it.
#[derive(Clone, Copy)]
pub(crate) struct Send<'a> {
    pub(crate) loans: Loans<'a>,
    pub(crate) to: u64,
    pub(crate) label: Label,
    pub(crate) context: *mut c_void,
    pub(crate) flags: u64,
    /// Its success is never reported.
    pub(crate) is_silent: bool,
}

/// A receive, as the calls of libfabric have it.
#[derive(Clone, Copy)]
pub(crate) struct Receive<'a> {
    pub(crate) loans: Loans<'a>,
    pub(crate) from: u64,
    pub(crate) lane: Lane,
    pub(crate) tag: Tag,
    pub(crate) context: *mut c_void,
    pub(crate) flags: u64,
}

/// See the table of the [module](self).
pub(crate) enum Way {
    /// Straight from this memory of the program, or to it.
    AtOnce(Loan),
    Background,
}

impl Send<'_> {
    #[inline(always)]
    pub(crate) fn way(&self) -> Way {
        match self.loans {
            Loans::One(_) if self.is_confirmed() => Way::Background,
            // No more is copied than that, even if it could go at once.
            Loans::One(one) if self.is_copied() && one.len() > INJECT_BYTES_MAX => Way::Background,
            Loans::One(one) => Way::AtOnce(one),
            Loans::Several(_) => Way::Background,
        }
    }

    /// Nobody waits for the end of a send that is not reported.
    #[inline(always)]
    pub(crate) fn is_confirmed(&self) -> bool {
        !self.is_silent && self.flags & FI_DELIVERY_COMPLETE != 0
    }

    /// The program may reuse its memory when the call returns.
    #[inline(always)]
    pub(crate) fn is_copied(&self) -> bool {
        self.is_silent || self.flags & FI_INJECT != 0
    }

    /// What is reported when it ends, if its success is to be told.
    #[inline(always)]
    pub(crate) fn note(&self, tells: bool) -> Note {
        Note {
            context: self.context,
            flags: FI_SEND | of_lane(self.label.lane),
            tells: !self.is_silent && tells,
            is_silent: self.is_silent,
        }
    }
}

impl Receive<'_> {
    #[inline(always)]
    pub(crate) fn way(&self) -> Way {
        let is_special = self.flags & (FI_PEEK | FI_CLAIM | FI_DISCARD | FI_MULTI_RECV) != 0;
        match self.loans {
            Loans::One(one) if !is_special => Way::AtOnce(one),
            _ => Way::Background,
        }
    }

    /// What is reported when it ends, if its success is to be told.
    #[inline(always)]
    pub(crate) fn note(&self, tells: bool) -> Note {
        Note {
            context: self.context,
            flags: FI_RECV | of_lane(self.lane),
            tells,
            is_silent: false,
        }
    }
}

fn of_lane(lane: Lane) -> u64 {
    match lane {
        Lane::Tagged => FI_TAGGED,
        Lane::Plain => FI_MSG,
    }
}
