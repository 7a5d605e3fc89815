//! Bare Ethernet: frames through a packet socket with a receive ring, and nothing else.
//!
//! Both ends run the same function, each with its [`Side`]. The result of the first side
//! counts. The sockets are those of the wire `ether` without filter, links or keys, and the
//! loops spin.

use std::time::{Duration, Instant};

use hostwire_packet::htoe::ethernet::MacAddress;
use hostwire_transport::error::{EnvironmentFault, TransportError};
use hostwire_transport::limits::Side;

use crate::Interface;
use crate::socket::{BareSocket, FRAME_LEN_MAX, SEND_BATCH_FRAMES};

/// The longest wait for a frame.
const PATIENCE: Duration = Duration::from_secs(5);
/// Looks between two readings of the clock.
const LOOKS: u32 = 4096;
/// A flood has no more frames in flight than half of the receive ring holds.
const ON_THE_WAY_MAX: u64 = 256;
/// The number of frames after which the receiver of a flood reports its count.
const REPORT_FRAMES: u64 = 64;
/// The number of a frame is in its first bytes.
const NUMBER_BYTES: usize = size_of::<u64>();

/// One end of a cable.
#[derive(Debug)]
pub struct BareEther {
    socket: BareSocket,
    frame_len_max: usize,
}

impl BareEther {
    /// Opens the end at `interface` for frames of `ether_type` from and to `peer`.
    ///
    /// # Errors
    /// [`TransportError::Environment`], as for the wire.
    pub fn open(
        interface: &Interface,
        ether_type: u16,
        peer: MacAddress,
    ) -> Result<Self, TransportError> {
        Ok(Self {
            socket: BareSocket::open(interface, ether_type, peer)?,
            frame_len_max: interface.mtu_bytes.min(FRAME_LEN_MAX),
        })
    }

    /// Longest frame, in bytes without Ethernet header.
    pub fn frame_len_max(&self) -> usize {
        self.frame_len_max
    }

    fn send(&mut self, number: u64, frame: &mut [u8]) -> Result<(), TransportError> {
        put_number(frame, number);
        self.send_many(&[frame])
    }

    fn send_many(&mut self, frames: &[&[u8]]) -> Result<(), TransportError> {
        let mut rest = frames;
        let begin = Instant::now();
        while !rest.is_empty() {
            let sent = self.socket.send(rest);
            rest = rest.get(sent..).unwrap_or_default();
            if sent == 0 && begin.elapsed() > PATIENCE {
                return Err(lost("sending"));
            }
        }
        Ok(())
    }

    /// Spins until a frame comes, and returns its number.
    fn receive(&mut self) -> Result<u64, TransportError> {
        let begin = Instant::now();
        loop {
            for _ in 0..LOOKS {
                if let Some(number) = self.look() {
                    return Ok(number);
                }
                // The other end may run on the same core.
                core::hint::spin_loop();
            }
            if begin.elapsed() > PATIENCE {
                return Err(lost("receiving"));
            }
        }
    }

    fn look(&mut self) -> Option<u64> {
        let mut number = None;
        while self.socket.next(&mut |frame| {
            number = frame.first_chunk().copied().map(u64::from_be_bytes);
        }) {
            if number.is_some() {
                return number;
            }
        }
        None
    }
}

fn lost(doing: &str) -> TransportError {
    TransportError::environment(
        format!("{doing} bare frames"),
        EnvironmentFault::unexpected(
            format_args!("a frame of the other end within {} s", PATIENCE.as_secs()),
            "none",
        ),
    )
}

fn put_number(frame: &mut [u8], number: u64) {
    if let Some(place) = frame.first_chunk_mut::<NUMBER_BYTES>() {
        *place = number.to_be_bytes();
    }
}

/// `rounds` round trips of `len_bytes` bytes (8 at least), Ethernet headers not counted: in one
/// frame, or in as many full ones as needed. Returns half the time of one round trip, in
/// nanoseconds.
///
/// # Errors
/// [`TransportError::Environment`] if nothing comes for 5 s.
pub fn ping_pong(
    end: &mut BareEther,
    side: Side,
    len_bytes: usize,
    rounds: u64,
) -> Result<f64, TransportError> {
    let full = end.frame_len_max();
    if len_bytes > full {
        let frames = len_bytes.div_ceil(full) as u64;
        let other = match side {
            Side::First => Side::Second,
            Side::Second => Side::First,
        };
        let begin = Instant::now();
        for _ in 0..rounds {
            for side in [side, other] {
                flood(end, side, full, frames)?;
            }
        }
        return Ok(half(begin, rounds));
    }
    let mut frame = vec![0; len_bytes.max(NUMBER_BYTES)];
    let begin = Instant::now();
    for round in 0..rounds {
        match side {
            Side::First => {
                end.send(round, &mut frame)?;
                while end.receive()? != round {}
            }
            Side::Second => {
                while end.receive()? != round {}
                end.send(round, &mut frame)?;
            }
        }
    }
    Ok(half(begin, rounds))
}

/// Half the time of a round, in nanoseconds.
fn half(begin: Instant, rounds: u64) -> f64 {
    begin.elapsed().as_nanos() as f64 / rounds.max(1) as f64 / 2.0
}

/// `frames` frames of `len_bytes` bytes from the first side to the second, in batches, none
/// lost: the second side reports its count, and the first never has more in flight than the
/// receive ring holds. Returns bytes per second, Ethernet headers not counted.
///
/// # Errors
/// [`TransportError::Environment`] if nothing comes for 5 s.
pub fn flood(
    end: &mut BareEther,
    side: Side,
    len_bytes: usize,
    frames: u64,
) -> Result<f64, TransportError> {
    let per_second = frames_per_second(end, side, len_bytes, frames)?;
    Ok(per_second * len_bytes.max(NUMBER_BYTES) as f64)
}

/// As [`flood`]: frames per second.
///
/// # Errors
/// [`TransportError::Environment`] if nothing comes for 5 s.
pub fn frames_per_second(
    end: &mut BareEther,
    side: Side,
    len_bytes: usize,
    frames: u64,
) -> Result<f64, TransportError> {
    let begin = Instant::now();
    match side {
        Side::First => send_all(end, len_bytes.max(NUMBER_BYTES), frames)?,
        Side::Second => receive_all(end, frames)?,
    }
    Ok(frames as f64 / begin.elapsed().as_secs_f64())
}

fn send_all(end: &mut BareEther, len_bytes: usize, frames: u64) -> Result<(), TransportError> {
    let mut buffers = vec![vec![0; len_bytes]; SEND_BATCH_FRAMES];
    let (mut sent, mut arrived) = (0, 0);
    while arrived < frames {
        // Frames after the last report belong to the next function of the other side.
        while arrived < frames
            && let Some(report) = end.look()
        {
            arrived = report;
        }
        let room = ON_THE_WAY_MAX
            .saturating_sub(sent - arrived)
            .min(frames - sent);
        if room == 0 {
            arrived = match arrived < frames {
                true => end.receive()?,
                false => arrived,
            };
            continue;
        }
        let batch = room.min(SEND_BATCH_FRAMES as u64) as usize;
        let batch = buffers.get_mut(..batch).unwrap_or_default();
        for (number, frame) in (sent..).zip(batch.iter_mut()) {
            put_number(frame, number);
        }
        sent += batch.len() as u64;
        let batch: Vec<&[u8]> = batch.iter().map(Vec::as_slice).collect();
        end.send_many(&batch)?;
    }
    Ok(())
}

fn receive_all(end: &mut BareEther, frames: u64) -> Result<(), TransportError> {
    let mut report = [0; NUMBER_BYTES];
    for expected in 0..frames {
        let number = end.receive()?;
        if number != expected {
            return Err(TransportError::environment(
                "receiving bare frames",
                EnvironmentFault::unexpected(
                    format_args!("frame {expected}"),
                    format_args!("frame {number}: some were lost"),
                ),
            ));
        }
        let come = expected + 1;
        if come.is_multiple_of(REPORT_FRAMES) || come == frames {
            end.send(come, &mut report)?;
        }
    }
    Ok(())
}
