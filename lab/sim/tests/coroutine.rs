//! Programs as ordinary code.

use std::cell::Cell;
use std::rc::Rc;

use crate::common::clusters::{TWO_BOARDS, address, machine};
use hostwire_sim::engine::{Ps, RunError};
use hostwire_sim::firmware::boot_all;
use hostwire_sim::models::DeviceEvent;
use hostwire_sim::models::ht::opteron::{CoroutineProgram, OpteronEvent};

#[test]
fn a_ring_of_messages_in_plain_code() {
    const MESSAGES: u64 = 200;
    const SLOTS: u64 = 16;
    let mut machine = machine(TWO_BOARDS);
    boot_all(&mut machine).unwrap();
    // Slots in the receiver's memory, a count of emptied slots in the sender's.
    let (slots, emptied) = (
        address(&machine, 1, 0x10_0000),
        address(&machine, 0, 0x10_0000),
    );
    machine.start(
        0,
        CoroutineProgram::new(move |core| {
            let mut credit = 0u64;
            for n in 0..MESSAGES {
                while n >= credit + SLOTS {
                    credit = u64::from_le_bytes(
                        core.poll(emptied, &credit.to_le_bytes())?
                            .try_into()
                            .unwrap(),
                    );
                }
                let mut line = [0; 64];
                line[..8].copy_from_slice(&(n * n).to_le_bytes());
                line[56..].copy_from_slice(&(n + 1).to_le_bytes());
                core.store(slots + 64 * (n % SLOTS), &line)?;
                core.fence();
            }
            Ok(())
        }),
    );
    let sum = Rc::new(Cell::new(0));
    let total = sum.clone();
    machine.start(
        1,
        CoroutineProgram::new(move |core| {
            for n in 0..MESSAGES {
                let slot = slots + 64 * (n % SLOTS);
                let before = if n < SLOTS { 0 } else { n + 1 - SLOTS };
                core.poll(slot + 56, &before.to_le_bytes())?;
                let value = core.load(slot, 8)?;
                total.set(total.get() + u64::from_le_bytes(value.try_into().unwrap()));
                core.store(emptied, &(n + 1).to_le_bytes())?;
                core.fence();
            }
            Ok(())
        }),
    );
    machine.sim.run().unwrap();
    assert_eq!(sum.get(), (0..MESSAGES).map(|n| n * n).sum::<u64>());
}

#[test]
fn suspended_programs_are_woken_and_reported() {
    let mut machine = machine(TWO_BOARDS);
    boot_all(&mut machine).unwrap();
    let woken_at = Rc::new(Cell::new(Ps::ZERO));
    let note = woken_at.clone();
    let core = machine
        .start(
            0,
            CoroutineProgram::new(move |core| {
                core.suspend();
                note.set(core.now());
                core.suspend();
                Ok(())
            }),
        )
        .unwrap();
    let time = machine.sim.now() + Ps::from_us(3);
    let socket = machine.sockets()[0].component;
    machine
        .sim
        .inject(
            time,
            socket,
            DeviceEvent::Opteron(OpteronEvent::Wake { core }),
        )
        .unwrap();
    let Err(RunError::Stalled { report, .. }) = machine.sim.run() else {
        panic!("still suspended")
    };
    assert_eq!(woken_at.get(), time);
    assert!(
        report
            .to_string()
            .contains("left waits for core 0: a wake-up"),
        "{report}"
    );
}

#[test]
fn an_abort_comes_back_as_an_error() {
    let mut machine = machine(TWO_BOARDS);
    boot_all(&mut machine).unwrap();
    let seen = Rc::new(Cell::new(0));
    let note = seen.clone();
    machine.start(
        0,
        CoroutineProgram::new(move |core| {
            note.set(core.store(0xdead_0000_0000, &[0; 8]).unwrap_err().address);
            Ok(())
        }),
    );
    machine.sim.run().unwrap();
    assert_eq!(seen.get(), 0xdead_0000_0000);
}
