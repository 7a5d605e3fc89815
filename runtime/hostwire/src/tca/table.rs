//! Chains that a wire makes itself: the blocks of a prepared chain, in as many tables as needed.

use hostwire_transport::{Block, BlockSource, ChainLimits, PeId};

use super::chain::{Source, Step, Stride, Target};
use super::shared::TcaShared;

/// The blocks of a longer chain would take more than 40 MiB, so it is made by puts.
const BLOCKS_MAX: u64 = 1 << 20;

/// The tables of a chain. `None` if the wire does not make chains, or not this one. Then its copies
/// are puts.
pub(super) fn tables(shared: &TcaShared, steps: &[Step]) -> Option<Vec<Vec<Block>>> {
    let limits = shared.inner.wire.chains()?.chain_limits();
    let mut tables = Tables {
        limits,
        all: Vec::new(),
        free_bytes: 0,
        blocks: 0,
    };
    // A later step may read what this PE copies to itself, and a wire may read ahead.
    let is_other = |pe: PeId| pe != shared.inner.pe;
    for step in steps {
        match step {
            Step::Signal { pe, at, value } if is_other(*pe) => {
                tables.add(*pe, *at, BlockSource::Word(*value))?;
            }
            Step::Copy {
                to: Target::Host { pe, at },
                from: Source::Host { at: from, .. },
                stride,
            } if is_other(*pe) => tables.add_blocks(*pe, (*at, *from), *stride)?,
            _ => return None,
        }
    }
    Some(tables.all)
}

struct Tables {
    limits: ChainLimits,
    all: Vec<Vec<Block>>,
    /// Free bytes of the last table.
    free_bytes: usize,
    /// Blocks in all tables.
    blocks: u64,
}

impl Tables {
    fn add_blocks(&mut self, pe: PeId, (to, from): (usize, usize), stride: Stride) -> Option<()> {
        for block in 0..stride.blocks {
            let mut done = 0;
            while done < stride.block_bytes {
                let left = stride.block_bytes - done;
                let len = left.min(self.limits.block_bytes_max as u64);
                // The spans of both sides were checked.
                let at = |begin: usize, step: u64| begin + (block * step + done) as usize;
                let source = BlockSource::Own {
                    offset_bytes: at(from, stride.from_step),
                    len_bytes: len as usize,
                };
                self.add(pe, at(to, stride.to_step), source)?;
                done += len;
            }
        }
        Some(())
    }

    fn add(&mut self, pe: PeId, offset_bytes: usize, source: BlockSource) -> Option<()> {
        let block = Block {
            pe,
            offset_bytes,
            source,
        };
        self.blocks += 1;
        if !self.limits.allow(&block) || self.blocks > BLOCKS_MAX {
            return None;
        }
        let len = block.len_bytes();
        match self.all.last_mut() {
            Some(last) if last.len() < self.limits.blocks_max && len <= self.free_bytes => {
                last.push(block);
                self.free_bytes -= len;
            }
            _ => {
                self.all.push(vec![block]);
                self.free_bytes = self.limits.bytes_max - len;
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables(blocks_max: usize, bytes_max: usize) -> Tables {
        let limits = ChainLimits {
            blocks_max,
            block_bytes_max: 64,
            bytes_max,
            align_bytes: 4,
        };
        Tables {
            limits,
            all: Vec::new(),
            free_bytes: 0,
            blocks: 0,
        }
    }

    fn stride(block_bytes: u64, blocks: u64) -> Stride {
        Stride {
            block_bytes,
            blocks,
            to_step: 1000,
            from_step: 200,
        }
    }

    #[test]
    fn blocks_fill_tables() {
        let mut tables = tables(3, 100);
        assert!(tables.add_blocks(1, (8, 16), stride(68, 2)).is_some());
        assert!(tables.add(2, 8, BlockSource::Word(7)).is_some());
        let own = |to, from, len_bytes| Block {
            pe: 1,
            offset_bytes: to,
            source: BlockSource::Own {
                offset_bytes: from,
                len_bytes,
            },
        };
        let word = Block {
            pe: 2,
            offset_bytes: 8,
            source: BlockSource::Word(7),
        };
        let expected = [
            vec![own(8, 16, 64), own(72, 80, 4)],
            vec![own(1008, 216, 64), own(1072, 280, 4), word],
        ];
        assert_eq!(tables.all, expected);
    }

    #[test]
    fn what_no_table_takes_goes_by_puts() {
        assert!(
            tables(3, 100)
                .add_blocks(1, (8, 16), stride(66, 1))
                .is_none()
        );
        assert!(
            tables(3, 100)
                .add_blocks(1, (2, 16), stride(64, 1))
                .is_none()
        );
        let mut endless = stride(4, BLOCKS_MAX + 1);
        (endless.to_step, endless.from_step) = (0, 0);
        assert!(tables(3, 100).add_blocks(1, (8, 16), endless).is_none());
    }
}
