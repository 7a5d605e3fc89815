//! Aligned power-of-two blocks, as base-and-mask registers describe them.

/// An aligned block of addresses: `bytes` is a power of two that divides `start`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub start: u64,
    pub bytes: u64,
}

/// Fewest blocks, none smaller than `granule`, that hold all of `required` and nothing
/// outside `allowed`. `None` where the granule is too coarse.
///
/// Taking at each step the largest block that fits is optimal: aligned blocks nest, so the
/// largest one around an address reaches furthest.
pub(crate) fn cover(required: (u64, u64), allowed: (u64, u64), granule: u64) -> Option<Vec<Block>> {
    let mut blocks = Vec::new();
    let mut at = required.0;
    while at < required.1 {
        let block = (granule.trailing_zeros()..48)
            .rev()
            .map(|bits| Block {
                start: at >> bits << bits,
                bytes: 1 << bits,
            })
            .find(|b| {
                b.start >= allowed.0 && b.start.checked_add(b.bytes).is_some_and(|e| e <= allowed.1)
            })?;
        blocks.push(block);
        at = block.start + block.bytes;
    }
    Some(blocks)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    #[test]
    fn covers_exactly_or_with_slack() {
        let exact = cover((4 * GIB, 12 * GIB), (4 * GIB, 12 * GIB), 4096).unwrap();
        assert_eq!(
            exact,
            [
                Block {
                    start: 4 * GIB,
                    bytes: 4 * GIB
                },
                Block {
                    start: 8 * GIB,
                    bytes: 4 * GIB
                }
            ]
        );
        let slack = cover((5 * GIB, 8 * GIB), (4 * GIB, 8 * GIB), 4096).unwrap();
        assert_eq!(
            slack,
            [Block {
                start: 4 * GIB,
                bytes: 4 * GIB
            }]
        );
        assert_eq!(cover((GIB, GIB + 4096), (GIB, GIB + 4096), 8192), None);
    }
}
