//! An agent as C++ has it: its engine, and the thread that makes progress for it.

use std::sync::Arc;

use hostwire::station::ProgressThread;

use crate::engine::Engine;

/// See the [module text](self).
pub struct Agent {
    pub(crate) engine: Arc<Engine>,
    progress: Option<ProgressThread>,
}

impl Agent {
    /// One of this name, which others can reach from now on.
    ///
    /// # Errors
    /// A setting that is wrong; no memory, no descriptors, no thread.
    pub(crate) fn open(name: &[u8], has_thread: bool) -> Result<Self, String> {
        let engine = Engine::open(name).map_err(|error| error.to_string())?;
        let engine = Arc::new(engine);
        let start = || ProgressThread::start("hostwire-nixl", &engine);
        let progress = has_thread.then(start).transpose();
        let progress = progress.map_err(|e| format!("starting a thread: {e}"))?;
        Ok(Self { engine, progress })
    }

    /// Its end.
    pub(crate) fn close(self) {
        if let Some(progress) = self.progress {
            progress.stop(&self.engine.station);
        }
        self.engine.finish();
    }
}
