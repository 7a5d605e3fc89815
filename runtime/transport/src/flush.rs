//! Software cache coherence: lines are written back and dropped by instructions.
//!
//! | processor | `WriteBack` | `BeforeFence` | `BeforeStore` |
//! |---|---|---|---|
//! | x86-64 that has them | `clwb` | `clflushopt` | `clflush` |
//! | x86-64 without `clwb` | `clflushopt` | `clflushopt` | `clflush` |
//! | x86-64 without both | `clflush` | `clflush` | `clflush` |
//! | AArch64 with lines of 64 bytes | `dc cvac` | `dc civac` | `dc civac` |
//! | AArch64 with others | none | none | none |
//!
//! `clflush` is executed in the order of stores, one after the other. `clwb` and `clflushopt` come after earlier
//! stores to their line, and are otherwise unordered until a fence, so several run at a time. So a later store to
//! another line needs a store fence before it, and a later store to the same line must not rely on them.

/// Bytes of a cache line, and of a slot of a ring.
pub const LINE_BYTES: usize = 64;

/// What a flush is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flush {
    /// Earlier stores to the line go to the memory. The cache may keep the line. A store fence must come before the
    /// next store that announces them.
    WriteBack,
    /// The cache drops the line. A full fence must come before the next load from it.
    BeforeFence,
    /// The cache drops the line before the next store to it. x86 does `clflush` in the order of stores, Arm `dc
    /// civac` in the order of accesses to its line.
    BeforeStore,
}

/// The instructions by which a processor writes lines back and drops them, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instructions {
    /// `clwb`, and `clflushopt` to drop.
    Clwb,
    /// `clflushopt` for both.
    Clflushopt,
    /// `clflush`.
    Clflush,
    /// `dc cvac`, and `dc civac` to drop.
    DcCivac,
    /// No line can be written back by hand: memory that is not coherent cannot be used.
    None,
}

impl Instructions {
    /// For people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Clwb => "clwb and clflushopt",
            Self::Clflushopt => "clflushopt",
            Self::Clflush => "clflush",
            Self::DcCivac => "dc cvac and dc civac",
            Self::None => "none",
        }
    }
}

#[cfg(all(target_arch = "x86_64", not(any(miri, memory_model))))]
mod lines_of {
    use core::arch::asm;
    use std::sync::OnceLock;

    use super::{Flush, Instructions};

    /// The leaf of extended features, and the bits of its EBX.
    const LEAF: u32 = 7;
    const CLFLUSHOPT: u32 = 1 << 23;
    const CLWB: u32 = 1 << 24;

    static HAS: OnceLock<Instructions> = OnceLock::new();

    pub(super) fn instructions() -> Instructions {
        *HAS.get_or_init(|| {
            use core::arch::x86_64::{__cpuid, __cpuid_count};
            let ebx = match __cpuid(0).eax >= LEAF {
                true => __cpuid_count(LEAF, 0).ebx,
                false => 0,
            };
            match (ebx & CLWB != 0, ebx & CLFLUSHOPT != 0) {
                (true, true) => Instructions::Clwb,
                (false, true) => Instructions::Clflushopt,
                (_, false) => Instructions::Clflush,
            }
        })
    }

    #[inline(always)]
    pub(super) fn line(line: *const u8, flush: Flush, has: Instructions) {
        match (flush, has) {
            (Flush::WriteBack, Instructions::Clwb) => {
                // SAFETY: `has` says that the processor has `clwb`. It faults only on addresses that are
                // not mapped, and the callers pass lines of their own mapping; it changes no value.
                // Without `nomem` the compiler moves no access across it.
                unsafe { asm!("clwb [{}]", in(reg) line, options(nostack, preserves_flags)) }
            }
            (
                Flush::WriteBack | Flush::BeforeFence,
                Instructions::Clwb | Instructions::Clflushopt,
            ) => {
                // SAFETY: `has` says that the processor has `clflushopt`: whoever has `clwb` here was seen to
                // have it, too. It faults only on addresses that are not mapped, and the callers pass
                // lines of their own mapping; it changes no value. Without `nomem` the compiler
                // moves no access across it.
                unsafe { asm!("clflushopt [{}]", in(reg) line, options(nostack, preserves_flags)) }
            }
            _ => {
                // SAFETY: `clflush` is part of SSE2, which every x86-64 has. It faults only on
                // addresses that are not mapped, and the callers pass lines of their own
                // mapping; it changes no value that the abstract machine can see.
                unsafe { core::arch::x86_64::_mm_clflush(line) }
            }
        }
    }
}

#[cfg(all(target_arch = "aarch64", not(any(miri, memory_model))))]
mod lines_of {
    use core::arch::asm;

    use super::{Flush, Instructions, LINE_BYTES};

    /// Shorter lines would need more instructions. Longer ones are written back as a whole, and so with what another
    /// host has stored next to them.
    pub(super) fn instructions() -> Instructions {
        let type_register: u64;
        // SAFETY: Linux lets programs read this register, which describes the caches, or reads it for them.
        unsafe {
            asm!("mrs {}, ctr_el0", out(reg) type_register, options(nomem, nostack, preserves_flags));
        }
        of_type(type_register)
    }

    /// Of a cache type register. Its fields are logarithms of words of 4 bytes: bits 16 to 19 of the shortest line,
    /// bits 24 to 27 of the longest run that is written back, or 0.
    fn of_type(type_register: u64) -> Instructions {
        let bytes = |shift: u32| 4_usize << (type_register >> shift & 0xf);
        let written_back = bytes(24);
        match bytes(16) == LINE_BYTES && [4, LINE_BYTES].contains(&written_back) {
            true => Instructions::DcCivac,
            false => Instructions::None,
        }
    }

    #[inline(always)]
    pub(super) fn line(line: *const u8, flush: Flush, has: Instructions) {
        match (flush, has) {
            (_, Instructions::None) => {}
            // SAFETY: Linux allows both instructions to programs. They fault only on addresses that are not mapped,
            // and the callers pass lines of their own mapping; they change no value. Without `nomem` the
            // compiler moves no access across them.
            (Flush::WriteBack, _) => unsafe {
                asm!("dc cvac, {}", in(reg) line, options(nostack, preserves_flags))
            },
            // SAFETY: as above.
            _ => unsafe { asm!("dc civac, {}", in(reg) line, options(nostack, preserves_flags)) },
        }
    }

    #[test]
    fn only_lines_of_64_bytes_can_be_flushed() {
        // Neoverse N1, Cortex-A72 without the longest run, A64FX, and one with lines of 32 bytes.
        for (register, found) in [
            (0x8444_c004, Instructions::DcCivac),
            (0x8044_8004, Instructions::DcCivac),
            (0x8668_0006, Instructions::None),
            (0x8433_8003, Instructions::None),
        ] {
            assert_eq!(of_type(register), found, "{register:#x}");
        }
    }
}

#[cfg(memory_model)]
mod lines_of {
    use super::{Flush, Instructions};

    pub(super) fn instructions() -> Instructions {
        Instructions::Clwb
    }

    pub(super) fn line(line: *const u8, flush: Flush, _: Instructions) {
        crate::model::door::flush_line(line.addr(), flush);
    }
}

#[cfg(all(
    any(not(any(target_arch = "x86_64", target_arch = "aarch64")), miri),
    not(memory_model)
))]
mod lines_of {
    use super::{Flush, Instructions};

    pub(super) fn instructions() -> Instructions {
        Instructions::None
    }

    pub(super) fn line(_: *const u8, _: Flush, _: Instructions) {}
}

/// The best instructions of this processor.
pub fn instructions() -> Instructions {
    lines_of::instructions()
}

/// Flushes every line that the bytes touch.
#[cold]
#[inline(never)]
pub(crate) fn lines(at: *const u8, len_bytes: usize, flush: Flush) {
    if len_bytes == 0 {
        return;
    }
    let has = instructions();
    let first = at as usize & !(LINE_BYTES - 1);
    let last = (at as usize + len_bytes - 1) & !(LINE_BYTES - 1);
    for line in (first..last).step_by(LINE_BYTES) {
        site!(
            "flush_lines: all but the last",
            lines_of::line(at.with_addr(line), flush, has)
        );
    }
    site!(
        "flush_lines: the last",
        lines_of::line(at.with_addr(last), flush, has)
    );
}

/// Flushes the first and the last line, unless the bytes cover them.
#[cold]
#[inline(never)]
pub(crate) fn edges(at: *const u8, len_bytes: usize, flush: Flush) {
    let (first, end) = (at as usize, at as usize + len_bytes);
    let (from, to) = (first % LINE_BYTES, end % LINE_BYTES);
    if from != 0 {
        lines(at, len_bytes.min(1), flush);
    }
    if to != 0 && (from == 0 || first / LINE_BYTES != end / LINE_BYTES) {
        lines(at.with_addr(end - to), len_bytes.min(1), flush);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flushing_changes_no_byte() {
        let bytes: Vec<u8> = (0..=255).collect();
        for flush in [Flush::WriteBack, Flush::BeforeFence, Flush::BeforeStore] {
            for (at, len) in [(0, 0), (0, 1), (63, 2), (1, 255), (64, 64)] {
                lines(bytes[at..].as_ptr(), len, flush);
                edges(bytes[at..].as_ptr(), len, flush);
            }
        }
        assert!(bytes.iter().enumerate().all(|(i, b)| i == usize::from(*b)));
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn a_processor_of_this_kind_can_flush() {
        assert!(!matches!(
            instructions(),
            Instructions::None | Instructions::DcCivac
        ));
    }
}
