use core::fmt;

/// Shorthand for the results of this crate.
pub type Result<T> = core::result::Result<T, Error>;

/// Why bytes were not accepted, or why a value could not be written.
///
/// Who is at fault follows from the call. From `new_checked` and `parse` it is
/// the sender of the bytes. From `emit` and from the constructors of bounded
/// values (`UnitId::new` and so on) it is the caller.
///
/// `field` is a dotted path, format first: `"ht.request.count"`. It is made
/// for people and for tests; programs should match on the variant.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The input ends before the field does.
    Truncated {
        /// What could not be read.
        field: &'static str,
        /// Bytes the field needs, counted from the start of the input.
        expected_bytes: usize,
        /// Bytes in the input.
        got_bytes: usize,
    },
    /// Two lengths differ that have to be equal.
    Length {
        /// What has the wrong length.
        field: &'static str,
        /// Length required by the rest of the packet.
        expected_bytes: usize,
        /// Length found or given.
        got_bytes: usize,
    },
    /// The output buffer is too small for the value.
    BufferTooSmall {
        /// The value that the caller wanted to write.
        field: &'static str,
        /// Bytes needed.
        expected_bytes: usize,
        /// Bytes available.
        got_bytes: usize,
    },
    /// A field has a value that its format does not define.
    Value {
        /// The field.
        field: &'static str,
        /// The values that are defined, in words.
        expected: &'static str,
        /// The value found or given.
        got: u64,
    },
    /// A number lies outside the range of its field.
    OutOfRange {
        /// The field.
        field: &'static str,
        /// Smallest value allowed.
        min: u64,
        /// Largest value allowed.
        max: u64,
        /// The value found or given.
        got: u64,
    },
    /// An address is not a multiple of what its field can express.
    Misaligned {
        /// The field.
        field: &'static str,
        /// Required alignment.
        align_bytes: u64,
        /// The address found or given.
        got: u64,
    },
    /// An access crosses a boundary that one packet must not cross.
    CrossesBlock {
        /// The access.
        field: &'static str,
        /// Size of the aligned block that has to contain the access.
        block_bytes: u64,
        /// First byte of the access.
        address: u64,
        /// Length of the access.
        len_bytes: u64,
    },
    /// A CRC does not match the bytes it covers.
    Checksum {
        /// The CRC.
        field: &'static str,
        /// CRC computed over the bytes.
        expected: u32,
        /// CRC found in the packet.
        got: u32,
    },
    /// The sender marked the packet as void (HyperTransport: stomped, PCIe:
    /// nullified). Drop it without a complaint to the sender.
    Stomped {
        /// The CRC that carries the mark.
        field: &'static str,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Error::Truncated {
                field,
                expected_bytes,
                got_bytes,
            } => write!(
                f,
                "{field}: truncated, expected at least {expected_bytes} bytes, got {got_bytes}"
            ),
            Error::Length {
                field,
                expected_bytes,
                got_bytes,
            } => write!(
                f,
                "{field}: wrong length, expected {expected_bytes} bytes, got {got_bytes}"
            ),
            Error::BufferTooSmall {
                field,
                expected_bytes,
                got_bytes,
            } => write!(
                f,
                "{field}: buffer too small, expected {expected_bytes} bytes, got {got_bytes}"
            ),
            Error::Value {
                field,
                expected,
                got,
            } => write!(f, "{field}: expected {expected}, got {got:#x}"),
            Error::OutOfRange {
                field,
                min,
                max,
                got,
            } => write!(f, "{field}: expected {min} to {max}, got {got}"),
            Error::Misaligned {
                field,
                align_bytes,
                got,
            } => write!(
                f,
                "{field}: expected a multiple of {align_bytes}, got {got:#x}"
            ),
            Error::CrossesBlock {
                field,
                block_bytes,
                address,
                len_bytes,
            } => write!(
                f,
                "{field}: expected an access inside one aligned block of {block_bytes} bytes, \
                 got {len_bytes} bytes at {address:#x}"
            ),
            Error::Checksum {
                field,
                expected,
                got,
            } => write!(f, "{field}: expected {expected:#x}, got {got:#x}"),
            Error::Stomped { field } => write!(f, "{field}: packet voided by its sender"),
        }
    }
}

impl core::error::Error for Error {}

/// Checks that an access stays inside one aligned block.
///
/// `block_bytes` is a power of two. Cannot overflow: only the offset inside
/// the block is added to the length.
pub(crate) fn check_block(
    field: &'static str,
    block_bytes: u64,
    address: u64,
    len_bytes: u64,
) -> Result<()> {
    let offset = address & (block_bytes - 1);
    if len_bytes > block_bytes - offset {
        return Err(Error::CrossesBlock {
            field,
            block_bytes,
            address,
            len_bytes,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::ToString;

    use super::*;

    #[test]
    fn display_names_field_expected_and_got() {
        let error = Error::Value {
            field: "ht.atomic.count",
            expected: "1 or 3",
            got: 7,
        };
        assert_eq!(
            error.to_string(),
            "ht.atomic.count: expected 1 or 3, got 0x7"
        );
        let error = Error::Truncated {
            field: "ht.request",
            expected_bytes: 8,
            got_bytes: 5,
        };
        assert_eq!(
            error.to_string(),
            "ht.request: truncated, expected at least 8 bytes, got 5"
        );
    }

    #[test]
    fn block_check_does_not_overflow() {
        assert_eq!(check_block("x", 64, !63, 64), Ok(()));
        assert!(check_block("x", 64, u64::MAX - 3, 8).is_err());
        assert!(check_block("x", 64, 0, u64::MAX).is_err());
    }
}
