/// Frame buffers that all links of an endpoint share. Grows up to its bound and never
/// shrinks, so a steady state allocates nothing.
#[derive(Clone, Debug)]
pub(crate) struct Pool {
    buffers: Vec<Box<[u8]>>,
    free: Vec<u32>,
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
        self.buffers.len() * (self.buffer_len + size_of::<Box<[u8]>>())
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
}
