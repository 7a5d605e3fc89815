//! Frames of the wire, recorded, sent again, and garbage that looks like them.

use std::error::Error;
use std::fs;
use std::time::{Duration, Instant};

use hostwire_frames::{Interface, RawSocket};

type Done = Result<(), Box<dyn Error>>;

const ETHER_TYPE: u16 = 0x88b5;
const HEADER_BYTES: usize = 14;
/// For a hang.
const PATIENCE: Duration = Duration::from_secs(60);

/// Records `count` frames that pass by into `file`.
pub fn record(file: &str, count: usize) -> Done {
    let socket = open()?;
    let mut frames = Vec::new();
    let mut buffer = [0; 9100];
    let begin = Instant::now();
    while frames.len() < count && begin.elapsed() < PATIENCE {
        match socket.receive(&mut buffer) {
            Some(len) => frames.push(buffer[..len.min(buffer.len())].to_vec()),
            None => std::thread::sleep(Duration::from_micros(100)),
        }
    }
    if frames.len() < count {
        return Err("no frames pass by".into());
    }
    let mut bytes = Vec::new();
    for frame in frames {
        bytes.extend((frame.len() as u32).to_le_bytes());
        bytes.extend(frame);
    }
    Ok(fs::write(file, bytes)?)
}

/// Sends the frames of `file`, all of them `times` times.
pub fn replay(file: &str, times: usize) -> Done {
    let (socket, frames) = (open()?, read(file)?);
    for _ in 0..times {
        for frame in &frames {
            // An interface that is busy loses some.
            let _ = socket.send(frame);
        }
    }
    Ok(())
}

/// Sends `count` frames that differ from those of `file` in random places behind the
/// addresses, or in all of them.
pub fn garbage(file: &str, count: usize) -> Done {
    let (socket, frames) = (open()?, read(file)?);
    let mut state = 7u64;
    let mut random = move || {
        state = state
            .wrapping_mul(0x5851_f42d_4c95_7f2d)
            .wrapping_add(0x1405_7b7e_f767_814f);
        (state >> 33) as usize
    };
    for number in 0..count {
        let mut frame = frames[random() % frames.len()].clone();
        let changes = if number % 4 == 0 {
            frame.len()
        } else {
            1 + random() % 8
        };
        for _ in 0..changes {
            let at = HEADER_BYTES + random() % (frame.len() - HEADER_BYTES);
            frame[at] = random() as u8;
        }
        frame.truncate(HEADER_BYTES + 1 + random() % (frame.len() - HEADER_BYTES));
        let _ = socket.send(&frame);
    }
    Ok(())
}

fn open() -> Result<RawSocket, Box<dyn Error>> {
    Ok(RawSocket::open(
        &Interface::choose(Some("wire"))?,
        ETHER_TYPE,
    )?)
}

fn read(file: &str) -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
    let bytes = fs::read(file)?;
    let mut rest = &bytes[..];
    let mut frames = Vec::new();
    while let Some((len, behind)) = rest.split_first_chunk::<4>() {
        let len = u32::from_le_bytes(*len) as usize;
        let (frame, behind) = behind.split_at_checked(len).ok_or("a frame is cut off")?;
        frames.push(frame.to_vec());
        rest = behind;
    }
    match frames.iter().all(|frame| frame.len() > HEADER_BYTES) && !frames.is_empty() {
        true => Ok(frames),
        false => Err("no frames".into()),
    }
}
