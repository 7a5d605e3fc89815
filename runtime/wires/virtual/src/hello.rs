//! How a PE begins: it tells the simulator its number and where its memory is.
//!
//! | message | bytes | descriptors |
//! |---|---|---|
//! | hello | magic, PE, PEs, bytes of its segment, where in the file that begins: 8 each | the file |

use std::os::fd::{AsFd, OwnedFd};

use hostwire_transport::error::{EnvironmentFault, PeId, TransportError};
use hostwire_transport::memory::Memory;
use hostwire_transport::shm::handover::{receive_with, send_with};
use rustix::io::Errno;

/// "hostwire" and the version of this exchange and of the desk.
const MAGIC: u64 = u64::from_le_bytes(*b"hwmodel\x02");
const WORDS: usize = 5;

/// What a PE says.
#[derive(Debug)]
pub(super) struct Hello {
    pub(super) pe: PeId,
    pub(super) pes: u32,
    /// Its segment.
    pub(super) segment: Memory,
}

pub(super) fn send(
    socket: &OwnedFd,
    pe: PeId,
    pes: u32,
    segment: &Memory,
) -> Result<(), TransportError> {
    let failed = |fault: EnvironmentFault| {
        TransportError::environment(format!("PE {pe} beginning in virtual time"), fault)
    };
    let (file, begin) = segment.file().ok_or_else(|| {
        failed(EnvironmentFault::unexpected(
            "a segment in a file",
            "other memory",
        ))
    })?;
    let len_bytes = segment.len_bytes() as u64;
    let words = [MAGIC, pe.into(), pes.into(), len_bytes, begin];
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    send_with(socket, &bytes, &[file.as_fd()]).map_err(|errno| failed(errno.into()))
}

/// Receives the hello of a PE; `None` if the PE has gone.
pub(super) fn receive(socket: &OwnedFd) -> Result<Option<Hello>, TransportError> {
    let failed = |fault: EnvironmentFault| {
        TransportError::environment("a PE beginning in virtual time", fault)
    };
    // One more, so that a message that is too long does not look like one that fits.
    let mut bytes = [0; 8 * (WORDS + 1)];
    let (len, fds) = match receive_with(socket, &mut bytes) {
        Ok((0, _)) | Err(Errno::CONNRESET) => return Ok(None),
        got => got.map_err(|errno| failed(errno.into()))?,
    };
    let words: Vec<u64> = bytes[..len]
        .chunks_exact(8)
        .filter_map(|word| word.first_chunk().copied().map(u64::from_le_bytes))
        .collect();
    let unexpected = |got: &str| {
        let expected = "what a PE of this version says";
        failed(EnvironmentFault::unexpected(expected, got))
    };
    let ([magic, pe, pes, len_bytes, begin], [file]) = (&words[..], &fds[..]) else {
        return Err(unexpected("something else"));
    };
    if *magic != MAGIC {
        return Err(unexpected("another version"));
    }
    let number = |word: &u64| u32::try_from(*word).ok();
    let (Some(pe), Some(pes)) = (number(pe), number(pes)) else {
        return Err(unexpected("numbers that no PE has"));
    };
    // The file may have the segments of all PEs.
    let len_bytes = usize::try_from(*len_bytes).unwrap_or(usize::MAX);
    let segment = hostwire_transport::shm::map_part(file, (*begin, len_bytes))?;
    Ok(Some(Hello { pe, pes, segment }))
}
