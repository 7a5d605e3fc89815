//! [`Bootstrap`] over the text protocols, whose values are short words: bytes travel as
//! several values.
//!
//! The value `key` of PE 3 is under `key.3`; when it needs more than one word, the rest is
//! under `key.3.1`, `key.3.2` and so on.

use super::words::Pieces;
use super::{Bootstrap, LaunchError};
use crate::pmi::Client;

impl Bootstrap for Client {
    fn name(&self) -> &'static str {
        "PMI-1"
    }

    fn rank(&self) -> u32 {
        Client::rank(self)
    }

    fn size(&self) -> u32 {
        Client::size(self)
    }

    fn put(&mut self, key: &str, value: &[u8]) -> Result<(), LaunchError> {
        let words = super::words::pack(value, self.value_bytes_max().saturating_sub(1)).map_err(
            |source| LaunchError::Words {
                key: key.to_owned(),
                rank: Client::rank(self),
                source,
            },
        )?;
        for (index, word) in words.iter().enumerate() {
            let name = name(key, Client::rank(self), index);
            Client::put(self, &name, word)?;
        }
        Ok(())
    }

    fn fence(&mut self) -> Result<(), LaunchError> {
        Ok(self.barrier()?)
    }

    fn get(&mut self, rank: u32, key: &str) -> Result<Vec<u8>, LaunchError> {
        let mut pieces = Pieces::default();
        loop {
            let word = Client::get(self, &name(key, rank, pieces.taken()))?;
            let done = pieces.take(&word).map_err(|source| LaunchError::Words {
                key: key.to_owned(),
                rank,
                source,
            })?;
            if done {
                return Ok(pieces.into_bytes());
            }
        }
    }

    fn abort(&mut self, status: i32, message: &str) -> Result<(), LaunchError> {
        Ok(Client::abort(self, status, message)?)
    }

    fn finalize(&mut self) -> Result<(), LaunchError> {
        Ok(Client::finalize(self)?)
    }
}

fn name(key: &str, rank: u32, index: usize) -> String {
    match index {
        0 => format!("{key}.{rank}"),
        _ => format!("{key}.{rank}.{index}"),
    }
}
