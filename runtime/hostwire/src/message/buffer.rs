//! Memory of the program that a message in the background owns.

use std::any::Any;

use crate::element::Element;

/// Bytes that are given away and given back.
pub trait Buffer: Any + Send {
    /// They.
    fn bytes(&self) -> &[u8];
    /// They, to be changed.
    fn bytes_mut(&mut self) -> &mut [u8];
    /// A number by which who gave it away can find the operation again.
    fn mark(&self) -> usize {
        0
    }
    /// Of memory for several messages: what is behind one of so many bytes, for the next, if it is enough for one. From
    /// then on this buffer is no more than what is before it. It is asked when the length of the message is known: its bytes
    /// may have come or not.
    fn behind(&mut self, _len_bytes: usize) -> Option<Box<dyn Buffer>> {
        None
    }
    /// What was given away, to find out what it was.
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

impl<T: Element> Buffer for Vec<T> {
    fn bytes(&self) -> &[u8] {
        zerocopy::IntoBytes::as_bytes(self.as_slice())
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        zerocopy::IntoBytes::as_mut_bytes(self.as_mut_slice())
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// In the place of what was given back.
pub(super) struct Gone;

impl Buffer for Gone {
    fn bytes(&self) -> &[u8] {
        &[]
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut []
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
