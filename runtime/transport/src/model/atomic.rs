//! Atomics whose accesses to modelled memory go to the model. All other accesses, and all
//! accesses outside a run, are ordinary.

use core::sync::atomic::Ordering;

use super::door;

macro_rules! atomic {
    ($name:ident, $value:ty) => {
        /// As the type of `core`, except for modelled addresses.
        #[derive(Debug, Default)]
        #[repr(transparent)]
        pub struct $name(core::sync::atomic::$name);

        impl $name {
            /// As in `core`.
            pub const fn new(value: $value) -> Self {
                Self(core::sync::atomic::$name::new(value))
            }

            /// The real atomic, for the operating system.
            pub fn real(&self) -> &core::sync::atomic::$name {
                &self.0
            }

            /// As in `core`. Accesses through this pointer are not modelled.
            pub const fn as_ptr(&self) -> *mut $value {
                self.0.as_ptr()
            }

            fn at(&self) -> usize {
                self.0.as_ptr().addr()
            }

            /// As in `core`.
            pub fn load(&self, order: Ordering) -> $value {
                match door::load(self.at(), size_of::<$value>(), order) {
                    Some(value) => value as $value,
                    None => self.0.load(order),
                }
            }

            /// As in `core`.
            pub fn store(&self, value: $value, order: Ordering) {
                if !door::store(self.at(), size_of::<$value>(), value.into(), order) {
                    self.0.store(value, order);
                }
            }

            /// As in `core`.
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                let swap = |old: $value| (old == current).then_some(new);
                match self.change(success, swap) {
                    Some(old) if old == current => Ok(old),
                    Some(old) => Err(old),
                    None => self.0.compare_exchange(current, new, success, failure),
                }
            }

            /// As in `core`.
            pub fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.compare_exchange(current, new, success, failure)
            }

            /// As in `core`.
            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                self.change(order, |_| Some(value))
                    .unwrap_or_else(|| self.0.swap(value, order))
            }

            /// As in `core`.
            pub fn fetch_add(&self, value: $value, order: Ordering) -> $value {
                self.change(order, |old| Some(old.wrapping_add(value)))
                    .unwrap_or_else(|| self.0.fetch_add(value, order))
            }

            /// As in `core`.
            pub fn fetch_sub(&self, value: $value, order: Ordering) -> $value {
                self.change(order, |old| Some(old.wrapping_sub(value)))
                    .unwrap_or_else(|| self.0.fetch_sub(value, order))
            }

            /// As in `core`.
            pub fn fetch_and(&self, value: $value, order: Ordering) -> $value {
                self.change(order, |old| Some(old & value))
                    .unwrap_or_else(|| self.0.fetch_and(value, order))
            }

            /// As in `core`.
            pub fn fetch_or(&self, value: $value, order: Ordering) -> $value {
                self.change(order, |old| Some(old | value))
                    .unwrap_or_else(|| self.0.fetch_or(value, order))
            }

            /// As in `core`.
            pub fn fetch_xor(&self, value: $value, order: Ordering) -> $value {
                self.change(order, |old| Some(old ^ value))
                    .unwrap_or_else(|| self.0.fetch_xor(value, order))
            }

            /// As in `core`.
            pub fn fetch_min(&self, value: $value, order: Ordering) -> $value {
                self.change(order, |old| Some(old.min(value)))
                    .unwrap_or_else(|| self.0.fetch_min(value, order))
            }

            /// As in `core`.
            pub fn fetch_max(&self, value: $value, order: Ordering) -> $value {
                self.change(order, |old| Some(old.max(value)))
                    .unwrap_or_else(|| self.0.fetch_max(value, order))
            }

            /// As in `core`.
            pub fn fetch_update(
                &self,
                set: Ordering,
                fetch: Ordering,
                mut new: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                let mut old = self.load(fetch);
                while let Some(next) = new(old) {
                    match self.compare_exchange_weak(old, next, set, fetch) {
                        Ok(old) => return Ok(old),
                        Err(seen) => old = seen,
                    }
                }
                Err(old)
            }

            fn change(
                &self,
                order: Ordering,
                new: impl Fn($value) -> Option<$value>,
            ) -> Option<$value> {
                let new = |old: u64| new(old as $value).map(u64::from);
                door::change(self.at(), size_of::<$value>(), order, &new).map(|old| old as $value)
            }
        }
    };
}

atomic!(AtomicU16, u16);
atomic!(AtomicU32, u32);
atomic!(AtomicU64, u64);
