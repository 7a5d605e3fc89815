//! A wait that the processor predicts to be over, so that it executes the next
//! instructions ahead.
//!
//! The predictor gets the exit of a polling loop wrong, because it saw the branch taken a
//! hundred times. So the processor begins with the code after the loop only when the line
//! has crossed the machine. A `ret` is predicted by another rule: it returns to its
//! `call`. So here a poll is a call whose return address is the code after the loop, and
//! a poll that found nothing changes that address. These polls are mispredicted, which
//! costs some ten nanoseconds each while there is nothing else to do. But while the last
//! load waits for the line that the peer has just taken, the processor executes the
//! following code ahead, up to the stores of an answer. When the line brings the awaited
//! value, all this work is valid. (Measured: the half round trip of a cache line takes
//! 0.7 times what it takes with a loop, 95 ns against 138.)
//!
//! This changes only the timing: after a wrong prediction, work done ahead is undone, as
//! after any branch. It does not work with a shadow stack (CET). The kernel gives one
//! only to processes in which all objects ask for it, and Rust objects do not.
//!
//! Other processors poll in a loop. Those of Arm predict `ret` in this way, too, but whether that helps has to be
//! measured on one.

#[cfg(not(loom))]
use crate::sync::AtomicU32;
use crate::sync::AtomicU64;
#[cfg(any(not(target_arch = "x86_64"), miri, loom, memory_model))]
use crate::sync::Ordering;

/// Whether one of at most `$polls` polls finds that `$word` and `$wanted` compare as
/// awaited. 0 means no poll.
///
/// `$word` is a reference to an atomic that these loads fit.
#[cfg(all(target_arch = "x86_64", not(any(miri, loom, memory_model))))]
macro_rules! poll {
    (load: $load:literal, compare: $compare:literal, again: $again:literal,
     give_up: [$($give_up:literal),*], $word:expr, $wanted:expr, $polls:expr) => {{
        if $polls == 0 {
            return false;
        }
        let came: u32;
        // SAFETY: the word is alive, aligned, and shared only as an atomic; loads of x86
        // are acquire loads, and without `nomem` the compiler moves nothing across. Each
        // `call` pushes 8 bytes, which the `ret` that follows pops on both ways (the code
        // behind the `call` and label 4 both come after a `ret`), so the stack pointer is
        // as it was; without `nostack` there is no red zone to write over. Both addresses
        // that `ret` may go to are in this block. All other registers it changes are
        // outputs, and flags are not said to be preserved.
        unsafe {
            core::arch::asm!(
                "2:",
                "call 3f",
                // The predicted target of `ret`, and the real one when the value has
                // come.
                "mov {came:e}, 1",
                "jmp 5f",
                // One poll.
                "3:",
                "mov {to}, [rsp]",
                "lea {again}, [rip + 4f]",
                $load,
                $compare,
                $again,
                "mov [rsp], {to}",
                "ret",
                // It has not.
                "4:",
                $($give_up,)*
                "dec {polls:e}",
                "jnz 2b",
                "6:",
                "xor {came:e}, {came:e}",
                "5:",
                word = in(reg) $word.as_ptr(),
                wanted = in(reg) $wanted,
                polls = inout(reg) $polls => _,
                came = out(reg) came,
                seen = out(reg) _,
                to = out(reg) _,
                again = out(reg) _,
            );
        }
        came != 0
    }};
}

/// Polls `word` up to `polls` times for `wanted`. Gives up before that if the low 16
/// bits are those of `wanted` but the rest is not: then another value has come.
///
/// If this returns true, stores made before that of `wanted` are visible.
#[cfg(all(target_arch = "x86_64", not(any(miri, loom, memory_model))))]
#[inline(always)]
pub(crate) fn comes(word: &AtomicU64, wanted: u64, polls: u32) -> bool {
    poll!(
        load: "mov {seen}, [{word}]",
        compare: "cmp {seen}, {wanted}",
        again: "cmovne {to}, {again}",
        give_up: ["cmp {seen:x}, {wanted:x}", "je 6f"],
        word, wanted, polls
    )
}

/// Polls `word` up to `polls` times for any value other than `from`, and returns whether it has
/// come. Stores made before that of the new value are then visible.
#[cfg(all(target_arch = "x86_64", not(any(miri, loom, memory_model))))]
#[inline(always)]
pub fn word_changes(word: &AtomicU64, from: u64, polls: u32) -> bool {
    poll!(
        load: "mov {seen}, [{word}]",
        compare: "cmp {seen}, {wanted}",
        again: "cmove {to}, {again}",
        give_up: [],
        word, from, polls
    )
}

/// The same for a word of 32 bits.
#[cfg(all(target_arch = "x86_64", not(any(miri, loom, memory_model))))]
#[inline(always)]
pub fn half_changes(word: &AtomicU32, from: u32, polls: u32) -> bool {
    poll!(
        load: "mov {seen:e}, [{word}]",
        compare: "cmp {seen:e}, {wanted:e}",
        again: "cmove {to}, {again}",
        give_up: [],
        word, u64::from(from), polls
    )
}

/// As above, by a loop.
#[cfg(any(not(target_arch = "x86_64"), miri, loom, memory_model))]
#[inline(always)]
pub(crate) fn comes(word: &AtomicU64, wanted: u64, polls: u32) -> bool {
    for _ in 0..polls {
        let seen = word.load(order!("comes: acquire", Ordering::Acquire));
        if seen == wanted {
            return true;
        }
        if seen as u16 == wanted as u16 {
            return false;
        }
    }
    false
}

/// Polls `word` up to `polls` times for any value other than `from`, and returns whether it has
/// come. Stores made before that of the new value are then visible.
#[cfg(all(any(not(target_arch = "x86_64"), miri, memory_model), not(loom)))]
#[inline(always)]
pub fn word_changes(word: &AtomicU64, from: u64, polls: u32) -> bool {
    (0..polls).any(|_| word.load(order!("word_changes: acquire", Ordering::Acquire)) != from)
}

/// The same for a word of 32 bits.
#[cfg(all(any(not(target_arch = "x86_64"), miri, memory_model), not(loom)))]
#[inline(always)]
pub fn half_changes(word: &AtomicU32, from: u32, polls: u32) -> bool {
    (0..polls).any(|_| word.load(order!("half_changes: acquire", Ordering::Acquire)) != from)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use core::sync::atomic::Ordering;

    use super::*;

    #[test]
    fn what_is_there_has_come() {
        let word = AtomicU64::new(0x1_0007);
        assert!(comes(&word, 0x1_0007, 1));
        assert!(comes(&word, 0x1_0007, u32::MAX));
    }

    #[test]
    fn nothing_comes_in_no_polls() {
        assert!(!comes(&AtomicU64::new(5), 5, 0));
    }

    #[test]
    fn it_gives_up_after_so_many_polls() {
        assert!(!comes(&AtomicU64::new(5), 6, 1));
        assert!(!comes(&AtomicU64::new(5), 6, 1000));
    }

    #[test]
    fn something_else_with_the_same_low_bits_ends_the_wait() {
        assert!(!comes(&AtomicU64::new(0x2_0007), 0x1_0007, u32::MAX));
    }

    #[test]
    fn it_sees_what_another_thread_stores_and_what_was_stored_before() {
        let (word, payload) = (AtomicU64::new(0), AtomicU64::new(0));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for turn in 1..=1000_u64 {
                    payload.store(turn, Ordering::Relaxed);
                    word.store(turn << 16 | 1, Ordering::Release);
                    while word.load(Ordering::Acquire) != 0 {
                        std::thread::yield_now();
                    }
                }
            });
            for turn in 1..=1000_u64 {
                while !comes(&word, turn << 16 | 1, 100) {
                    std::thread::yield_now();
                }
                assert_eq!(payload.load(Ordering::Relaxed), turn);
                word.store(0, Ordering::Release);
            }
        });
    }
    #[test]
    fn a_change_is_seen_and_nothing_else() {
        let (word, half) = (AtomicU64::new(1 << 40), AtomicU32::new(u32::MAX));
        assert!(word_changes(&word, 0, 1) && !word_changes(&word, 1 << 40, 100));
        assert!(half_changes(&half, 0, 1) && !half_changes(&half, u32::MAX, 100));
        assert!(!word_changes(&word, 0, 0) && !half_changes(&half, 0, 0));
    }

    #[test]
    fn a_half_is_not_confused_by_its_neighbour() {
        let halves = [AtomicU32::new(7), AtomicU32::new(0)];
        std::thread::scope(|scope| {
            scope.spawn(|| halves[1].store(9, Ordering::Relaxed));
            assert!(!half_changes(&halves[0], 7, 10_000));
        });
    }
}
