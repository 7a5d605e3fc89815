//! The wires.

pub mod os;
