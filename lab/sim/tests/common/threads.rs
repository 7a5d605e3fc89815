//! PEs that are threads beside the run, each with a wire of its own, as processes have them.

use std::ops::ControlFlow;
use std::sync::Arc;

use hostwire_sim::engine::Summary;
use hostwire_sim::wire::{CallCosts, Platform, Settings, Watch, WireError, run_processes};
use hostwire_transport::Wire;
use hostwire_transport::conformance::Program;
use hostwire_transport::shm::{ShmOptions, local};
use hostwire_virtual::{Modelled, Seat};

/// Runs `program` on threads that have the wires of processes.
pub fn run_threads<'a, 'w: 'a>(
    platform: impl Into<Platform<'a, 'w>>,
    settings: &Settings,
    segment_bytes: usize,
    program: &Program<'_>,
) -> Result<Summary, WireError> {
    let pes = settings.sockets.len() as u32;
    let shared = local(pes, segment_bytes, ShmOptions::default()).unwrap();
    let go_on = |_: &Summary| ControlFlow::Continue(());
    let watch = Watch {
        run: &go_on,
        turn: &|_, _, _| ControlFlow::Continue(()),
        handed_over: &|_, _, _| {},
        recording: None,
    };
    std::thread::scope(|scope| {
        let mut seats = Vec::new();
        for shm in shared {
            let (seat, [desk, socket]) = Seat::new().unwrap();
            seats.push(seat);
            scope.spawn(move || {
                let wire = Modelled::new(Arc::new(shm), (desk, socket)).unwrap();
                let wire: Arc<dyn Wire> = Arc::new(wire);
                wire.begin().unwrap();
                program(Arc::clone(&wire));
                wire.finish();
            });
        }
        let begun = (0..pes).zip(seats).map(|(pe, seat)| {
            let begun = seat.wait_for((pe, pes), &|| false).unwrap();
            begun.expect("a PE that begins")
        });
        let begun = begun.collect();
        run_processes(platform, settings, (begun, &CallCosts::default()), &watch)
    })
}
