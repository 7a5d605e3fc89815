//! The program that the processor runs here: it starts links, watches them, and takes commands.

use hostwire_plan::registers::peach2::NORTH;

use crate::engine::Ps;
use crate::models::pcie::Role;

use super::super::registers::{
    COMMAND, CONTROL_ON, CONTROL_ROOT, LOSSES, PORT_CONTROL, PORT_PENDING, PORT_STATUS,
    PORT_STRIDE, PORTS_AT, REPLY, ROUTING_STRIDE, SHADOW, STATUS_CABLE, STATUS_RECONFIGURING,
    STATUS_UP,
};
use super::program::{Assembler, Cell, Instruction, Interrupts, Label, Program};

/// What a host can ask for. The argument is the number of the port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Command {
    /// Switch the port on, wait for its link, and route by the values in the shadow registers.
    Open = 1,
    /// Route nothing to the port any more, and wait until the chip has no TLP for it.
    Detach = 2,
    /// Switch the port off, and wait until its link is down.
    Close = 3,
    /// Make a port south that is off an endpoint.
    BecomeEndpoint = 4,
    /// Make a port south that is off a root complex.
    BecomeRootComplex = 5,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reply {
    /// It was done.
    Done,
    /// The link did not come up in time. The port stays on.
    NoLink,
    /// There is no such command.
    Unknown,
}

impl Reply {
    /// From the reply register; `None` while there is none.
    pub fn from_register(value: u64) -> Option<Reply> {
        match value {
            0 => None,
            1 => Some(Reply::Done),
            2 => Some(Reply::NoLink),
            _ => Some(Reply::Unknown),
        }
    }
}

const DONE: u64 = 1;
const NO_LINK: u64 = 2;
const UNKNOWN: u64 = 3;

// What the cells hold throughout.
const SCRATCH: Cell = Cell(0);
const PORT: Cell = Cell(1);
const VALUE: Cell = Cell(2);
const ZERO: Cell = Cell(3);
const ONE: Cell = Cell(4);
const TIMED_OUT: Cell = Cell(5);
const SWITCH: Cell = Cell(6);
const ASKED: Cell = Cell(7);

/// The program. It first switches the ports of `start` on, in this order, waits for their links,
/// for each as long as `limit`, and then takes commands. All are on before it waits: in a ring
/// every link needs the port of a chip that would wait for another one.
pub fn firmware(start: &[(u8, Role)], limit: Ps) -> Program {
    let mut code = Assembler::default();
    code.set(ZERO, 0);
    code.set(ONE, 1);
    for is_wait in [false, true] {
        for (port, role) in start {
            let next = code.label();
            code.set(PORT, PORTS_AT + PORT_STRIDE * u64::from(*port));
            code.load_bits(PORT_STATUS, STATUS_CABLE);
            code.branch_if_equal(SCRATCH, ZERO, next);
            let root = match role {
                Role::RootComplex => CONTROL_ROOT,
                Role::Endpoint => 0,
            };
            if is_wait {
                code.wait_for_link(limit, next);
            } else {
                code.set(SCRATCH, CONTROL_ON | root);
                code.store(SCRATCH, PORT, PORT_CONTROL);
            }
            code.place(next);
        }
    }
    let main = code.label();
    code.place(main);
    let [quiet, finish, failed] = [code.label(), code.label(), code.label()];
    code.load(ASKED, ZERO, COMMAND);
    code.branch_if_equal(ASKED, ZERO, quiet);
    code.commands(limit, finish, failed);
    code.set(SCRATCH, UNKNOWN);
    code.goto(finish);
    code.place(failed);
    code.set(SCRATCH, NO_LINK);
    code.place(finish);
    // The reply first: a host that sees no command sees the reply.
    code.store(SCRATCH, ZERO, REPLY);
    code.store(ZERO, ZERO, COMMAND);
    code.goto(main);
    code.place(quiet);
    code.count_losses();
    let either = Interrupts::MAILBOX.and(Interrupts::LINK);
    code.sleep(either, Ps::ZERO);
    code.goto(main);
    code.finish()
}

impl Assembler {
    fn set(&mut self, to: Cell, value: u64) {
        self.add(Instruction::Set { to, value });
    }

    fn load(&mut self, to: Cell, base: Cell, offset: u64) {
        self.add(Instruction::Load { to, base, offset });
    }

    fn store(&mut self, from: Cell, base: Cell, offset: u64) {
        self.add(Instruction::Store { from, base, offset });
    }

    fn sleep(&mut self, mask: Interrupts, limit: Ps) {
        self.add(Instruction::Sleep {
            mask,
            limit,
            timed_out: TIMED_OUT,
        });
    }

    fn goto(&mut self, to: Label) {
        self.branch_if_equal(ZERO, ZERO, to);
    }

    /// Some bits of a register of the port, into the scratch cell.
    fn load_bits(&mut self, register: u64, bits: u64) {
        self.load(SCRATCH, PORT, register);
        self.set(VALUE, bits);
        self.add(Instruction::And {
            to: SCRATCH,
            a: SCRATCH,
            b: VALUE,
        });
    }

    /// Goes on when the link of the port is up; to `failed` if that takes too long.
    fn wait_for_link(&mut self, limit: Ps, failed: Label) {
        let [again, up] = [self.label(), self.label()];
        self.place(again);
        self.load_bits(PORT_STATUS, STATUS_UP);
        self.branch_if_equal(SCRATCH, VALUE, up);
        self.sleep(Interrupts::LINK, limit);
        self.branch_if_equal(TIMED_OUT, ONE, failed);
        self.goto(again);
        self.place(up);
    }

    /// Goes on when these bits of a register of the port are zero.
    fn wait_for_zero(&mut self, register: u64, bits: u64, mask: Interrupts) {
        let [again, zero] = [self.label(), self.label()];
        self.place(again);
        self.load_bits(register, bits);
        self.branch_if_equal(SCRATCH, ZERO, zero);
        self.sleep(mask, Ps::ZERO);
        self.goto(again);
        self.place(zero);
    }

    /// All commands. A command that none of them takes goes on after them.
    fn commands(&mut self, limit: Ps, finish: Label, failed: Label) {
        // Routing registers and port registers of the port in the argument.
        self.load(SWITCH, ZERO, COMMAND + 8);
        let shift = PORT_STRIDE.trailing_zeros() as i8;
        self.add(Instruction::Shift {
            to: SWITCH,
            from: SWITCH,
            left: shift,
        });
        self.set(PORT, PORTS_AT);
        self.add(Instruction::Add {
            to: PORT,
            a: PORT,
            b: SWITCH,
        });
        let all = [
            Command::Open,
            Command::Detach,
            Command::Close,
            Command::BecomeEndpoint,
            Command::BecomeRootComplex,
        ];
        for command in all {
            let [this, next] = [self.label(), self.label()];
            self.set(SCRATCH, command as u64);
            self.branch_if_equal(ASKED, SCRATCH, this);
            self.goto(next);
            self.place(this);
            match command {
                Command::Open => self.open(limit, failed),
                Command::Detach => self.detach(),
                Command::Close => {
                    self.control(CONTROL_ROOT, 0);
                    self.wait_for_zero(PORT_STATUS, STATUS_UP, Interrupts::LINK);
                }
                Command::BecomeEndpoint => self.become_role(0),
                Command::BecomeRootComplex => self.become_role(CONTROL_ROOT),
            }
            self.set(SCRATCH, DONE);
            self.goto(finish);
            self.place(next);
        }
    }

    /// Keeps some bits of the port's control register and sets others.
    fn control(&mut self, kept: u64, set: u64) {
        self.load_bits(PORT_CONTROL, kept);
        self.set(VALUE, set);
        self.add(Instruction::Or {
            to: SCRATCH,
            a: SCRATCH,
            b: VALUE,
        });
        self.store(SCRATCH, PORT, PORT_CONTROL);
    }

    fn open(&mut self, limit: Ps, failed: Label) {
        self.control(CONTROL_ROOT, CONTROL_ON);
        self.wait_for_link(limit, failed);
        // The lower bound last: without it the port takes nothing.
        for register in [0, 0x10, 8] {
            self.load(SCRATCH, ZERO, SHADOW + register);
            self.store(SCRATCH, SWITCH, register);
        }
    }

    fn detach(&mut self) {
        // The lower bound first.
        self.set(SCRATCH, u64::MAX);
        self.store(SCRATCH, SWITCH, 8);
        self.store(ZERO, SWITCH, 0x10);
        self.wait_for_zero(PORT_PENDING, u64::MAX, Interrupts::DRAINED);
    }

    fn become_role(&mut self, root: u64) {
        self.control(0, root);
        self.wait_for_zero(PORT_STATUS, STATUS_RECONFIGURING, Interrupts::ROLE);
    }

    /// Counts the ports that are on and have no link.
    fn count_losses(&mut self) {
        for port in 0..NORTH {
            let next = self.label();
            self.set(PORT, PORTS_AT + PORT_STRIDE * u64::from(port));
            self.load_bits(PORT_CONTROL, CONTROL_ON);
            self.branch_if_equal(SCRATCH, ZERO, next);
            self.load_bits(PORT_STATUS, STATUS_UP);
            self.branch_if_equal(SCRATCH, VALUE, next);
            self.load(SCRATCH, ZERO, LOSSES);
            self.add(Instruction::Add {
                to: SCRATCH,
                a: SCRATCH,
                b: ONE,
            });
            self.store(SCRATCH, ZERO, LOSSES);
            self.place(next);
        }
    }
}

// The number of a port, shifted alike, leads to both kinds of its registers.
const _: () = assert!(PORT_STRIDE == ROUTING_STRIDE && PORT_STRIDE.is_power_of_two());
