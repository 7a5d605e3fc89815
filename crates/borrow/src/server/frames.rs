//! Does what the [`Pager`](crate::paging::Pager) decides, by system calls and the store.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use rustix::io::Errno;

use super::{Client, Joined, ServeError, Store, system};
use crate::PAGE_BYTES;
use crate::paging::{Access, Backing, Content, Page};
use crate::room::{Owner, Room};
use crate::uffd;

/// The pages that are here, where the others lie, and who has which.
#[derive(Debug)]
pub(super) struct Frames<S> {
    pub file: File,
    pub room: Room,
    /// Most pages that were in use at the same time.
    pub used_max: Page,
    pub clients: Vec<Client>,
    pub store: S,
    /// Who has the present fault.
    pub faulting: Owner,
    /// A run of pages on their way.
    bytes: Vec<u8>,
}

impl<S> Frames<S> {
    pub fn new(file: File, pages: Page, store: S) -> Self {
        Self {
            file,
            room: Room::new(pages),
            used_max: 0,
            clients: Vec::new(),
            store,
            faulting: 0,
            bytes: Vec::new(),
        }
    }

    pub fn client(&self, owner: Owner) -> Option<&Client> {
        self.clients.iter().find(|client| client.owner == owner)
    }

    pub fn joined(&self, owner: Owner) -> Option<&Joined> {
        self.client(owner)?.joined.as_ref()
    }

    pub fn take(&mut self, pages: Page, owner: Owner) -> Option<Range<Page>> {
        self.joined(owner)?;
        let taken = self.room.take(pages, owner)?;
        let used = self.room.pages() - self.room.free_pages();
        self.used_max = self.used_max.max(used);
        Some(taken)
    }

    /// Whose pages these are, and their addresses there.
    fn place(&self, pages: &Range<Page>) -> Option<(&Joined, Range<usize>)> {
        let (_, owner) = self.room.part_of(pages.start)?;
        let joined = self.joined(owner)?;
        let address = |page: Page| joined.base + page as usize * PAGE_BYTES;
        Some((joined, address(pages.start)..address(pages.end)))
    }
}

fn offsets(pages: &Range<Page>) -> Range<u64> {
    let offset = |page: Page| u64::from(page) * PAGE_BYTES as u64;
    offset(pages.start)..offset(pages.end)
}

/// A process that has ended, or has something else at these addresses, needs nothing more.
fn unless_gone<E>(what: &'static str, result: Result<(), Errno>) -> Result<(), ServeError<E>> {
    match result {
        Ok(()) | Err(Errno::SRCH | Errno::NOENT) => Ok(()),
        Err(errno) => Err(system(what)(errno)),
    }
}

impl<S: Store> Backing for Frames<S> {
    type Error = ServeError<S::Error>;

    fn install(
        &mut self,
        pages: Range<Page>,
        content: Content,
        access: Access,
    ) -> Result<(), Self::Error> {
        let mut bytes = core::mem::take(&mut self.bytes);
        bytes.resize(pages.len() * PAGE_BYTES, 0);
        let got = match content {
            Content::Zeros => {
                bytes.fill(0);
                Ok(())
            }
            Content::Saved => self.store.fetch(offsets(&pages).start, &mut bytes),
        };
        let done = got.map_err(ServeError::Store).and_then(|()| {
            let Some((joined, at)) = self.place(&pages) else {
                return Ok(());
            };
            let done = joined.uffd.copy(at.start, &bytes, access == Access::Read);
            unless_gone("give pages to the program", done)
        });
        self.bytes = bytes;
        done
    }

    fn set_access(&mut self, pages: Range<Page>, access: Access) -> Result<(), Self::Error> {
        let Some((joined, at)) = self.place(&pages) else {
            return Ok(());
        };
        let done = joined.uffd.protect(at, access == Access::Read);
        unless_gone("protect pages of the program", done)
    }

    fn save(&mut self, pages: Range<Page>) -> Result<(), Self::Error> {
        let at = offsets(&pages).start;
        self.bytes.resize(pages.len() * PAGE_BYTES, 0);
        let read = self.file.read_exact_at(&mut self.bytes, at);
        read.map_err(|error| {
            let errno = Errno::from_io_error(&error).unwrap_or(Errno::IO);
            system("read pages of the program")(errno)
        })?;
        let saved = self.store.save(at, &self.bytes);
        saved.map_err(ServeError::Store)
    }

    fn flush(&mut self) -> Result<(), Self::Error> {
        self.store.flush().map_err(ServeError::Store)
    }

    fn remove(&mut self, pages: Range<Page>) -> Result<(), Self::Error> {
        uffd::remove(&self.file, offsets(&pages)).map_err(system("take pages away"))
    }

    fn wake(&mut self, page: Page) -> Result<(), Self::Error> {
        let Some(joined) = self.joined(self.faulting) else {
            return Ok(());
        };
        let address = joined.base + page as usize * PAGE_BYTES;
        let done = joined.uffd.wake(address, PAGE_BYTES);
        unless_gone("wake the program", done)
    }
}
