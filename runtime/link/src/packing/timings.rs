/// The times and numbers that packing goes by. All are of one kind of machine: what it costs to
/// send a frame, to read a clock and to wake a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timings {
    /// Nanoseconds that a frame which is not full waits for more stores, from when the frame
    /// before it left.
    ///
    /// Of a socket: longer than it takes to send a frame (1 to 3 us), or each frame leaves alone;
    /// below 20 us, which is what the last store of a PE may wait. Of an adapter: fitted, about
    /// the time of a full frame on 10 Gb/s.
    pub hold_ns: u64,
    /// Frames of a stream of stores that leave together. Fitted: with more the receiver has
    /// nothing to do meanwhile.
    pub stream_frames: usize,
    /// Stores of a stream for one look at the clock, which costs as much as a store.
    pub stores_per_clock: u32,
    /// Targets that were stored to since the last look, at most. Fitted: they are searched one by
    /// one.
    pub targets_max: usize,
    /// Looks of a PE that waits for one at the clock and at the timers. Fitted.
    pub looks_per_clock: u32,
    /// Looks at the receive ring for one of a PE at what it waits for: that takes 50 ns, a look at
    /// an empty ring 2. Fitted.
    pub looks_in_a_row: u32,
    /// Nanoseconds that the agent leaves the wire to a PE that begins to use it, unless stores wait.
    /// It doubles while the PE goes on. Fitted.
    pub aside_min_ns: u64,
    /// Longest such time for a PE that only stores, in nanoseconds. Fitted: the agent's coming
    /// costs 3 to 15 us of the PE's core, and is in vain while the stream goes on.
    pub aside_storing_max_ns: u64,
    /// As `aside_storing_max_ns`, for a PE that looks at the wire by itself. Fitted: threads that come by more often
    /// keep a scheduler from giving others their share, where PEs that look fill all cores (Linux 6.18, see the
    /// decision agents-that-come-by).
    pub aside_looking_max_ns: u64,
    /// Turns of the agent with the core given away between them, before it sleeps. Fitted.
    pub agent_yields: u32,
    /// Longest sleep of the agent, in nanoseconds. Nothing depends on it.
    pub sleep_max_ns: u64,
    /// Nanoseconds until frames are tried again that the system had no room for: about as long as
    /// a queue of an interface takes to send some. Assumed.
    pub again_ns: u64,
}

impl Timings {
    /// Of frames that leave by the sockets of a system.
    pub const SOCKET: Self = Self {
        hold_ns: 16_000,
        stream_frames: 16,
        stores_per_clock: 64,
        targets_max: 64,
        looks_per_clock: 64,
        looks_in_a_row: 16,
        aside_min_ns: 100_000,
        aside_storing_max_ns: 160_000,
        aside_looking_max_ns: 2_000_000,
        agent_yields: 50,
        sleep_max_ns: 1_000_000_000,
        again_ns: 50_000,
    };

    /// Of an adapter, which sends a frame as soon as it is told to.
    pub const ADAPTER: Self = Self {
        hold_ns: 2_000,
        ..Self::SOCKET
    };
}
