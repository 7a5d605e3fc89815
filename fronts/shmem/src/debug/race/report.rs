//! A race in words.

use super::access::{Access, Kind};
use super::clock::{CREATED, DEFAULT, STORES};
use super::finding::{Finding, Names};
use super::owner::Owner;
use crate::debug::location;
use crate::runtime::Runtime;

impl Finding {
    /// The text.
    pub(super) fn text(&self, runtime: &Runtime, owner: &Owner, is_private: bool) -> String {
        let object = match is_private {
            true => format!(
                "byte {:#x} of private memory of PE {}",
                self.offset, owner.me
            ),
            false => object(runtime, owner, self.offset),
        };
        let line = |access: &Access| {
            format!(
                "{} {}{}, called at {}",
                self.who(access),
                does(access, &owner.names),
                context(access),
                location::describe_place(access.place)
            )
        };
        format!(
            "race on {object}:\n  {}\n  {}\n  {}",
            line(&self.access),
            line(&self.before),
            self.missing()
        )
    }

    /// The PE of an access, and which of its threads it was where there are several.
    fn who(&self, access: &Access) -> String {
        match (access.pe, access.thread) {
            (pe, 0) if self.before.thread == 0 && self.access.thread == 0 => format!("PE {pe}"),
            (pe, 0) => format!("PE {pe} (first thread)"),
            (pe, thread) => format!("PE {pe} (thread {thread})"),
        }
    }

    /// The synchronisation that is missing, in a sentence.
    fn missing(&self) -> String {
        let (before, access) = (&self.before, &self.access);
        let (p, q) = (before.pe, access.pe);
        let kinds = [before.kind, access.kind];
        let on = context(before);
        if p == q && !self.is_begun_before {
            return format!(
                "{}nothing orders the two threads of PE {p}: a join, a barrier, a mutex or an atomic of \
                 the language by which the second learns of the first is missing",
                atomics(kinds)
            );
        }
        if kinds
            .iter()
            .any(|kind| matches!(kind, Kind::NbiSource | Kind::NbiDestination))
            && p == q
        {
            return "the buffer of a non-blocking operation belongs to it until a shmem_quiet on \
                    its context, and there is none between"
                .into();
        }
        if matches!(access.kind, Kind::CollectiveWrite(_)) {
            return format!(
                "the destination has to be ready at all members before any of them calls the \
                 collective operation: PE {q} calls it without knowing that PE {p} is done \
                 (a barrier in front of it is missing)"
            );
        }
        if access.kind == Kind::Free {
            return format!(
                "the block is given back before the access is complete: shmem_free completes \
                 what is on the default context, so a shmem_quiet{on} by PE {p} is missing"
            );
        }
        let atomics = atomics(kinds);
        if p == q {
            let call = match access.kind {
                Kind::Put | Kind::Atomic(_) | Kind::SignalSet | Kind::SignalAdd
                    if access.slot == before.slot && before.kind.is_fenced() =>
                {
                    "shmem_fence or shmem_quiet"
                }
                _ => "shmem_quiet",
            };
            return format!("{atomics}PE {p} needs a {call}{on} between the two");
        }
        if self.is_begun_before && before.is_open {
            return match before.kind {
                Kind::Store | Kind::Language => format!(
                    "{atomics}PE {q} has heard from PE {p} since, but PE {p} did not complete its \
                     store by a shmem_quiet (or a barrier or sync) before it told"
                ),
                Kind::CollectiveWrite(_) => format!(
                    "{atomics}the return of PE {p} from the collective operation does not say that \
                     its data has arrived elsewhere: a barrier is missing"
                ),
                _ => format!(
                    "{atomics}PE {q} has heard from PE {p} since, but PE {p} did not complete the \
                     operation by a shmem_quiet{on} before it told"
                ),
            };
        }
        format!(
            "{atomics}nothing orders the two: PE {q} does not know that PE {p} is done (a barrier, \
             or a quiet and then a flag, a signal or a lock, is missing)"
        )
    }
}

/// The beginning of a sentence that says with what operations of these kinds are atomic, where this may have been
/// forgotten.
fn atomics(kinds: [Kind; 2]) -> &'static str {
    match kinds {
        [
            Kind::Atomic(_) | Kind::AtomicRead(_),
            Kind::Atomic(_) | Kind::AtomicRead(_),
        ] => {
            "atomics of different types, or on contexts of teams from SHMEM_TEAM_WORLD and \
             SHMEM_TEAM_SHARED, are not atomic with each other; "
        }
        [
            Kind::SignalSet | Kind::SignalAdd,
            Kind::SignalSet | Kind::SignalAdd,
        ] => "signals that are set and signals that are added to are not atomic with each other; ",
        [Kind::Atomic(_), _] | [_, Kind::Atomic(_)] => {
            "an atomic is atomic with other atomics only; "
        }
        [Kind::SignalSet | Kind::SignalAdd, _] | [_, Kind::SignalSet | Kind::SignalAdd] => {
            "a signal is atomic with signals of the same operation only; "
        }
        _ => "",
    }
}

/// As "writes it by shmem_put".
fn does(access: &Access, names: &Names) -> String {
    let name = names.name(access.name);
    match access.kind {
        Kind::Load => "loads it".into(),
        Kind::Store => "stores to it".into(),
        Kind::Language => "changes it by an atomic of the language".into(),
        Kind::Get => format!("reads it by {name}"),
        Kind::Put => format!("writes it by {name}"),
        Kind::Source => format!("reads it as the source of {name}"),
        Kind::Destination => format!("writes it as the destination of {name}"),
        Kind::NbiSource => format!("has it as the source of {name}"),
        Kind::NbiDestination => format!("has it as the destination of {name}"),
        Kind::AtomicRead(_) => format!("reads it atomically by {name}"),
        Kind::Atomic(_) => format!("changes it atomically by {name}"),
        Kind::SignalSet => format!("sets it as the signal of {name}"),
        Kind::SignalAdd => format!("adds to it as the signal of {name}"),
        Kind::CollectiveRead(_) => format!("contributes it to {name}"),
        Kind::CollectiveWrite(_) => format!("delivers to it in {name}"),
        Kind::Lock => format!("has it as the lock of {name}"),
        Kind::Free => format!("gives it back by {name}"),
    }
}

fn context(access: &Access) -> String {
    match access.slot {
        _ if !access.is_open || access.kind.is_store() => String::new(),
        DEFAULT => " on the default context".into(),
        slot if slot >= CREATED => format!(" on context {}", slot - CREATED + 1),
        STORES.. => String::new(),
    }
}

/// The object that has the byte at `offset`.
fn object(runtime: &Runtime, owner: &Owner, offset: usize) -> String {
    let pe = owner.me;
    if let Some(in_heap) = offset.checked_sub(runtime.heap_region.offset) {
        let block = owner.blocks.range(..=offset).next_back();
        return match block {
            Some((start, block)) if offset - start < block.len_bytes => format!(
                "byte {in_heap} of the symmetric heap of PE {pe}, byte {} of the block of {} bytes \
                 allocated at {}",
                offset - start,
                block.len_bytes,
                location::describe_place(block.place)
            ),
            _ => format!("byte {in_heap} of the symmetric heap of PE {pe}"),
        };
    }
    let in_statics = offset.saturating_sub(runtime.statics.offset);
    match location::variable(runtime.statics.address + in_statics) {
        Some((name, byte)) => format!("byte {byte} of the variable {name} of PE {pe}"),
        None => format!("byte {in_statics} of the static objects of PE {pe}"),
    }
}
