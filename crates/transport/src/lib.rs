//! The wires.
