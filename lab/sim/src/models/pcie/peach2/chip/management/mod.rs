//! The management processor: a small processor in the chip that runs a program against the
//! chip's registers.
//!
//! The paper has a NIOS processor that only monitors and manages the links (tca-peach2, section
//! III.D), and says no more. Its instructions, its times and its program are this project's.
//! TLPs never go through it.

mod firmware;
mod program;

pub use firmware::{Command, Reply, firmware};
pub use program::{Cell, Instruction, Interrupts, Program};

use crate::engine::{Context, Ps};
use crate::models::DeviceEvent;

use super::{Chip, ChipEvent};
use program::CELLS;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ProcessorState {
    /// In reset, or at the end of its program.
    #[default]
    Halted,
    Running,
    /// Until one of these, or until the timer with this number.
    Sleeping(Interrupts, Cell),
}

/// The processor.
#[derive(Debug, Default)]
pub(super) struct Management {
    program: Program,
    at: usize,
    cells: [u64; CELLS],
    state: ProcessorState,
    /// What has happened since the program last slept for it.
    raised: Interrupts,
    /// Counts sleeps: a timer of an earlier one is void.
    sleeps: u32,
}

impl Management {
    fn cell(&self, cell: Cell) -> u64 {
        self.cells.get(usize::from(cell.0)).copied().unwrap_or(0)
    }

    fn set(&mut self, cell: Cell, value: u64) {
        if let Some(place) = self.cells.get_mut(usize::from(cell.0)) {
            *place = value;
        }
    }
}

impl Chip {
    /// Loads a program. It runs from its start when [`ChipEvent::Boot`] comes.
    pub fn load_program(&mut self, program: Program) {
        self.management = Management {
            program,
            ..Management::default()
        };
    }

    /// The processor's reset ends.
    pub(super) fn boot(&mut self, ctx: &mut Context<'_, DeviceEvent>) {
        self.management.at = 0;
        self.next_instruction(Ps::ZERO, ctx);
    }

    /// Something has happened that a program may sleep for.
    pub(super) fn raise(&mut self, what: Interrupts, ctx: &mut Context<'_, DeviceEvent>) {
        let management = &mut self.management;
        management.raised = management.raised.and(what);
        if let ProcessorState::Sleeping(mask, timed_out) = management.state
            && management.raised.any_of(mask)
        {
            self.wake_up(mask, timed_out, false, ctx);
        }
    }

    /// The timer of a sleep has run out.
    pub(super) fn timer(&mut self, sleep: u32, ctx: &mut Context<'_, DeviceEvent>) {
        if let ProcessorState::Sleeping(mask, timed_out) = self.management.state
            && self.management.sleeps == sleep
        {
            self.wake_up(mask, timed_out, true, ctx);
        }
    }

    fn wake_up(
        &mut self,
        mask: Interrupts,
        timed_out: Cell,
        is_timeout: bool,
        ctx: &mut Context<'_, DeviceEvent>,
    ) {
        let management = &mut self.management;
        management.raised = management.raised.without(mask);
        management.set(timed_out, u64::from(is_timeout));
        self.next_instruction(self.config.instruction(), ctx);
    }

    fn next_instruction(&mut self, after: Ps, ctx: &mut Context<'_, DeviceEvent>) {
        self.management.state = ProcessorState::Running;
        ctx.schedule(ctx.me(), after, DeviceEvent::Chip(ChipEvent::Instruction));
    }

    /// One instruction. A program that runs off its end halts.
    pub(super) fn step(&mut self, ctx: &mut Context<'_, DeviceEvent>) {
        if self.management.state != ProcessorState::Running {
            return;
        }
        let Some(instruction) = self.management.program.get(self.management.at) else {
            self.management.state = ProcessorState::Halted;
            return;
        };
        self.management.at += 1;
        let mut time = self.config.instruction();
        let management = &mut self.management;
        match instruction {
            Instruction::Set { to, value } => management.set(to, value),
            Instruction::And { to, a, b } => {
                management.set(to, management.cell(a) & management.cell(b));
            }
            Instruction::Or { to, a, b } => {
                management.set(to, management.cell(a) | management.cell(b));
            }
            Instruction::Add { to, a, b } => {
                management.set(to, management.cell(a).wrapping_add(management.cell(b)));
            }
            Instruction::Shift { to, from, left } => {
                let value = management.cell(from);
                let bits = u32::from(left.unsigned_abs());
                let shifted = match left {
                    0.. => value.checked_shl(bits),
                    _ => value.checked_shr(bits),
                };
                management.set(to, shifted.unwrap_or(0));
            }
            Instruction::BranchIfEqual { a, b, target } => {
                if management.cell(a) == management.cell(b) {
                    management.at = target;
                }
            }
            Instruction::Load { to, base, offset } => {
                time += self.config.register_access();
                let register = self.management.cell(base).wrapping_add(offset);
                let value = self.register(register);
                self.management.set(to, value);
            }
            Instruction::Store { from, base, offset } => {
                time += self.config.register_access();
                let register = management.cell(base).wrapping_add(offset);
                let value = management.cell(from);
                self.write_register(register, value, ctx);
            }
            Instruction::Sleep {
                mask,
                limit,
                timed_out,
            } => return self.sleep(mask, limit, timed_out, ctx),
        }
        self.next_instruction(time, ctx);
    }

    fn sleep(
        &mut self,
        mask: Interrupts,
        limit: Ps,
        timed_out: Cell,
        ctx: &mut Context<'_, DeviceEvent>,
    ) {
        if self.management.raised.any_of(mask) {
            return self.wake_up(mask, timed_out, false, ctx);
        }
        let management = &mut self.management;
        management.state = ProcessorState::Sleeping(mask, timed_out);
        management.sleeps = management.sleeps.wrapping_add(1);
        if limit > Ps::ZERO {
            let sleep = management.sleeps;
            let timer = DeviceEvent::Chip(ChipEvent::Timer { sleep });
            ctx.schedule(ctx.me(), limit, timer);
        }
    }
}
