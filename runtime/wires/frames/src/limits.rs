//! Bare Ethernet: frames through a packet socket with a receive ring, and nothing else.
//!
//! Both ends run the same functions in the same order, each with its [`Side`]. The result of the first side
//! counts. The sockets are those of the wire `ether` without filter, links or keys, and the
//! loops spin. A frame that was lost is sent again.

use std::time::{Duration, Instant};

use hostwire_packet::htoe::ethernet::MacAddress;
use hostwire_transport::error::{EnvironmentFault, TransportError};
use hostwire_transport::limits::Side;

use crate::Interface;
use crate::socket::{BareSocket, FRAME_LEN_MAX, SEND_BATCH_FRAMES};

/// The longest wait for a frame.
const PATIENCE: Duration = Duration::from_secs(5);
/// A frame without an answer is sent again after this. Much longer than a round trip, so that a calm cable sees no frame twice.
const RESEND: Duration = Duration::from_millis(10);
/// The last answer may be lost: its sender stays until the other end has been silent for so long, or has said farewell.
const LINGER: Duration = Duration::from_millis(100);
/// How often the first side says farewell. One is enough unless frames are lost.
const FAREWELLS: usize = 3;
/// Looks between two readings of the clock.
const LOOKS: u32 = 4096;
/// A flood has no more frames in flight than half of the receive ring holds.
const ON_THE_WAY_MAX: u64 = 256;
/// The number of frames after which the receiver of a flood reports its count.
const REPORT_FRAMES: u64 = 64;
/// A frame begins with the number of the call that it belongs to, and its own number in that call.
const NUMBER_BYTES: usize = size_of::<u64>();
/// Bits of its own number.
const OWN_BITS: u32 = 40;
/// The number of a farewell.
const FAREWELL: u64 = (1 << OWN_BITS) - 1;

/// What carries frames.
trait Cable {
    /// Sends as many of `frames` as there is room for, and returns how many.
    fn send(&mut self, frames: &[&[u8]]) -> usize;
    /// Shows the next frame to `take`, if there is one.
    fn next(&mut self, take: &mut dyn FnMut(&[u8])) -> bool;
}

impl Cable for BareSocket {
    fn send(&mut self, frames: &[&[u8]]) -> usize {
        BareSocket::send(self, frames)
    }

    fn next(&mut self, take: &mut dyn FnMut(&[u8])) -> bool {
        BareSocket::next(self, take)
    }
}

/// One end of a cable.
#[derive(Debug)]
pub struct BareEther(End<BareSocket>);

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
        let cable = BareSocket::open(interface, ether_type, peer)?;
        let frame_len_max = interface.mtu_bytes.min(FRAME_LEN_MAX);
        Ok(Self(End::new(cable, frame_len_max)))
    }

    /// Longest frame, in bytes without Ethernet header.
    pub fn frame_len_max(&self) -> usize {
        self.0.frame_len_max
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
    let begin = Instant::now();
    end.0.ping_pong(side, len_bytes, rounds)?;
    let half = begin.elapsed().as_nanos() as f64 / rounds.max(1) as f64 / 2.0;
    end.0.part(side)?;
    Ok(half)
}

/// `frames` frames of `len_bytes` bytes from the first side to the second, in batches: the
/// second side reports its count, and the first never has more in flight than the
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
    end.0.flood(side, len_bytes, frames)?;
    let seconds = begin.elapsed().as_secs_f64();
    end.0.part(side)?;
    Ok(frames as f64 / seconds)
}

/// One end of any cable.
#[derive(Debug)]
struct End<C> {
    cable: C,
    frame_len_max: usize,
    /// The number of this call. Both ends count the same ones.
    call: u64,
    /// The last answer of this end, which is sent again if the other one asks again.
    answer: Option<u64>,
}

impl<C: Cable> End<C> {
    fn new(cable: C, frame_len_max: usize) -> Self {
        Self {
            cable,
            frame_len_max,
            call: 0,
            answer: None,
        }
    }

    fn begin_call(&mut self) {
        self.call = next(self.call);
        self.answer = None;
    }

    fn ping_pong(
        &mut self,
        side: Side,
        len_bytes: usize,
        rounds: u64,
    ) -> Result<(), TransportError> {
        let full = self.frame_len_max;
        if len_bytes > full {
            let frames = len_bytes.div_ceil(full) as u64;
            for _ in 0..rounds {
                self.flood(side, full, frames)?;
                self.flood(other(side), full, frames)?;
            }
            return Ok(());
        }
        self.begin_call();
        let mut frame = vec![0; len_bytes.max(NUMBER_BYTES)];
        for round in 0..rounds {
            match side {
                Side::First => self.ask(round, &mut frame)?,
                Side::Second => self.answer(round, &mut frame)?,
            }
        }
        Ok(())
    }

    /// Sends a frame until it comes back.
    fn ask(&mut self, round: u64, frame: &mut [u8]) -> Result<(), TransportError> {
        let begin = Instant::now();
        let mut sent = begin;
        while sent - begin <= PATIENCE {
            self.send(round, frame)?;
            while let Some(number) = self.receive_within(RESEND, sent) {
                if number == round {
                    return Ok(());
                }
            }
            sent = Instant::now();
        }
        Err(lost("receiving"))
    }

    /// Waits for a frame and sends it back. One that comes again was not heard.
    fn answer(&mut self, round: u64, frame: &mut [u8]) -> Result<(), TransportError> {
        let begin = Instant::now();
        while let Some(number) = self.receive_within(PATIENCE, begin) {
            if number == round {
                self.answer = Some(round);
                return self.send(round, frame);
            }
            self.repeat_answer(number, frame)?;
        }
        Err(lost("receiving"))
    }

    /// `frames` frames from the first side to the second. The second one may go before the first knows that it has all.
    fn flood(&mut self, side: Side, len_bytes: usize, frames: u64) -> Result<(), TransportError> {
        self.begin_call();
        match side {
            Side::First => self.send_all(len_bytes.max(NUMBER_BYTES), frames),
            Side::Second => self.receive_all(frames),
        }
    }

    fn send_all(&mut self, len_bytes: usize, frames: u64) -> Result<(), TransportError> {
        let mut buffers = vec![vec![0; len_bytes]; SEND_BATCH_FRAMES];
        let (mut sent, mut arrived) = (0, 0);
        let mut progress = Instant::now();
        let mut resent = progress;
        while arrived < frames {
            let room = ON_THE_WAY_MAX
                .saturating_sub(sent - arrived)
                .min(frames - sent);
            let report = match room {
                0 => self.receive_within(RESEND, progress.max(resent)),
                _ => self.look(),
            };
            match report {
                Some(FAREWELL) => return Ok(()),
                Some(report) if report > arrived => {
                    arrived = report.min(frames);
                    sent = sent.max(arrived);
                    progress = Instant::now();
                    continue;
                }
                Some(_) => continue,
                None if room > 0 => {}
                None if progress.elapsed() > PATIENCE => return Err(lost("receiving")),
                None => {
                    // From the first one that may be lost.
                    sent = arrived;
                    resent = Instant::now();
                    continue;
                }
            }
            let batch = room.min(SEND_BATCH_FRAMES as u64) as usize;
            let batch = buffers.get_mut(..batch).unwrap_or_default();
            for (number, frame) in (sent..).zip(batch.iter_mut()) {
                self.put_number(frame, number);
            }
            sent += batch.len() as u64;
            let batch: Vec<&[u8]> = batch.iter().map(Vec::as_slice).collect();
            self.send_many(&batch)?;
        }
        Ok(())
    }

    fn receive_all(&mut self, frames: u64) -> Result<(), TransportError> {
        let mut report = [0; NUMBER_BYTES];
        let mut come = 0;
        let mut progress = Instant::now();
        while come < frames {
            let Some(number) = self.receive_within(PATIENCE, progress) else {
                return Err(lost("receiving"));
            };
            if number != come {
                // A later one comes again, and one that comes again shows that a report was lost.
                self.repeat_answer(number, &mut report)?;
                continue;
            }
            come += 1;
            if come.is_multiple_of(REPORT_FRAMES) || come == frames {
                progress = Instant::now();
                self.answer = Some(come);
                self.send(come, &mut report)?;
            }
        }
        Ok(())
    }

    /// Sends the last answer again if `number` asks for it: it is the last one that was answered.
    fn repeat_answer(&mut self, number: u64, frame: &mut [u8]) -> Result<(), TransportError> {
        match self.answer {
            // Of a flood the answer is a count, of a round trip the number itself.
            Some(answer) if number == answer || number + 1 == answer => self.send(answer, frame),
            _ => Ok(()),
        }
    }

    /// The end of a measurement, which no clock sees. The other end may miss the last answer of this one.
    fn part(&mut self, side: Side) -> Result<(), TransportError> {
        let mut frame = [0; NUMBER_BYTES];
        if side == Side::First {
            self.put_number(&mut frame, FAREWELL);
            return self.send_many(&[&frame[..]; FAREWELLS]);
        }
        let mut heard = Instant::now();
        while let Some(number) = self.receive_within(LINGER, heard) {
            if number == FAREWELL {
                break;
            }
            heard = Instant::now();
            self.repeat_answer(number, &mut frame)?;
        }
        Ok(())
    }

    fn send(&mut self, number: u64, frame: &mut [u8]) -> Result<(), TransportError> {
        self.put_number(frame, number);
        self.send_many(&[frame])
    }

    fn send_many(&mut self, frames: &[&[u8]]) -> Result<(), TransportError> {
        let mut rest = frames;
        let begin = Instant::now();
        while !rest.is_empty() {
            let sent = self.cable.send(rest);
            rest = rest.get(sent..).unwrap_or_default();
            if sent == 0 && begin.elapsed() > PATIENCE {
                return Err(lost("sending"));
            }
        }
        Ok(())
    }

    /// Spins until a frame of this call comes, and returns its number; None at `limit` after `since`.
    fn receive_within(&mut self, limit: Duration, since: Instant) -> Option<u64> {
        loop {
            for _ in 0..LOOKS {
                if let Some(number) = self.look() {
                    return Some(number);
                }
                // The other end may run on the same core.
                core::hint::spin_loop();
            }
            if since.elapsed() > limit {
                return None;
            }
        }
    }

    /// The number of the next frame of this call. A frame of the call before comes late, and says nothing. One of the next call
    /// shows that the other end has all of this one, as a farewell does.
    fn look(&mut self) -> Option<u64> {
        let mut number = None;
        while self.cable.next(&mut |frame| {
            number = frame.first_chunk().copied().map(u64::from_be_bytes);
        }) {
            match number {
                Some(number) if number >> OWN_BITS == self.call => return Some(number & FAREWELL),
                Some(number) if number >> OWN_BITS == next(self.call) => return Some(FAREWELL),
                _ => {}
            }
        }
        None
    }

    fn put_number(&self, frame: &mut [u8], number: u64) {
        if let Some(place) = frame.first_chunk_mut::<NUMBER_BYTES>() {
            *place = ((self.call << OWN_BITS) | (number & FAREWELL)).to_be_bytes();
        }
    }
}

/// The call behind this one.
fn next(call: u64) -> u64 {
    (call + 1) % (1 << (u64::BITS - OWN_BITS))
}

fn other(side: Side) -> Side {
    match side {
        Side::First => Side::Second,
        Side::Second => Side::First,
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

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    /// Loses one frame of so many.
    struct Lossy {
        out: Sender<Vec<u8>>,
        into: Receiver<Vec<u8>>,
        one_of: u64,
        sent: u64,
    }

    impl Cable for Lossy {
        fn send(&mut self, frames: &[&[u8]]) -> usize {
            for frame in frames {
                self.sent += 1;
                if !self.sent.is_multiple_of(self.one_of) {
                    // Nobody is there any more: as good as lost.
                    let _ = self.out.send(frame.to_vec());
                }
            }
            frames.len()
        }

        fn next(&mut self, take: &mut dyn FnMut(&[u8])) -> bool {
            let frame = self.into.try_recv();
            frame.map(|frame| take(&frame)).is_ok()
        }
    }

    /// Both ends run `work`, each on a thread.
    fn on_both(one_of: u64, work: fn(&mut End<Lossy>, Side) -> Result<(), TransportError>) {
        let ((to_second, from_first), (to_first, from_second)) = (channel(), channel());
        let end = |out, into| {
            let cable = Lossy {
                out,
                into,
                one_of,
                sent: 0,
            };
            End::new(cable, 100)
        };
        let mut first = end(to_second, from_second);
        let mut second = end(to_first, from_first);
        let second = std::thread::spawn(move || work(&mut second, Side::Second));
        work(&mut first, Side::First).unwrap();
        second.join().unwrap().unwrap();
    }

    #[test]
    fn what_is_lost_of_a_flood_is_sent_again() {
        on_both(97, |end, side| {
            end.flood(side, 100, 1000)?;
            end.part(side)
        });
    }

    #[test]
    fn what_is_lost_of_round_trips_is_sent_again() {
        for len in [8, 1000] {
            type Work = fn(&mut End<Lossy>, Side) -> Result<(), TransportError>;
            let short: Work = |end, side| end.ping_pong(side, 8, 50).and_then(|()| end.part(side));
            let long: Work =
                |end, side| end.ping_pong(side, 1000, 20).and_then(|()| end.part(side));
            on_both(7, if len == 8 { short } else { long });
        }
    }

    #[test]
    fn frames_of_an_earlier_call_count_nowhere() {
        on_both(u64::MAX, |end, side| {
            for _ in 0..3 {
                end.flood(side, 8, 300)?;
                end.part(side)?;
                end.ping_pong(side, 8, 3)?;
                end.part(side)?;
            }
            Ok(())
        });
    }
}
