//! Which messages a receive or a probe asks for, and what is known of one.

use hostwire_transport::PeId;

use super::Kind;

/// Whose messages are asked for. A [`PeId`] is one, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Those of this PE.
    Pe(PeId),
    /// Those of all PEs, this one included.
    Any,
}

impl From<PeId> for Source {
    fn from(pe: PeId) -> Self {
        Self::Pe(pe)
    }
}

/// Which tags are asked for: those that agree with a value in the bits of a mask. A number
/// is one, too: that tag and no other.
///
/// ```
/// use hostwire::Tag;
///
/// let of_group_7 = Tag::masked(7 << 32, 0xffff_ffff << 32);
/// assert!(of_group_7.takes(7 << 32 | 1) && !of_group_7.takes(1));
/// assert!(Tag::from(5).takes(5) && Tag::ANY.takes(u64::MAX));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tag {
    value: u64,
    mask: u64,
}

impl Tag {
    /// Any tag.
    pub const ANY: Self = Self::masked(0, 0);

    /// The tags that are equal to `value` where `mask` has ones.
    pub const fn masked(value: u64, mask: u64) -> Self {
        Self {
            value: value & mask,
            mask,
        }
    }

    /// Whether `tag` is one of them.
    pub const fn takes(self, tag: u64) -> bool {
        tag & self.mask == self.value
    }
}

impl From<u64> for Tag {
    fn from(tag: u64) -> Self {
        Self::masked(tag, u64::MAX)
    }
}

/// What is known of a message without its contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Envelope {
    /// Who sent it.
    pub from: PeId,
    /// Its tag.
    pub tag: u64,
    /// What was sent beside it: see [`Job::send_with_data`](crate::Job::send_with_data). 0
    /// if nothing was.
    pub data: u64,
    /// Whether anything was. What a job sends as 0 is nothing.
    pub has_data: bool,
    /// How long it is.
    pub len_bytes: usize,
}

impl Envelope {
    pub(super) fn set_data(&mut self, data: Option<u64>) {
        (self.data, self.has_data) = (data.unwrap_or(0), data.is_some());
    }

    /// How many elements it has.
    pub fn count<T>(&self) -> usize {
        self.len_bytes / size_of::<T>().max(1)
    }
}

/// All that a receive asks for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pattern {
    pub(super) kind: Kind,
    pub(super) from: Source,
    pub(super) tag: Tag,
}

impl Pattern {
    #[inline(always)]
    pub(crate) fn new(kind: Kind, from: impl Into<Source>, tag: impl Into<Tag>) -> Self {
        Self {
            kind,
            from: from.into(),
            tag: tag.into(),
        }
    }

    /// The one PE and the one tag that it asks for, if that fits the header of a line.
    #[inline]
    pub(super) fn exactly(&self) -> Option<(PeId, u32)> {
        match self.from {
            Source::Pe(pe) if self.tag.mask == u64::MAX => {
                Some((pe, u32::try_from(self.tag.value).ok()?))
            }
            _ => None,
        }
    }

    #[inline]
    pub(super) fn takes(&self, kind: Kind, envelope: &Envelope) -> bool {
        let from = match self.from {
            Source::Pe(pe) => pe == envelope.from,
            Source::Any => true,
        };
        from && self.kind == kind && self.tag.takes(envelope.tag)
    }
}
