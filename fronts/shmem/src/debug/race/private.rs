//! Buffers of non-blocking operations in private memory: no other PE sees it, but the
//! operation and the program itself can conflict.

use std::collections::BTreeMap;

use super::access::Access;

#[derive(Debug, Clone, Copy)]
struct Buffer {
    len: usize,
    access: Access,
    /// The PE at the other end.
    target: u32,
}

/// Those that belong to operations that are not complete, by address.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    by_start: BTreeMap<usize, Vec<Buffer>>,
    longest: usize,
    count: usize,
}

impl Buffers {
    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn open(&mut self, start: usize, len: usize, target: u32, access: Access) {
        self.longest = self.longest.max(len);
        self.count += 1;
        let buffer = Buffer {
            len,
            access,
            target,
        };
        self.by_start.entry(start).or_default().push(buffer);
    }

    /// The operations with such buffers that conflict with an access to these bytes.
    pub(super) fn conflicts(
        &self,
        start: usize,
        len: usize,
        access: &Access,
    ) -> Vec<(usize, Access)> {
        let end = start.saturating_add(len);
        let first = start.saturating_sub(self.longest);
        let near = self.by_start.range(first..end);
        let buffers = near.flat_map(|(at, buffers)| buffers.iter().map(move |of| (*at, of)));
        buffers
            .filter(|(at, buffer)| at.saturating_add(buffer.len) > start)
            .filter(|(_, buffer)| buffer.access.kind.conflicts_with(access.kind))
            .map(|(at, buffer)| (at.max(start), buffer.access))
            .collect()
    }

    /// Operations that were begun on this context are complete, if their target and what was begun is
    /// one of those.
    pub(super) fn close(&mut self, slot: u16, is_over: impl Fn(&Access, u32) -> bool) {
        let mut count = 0;
        self.by_start.retain(|_, buffers| {
            buffers.retain(|buffer| {
                buffer.access.slot != slot || !is_over(&buffer.access, buffer.target)
            });
            count += buffers.len();
            !buffers.is_empty()
        });
        self.count = count;
        if count == 0 {
            self.longest = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::access::Kind;
    use super::*;

    fn access(kind: Kind, slot: u16) -> Access {
        Access {
            pe: 0,
            thread: 0,
            epoch: 1,
            fenced: 0,
            place: 1,
            kind,
            slot,
            is_open: true,
            name: 0,
        }
    }

    #[test]
    fn a_buffer_belongs_to_its_operation_until_that_is_complete() {
        let mut buffers = Buffers::default();
        buffers.open(1000, 100, 1, access(Kind::NbiSource, 0));
        buffers.open(1096, 8, 2, access(Kind::NbiDestination, 3));
        let load = access(Kind::Load, 1);
        let store = access(Kind::Store, 1);
        assert!(buffers.conflicts(1000, 8, &load).is_empty());
        assert_eq!(buffers.conflicts(990, 11, &store)[0].0, 1000);
        assert_eq!(buffers.conflicts(1099, 1, &store).len(), 2);
        assert_eq!(buffers.conflicts(1100, 1, &load).len(), 1);
        assert!(buffers.conflicts(1104, 8, &store).is_empty());
        buffers.close(0, |_, pe| pe == 2);
        assert_eq!(buffers.count(), 2);
        buffers.close(0, |_, _| true);
        assert_eq!(buffers.count(), 1);
        buffers.close(3, |_, _| true);
        assert!(buffers.count() == 0 && buffers.conflicts(1096, 8, &store).is_empty());
    }
}
