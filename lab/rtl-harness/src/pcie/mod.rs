//! The PCI Express data-link layer: its link partner as a model in Rust, its user, and the tests between them.
//!
//! [`End`] is the hardware. [`Partner`] is the other end as software: it uses the encodings of `hostwire-packet`,
//! and shares nothing with the hardware. [`pair`] joins two ends by lines that damage symbols, [`against_partner`] an
//! end and a partner that misbehaves on purpose.

mod end;
mod frames;
mod line;
mod partner;
mod run;
mod tlp;

pub use self::end::{End, Offer, Pins};
pub use self::frames::{Decoder, EDS, Framing, Packet, encode, token};
pub use self::line::{Beat, Line};
pub use self::partner::{Habits, Partner};
pub use self::run::{Failure, Report, Setup, against_partner, pair};
pub use self::tlp::Tlp;
