//! Programs of the management processor.

use crate::engine::Ps;

/// Cells that instructions work on: 64 bits each.
pub(super) const CELLS: usize = 8;

/// A cell, 0 to 7. Others read zero and keep nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell(pub u8);

/// What a program can sleep for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interrupts(u8);

impl Interrupts {
    /// A command was written into the mailbox.
    pub const MAILBOX: Interrupts = Interrupts(1);
    /// A link of the chip has come up or gone down.
    pub const LINK: Interrupts = Interrupts(2);
    /// The last TLP in the chip for a port has left.
    pub const DRAINED: Interrupts = Interrupts(4);
    /// Port south has its other role.
    pub const ROLE: Interrupts = Interrupts(8);

    /// These and others.
    pub const fn and(self, others: Interrupts) -> Interrupts {
        Interrupts(self.0 | others.0)
    }

    pub(super) fn without(self, others: Interrupts) -> Interrupts {
        Interrupts(self.0 & !others.0)
    }

    pub(super) fn any_of(self, others: Interrupts) -> bool {
        self.0 & others.0 != 0
    }
}

/// An instruction. Each takes the same time; those that reach a register take more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instruction {
    /// A constant.
    Set {
        /// Where to.
        to: Cell,
        /// What.
        value: u64,
    },
    /// Both bits.
    And {
        /// Where to.
        to: Cell,
        /// One.
        a: Cell,
        /// The other.
        b: Cell,
    },
    /// One bit or the other.
    Or {
        /// Where to.
        to: Cell,
        /// One.
        a: Cell,
        /// The other.
        b: Cell,
    },
    /// The sum, modulo 2^64.
    Add {
        /// Where to.
        to: Cell,
        /// One.
        a: Cell,
        /// The other.
        b: Cell,
    },
    /// Shifted bits; zeros come in.
    Shift {
        /// Where to.
        to: Cell,
        /// What.
        from: Cell,
        /// By how many, to the right if it is negative.
        left: i8,
    },
    /// Goes on at `target` if both are equal.
    BranchIfEqual {
        /// One.
        a: Cell,
        /// The other.
        b: Cell,
        /// Number of an instruction.
        target: usize,
    },
    /// Reads a register of the chip.
    Load {
        /// Where to.
        to: Cell,
        /// Offset of the register, with `offset` added.
        base: Cell,
        /// See `base`.
        offset: u64,
    },
    /// Writes a register of the chip.
    Store {
        /// What.
        from: Cell,
        /// Offset of the register, with `offset` added.
        base: Cell,
        /// See `base`.
        offset: u64,
    },
    /// Waits until something of `mask` has happened since the last sleep for it.
    Sleep {
        /// What for.
        mask: Interrupts,
        /// How long at most; 0: for ever.
        limit: Ps,
        /// Gets 1 if the time ran out, else 0.
        timed_out: Cell,
    },
}

/// Instructions, from the first one on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program(Vec<Instruction>);

impl Program {
    /// A program.
    pub fn new(instructions: impl Into<Vec<Instruction>>) -> Program {
        Program(instructions.into())
    }

    pub(super) fn get(&self, at: usize) -> Option<Instruction> {
        self.0.get(at).copied()
    }
}

/// A place of a program that branches name before or after it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Label(usize);

/// A program in the making.
#[derive(Default)]
pub(super) struct Assembler {
    instructions: Vec<Instruction>,
    labels: Vec<usize>,
}

impl Assembler {
    pub(super) fn label(&mut self) -> Label {
        self.labels.push(usize::MAX);
        Label(self.labels.len() - 1)
    }

    /// The label stands here.
    pub(super) fn place(&mut self, label: Label) {
        if let Some(place) = self.labels.get_mut(label.0) {
            *place = self.instructions.len();
        }
    }

    pub(super) fn add(&mut self, instruction: Instruction) {
        self.instructions.push(instruction);
    }

    pub(super) fn branch_if_equal(&mut self, a: Cell, b: Cell, to: Label) {
        let target = to.0;
        self.add(Instruction::BranchIfEqual { a, b, target });
    }

    /// The program, with the places of its labels. One that was never placed is the end.
    pub(super) fn finish(mut self) -> Program {
        for instruction in &mut self.instructions {
            if let Instruction::BranchIfEqual { target, .. } = instruction {
                *target = self.labels.get(*target).copied().unwrap_or(usize::MAX);
            }
        }
        Program(self.instructions)
    }
}
