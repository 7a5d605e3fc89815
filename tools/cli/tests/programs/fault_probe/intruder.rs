//! A process of another user that has got hold of the job's ticket.

use std::error::Error;
use std::io::Read;

use hostwire::Job;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SendFlags, SocketAddrUnix, SocketType};
use rustix::process::Uid;

use crate::by_hand;

/// PE 2 first sends a thread of another user, which poses as PE 1 with the right key,
/// and then attaches as itself.
pub fn intrude() -> Result<(), Box<dyn Error>> {
    if std::env::var("PMI_RANK")? != "2" {
        let job = Job::attach()?;
        println!("PE {} of {} is fine", job.pe(), job.pes());
        return Ok(job.finalize()?);
    }
    let mut by_hand = by_hand::attach(|ticket| {
        let ticket = ticket.to_owned();
        let heard = std::thread::spawn(move || pose(&ticket).map_err(|e| e.to_string()));
        let heard = heard.join().map_err(|_| "the intruder panicked")??;
        println!("the intruder was sent {heard} bytes");
        Ok(())
    })?;
    let job = Job::over(by_hand.wire, by_hand.sizes, hostwire::AgentMode::Thread)?;
    println!("PE {} of {} is fine", job.pe(), job.pes());
    job.finalize()?;
    Ok(by_hand.launcher.finalize()?)
}

/// Says what PE 1 would say, as user "nobody". Returns how many bytes came back.
fn pose(ticket: &str) -> Result<usize, Box<dyn Error>> {
    // This thread's only.
    rustix::thread::set_thread_uid(Uid::from_raw(65_534))?;
    let (name, key) = ticket.split_at(32);
    let key = u128::from_str_radix(key, 16)?;
    let socket = rustix::net::socket(AddressFamily::UNIX, SocketType::SEQPACKET, None)?;
    let address = SocketAddrUnix::new_abstract_name(format!("hostwire-{name}").as_bytes())?;
    rustix::net::connect(&socket, &address)?;
    let words = [
        u64::from_le_bytes(*b"hostwir\x04"),
        key as u64,
        (key >> 64) as u64,
        1,
        3,
        0,
        0,
    ];
    let hello: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    match rustix::net::send(&socket, &hello, SendFlags::NOSIGNAL) {
        // PE 0 looked at the user and hung up before it could hear anything.
        Err(Errno::PIPE) => return Ok(0),
        sent => sent?,
    };
    let mut answer = Vec::new();
    // The end of the connection, however it comes, is no answer.
    let _ = std::fs::File::from(socket).read_to_end(&mut answer);
    Ok(answer.len())
}
