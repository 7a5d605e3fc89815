use crate::time::Ns;

/// When the frame leaves that a link is packing: the rule of [virtual links](crate::Endpoint) and of
/// simulated adapters.
///
/// A frame leaves when it is full or requested, and otherwise a hold time after the previous frame.
/// So a frame that follows no other does not wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameHold {
    /// When the last frame with packets left.
    left_at: Ns,
    /// It leaves without waiting for more packets.
    flushed: bool,
}

impl FrameHold {
    /// The current frame, and those before it, wait no longer.
    pub const fn flush(&mut self) {
        self.flushed = true;
    }

    /// Whether a flush has been requested.
    pub const fn is_flushed(&self) -> bool {
        self.flushed
    }

    /// All requested frames have left.
    pub const fn all_left(&mut self) {
        self.flushed = false;
    }

    /// A frame with packets has left for the first time. Called again when its sending is over.
    pub const fn left(&mut self, now: Ns) {
        self.left_at = now;
    }

    /// How long a frame may wait that was not requested.
    #[inline]
    pub const fn until(&self, hold_ns: u64) -> Ns {
        self.left_at.after(hold_ns)
    }

    /// From when on the frame may leave; [`Ns::MAX`] for not before it is full.
    #[inline]
    pub const fn leaves_at(&self, hold_ns: u64, is_full: bool) -> Ns {
        match self.flushed || is_full {
            true => Ns(0),
            false => self.until(hold_ns),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_waits_for_the_hold_time_unless_it_is_full_or_asked_for() {
        let mut hold = FrameHold::default();
        assert_eq!(hold.leaves_at(2_000, false), Ns(2_000));
        hold.left(Ns(70_000));
        assert_eq!(hold.leaves_at(2_000, false), Ns(72_000));
        assert_eq!(hold.leaves_at(2_000, true), Ns(0));
        hold.flush();
        assert_eq!(hold.leaves_at(2_000, false), Ns(0));
        hold.all_left();
        assert_eq!(hold.leaves_at(2_000, false), Ns(72_000));
    }

    #[test]
    fn who_holds_for_ever_sends_full_frames_only() {
        let mut hold = FrameHold::default();
        hold.left(Ns(1 << 60));
        assert_eq!(hold.leaves_at(u64::MAX, false), Ns::MAX);
        assert_eq!(hold.leaves_at(u64::MAX, true), Ns(0));
    }
}
