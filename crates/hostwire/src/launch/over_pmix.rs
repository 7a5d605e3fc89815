//! [`Bootstrap`] over PMIx, which carries bytes as they are.

use hostwire_pmix::Pmix;

use super::{Bootstrap, LaunchError};

impl Bootstrap for Pmix {
    fn name(&self) -> &'static str {
        "PMIx"
    }

    fn rank(&self) -> u32 {
        Pmix::rank(self)
    }

    fn size(&self) -> u32 {
        Pmix::size(self)
    }

    fn put(&mut self, key: &str, value: &[u8]) -> Result<(), LaunchError> {
        Ok(Pmix::put(self, key, value)?)
    }

    fn fence(&mut self) -> Result<(), LaunchError> {
        Ok(Pmix::fence(self)?)
    }

    fn get(&mut self, rank: u32, key: &str) -> Result<Vec<u8>, LaunchError> {
        Ok(Pmix::get(self, rank, key)?)
    }

    fn abort(&mut self, status: i32, message: &str) -> Result<(), LaunchError> {
        Ok(Pmix::abort(self, status, message)?)
    }

    fn finalize(&mut self) -> Result<(), LaunchError> {
        Ok(Pmix::finalize(self)?)
    }
}
