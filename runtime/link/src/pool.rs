use crate::time::Ns;

/// Frame buffers that all links of an endpoint share. Grows up to its bound. [`trim`](Self::trim) drops those that were not needed
/// for a while, so a steady state allocates nothing.
#[derive(Clone, Debug)]
pub(crate) struct Pool {
    /// Empty where a buffer was dropped.
    buffers: Vec<Box<[u8]>>,
    /// The one that was given back last is taken first.
    free: Vec<u32>,
    /// How many of `free`, from the first on, were never taken since `trimmed_at`.
    unneeded: usize,
    trimmed_at: Ns,
    buffer_len: usize,
    frames_max: usize,
}

/// A buffer of the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct BufferId(u32);

impl Pool {
    pub(crate) const fn new(buffer_len: usize, frames_max: usize) -> Self {
        Self {
            buffers: Vec::new(),
            free: Vec::new(),
            unneeded: 0,
            trimmed_at: Ns(0),
            buffer_len,
            frames_max,
        }
    }

    /// A buffer, contents undefined. `first`: the link has no buffer yet, and gets one
    /// even beyond the bound.
    pub(crate) fn take(&mut self, first: bool) -> Option<BufferId> {
        let used = self.buffers.len() - self.free.len();
        if used >= self.frames_max && !first {
            return None;
        }
        if let Some(id) = self.free.pop() {
            self.unneeded = self.unneeded.min(self.free.len());
            if let Some(dropped) = self.buffers.get_mut(id as usize).filter(|it| it.is_empty()) {
                *dropped = vec![0; self.buffer_len].into();
            }
            return Some(BufferId(id));
        }
        let id = u32::try_from(self.buffers.len()).ok()?;
        self.buffers
            .push(vec![0; self.buffer_len].into_boxed_slice());
        // So that returning a buffer never allocates.
        self.free.reserve(self.buffers.len());
        Some(BufferId(id))
    }

    pub(crate) fn give_back(&mut self, id: BufferId) {
        debug_assert!(!self.free.contains(&id.0), "given back twice");
        self.free.push(id.0);
    }

    /// Drops the buffers that were not needed since the last call. Does nothing if that was less than `rest_ns` ago.
    pub(crate) fn trim(&mut self, now: Ns, rest_ns: u64) {
        if now.since(self.trimmed_at) < rest_ns {
            return;
        }
        self.trimmed_at = now;
        for id in self.free.iter().take(self.unneeded) {
            if let Some(buffer) = self.buffers.get_mut(*id as usize) {
                *buffer = Box::default();
            }
        }
        self.unneeded = self.free.len();
    }

    #[inline]
    pub(crate) fn bytes(&self, id: BufferId) -> &[u8] {
        self.buffers.get(id.0 as usize).map_or(&[], |bytes| bytes)
    }

    #[inline]
    pub(crate) fn bytes_mut(&mut self, id: BufferId) -> &mut [u8] {
        self.buffers
            .get_mut(id.0 as usize)
            .map_or(&mut [], |bytes| bytes)
    }

    /// Buffers handed out.
    pub(crate) fn used(&self) -> usize {
        self.buffers.len() - self.free.len()
    }

    /// Bytes that the buffers take.
    pub(crate) fn heap_bytes(&self) -> usize {
        let held: usize = self.buffers.iter().map(|buffer| buffer.len()).sum();
        held + self.buffers.capacity() * size_of::<Box<[u8]>>()
            + self.free.capacity() * size_of::<u32>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bound_and_reuse() {
        let mut pool = Pool::new(64, 2);
        let a = pool.take(false).unwrap();
        let b = pool.take(false).unwrap();
        assert_ne!(a, b);
        assert_eq!(pool.take(false), None);
        let beyond = pool.take(true).unwrap();
        assert_eq!(pool.used(), 3);
        pool.give_back(beyond);
        pool.give_back(a);
        assert_eq!(pool.take(false), Some(a));
        assert_eq!(pool.take(false), None);
        assert_eq!(pool.bytes(b).len(), 64);
    }

    #[test]
    fn what_was_not_needed_for_a_while_is_dropped() {
        let mut pool = Pool::new(64, 8);
        let taken: Vec<_> = (0..8).map(|_| pool.take(false).unwrap()).collect();
        taken.into_iter().for_each(|id| pool.give_back(id));
        let held = |pool: &Pool| pool.buffers.iter().filter(|it| !it.is_empty()).count();
        // All were needed before the first call.
        pool.trim(Ns(100), 100);
        assert_eq!(held(&pool), 8);
        let two = [pool.take(false).unwrap(), pool.take(false).unwrap()];
        two.into_iter().for_each(|id| pool.give_back(id));
        pool.trim(Ns(199), 100);
        assert_eq!(held(&pool), 8);
        pool.trim(Ns(200), 100);
        assert_eq!(held(&pool), 2);
        let taken: Vec<_> = (0..8).map(|_| pool.take(false).unwrap()).collect();
        assert!(taken.iter().all(|id| pool.bytes(*id).len() == 64));
        assert_eq!(pool.take(false), None);
    }
}
