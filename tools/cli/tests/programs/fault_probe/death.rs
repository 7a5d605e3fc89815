//! The last PE is killed by SIGKILL while it does something, and each of the others
//! prints what it noticed, whatever it was doing.

use std::error::Error;
use std::time::{Duration, Instant};

use hostwire::{Compare, EnvironmentFault, Job, Symmetric, Team};
use rustix::process::{Signal, getpid, kill_process};

use crate::by_hand;

/// Long enough for every PE to reach its place. A PE that is later finds the PE dead,
/// which must have the same result.
const BEFORE_DEATH: Duration = Duration::from_millis(200);

/// The victim dies in `stage`.
pub fn die(stage: &str) -> Result<(), Box<dyn Error>> {
    if stage.starts_with("attach") {
        return in_attach(stage);
    }
    let job = Job::attach()?;
    let victim = job.pes() - 1;
    let words = job.alloc::<u64>(8)?;
    // They have a team of their own: a barrier and a reduction in one team would be an error, and reported as one. PE 0
    // never reduces.
    let reduces = [0, victim.saturating_sub(1), victim].contains(&job.pe());
    let reducers = job.world().split(reduces.then_some(0), 0)?;
    job.barrier()?;
    if job.pe() == victim {
        std::thread::spawn(|| {
            std::thread::sleep(BEFORE_DEATH);
            kill_process(getpid(), Signal::KILL)
        });
        match stage {
            "send" => job.send(0, 99, &vec![1u8; 1 << 20])?,
            "recv" => drop(job.recv::<u64>(0, 99, &mut [0])?),
            "barrier" => job.barrier()?,
            "wait" => words.wait_until(0, Compare::Eq, 1)?,
            "reduce" => reduce(reducers.as_ref())?,
            "finalize" => return Ok(job.finalize()?),
            other => return Err(format!("no such stage: {other:?}").into()),
        }
        return Err("the victim has survived".into());
    }
    if stage == "finalize" {
        // A PE that sees it leave before it dies ends in good order.
        std::thread::sleep(3 * BEFORE_DEATH);
    }
    let begin = Instant::now();
    let (what, result) = survive(&job, victim, &words, reducers.as_ref());
    let ms = begin.elapsed().saturating_sub(BEFORE_DEATH).as_millis();
    let seen = match result {
        Ok(()) => "nothing".into(),
        Err(hostwire::Error::PeerLost { pe, .. }) => format!("PE {pe} lost"),
        Err(hostwire::Error::PeerLeft { pe }) => format!("PE {pe} left"),
        Err(other) => other.to_string(),
    };
    println!("{} {what} {ms} {seen}", job.pe());
    Ok(())
}

/// Waits that end only because a PE has died.
fn survive(
    job: &Job,
    victim: u32,
    words: &Symmetric<u64>,
    reducers: Option<&Team>,
) -> (&'static str, hostwire::Result<()>) {
    match job.pe() {
        0 => ("recv", job.recv::<u64>(victim, 1, &mut [0]).map(|_| ())),
        1 => ("barrier", job.barrier()),
        2 => ("wait", words.wait_until(0, Compare::Eq, 1)),
        3 => ("send", job.send(victim, 1, &vec![1u8; 1 << 20])),
        4 => ("get", until_it_fails(|| words.get(victim, 0, &mut [0]))),
        5 => ("put", until_it_fails(|| words.put(victim, 0, &[0]))),
        6 => ("add", until_it_fails(|| words.add(victim, 1, 1))),
        7 => (
            "try_recv",
            until_it_fails(|| job.try_recv::<u64>(victim, 1, &mut [0]).map(|_| ())),
        ),
        _ => ("reduce", reduce(reducers)),
    }
}

fn reduce(team: Option<&Team>) -> hostwire::Result<()> {
    team.map_or(Ok(()), |team| team.all_reduce(&mut [1], |a, b| a + b))
}

fn until_it_fails(mut operation: impl FnMut() -> hostwire::Result<()>) -> hostwire::Result<()> {
    loop {
        operation()?;
        std::thread::yield_now();
    }
}

/// The victim ends before it has attached: at once, or when the others know how to find
/// PE 0.
fn in_attach(stage: &str) -> Result<(), Box<dyn Error>> {
    let rank: u32 = std::env::var("PMI_RANK")?.parse()?;
    let size: u32 = std::env::var("PMI_SIZE")?.parse()?;
    if rank + 1 == size {
        if stage == "attach-late" {
            by_hand::meet()?;
        }
        kill_process(getpid(), Signal::KILL)?;
    }
    let begin = Instant::now();
    let seen = match Job::attach() {
        Ok(_) => "nothing".into(),
        Err(hostwire::Error::Launch { fault, .. }) => format!("the launcher: {fault}"),
        Err(hostwire::Error::Environment {
            fault: EnvironmentFault::Absent { pes },
            ..
        }) => format!("PE {pes:?} absent"),
        Err(error) => error.to_string(),
    };
    println!("{rank} attach {} {seen}", begin.elapsed().as_millis());
    Ok(())
}
