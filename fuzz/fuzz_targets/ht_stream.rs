#![no_main]

#[path = "../../crates/packet/tests/checks/mod.rs"]
#[allow(dead_code)]
mod checks;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::ht_stream(bytes));
