//! Step 6: a server. PE 0 keeps numbers by name; all other PEs are its clients.

use std::collections::HashMap;

use hostwire::{Compare, FromBytes, Immutable, IntoBytes, Job, PeId, Result, SignalOp, Symmetric};

const SERVER: PeId = 0;
const ADD: u32 = 1;
const GET: u32 = 2;
const STOP: u32 = 3;

/// A request of a client. A structure in symmetric memory is plain data.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable)]
#[zerocopy(crate = "hostwire::zerocopy")]
#[repr(C)]
struct Request {
    name: [u8; 16],
    value: i64,
    kind: u32,
    reserved: u32,
}

impl Request {
    fn new(kind: u32, name: &str, value: i64) -> Self {
        let mut bytes = [0; 16];
        bytes[..name.len()].copy_from_slice(name.as_bytes());
        Self {
            name: bytes,
            value,
            kind,
            reserved: 0,
        }
    }
}

/// The places of requests and answers, the same in every PE. Client `c` uses place `c` of
/// `requests` at the server, and place 0 of `answer` in its own memory.
struct Desk {
    requests: Symmetric<Request>,
    asked: Symmetric<u64>, // 1: a request is there
    answer: Symmetric<i64>,
    answered: Symmetric<u64>, // 1: the answer is there
}

impl Desk {
    fn new(job: &Job) -> Result<Self> {
        let pes = job.pes() as usize;
        Ok(Self {
            requests: job.alloc(pes)?,
            asked: job.alloc(pes)?,
            answer: job.alloc(1)?,
            answered: job.alloc(1)?,
        })
    }

    /// Answers requests until every client has sent `STOP`.
    fn serve(&self, clients: &mut Vec<usize>) -> Result<HashMap<[u8; 16], i64>> {
        let mut numbers = HashMap::new();
        while !clients.is_empty() {
            // Sleeps until a client asks; several may ask at the same time.
            for client in self.asked.wait_until_some(clients, Compare::Eq, 1)? {
                let request = self.requests.load(client)?;
                self.asked.store(client, 0)?; // before the answer, because the client may then ask again
                let number = numbers.entry(request.name).or_insert(0);
                match request.kind {
                    ADD => *number += request.value,
                    STOP => clients.retain(|open| *open != client),
                    _ => {}
                }
                let answer = [*number];
                let pe = client as PeId;
                let set = SignalOp::Set(1);
                self.answer
                    .put_with_signal(pe, 0, &answer, &self.answered, 0, set)?;
            }
        }
        Ok(numbers)
    }

    /// Asks the server and waits for its answer.
    fn ask(&self, me: PeId, request: Request) -> Result<i64> {
        self.answered.store(0, 0)?;
        let place = me as usize;
        let set = SignalOp::Set(1);
        self.requests
            .put_with_signal(SERVER, place, &[request], &self.asked, place, set)?;
        self.answered.wait_until(0, Compare::Eq, 1)?;
        self.answer.load(0)
    }
}

fn main() -> Result<()> {
    let job = Job::attach()?;
    let desk = Desk::new(&job)?;
    let me = job.pe();
    if me == SERVER {
        let mut clients: Vec<usize> = (1..job.pes() as usize).collect();
        let numbers = desk.serve(&mut clients)?;
        let visits = numbers.get(&Request::new(GET, "visits", 0).name);
        println!("the server counted {} visits", visits.unwrap_or(&0));
    } else {
        let own = format!("of PE {me}");
        for step in 1..=100 {
            desk.ask(me, Request::new(ADD, "visits", 1))?;
            desk.ask(me, Request::new(ADD, &own, step))?;
        }
        let sum = desk.ask(me, Request::new(GET, &own, 0))?;
        println!("PE {me} has {sum}");
        desk.ask(me, Request::new(STOP, &own, 0))?;
    }
    job.finalize()
}
