//! The tests that every transport must pass.
