//! Streams and copies.

use core::ffi::c_int;
use std::sync::Arc;

use hostwire::tca::{Chain, Spot, Stream, Stride};

use crate::job::give;
use crate::state::{Session, spot, state};
use crate::status::{Failure, Status, done, run};

/// A stream with a name. It keeps the job.
pub struct Named {
    stream: Stream,
    _state: Arc<Session>,
}

/// # Safety
/// `stream` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tcaStreamCreate(stream: *mut *mut Named) -> Status {
    done(|| {
        let state = state()?;
        let named = Box::new(Named {
            stream: state.tca.stream(),
            _state: state,
        });
        // SAFETY: as the caller promises.
        unsafe { give(stream, Box::into_raw(named)) }
    })
}

/// # Safety
/// `stream` comes from `tcaStreamCreate`, and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tcaStreamDestroy(stream: *mut Named) -> Status {
    done(|| {
        if !stream.is_null() {
            // SAFETY: made by `Box::into_raw` and given back once, as the caller promises.
            drop(unsafe { Box::from_raw(stream) });
        }
        Ok(())
    })
}

/// Does something with a stream, or with the one without a name.
///
/// # Safety
/// `stream` is null, or comes from `tcaStreamCreate` and was not destroyed.
pub unsafe fn with<R>(
    stream: *mut Named,
    body: impl FnOnce(&Session, &Stream) -> Result<R, Failure>,
) -> Result<R, Failure> {
    let state = state()?;
    // SAFETY: as the caller promises; a stream may be used by any number of threads.
    match unsafe { stream.as_ref() } {
        Some(named) => body(&state, &named.stream),
        None => body(&state, &state.stream),
    }
}

/// # Safety
/// As for all functions with a stream: NULL, or what `tcaStreamCreate` gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tcaStreamSynchronize(stream: *mut Named) -> Status {
    // SAFETY: as the caller promises.
    done(|| unsafe { with(stream, |_, stream| Ok(stream.synchronize()?)) })
}

/// # Safety
/// NULL, or what `tcaStreamCreate` gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tcaStreamQuery(stream: *mut Named) -> Status {
    // SAFETY: as the caller promises.
    let is_done = |stream| unsafe { with(stream, |_, stream| Ok(stream.is_done()?)) };
    run(|| match is_done(stream)? {
        true => Ok(Status::Success),
        false => Ok(Status::NotReady),
    })
}

/// The two ends of a copy.
pub fn ends(
    (dst, dst_node, dst_device): (u64, c_int, c_int),
    (src, src_device): (u64, c_int),
) -> Result<(Spot, Spot), Failure> {
    let here = c_int::try_from(state()?.job.pe()).unwrap_or(c_int::MAX);
    Ok((
        spot(dst_node, dst_device, dst)?,
        spot(here, src_device, src)?,
    ))
}

#[unsafe(no_mangle)]
pub extern "C" fn tcaMemcpyPeer(
    dst: u64,
    dst_node: c_int,
    dst_device: c_int,
    src: u64,
    src_device: c_int,
    len: usize,
) -> Status {
    done(|| {
        let (to, from) = ends((dst, dst_node, dst_device), (src, src_device))?;
        Ok(state()?.tca.memcpy_peer(to, from, len)?)
    })
}

/// # Safety
/// `stream` is NULL, or what `tcaStreamCreate` gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tcaMemcpyPeerAsync(
    dst: u64,
    dst_node: c_int,
    dst_device: c_int,
    src: u64,
    src_device: c_int,
    len: usize,
    stream: *mut Named,
) -> Status {
    done(|| {
        let (to, from) = ends((dst, dst_node, dst_device), (src, src_device))?;
        // SAFETY: as the caller promises.
        unsafe { with(stream, |_, stream| Ok(stream.memcpy_peer(to, from, len)?)) }
    })
}

/// # Safety
/// `stream` is NULL, or what `tcaStreamCreate` gave.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "as the header says")]
pub unsafe extern "C" fn tcaMemcpyPeerStrideAsync(
    dst: u64,
    dst_node: c_int,
    dst_device: c_int,
    dst_step: usize,
    src: u64,
    src_device: c_int,
    src_step: usize,
    block_len: usize,
    blocks: usize,
    stream: *mut Named,
) -> Status {
    done(|| {
        let (to, from) = ends((dst, dst_node, dst_device), (src, src_device))?;
        let mut chain = Chain::new();
        chain.block_stride(to, from, stride((dst_step, src_step), block_len, blocks));
        // SAFETY: as the caller promises.
        unsafe {
            with(stream, |state, stream| {
                Ok(stream.start(&state.tca.prepare(&chain)?)?)
            })
        }
    })
}

pub fn stride((to, from): (usize, usize), block_len: usize, blocks: usize) -> Stride {
    Stride {
        block_bytes: block_len as u64,
        blocks: blocks as u64,
        to_step: to as u64,
        from_step: from as u64,
    }
}

/// # Safety
/// `stream` is NULL, or what `tcaStreamCreate` gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tcaSignalAsync(
    word: u64,
    node: c_int,
    value: u64,
    stream: *mut Named,
) -> Status {
    done(|| {
        let word = spot(node, -1, word)?;
        // SAFETY: as the caller promises.
        unsafe { with(stream, |_, stream| Ok(stream.signal(word, value)?)) }
    })
}

/// # Safety
/// `stream` is NULL, or what `tcaStreamCreate` gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tcaStreamWaitValue(word: u64, value: u64, stream: *mut Named) -> Status {
    done(|| {
        let (word, _) = ends((word, crate::job::tcaNode(), -1), (0, -1))?;
        // SAFETY: as the caller promises.
        unsafe { with(stream, |_, stream| Ok(stream.wait_value(word, value)?)) }
    })
}
