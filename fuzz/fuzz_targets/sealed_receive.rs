#![no_main]

#[path = "../../crates/link/tests/checks/mod.rs"]
#[allow(dead_code)]
mod checks;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::sealed_receive(bytes));
