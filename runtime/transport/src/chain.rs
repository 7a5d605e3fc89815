//! Chains of puts that a wire makes itself, as a DMA controller with a table of descriptors does.

use crate::error::{PeId, TransportError};
use crate::memory::Memory;

const WORD_BYTES: usize = 8;

/// Where the bytes of a block come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockSource {
    /// Bytes of the own segment.
    Own {
        /// Where they begin.
        offset_bytes: usize,
        /// How many.
        len_bytes: usize,
    },
    /// This word.
    Word(u64),
}

/// A put of consecutive bytes: one descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// To whose segment.
    pub pe: PeId,
    /// Where in it.
    pub offset_bytes: usize,
    /// What.
    pub source: BlockSource,
}

impl Block {
    /// Its length.
    pub fn len_bytes(&self) -> usize {
        match self.source {
            BlockSource::Own { len_bytes, .. } => len_bytes,
            BlockSource::Word(_) => WORD_BYTES,
        }
    }

    fn is_aligned(&self, align_bytes: usize) -> bool {
        let own = match self.source {
            BlockSource::Own { offset_bytes, .. } => offset_bytes,
            BlockSource::Word(_) => 0,
        };
        (own | self.offset_bytes | self.len_bytes()).is_multiple_of(align_bytes)
    }
}

/// What a wire can do in one chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainLimits {
    /// Blocks of a chain.
    pub blocks_max: usize,
    /// Bytes of a block.
    pub block_bytes_max: usize,
    /// Bytes of all its blocks.
    pub bytes_max: usize,
    /// Both ends of a block, and its length, are multiples of this power of two.
    pub align_bytes: usize,
}

impl ChainLimits {
    /// There are no chains.
    pub const NONE: Self = Self {
        blocks_max: 0,
        block_bytes_max: 0,
        bytes_max: 0,
        align_bytes: 1,
    };

    /// Whether a chain may have this block.
    pub fn allow(&self, block: &Block) -> bool {
        let len = block.len_bytes();
        let fits = len <= self.block_bytes_max.min(self.bytes_max);
        len > 0 && fits && block.is_aligned(self.align_bytes)
    }

    /// Checks a chain, and that all its bytes are in segments as long as `segment`.
    ///
    /// # Errors
    /// [`TransportError`]: what is wrong with it, for the caller.
    pub fn check(
        &self,
        blocks: &[Block],
        pes: u32,
        segment: &Memory,
    ) -> Result<(), TransportError> {
        let refused = |expected: String, got: String| {
            TransportError::misused("starting a chain", expected, got)
        };
        if blocks.is_empty() || blocks.len() > self.blocks_max {
            let expected = format!("1 to {} blocks", self.blocks_max);
            return Err(refused(expected, blocks.len().to_string()));
        }
        let mut bytes = 0_usize;
        for block in blocks {
            let pe = block.pe;
            if pe >= pes {
                return Err(TransportError::NoSuchPe { pe, pes });
            }
            segment.range(block.offset_bytes, block.len_bytes())?;
            if let BlockSource::Own {
                offset_bytes,
                len_bytes,
            } = block.source
            {
                segment.range(offset_bytes, len_bytes)?;
            }
            if !self.allow(block) {
                let expected = format!(
                    "blocks of up to {} bytes at multiples of {}",
                    self.block_bytes_max, self.align_bytes
                );
                return Err(refused(expected, format!("{block:?}")));
            }
            bytes = bytes.saturating_add(block.len_bytes());
        }
        if bytes > self.bytes_max {
            let expected = format!("up to {} bytes", self.bytes_max);
            return Err(refused(expected, bytes.to_string()));
        }
        Ok(())
    }
}

/// Chains of puts, for a wire that makes them itself.
pub trait Chains: Send + Sync {
    /// What it can do in one chain.
    fn chain_limits(&self) -> ChainLimits;

    /// Puts all blocks, and returns at local completion: the sources may be written again. The blocks to
    /// one target become visible in order, after all earlier stores of this PE to it and before later
    /// ones. The wire may read ahead, so no block may read bytes that another block of the chain writes.
    ///
    /// # Errors
    /// Those of stores; nothing has been stored then.
    fn put_chain(&self, blocks: &[Block]) -> Result<(), TransportError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: ChainLimits = ChainLimits {
        blocks_max: 2,
        block_bytes_max: 64,
        bytes_max: 72,
        align_bytes: 4,
    };

    fn block(pe: PeId, offset_bytes: usize, own: usize, len_bytes: usize) -> Block {
        let source = BlockSource::Own {
            offset_bytes: own,
            len_bytes,
        };
        Block {
            pe,
            offset_bytes,
            source,
        }
    }

    fn word(offset_bytes: usize) -> Block {
        let (pe, source) = (1, BlockSource::Word(7));
        Block {
            pe,
            offset_bytes,
            source,
        }
    }

    #[test]
    fn chains_beyond_the_limits_are_refused() {
        let segment = Memory::anonymous(4096);
        let check = |blocks: &[Block]| LIMITS.check(blocks, 2, &segment);
        assert_eq!(check(&[block(1, 0, 64, 64), word(4)]), Ok(()));
        assert_eq!(check(&[block(1, 4032, 0, 64)]), Ok(()));
        for wrong in [
            &[][..],
            &[word(0), word(8), word(16)],
            &[block(2, 0, 0, 4)],
            &[block(1, 4064, 0, 64)],
            &[block(1, 0, 4064, 64)],
            &[block(1, 0, usize::MAX - 3, 64)],
            &[block(1, 0, 0, 68)],
            &[block(1, 0, 0, 0)],
            &[block(1, 2, 0, 4)],
            &[block(1, 0, 2, 4)],
            &[block(1, 0, 0, 6)],
            &[word(2)],
            &[block(1, 0, 0, 64), block(1, 64, 0, 12)],
        ] {
            assert!(check(wrong).is_err(), "{wrong:?}");
        }
    }
}
