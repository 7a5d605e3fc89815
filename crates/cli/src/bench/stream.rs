//! A bare TCP stream between the two PEs of a benchmark: what the kernel gives who only wants
//! bytes at the other end.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use hostwire::Result;

use super::bare::{exchange, failed, silent};
use super::measure::Loop;
use super::pe::{Context, time};

/// Ends a hang: no side is silent for so long.
const PATIENCE: Duration = Duration::from_secs(10);
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

    /// `size` bytes each turn, from one buffer into one buffer, until the last one has arrived.
    pub fn flood<'a>(&'a mut self, bench: &'a Context, size: u64) -> Vec<Loop<'a>> {
        let mut buffer = vec![5; size as usize];
        vec![Box::new(move |n| {
            time(|| {
                let done = match bench.is_first() {
                    true => self.send(&buffer, n),
                    false => self.receive(&mut buffer, n),
                };
                done.map_err(|error| match error.kind() {
                    ErrorKind::WouldBlock | ErrorKind::TimedOut => silent(),
                    _ => failed(error),
                })
            })
        })]
    }

    fn send(&mut self, buffer: &[u8], n: u64) -> io::Result<()> {
        for _ in 0..n {
            self.0.write_all(buffer)?;
        }
        self.0.read_exact(&mut [0])
    }

    fn receive(&mut self, buffer: &mut [u8], n: u64) -> io::Result<()> {
        for _ in 0..n {
            self.0.read_exact(buffer)?;
        }
        self.0.write_all(&[1])
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
