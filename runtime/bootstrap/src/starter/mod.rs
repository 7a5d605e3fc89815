//! What a launcher and its starters on other hosts say to each other: bytes to values and back, without I/O.
//!
//! A *starter* is the launcher's process on a host. It starts the PEs of that host and looks after them. The two have one
//! connection, the standard input and output that ssh carries. The launcher sends [`Order`]s, the starter [`Report`]s.
//!
//! The starter begins with [`GREETING`] and [`Report::Hello`]. Before it come the bytes that start-up files of a shell may
//! print. Then both sides send frames:
//!
//! | bytes | |
//! |---|---|
//! | 0..4 | how many bytes follow, little endian; 1 to [`FRAME_BYTES_MAX`] |
//! | 4 | kind |
//! | then | the content: numbers are little endian, text and lists begin with their length |
//!
//! | launcher | starter |
//! |---|---|
//! | | `Hello` |
//! | `Program`, any number of times | |
//! | `Describe` | `Ready`, or `Refused` |
//! | `Go`, as soon as all hosts are ready | `Started`, or `Refused` |
//! | `Pmi`, `Input`, `Signal`, ... | `Pmi`, `Output`, `Ended`, ... |
//! | `Done`, when all PEs of the job have ended | `Counters`, `Swept` |
//!
//! Each side sends a `Beat` when it has had nothing to say for [`BEAT`], so silence means that the other is gone. Output of
//! PEs and input for them are sent only as far as the receiver has given [room](Report::Took) for it: no more than
//! [`ROOM_BYTES`] are on their way, and whatever else is said never waits behind output that nobody reads.
//!
//! A starter that is ready may be told to start others on further hosts ([`Errand`]). Their connections lead to it, and it
//! carries their bytes to the launcher and back ([`News`]). So the launcher speaks with each starter as if it had a connection
//! to it, and has few. It has [`ROOM_BYTES`] of its own bytes on the way to each of these, until they have been passed on.

mod behind;
mod buffer;
mod frame;
mod how;
mod order;
mod report;

use std::time::Duration;

pub use behind::{Errand, News};
pub use buffer::{Greeted, GreetingError, Received};
pub use frame::{FRAME_BYTES_MAX, FrameError, Message};
pub use how::How;
pub use order::{Description, Order};
pub use report::{Look, Report, Stream};

/// What a starter begins with. The last byte is the version of what follows.
pub const GREETING: [u8; 9] = *b"\0hwstart\x01";

/// After so long with nothing else to say, each side says that it is there.
pub const BEAT: Duration = Duration::from_secs(1);

/// Bytes of output, and of input, that may be on their way.
pub const ROOM_BYTES: usize = 1 << 20;

/// The longest piece of output or input in one frame.
pub const PIECE_BYTES_MAX: usize = 64 << 10;
