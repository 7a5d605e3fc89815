//! The registers that the library's assembler changes without naming them.
//!
//! The compiler keeps values in all registers of the processor when it is told that it may
//! (`-C target-cpu=native`). So `copy.rs` is built here for a processor with AVX, in a program that has
//! values in all sixteen of its registers while bytes are copied.

use std::fs;
use std::path::Path;
use std::process::Command;

use hostwire_testing::{left_out, need};

use crate::build::work;
use crate::succeeds;

const PROGRAM: &str = r#"
#![allow(dead_code)]
use core::arch::asm;
use core::arch::x86_64::*;

#[path = "COPY"]
mod copy;

/// Values the compiler knows nothing of, and so keeps.
#[inline(always)]
fn unknown(value: u64) -> __m256i {
    // SAFETY: the program runs on processors with AVX only.
    let mut wide = unsafe { _mm256_set1_epi64x(value as i64) };
    // SAFETY: there is no instruction in it.
    unsafe { asm!("/* {} */", inout(ymm_reg) wide, options(nomem, nostack, preserves_flags)) };
    wide
}

/// # Safety
/// `len` bytes have to be readable at `from` and writable at `to`, and not overlap.
#[inline(never)]
unsafe fn copies(to: *mut u8, from: *const u8, len: usize) -> [u64; 64] {
    let before: [__m256i; 16] = core::array::from_fn(|i| unknown(i as u64 + 1));
    // SAFETY: the caller vouches for both, and `main` has asked `is_wide` about the length.
    unsafe { copy::wide(to, from, len) };
    let mut after = [0u64; 64];
    for i in 0..16 {
        // SAFETY: 4 of 64 values at `4 * i`, with `i` below 16; the store needs no alignment.
        unsafe { _mm256_storeu_si256(after.as_mut_ptr().add(i * 4).cast(), before[i]) };
    }
    after
}

fn main() {
    copy::detect();
    let from: Vec<u8> = (0..=255).collect();
    for len in [65, 128, 129, 256] {
        assert!(copy::is_wide(len));
        let mut to = vec![0; 256];
        // SAFETY: both have 256 bytes, and `len` is no more than that.
        let after = unsafe { copies(to.as_mut_ptr(), from.as_ptr(), len) };
        assert_eq!(to[..len], from[..len]);
        for (i, value) in after.iter().enumerate() {
            assert_eq!(*value, i as u64 / 4 + 1, "part {} of value {} after {len} bytes", i % 4, i / 4);
        }
    }
}
"#;

#[test]
fn copies_keep_the_registers_of_a_program_that_is_built_with_avx() {
    if !std::arch::is_x86_feature_detected!("avx2") {
        return left_out(&need::PROCESSOR, "this processor has no AVX");
    }
    let copy = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/copy.rs");
    let folder = work();
    fs::create_dir_all(&folder).expect("a folder");
    let (source, program) = (folder.join("registers.rs"), folder.join("registers"));
    let text = PROGRAM.replace("COPY", &copy.display().to_string());
    fs::write(&source, text).expect("a file");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut compile = Command::new(rustc);
    compile.args([
        "--edition",
        "2024",
        "-O",
        "-C",
        "target-feature=+avx2",
        "-o",
    ]);
    succeeds(compile.arg(&program).arg(&source));
    succeeds(&mut Command::new(&program));
}
