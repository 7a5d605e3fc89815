//! Step 5: messages. PE 0 gives a line to every other PE, and each answers with its words.

use hostwire::{Job, Result};

const LINE: u64 = 1; // tags
const WORDS: u64 = 2;
const TEXT: [&str; 3] = ["a store is posted", "nobody answers it", "quiet waits"];

fn main() -> Result<()> {
    let job = Job::attach()?;
    if job.pe() == 0 {
        for pe in 1..job.pes() {
            let line = TEXT[(pe as usize - 1) % TEXT.len()];
            job.send(pe, LINE, line.as_bytes())?;
        }
        for pe in 1..job.pes() {
            let mut words = [0_u64];
            job.recv(pe, WORDS, &mut words)?;
            println!("PE {pe} counted {} words", words[0]);
        }
    } else {
        let line = job.recv_vec::<u8>(0, LINE)?; // of any length
        let words = String::from_utf8_lossy(&line).split_whitespace().count();
        job.send(0, WORDS, &[words as u64])?;
    }
    job.finalize()
}
