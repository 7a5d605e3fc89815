//! The tools of a PE of a test besides its wire.

use std::cell::Cell;
use std::sync::Arc;

use super::Testbed;
use crate::error::PeId;
use crate::visibility::{LINE_BYTES, Visibility};
use crate::wait::{Backoff, WaitStep};
use crate::window::{FIRST_FREE_OFFSET_BYTES, Window};
use crate::wire::Wire;

/// A word per PE, for [`Pe::meet`], each in a line of its own: on flushed memory a line has
/// one writing host.
const MEETING: usize = FIRST_FREE_OFFSET_BYTES;
const PES_MAX: u32 = 64;
/// What the tests may use: whole lines.
pub(super) const AREA: usize = MEETING + PES_MAX as usize * LINE_BYTES;
/// Enough for the largest test.
const SEGMENT_BYTES: usize = if cfg!(memory_model) {
    40 << 10
} else {
    4 << 20
};

/// One PE of a test.
pub(super) struct Pe {
    pub(super) wire: Arc<dyn Wire>,
    pub(super) pe: PeId,
    pub(super) pes: u32,
    meetings: Cell<u64>,
}

/// How many rounds a test makes: `full` on real memory, fewer on a model, which repeats each
/// run with many seeds.
pub(super) const fn rounds(full: u64) -> u64 {
    if cfg!(memory_model) {
        full.div_ceil(40)
    } else {
        full
    }
}

/// Runs `program` on `pes` PEs.
pub(super) fn run(fabric: &dyn Testbed, pes: u32, program: impl Fn(&Pe) + Sync) {
    assert!(pes <= PES_MAX, "this suite is for up to {PES_MAX} PEs");
    fabric.run(pes, SEGMENT_BYTES, &|wire| {
        assert_eq!(wire.pes(), pes);
        assert!(wire.pe() < pes);
        program(&Pe {
            pe: wire.pe(),
            pes,
            wire,
            meetings: Cell::new(0),
        });
    });
}

impl Pe {
    pub(super) fn right(&self) -> PeId {
        (self.pe + 1) % self.pes
    }

    pub(super) fn left(&self) -> PeId {
        (self.pe + self.pes - 1) % self.pes
    }

    /// Waits until `condition` holds, as the runtime does.
    pub(super) fn until(&self, mut condition: impl FnMut() -> bool) {
        let mut backoff = Backoff::new(self.wire.wait_limits());
        while !condition() {
            match backoff.step() {
                WaitStep::Spin => {}
                WaitStep::Pause => core::hint::spin_loop(),
                WaitStep::Look | WaitStep::Work => {
                    self.wire.poll().unwrap();
                }
                WaitStep::Yield => {
                    self.wire.poll().unwrap();
                    self.wire.yield_now();
                }
                WaitStep::Nap(time) => {
                    self.wire.poll().unwrap();
                    self.wire.nap(time);
                }
                WaitStep::Sleep(limit) => {
                    let limit = self.wire.arm(limit);
                    self.wire.poll().unwrap();
                    if condition() {
                        return;
                    }
                    self.wire.sleep(limit);
                }
            }
        }
    }

    /// Pushes out earlier puts: through write-combining windows a put may stay in a buffer
    /// until a fence.
    pub(super) fn push(&self) {
        if self.contract() == Some(Visibility::WriteCombining) {
            self.wire.fence().unwrap();
        }
    }

    /// The contract of the windows to others, if there are any.
    pub(super) fn contract(&self) -> Option<Visibility> {
        let route = self.wire.route(self.right())?;
        route.window().map(Window::visibility)
    }

    /// Waits for all PEs. Their earlier stores are then visible if a [`Wire::quiet`]
    /// followed them.
    pub(super) fn meet(&self) {
        let meeting = self.meetings.get() + 1;
        self.meetings.set(meeting);
        self.wire.quiet().unwrap();
        for pe in 0..self.pes {
            let at = MEETING + self.pe as usize * LINE_BYTES;
            self.wire.store_word(pe, at, meeting).unwrap();
        }
        for pe in 0..self.pes as usize {
            self.until(|| self.word(MEETING + pe * LINE_BYTES) >= meeting);
        }
    }

    /// An own word.
    pub(super) fn word(&self, offset_bytes: usize) -> u64 {
        self.wire.segment().load_word(offset_bytes).unwrap()
    }

    /// Own bytes.
    pub(super) fn bytes(&self, offset_bytes: usize, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        self.wire.segment().get(offset_bytes, &mut bytes).unwrap();
        bytes
    }
}
