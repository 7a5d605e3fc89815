//! PEs in virtual time: ordinary code against the ordinary `hostwire` API, on the
//! processors of a booted machine.
//!
//! [`run`] starts one PE per chosen socket. A PE is a stackful coroutine; it gets a
//! [`VirtualWire`], which is a [`Wire`](hostwire_transport::Wire) like any
//! other: stores become stores of that socket's core, through its write-combining
//! buffers, to the global address of the target's memory. A peer's store appears in the
//! PE's segment at the moment when the modelled memory controller writes it.
//!
//! `docs/sim/wire.md` lists the cost of each call, and what is not modelled.
//!
//! ```
//! use hostwire::{AgentMode, Job, Layout, Sizes};
//! use hostwire_sim::experiments::{curves, tccluster};
//! use hostwire_sim::wire::{self, Settings};
//!
//! let mut machine = tccluster::booted(&curves::chain(2, 16, 800))?;
//! let sizes = Sizes { heap_bytes: 4096, ..Sizes::default() };
//! let settings = Settings::new(2, Layout::new(2, sizes)?.segment_bytes());
//! wire::run(&mut machine, &settings, &|wire| {
//!     let begin = wire.now();
//!     let job = Job::over(wire.clone(), sizes, AgentMode::Polled).unwrap();
//!     if job.pe() == 0 {
//!         job.send(1, 0, &[42_u64]).unwrap();
//!     } else {
//!         let mut answer = [0_u64];
//!         job.recv(0, 0, &mut answer).unwrap();
//!         assert_eq!(answer, [42]);
//!         assert!(wire.now() > begin);
//!     }
//!     job.finalize().unwrap();
//! })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod board;
mod calls;
mod core_program;
mod dma;
mod error;
mod hosts;
mod messages;
mod observer;
mod platform;
#[cfg(target_os = "linux")]
mod processes;
mod run;
mod socket;
mod sockets;
mod transport;

pub use calls::CallCosts;
pub use error::WireError;
pub use messages::HOST_PES_MAX;
pub use platform::Platform;
#[cfg(target_os = "linux")]
pub use processes::{Takes, Watch, run_processes};
pub use run::{Settings, run, run_watched};
pub use transport::VirtualWire;
