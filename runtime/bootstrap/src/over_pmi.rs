//! [`Bootstrap`] over the text protocols. Their values are short words, so bytes are sent as
//! several values.
//!
//! The value `key` of PE 3 is under `key.3`; when it needs more than one word, the rest is
//! under `key.3.1`, `key.3.2` and so on.

use super::words::Pieces;
use super::{Bootstrap, LaunchError, WordsError};
use crate::pmi::{Client, Client2, PmiError};

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
        let (rank, max) = (Client::rank(self), self.value_bytes_max());
        put(rank, max, key, value, |key, word| {
            Client::put(self, key, word)
        })
    }

    fn fence(&mut self) -> Result<(), LaunchError> {
        Ok(self.barrier()?)
    }

    fn get(&mut self, rank: u32, key: &str) -> Result<Vec<u8>, LaunchError> {
        get(rank, key, |key| Client::get(self, key))
    }

    fn abort(&mut self, status: i32, message: &str) -> Result<(), LaunchError> {
        Ok(Client::abort(self, status, message)?)
    }

    fn finalize(&mut self) -> Result<(), LaunchError> {
        left(Client::finalize(self))
    }
}

impl Bootstrap for Client2 {
    fn name(&self) -> &'static str {
        "PMI-2"
    }

    fn rank(&self) -> u32 {
        Client2::rank(self)
    }

    fn size(&self) -> u32 {
        Client2::size(self)
    }

    fn put(&mut self, key: &str, value: &[u8]) -> Result<(), LaunchError> {
        let (rank, max) = (Client2::rank(self), self.value_bytes_max());
        put(rank, max, key, value, |key, word| {
            Client2::put(self, key, word)
        })
    }

    fn fence(&mut self) -> Result<(), LaunchError> {
        Ok(Client2::fence(self)?)
    }

    fn get(&mut self, rank: u32, key: &str) -> Result<Vec<u8>, LaunchError> {
        get(rank, key, |key| Client2::get(self, key))
    }

    fn abort(&mut self, _: i32, message: &str) -> Result<(), LaunchError> {
        Ok(Client2::abort(self, message)?)
    }

    fn finalize(&mut self) -> Result<(), LaunchError> {
        left(Client2::finalize(self))
    }
}

/// If the launcher is gone, there is nothing to leave. An MPI library in the same process, over
/// the same socket, may have left for both.
fn left(result: Result<(), PmiError>) -> Result<(), LaunchError> {
    match result {
        Err(PmiError::Lost { .. }) => Ok(()),
        result => Ok(result?),
    }
}

fn put(
    rank: u32,
    value_bytes_max: usize,
    key: &str,
    value: &[u8],
    mut put: impl FnMut(&str, &str) -> Result<(), PmiError>,
) -> Result<(), LaunchError> {
    let words = super::words::pack(value, value_bytes_max.saturating_sub(1));
    let words = words.map_err(|source| broken(key, rank, source))?;
    for (index, word) in words.iter().enumerate() {
        put(&name(key, rank, index), word)?;
    }
    Ok(())
}

fn get(
    rank: u32,
    key: &str,
    mut get: impl FnMut(&str) -> Result<String, PmiError>,
) -> Result<Vec<u8>, LaunchError> {
    let mut pieces = Pieces::default();
    loop {
        let word = get(&name(key, rank, pieces.taken()))?;
        let last = pieces.take(&word);
        if last.map_err(|source| broken(key, rank, source))? {
            return Ok(pieces.into_bytes());
        }
    }
}

fn broken(key: &str, rank: u32, source: WordsError) -> LaunchError {
    LaunchError::Words {
        key: key.to_owned(),
        rank,
        source,
    }
}

fn name(key: &str, rank: u32, index: usize) -> String {
    match index {
        0 => format!("{key}.{rank}"),
        _ => format!("{key}.{rank}.{index}"),
    }
}
