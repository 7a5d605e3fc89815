//! Teams of the members that name the same colour.

use zerocopy::IntoBytes;

use super::messages::Messages;
use super::{Kind, Tag, Team};
use crate::error::Result;

impl Team {
    /// Makes teams of the members with equal `color`, ranked by `key` and then by their rank
    /// here. A member without a colour gets no team.
    ///
    /// # Errors
    /// As [`split`](Self::split).
    pub fn split_by<M: Messages>(
        &self,
        caller: &M,
        color: Option<u32>,
        key: u32,
        has_threads: bool,
    ) -> Result<Option<Self>> {
        let word = color.map_or(u64::MAX, u64::from);
        let mut chosen = vec![(key, self.rank)];
        let (mine, tag) = ([word, u64::from(key)], Tag::new(Kind::Split, 0));
        let mut hear = |rank, theirs: &[u64; 2]| {
            if theirs[0] == word {
                chosen.push((theirs[1] as u32, rank));
            }
        };
        if self.tree().is_some() {
            // What each has doubles in every step.
            let mut all = vec![[0; 2]; self.size()];
            self.gather_long(caller, tag, mine.as_bytes(), all.as_mut_bytes())?;
            let others = (0..).zip(&all).filter(|(rank, _)| *rank != self.rank);
            others.for_each(|(rank, theirs)| hear(rank, theirs));
        } else {
            self.exchange(caller, tag, &mine, hear)?;
        }
        chosen.sort_unstable();
        let ranks: Vec<usize> = match color {
            Some(_) => chosen.into_iter().map(|(_, rank)| rank).collect(),
            None => Vec::new(),
        };
        self.split(caller, &ranks, has_threads)
    }
}
