//! Teams and their collective operations, shared by all interfaces to a job: untyped, over
//! segments and private memory, over any wire.
//!
//! | module | what it is |
//! |---|---|
//! | [`team`] | who is in a team, and how PEs agree on a new one |
//! | `line` | 64 bytes from each member to each other one: the beginning of every operation |
//! | `barrier` | by words of their own, not lines |
//! | `deadlock` | members that wait for each other, since they call different operations |
//! | [`buffers`] | where the data of an operation is |
//! | `small` | operations whose data goes in lines, or in the stages that belong to them |
//! | `symmetric` | longer ones, over the same offsets in all segments |
//! | `owner` | of these, reductions: each member combines a block for all |
//! | `operands` | of what elements an operation is: what members compare |
//! | `large`, `tree` | barriers, broadcasts and reductions of teams of more than 64: by hosts |
//! | `pieces` | longer ones over private memory, among members whose segments are mapped |
//! | [`messages`] | the others over private memory |
//! | `scan` | of these, scans |
//! | `colors` | teams of the members that name the same colour |
//! | `until` | comparing own words, one of them or a set, with what a program waits for |
//!
//! It is for libraries such as [`Job`](crate::Job) or OpenSHMEM. Threads may use different
//! teams at a time; operations of one team follow each other, and all members call the same.
//!
//! Reductions and scans combine in the order of ranks, whatever their size and whichever member
//! comes first: results are the same in every run, to the last bit.

mod barrier;
pub mod buffers;
mod colors;
mod deadlock;
mod large;
mod line;
pub mod messages;
mod operands;
mod owner;
mod pieces;
mod scan;
mod small;
mod symmetric;
pub mod team;
mod tree;
mod until;

#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use barrier::FIRST_STAMP;
pub use buffers::{Buffers, Combine, Fold, Source, Target};
#[cfg(feature = "fuzzing")]
pub use line::describe_any;
pub use line::{Kind, LINE_DATA_BYTES, Tag};
pub use operands::{Operands, Operator};
pub use owner::Block;
pub use small::fold_values;
pub use symmetric::Strides;
pub use team::{Slots, Team};
pub use until::{Compare, Words};

use crate::attachment::{Attachment, Pace};
use crate::error::Result;

/// The caller of an operation, and what it does while it waits.
pub trait Caller {
    /// Its place in the job.
    fn attachment(&self) -> &Attachment;

    /// Makes progress while this PE waits.
    ///
    /// # Errors
    /// What ends the wait.
    fn progress(&self, pace: Pace) -> Result<()>;
}

impl Caller for Attachment {
    #[inline(always)]
    fn attachment(&self) -> &Attachment {
        self
    }

    fn progress(&self, _pace: Pace) -> Result<()> {
        Attachment::progress(self)
    }
}
