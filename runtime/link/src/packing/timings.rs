/// The times and numbers of packing. They depend on the kind of machine: the cost of sending a frame, reading a
/// clock and waking a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timings {
    /// How long a frame that is not full waits for more stores, in nanoseconds after the previous frame has left.
    ///
    /// For a socket: longer than sending a frame (1 to 3 us), or each frame would leave alone; below 20 us, the time
    /// that the last store of a PE may wait. For an adapter: fitted, about the time of a full frame on 10 Gb/s.
    pub hold_ns: u64,
    /// Frames of a stream of stores that leave together. Fitted: with more, the receiver is idle meanwhile.
    pub stream_frames: usize,
    /// Stores of a stream per reading of the clock, which costs as much as a store.
    pub stores_per_clock: u32,
    /// Most targets of stores between two looks. Fitted: they are searched one by one.
    pub targets_max: usize,
    /// Looks of a waiting PE per check of the clock and the timers. Fitted.
    pub looks_per_clock: u32,
    /// Looks at the receive ring per check of the awaited event. The check takes 50 ns, a look at an empty ring 2
    /// ns. Fitted.
    pub looks_in_a_row: u32,
    /// How long the agent leaves the wire to a PE that begins to use it, unless stores wait, in nanoseconds. It
    /// doubles while the PE continues. Fitted.
    pub aside_min_ns: u64,
    /// Longest such time for a PE that only stores, in nanoseconds. Fitted: a turn of the agent costs 3 to 15 us of
    /// the PE's core, and is useless while the stream continues.
    pub aside_storing_max_ns: u64,
    /// As `aside_storing_max_ns`, for a PE that looks at the wire by itself. Fitted: where polling PEs fill all
    /// cores, agents that wake more often keep the scheduler from giving others their share (Linux 6.18, see the
    /// decision agents-that-come-by).
    pub aside_looking_max_ns: u64,
    /// Turns of the agent with a yield between them, before it sleeps. Fitted.
    pub agent_yields: u32,
    /// Longest sleep of the agent, in nanoseconds. Correctness does not depend on it.
    pub sleep_max_ns: u64,
    /// How long to wait before frames are tried again for which the system had no room, in nanoseconds: about the
    /// time in which the queue of an interface sends some. Assumed.
    pub again_ns: u64,
}

impl Timings {
    /// For frames that leave by sockets of the system.
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

    /// For an adapter, which sends a frame as soon as it is told to.
    pub const ADAPTER: Self = Self {
        hold_ns: 2_000,
        ..Self::SOCKET
    };
}
