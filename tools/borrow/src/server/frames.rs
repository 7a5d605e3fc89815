//! Does what the [`Pager`](crate::paging::Pager) decides, by system calls and the store.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use rustix::io::Errno;

use super::{Client, FilePart, Joined, ServeError, Store, system};
use crate::PAGE_BYTES;
use crate::paging::{Access, Backing, Content, Page};
use crate::room::{Owner, Room};
use crate::uffd::{self, Uffd};

/// The pages that are here, where the others lie, and who has which.
pub(super) struct Frames<S: Store> {
    /// Where pages lie that were moved here. `None` if pages are mapped.
    pub file: Option<File>,
    pub room: Room,
    /// Most pages that were in use at the same time.
    pub used_max: Page,
    pub clients: Vec<Client>,
    pub store: S,
    /// Who has the present fault.
    pub faulting: Owner,
    /// What was asked for ahead.
    asked: Vec<Asked<S::Coming>>,
    /// Places for bytes, to be used again.
    spare: Vec<Vec<u8>>,
}

/// Pages that were asked for ahead.
struct Asked<C> {
    /// The page of the first byte.
    first: Page,
    /// Those that may be installed from this.
    pages: Range<Page>,
    bytes: Bytes<C>,
}

enum Bytes<C> {
    Coming(C),
    Here(Vec<u8>),
}

impl<S: Store> Frames<S> {
    pub fn new(file: Option<File>, pages: Page, store: S) -> Self {
        Self {
            file,
            room: Room::new(pages),
            used_max: 0,
            clients: Vec::new(),
            store,
            faulting: 0,
            asked: Vec::new(),
            spare: Vec::new(),
        }
    }

    pub fn client(&self, owner: Owner) -> Option<&Client> {
        self.clients.iter().find(|client| client.owner == owner)
    }

    pub fn joined(&self, owner: Owner) -> Option<&Joined> {
        self.client(owner)?.joined.as_ref()
    }

    /// The address of a program's memory, and where its faults arrive.
    pub fn faults_of(&self, owner: Owner) -> Option<(usize, &Uffd)> {
        let joined = self.joined(owner)?;
        Some((joined.base, joined.uffd.as_ref()?))
    }

    /// The file that is a program's memory from an offset on, as far as the program has taken it.
    pub fn part_of(&self, owner: Owner, offset_bytes: u64) -> Option<FilePart<'_>> {
        let page = Page::try_from(offset_bytes / PAGE_BYTES as u64).ok()?;
        let (pages, _) = self.room.part_of(page).filter(|(_, its)| *its == owner)?;
        if !offset_bytes.is_multiple_of(PAGE_BYTES as u64) {
            return None;
        }
        let part = self.store.part_at(offset_bytes)?;
        let rest = offsets(&pages).end - offset_bytes;
        Some(FilePart {
            len_bytes: part.len_bytes.min(rest),
            ..part
        })
    }

    pub fn take(&mut self, pages: Page, owner: Owner) -> Option<Range<Page>> {
        self.joined(owner)?;
        let taken = self.room.take(pages, owner)?;
        let used = self.room.pages() - self.room.free_pages();
        self.used_max = self.used_max.max(used);
        Some(taken)
    }

    /// A place for the bytes of so many pages.
    fn room_for(&mut self, pages: &Range<Page>) -> Vec<u8> {
        let mut bytes = self.spare.pop().unwrap_or_default();
        bytes.resize(pages.len() * PAGE_BYTES, 0);
        bytes
    }

    /// Gives bytes to the program as these pages.
    fn give(&self, pages: &Range<Page>, bytes: &[u8], access: Access) -> Result<(), Failed<S>> {
        let Some((uffd, at)) = self.place(pages) else {
            return Ok(());
        };
        let done = uffd.copy(at.start, bytes, access == Access::Read);
        unless_gone("give pages to the program", done)
    }

    /// Gives these pages to the program if they were asked for ahead. Returns whether they were.
    fn give_asked(&mut self, pages: &Range<Page>, access: Access) -> Result<bool, Failed<S>> {
        let has_all =
            |asked: &Asked<_>| asked.pages.start <= pages.start && asked.pages.end >= pages.end;
        let Some(at) = self.asked.iter().position(has_all) else {
            return Ok(false);
        };
        let asked = self.asked.swap_remove(at);
        let bytes = match asked.bytes {
            Bytes::Coming(coming) => self.store.finish(coming).map_err(ServeError::Store)?,
            Bytes::Here(bytes) => bytes,
        };
        let begin = (pages.start - asked.first) as usize * PAGE_BYTES;
        let part = bytes.get(begin..begin + pages.len() * PAGE_BYTES);
        self.give(pages, part.unwrap_or_default(), access)?;
        self.asked.push(Asked {
            bytes: Bytes::Here(bytes),
            ..asked
        });
        Ok(true)
    }

    /// Whose pages these are, and their addresses there.
    fn place(&self, pages: &Range<Page>) -> Option<(&Uffd, Range<usize>)> {
        let (_, owner) = self.room.part_of(pages.start)?;
        let (base, uffd) = self.faults_of(owner)?;
        let address = |page: Page| base + page as usize * PAGE_BYTES;
        Some((uffd, address(pages.start)..address(pages.end)))
    }
}

pub(super) fn offsets(pages: &Range<Page>) -> Range<u64> {
    let offset = |page: Page| u64::from(page) * PAGE_BYTES as u64;
    offset(pages.start)..offset(pages.end)
}

/// A process that has ended needs nothing more. [`Uffd`] handles what a running process has at these addresses, so any
/// other error is passed on: otherwise a thread would wait for ever.
fn unless_gone<E>(what: &'static str, result: Result<(), Errno>) -> Result<(), ServeError<E>> {
    match result {
        Ok(()) | Err(Errno::SRCH) => Ok(()),
        Err(errno) => Err(system(what)(errno)),
    }
}

type Failed<S> = ServeError<<S as Store>::Error>;

impl<S: Store> Backing for Frames<S> {
    type Error = Failed<S>;

    fn ask(&mut self, pages: Range<Page>) {
        let bytes = self.room_for(&pages);
        let bytes = Bytes::Coming(self.store.begin(offsets(&pages).start, bytes));
        let first = pages.start;
        self.asked.push(Asked {
            first,
            pages,
            bytes,
        });
    }

    fn forget(&mut self, pages: Range<Page>) {
        for asked in &mut self.asked {
            let of_use = &mut asked.pages;
            if pages.contains(&of_use.start) {
                of_use.start = pages.end.min(of_use.end);
            } else if pages.start < of_use.end && pages.end >= of_use.end {
                of_use.end = pages.start;
            }
        }
        for asked in self.asked.extract_if(.., |asked| asked.pages.is_empty()) {
            self.spare.push(match asked.bytes {
                Bytes::Coming(coming) => self.store.forget(coming),
                Bytes::Here(bytes) => bytes,
            });
        }
    }

    fn install(
        &mut self,
        pages: Range<Page>,
        content: Content,
        access: Access,
    ) -> Result<(), Self::Error> {
        if content == Content::Saved && self.give_asked(&pages, access)? {
            return Ok(());
        }
        let mut bytes = self.room_for(&pages);
        match content {
            Content::Zeros => bytes.fill(0),
            Content::Saved => {
                let coming = self.store.begin(offsets(&pages).start, bytes);
                bytes = self.store.finish(coming).map_err(ServeError::Store)?;
            }
        }
        self.give(&pages, &bytes, access)?;
        self.spare.push(bytes);
        Ok(())
    }

    fn set_access(&mut self, pages: Range<Page>, access: Access) -> Result<(), Self::Error> {
        let Some((uffd, at)) = self.place(&pages) else {
            return Ok(());
        };
        let done = uffd.protect(at, access == Access::Read);
        unless_gone("protect pages of the program", done)
    }

    fn save(&mut self, pages: Range<Page>) -> Result<(), Self::Error> {
        let at = offsets(&pages).start;
        let mut bytes = self.room_for(&pages);
        let failed = system("read pages of the program");
        let Some(file) = &self.file else {
            return Err(failed(Errno::BADF));
        };
        let read = file.read_exact_at(&mut bytes, at);
        read.map_err(|error| failed(Errno::from_io_error(&error).unwrap_or(Errno::IO)))?;
        let saved = self.store.save(at, &bytes);
        self.spare.push(bytes);
        saved.map_err(ServeError::Store)
    }

    fn flush(&mut self) -> Result<(), Self::Error> {
        self.store.flush().map_err(ServeError::Store)
    }

    fn remove(&mut self, pages: Range<Page>) -> Result<(), Self::Error> {
        let file = self.file.as_ref().ok_or(Errno::BADF);
        let done = file.and_then(|file| uffd::remove(file, offsets(&pages)));
        done.map_err(system("take pages away"))
    }

    fn wake(&mut self, page: Page) -> Result<(), Self::Error> {
        let Some((base, uffd)) = self.faults_of(self.faulting) else {
            return Ok(());
        };
        let address = base + page as usize * PAGE_BYTES;
        let done = uffd.wake(address, PAGE_BYTES);
        unless_gone("wake the program", done)
    }
}
