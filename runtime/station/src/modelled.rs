//! The contacts of a station in a process whose hardware is a model.
//!
//! Such a process belongs to a job, and the PEs of the job are its stations: they have the numbers of the
//! job, and the simulator connects them. So stations need not meet, and no thread answers. A name contains
//! the job and the number. The process takes part in the run of the model from its first send or look, not
//! from the opening of the station: until then its program may wait for others in real time, for example to
//! exchange names.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hostwire_transport::error::{EnvironmentFault, PeId, TransportError};
use hostwire_transport::wire::{Lifetime, Liveness, Wire};
use hostwire_virtual::Modelled;

use super::contacts::Contacts;
use super::{Name, News, ended, no_such};

/// The stations of a process whose hardware is a model: the PEs of its job.
pub struct ModelledContacts {
    wire: Arc<Modelled>,
    /// The number of the job.
    job: u128,
    /// Stations that have ended, if reported, and stations that this one has parted from.
    gone: Mutex<Vec<Gone>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Gone {
    No,
    /// This station has parted from it, and its end has not been reported.
    Parted,
    Told,
}

impl ModelledContacts {
    /// The contacts of this process, if its hardware is a model, with a segment of so many bytes for so many
    /// stations.
    ///
    /// # Errors
    /// As those of [`hostwire_virtual::inherited`].
    pub fn inherited<E: From<TransportError>>(
        segment_bytes: impl FnOnce(u32) -> Result<usize, E>,
    ) -> Result<Option<Self>, E> {
        let Some(fds) = hostwire_virtual::inherited()? else {
            return Ok(None);
        };
        let (wire, job) = Modelled::alone(segment_bytes, fds)?;
        let gone = Mutex::new(vec![Gone::No; wire.pes() as usize]);
        let wire = Arc::new(wire);
        Ok(Some(Self { wire, job, gone }))
    }

    /// The wire to them.
    pub fn wire(&self) -> &Arc<Modelled> {
        &self.wire
    }

    /// Takes part in the run of the model from now on, as soon as all others do too. Before that nothing can
    /// come, and no time passes.
    ///
    /// # Errors
    /// [`TransportError::Environment`] if the simulator has ended.
    pub fn take_part(&self) -> Result<(), TransportError> {
        match self.wire.has_begun() {
            true => Ok(()),
            false => self.wire.begin(),
        }
    }

    fn gone(&self) -> MutexGuard<'_, Vec<Gone>> {
        self.gone.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Contacts for ModelledContacts {
    fn name(&self) -> Name {
        Name::of_pe(self.job, self.wire.pe())
    }

    fn number(&self, name: &Name) -> Result<PeId, TransportError> {
        let pe = name.pe_of(self.job).filter(|pe| *pe < self.wire.pes());
        pe.ok_or_else(|| {
            TransportError::environment(
                "numbering a station in virtual time",
                EnvironmentFault::unexpected("the name of one of this job", "another one"),
            )
        })
    }

    fn name_of(&self, pe: PeId) -> Option<Name> {
        (pe < self.wire.pes()).then(|| Name::of_pe(self.job, pe))
    }

    fn meet(&self, pe: PeId) -> Result<(), TransportError> {
        self.take_part()?;
        match self.gone().get(pe as usize) {
            Some(Gone::No) => Ok(()),
            Some(_) => Err(ended(pe)),
            None => Err(no_such(pe)),
        }
    }

    fn take_news(&self) -> Vec<News> {
        let mut news = Vec::new();
        for (pe, gone) in (0..).zip(self.gone().iter_mut()) {
            let is_gone = *gone == Gone::Parted || self.wire.is_alive(pe) == Ok(false);
            if *gone != Gone::Told && is_gone {
                *gone = Gone::Told;
                news.push(News::Ended(pe));
            }
        }
        news
    }

    fn part(&self, pe: PeId) {
        if let Some(gone @ Gone::No) = self.gone().get_mut(pe as usize) {
            *gone = Gone::Parted;
        }
    }
}
