//! The lock under loom: every interleaving of its owner with other threads.

use loom::cell::UnsafeCell;
use loom::sync::Arc;

use super::*;

/// Loom fails if two threads are in here at a time, or if one does not see what the other did.
fn add(guard: Guard<'_, UnsafeCell<usize>>) {
    guard.with_mut(|value| {
        // SAFETY: loom has just checked that nobody else uses the cell.
        unsafe { *value += 1 }
    });
}

fn sum(lock: &OwnerLock<UnsafeCell<usize>>) -> usize {
    lock.lock().with(|value| {
        // SAFETY: loom has just checked that nobody writes to the cell.
        unsafe { *value }
    })
}

fn check(model: impl Fn(Arc<OwnerLock<UnsafeCell<usize>>>) + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(move || model(Arc::new(OwnerLock::new(UnsafeCell::new(0)))));
}

#[test]
fn the_owner_and_one_other_exclude_each_other() {
    check(|lock| {
        let other = loom::thread::spawn({
            let lock = Arc::clone(&lock);
            move || add(lock.lock())
        });
        add(lock.lock());
        add(lock.lock());
        other.join().unwrap();
        assert_eq!(sum(&lock), 3);
    });
}

/// Each tries once, because loom cannot distinguish a wait for a lock from an endless one.
#[test]
fn the_owner_and_two_others_exclude_each_other() {
    check(|lock| {
        let try_to_add = |lock: &OwnerLock<_>| lock.try_lock().map(add).is_some();
        let others = [(); 2].map(|()| {
            let lock = Arc::clone(&lock);
            loom::thread::spawn(move || try_to_add(&lock))
        });
        let mut added = usize::from(try_to_add(&lock));
        for other in others {
            added += usize::from(other.join().unwrap());
        }
        assert!(added > 0);
        assert_eq!(sum(&lock), added);
    });
}
