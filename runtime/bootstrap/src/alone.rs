//! A [`Bootstrap`] for a process that no launcher has started.

use std::collections::HashMap;

use crate::{Bootstrap, LaunchError};

/// A job of one.
#[derive(Debug, Default)]
pub struct Alone(HashMap<String, Vec<u8>>);

impl Bootstrap for Alone {
    fn name(&self) -> &'static str {
        "none"
    }

    fn rank(&self) -> u32 {
        0
    }

    fn size(&self) -> u32 {
        1
    }

    fn put(&mut self, key: &str, value: &[u8]) -> Result<(), LaunchError> {
        self.0.insert(key.to_owned(), value.to_owned());
        Ok(())
    }

    fn fence(&mut self) -> Result<(), LaunchError> {
        Ok(())
    }

    fn get(&mut self, _rank: u32, key: &str) -> Result<Vec<u8>, LaunchError> {
        Ok(self.0.get(key).cloned().unwrap_or_default())
    }

    fn abort(&mut self, _status: i32, _message: &str) -> Result<(), LaunchError> {
        Ok(())
    }

    fn finalize(&mut self) -> Result<(), LaunchError> {
        Ok(())
    }
}
