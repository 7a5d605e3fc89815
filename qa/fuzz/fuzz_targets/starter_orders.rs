#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hostwire_fuzzing::check("starter_orders", bytes));
