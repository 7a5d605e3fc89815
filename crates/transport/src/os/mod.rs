//! What the operating system has to be asked for and `std` does not offer.

pub mod process;
