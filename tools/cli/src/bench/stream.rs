//! A bare TCP stream between the two PEs of a benchmark: the speed of the kernel for programs that need nothing but a
//! stream of bytes.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use hostwire::Result;

use super::bare::{exchange, failed, silent};
use super::measure::Loop;
use super::pe::{Context, time};

/// Ends a hang: no side is silent for so long.
const PATIENCE: Duration = Duration::from_secs(10);
/// What is handed to the kernel at a time, at least.
const PIECE_BYTES: u64 = 64 << 10;
/// Between two looks for the other side.
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// One end of a TCP connection to the other PE.
pub struct Stream(TcpStream);

impl Stream {
    /// Connects the two PEs. Both have to call it.
    pub fn open(bench: &Context, own: IpAddr) -> Result<Self> {
        let stream = match bench.is_first() {
            true => {
                let word = exchange(bench, 1)?;
                let peer = (Ipv4Addr::from_bits((word >> 16) as u32), word as u16);
                TcpStream::connect_timeout(&SocketAddr::from(peer), PATIENCE).map_err(failed)?
            }
            false => {
                let listener = TcpListener::bind((own, 0)).map_err(failed)?;
                let word = word_of(&listener.local_addr().map_err(failed)?);
                exchange(bench, word)?;
                accept(&listener)?
            }
        };
        let set_up = || {
            stream.set_nonblocking(false)?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            stream.set_write_timeout(Some(PATIENCE))
        };
        set_up().map_err(failed)?;
        bench.job.barrier()?;
        Ok(Self(stream))
    }

    /// `size` bytes each turn, from one buffer into one buffer, until the last one has arrived. Short ones go many
    /// at a time.
    pub fn flood<'a>(&'a mut self, bench: &'a Context, size: u64) -> Vec<Loop<'a>> {
        let mut buffer = vec![5; size.max(PIECE_BYTES) as usize];
        self.timed(move |stream, n| {
            let is_first = bench.is_first();
            let mut left = n * size;
            while left > 0 {
                let len = buffer.len().min(left as usize);
                left -= len as u64;
                let piece = buffer.get_mut(..len).unwrap_or_default();
                match is_first {
                    true => stream.write_all(piece)?,
                    false => stream.read_exact(piece)?,
                }
            }
            match is_first {
                true => stream.read_exact(&mut [0]),
                false => stream.write_all(&[1]),
            }
        })
    }

    /// Round trips of `size` bytes.
    pub fn ping_pong<'a>(&'a mut self, bench: &'a Context, size: u64) -> Vec<Loop<'a>> {
        let mut buffer = vec![5; size as usize];
        self.timed(move |stream, n| {
            for _ in 0..n {
                if bench.is_first() {
                    stream.write_all(&buffer)?;
                    stream.read_exact(&mut buffer)?;
                } else {
                    stream.read_exact(&mut buffer)?;
                    stream.write_all(&buffer)?;
                }
            }
            Ok(())
        })
    }

    fn timed<'a>(
        &'a mut self,
        mut run: impl FnMut(&mut TcpStream, u64) -> io::Result<()> + 'a,
    ) -> Vec<Loop<'a>> {
        vec![Box::new(move |n| {
            time(|| {
                run(&mut self.0, n).map_err(|error| match error.kind() {
                    ErrorKind::WouldBlock | ErrorKind::TimedOut => silent(),
                    _ => failed(error),
                })
            })
        })]
    }
}

/// An IPv4 address and a port in one word, which is not 0.
pub fn word_of(address: &SocketAddr) -> u64 {
    let ip = match address {
        SocketAddr::V4(address) => address.ip().to_bits(),
        SocketAddr::V6(_) => 0,
    };
    u64::from(ip) << 16 | u64::from(address.port())
}

/// As `accept`, but it ends.
fn accept(listener: &TcpListener) -> Result<TcpStream> {
    listener.set_nonblocking(true).map_err(failed)?;
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE {
        match listener.accept() {
            Ok((stream, _)) => return Ok(stream),
            Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::sleep(LOOK_AGAIN),
            Err(error) => return Err(failed(error)),
        }
    }
    Err(silent())
}
