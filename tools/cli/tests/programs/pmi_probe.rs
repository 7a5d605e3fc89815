//! A PE that uses PMI-1; its first argument says what it does. For the end-to-end tests
//! of `hostwire run`.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::process::Command;
use std::time::Duration;

use hostwire::board::{
    Activity, BOARD_FD_VARIABLE, ENDED, ENDED_AT, LOST_AT, RECORD_BYTES, Record,
};
use hostwire_bootstrap::Deadline;
use hostwire_bootstrap::pmi::Client;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |n: usize| arguments.get(n).map(String::as_str).unwrap_or_default();
    let deadline = Deadline::after(Duration::from_secs(60));
    let mut client = Client::from_env(deadline)?.ok_or("no launcher in the environment")?;
    let (rank, size) = (client.rank(), client.size());
    match argument(0) {
        // Every PE learns what every other has put.
        "exchange" => {
            client.put(&format!("key-{rank}"), &format!("value={rank}"))?;
            client.barrier()?;
            for peer in 0..size {
                let value = client.get(&format!("key-{peer}"))?;
                if value != format!("value={peer}") {
                    return Err(format!("PE {peer} put {value:?}").into());
                }
            }
            client.barrier()?;
            println!("PE {rank} of {size} has met all");
            client.finalize()?;
        }
        "leave" => {}
        // One PE aborts while the others wait for it.
        "abort" if rank == argument(1).parse()? => {
            client.abort(argument(2).parse()?, argument(3))?;
            std::thread::sleep(Duration::from_secs(1000));
        }
        "abort" => client.barrier()?,
        // One PE leaves in order, and the others come to a barrier.
        "desert" if rank == argument(1).parse()? => client.finalize()?,
        "desert" => {
            let refusal = client.barrier().err().ok_or("the barrier opened")?;
            println!("{refusal}");
            client.finalize()?;
        }
        // One PE sends nonsense.
        "babble" if rank == argument(1).parse()? => {
            let fd = std::os::fd::AsFd::as_fd(&client).try_clone_to_owned()?;
            let mut socket = std::os::unix::net::UnixStream::from(fd);
            socket.write_all(argument(2).as_bytes())?;
            socket.write_all(b"\n")?;
            std::thread::sleep(Duration::from_secs(1000));
        }
        "babble" => client.barrier()?,
        // PE 0 ends by signal or status while all show something on the board.
        "board" => {
            let code: u32 = argument(1).parse()?;
            let activity = Activity::from_code(code).ok_or("no such activity")?;
            show(
                rank,
                Record {
                    activity,
                    peer: argument(2).parse().ok(),
                },
            )?;
            client.barrier()?;
            if rank == 0 && argument(3) == "kill" {
                kill_me()?;
            }
            std::thread::sleep(Duration::from_secs(1000));
        }
        // PE 1 reports that it has lost PE 0 and fails; PE 0 is killed when the launcher
        // knows.
        "lose" => lose(client, argument(1), argument(2))?,
        other => return Err(format!("nothing is called {other:?}").into()),
    }
    Ok(())
}

/// PE 1 fails with a status, PE 0 is killed or ends with another.
#[expect(clippy::exit, reason = "PEs that end without leaving the job")]
fn lose(mut client: Client, status: &str, end: &str) -> Result<(), Box<dyn Error>> {
    client.barrier()?;
    if client.rank() > 1 {
        // Until it is ended, or gets an error because a PE is missing.
        let _ = client.barrier();
        client.finalize()?;
        return Ok(());
    }
    if client.rank() == 1 {
        let lost = 1u64.to_le_bytes();
        board()?.write_all_at(&lost, record(1) + LOST_AT as u64)?;
        std::process::exit(status.parse()?);
    }
    let mut ended = [0; 8];
    while ended != ENDED {
        std::thread::sleep(Duration::from_millis(1));
        board()?.read_exact_at(&mut ended, record(1) + ENDED_AT as u64)?;
    }
    if end == "kill" {
        kill_me()?;
    }
    std::process::exit(end.parse()?);
}

/// Writes on the board as the library would.
fn show(rank: u32, shown: Record) -> Result<(), Box<dyn Error>> {
    board()?.write_all_at(&shown.to_word().to_le_bytes(), record(rank))?;
    Ok(())
}

fn board() -> Result<File, Box<dyn Error>> {
    let fd = std::env::var(BOARD_FD_VARIABLE)?;
    let path = format!("/proc/self/fd/{fd}");
    Ok(OpenOptions::new().read(true).write(true).open(path)?)
}

/// Where the record of a PE is on the board.
fn record(rank: u32) -> u64 {
    u64::from(rank) * RECORD_BYTES as u64
}

fn kill_me() -> Result<(), Box<dyn Error>> {
    let me = std::process::id().to_string();
    Command::new("kill").args(["-9", &me]).status()?;
    Ok(())
}
