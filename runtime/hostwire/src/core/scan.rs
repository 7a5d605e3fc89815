//! What the members up to each have together: scans of private memory.

use hostwire_transport::Values;

use super::messages::{Messages, Operation};
use super::tree::Tree;
use super::{Buffers, Combine, Fold, Tag, Team};
use crate::error::Result;

impl Team {
    /// Combines `values` of the ranks up to this one, or of those before it: a [`Fold`]. Longer ones
    /// by a chain, in which each rank waits for the one before it; in large teams along the tree.
    pub fn scan_private<M: Messages>(
        &self,
        caller: &M,
        values: &mut [u8],
        combine: Combine<'_>,
        fold: Fold,
    ) -> Result<()> {
        let len = values.len();
        if self.is_direct(len) {
            let mut buffers = Buffers::in_place(values);
            return self.fold_small(caller, len, &mut buffers, combine, fold);
        }
        let tag = Tag::new(fold.kind(), len).on(combine.operands);
        if let Some(tree) = self.tree() {
            return self.scan_along(caller, tree, (tag, values), combine, fold);
        }
        let operation = Operation::new(self, caller, tag)?;
        let (mut before, mut with_own) = (vec![0; len], values.to_vec());
        if self.rank > 0 {
            operation.receive(self.rank - 1, &mut before)?;
            with_own.copy_from_slice(&before);
            (combine.function)(&mut with_own, Values::private(values));
        }
        if self.rank + 1 < self.size() {
            operation.send(self.rank + 1, &with_own)?;
        }
        values.copy_from_slice(match fold {
            Fold::Before => &before,
            Fold::UpTo | Fold::All => &with_own,
        });
        Ok(())
    }

    /// Each member combines what it and those that follow it in the tree have, and tells the one before it. That one answers what all
    /// before this member have.
    fn scan_along<M: Messages>(
        &self,
        caller: &M,
        tree: &Tree,
        (tag, values): (Tag, &mut [u8]),
        combine: Combine<'_>,
        fold: Fold,
    ) -> Result<()> {
        let operation = Operation::new(self, caller, tag)?;
        let steps = tree.up();
        let mut theirs = vec![0; values.len()];
        // Without what was heard later: what comes before the next one that is heard.
        let mut until_then = Vec::with_capacity(steps.from.len());
        let mut sum = values.to_vec();
        for from in &steps.from {
            operation.receive(*from, &mut theirs)?;
            until_then.push(sum.clone());
            (combine.function)(&mut sum, Values::private(&theirs));
        }
        let before = match steps.to.first() {
            Some(to) => {
                operation.send(*to, &sum)?;
                operation.receive(*to, &mut theirs)?;
                Some(&*theirs)
            }
            None => None,
        };
        let behind = |part: &[u8]| match before {
            Some(before) => {
                let mut sum = before.to_vec();
                (combine.function)(&mut sum, Values::private(part));
                sum
            }
            None => part.to_vec(),
        };
        for (from, part) in steps.from.iter().zip(&until_then) {
            operation.send(*from, &behind(part))?;
        }
        operation.all_began();
        match (fold, before) {
            (Fold::Before, Some(before)) => values.copy_from_slice(before),
            (Fold::Before, None) => values.fill(0),
            (Fold::UpTo | Fold::All, _) => {
                let with_own = behind(values);
                values.copy_from_slice(&with_own);
            }
        }
        Ok(())
    }
}
