//! Cluster files for tests.

#![allow(clippy::unwrap_used)]

use std::sync::LazyLock;

use hostwire_plan::{GlobalAddress, NodeId};
use hostwire_sim::machine::Machine;
use hostwire_sim::models::ht::opteron::{Op, OpteronConfig, Script};

/// The paper's second prototype.
pub const TWO_BOARDS: &str = include_str!("../../../../examples/clusters/two-boards.toml");

/// The paper's first prototype.
pub const ONE_BOARD: &str = include_str!("../../../../examples/clusters/one-board.toml");

/// The paper's figure 4.
pub static FOUR_SUPERNODES: LazyLock<String> = LazyLock::new(|| {
    let text = include_str!("../../../../examples/clusters/four-supernodes.toml");
    let routing = if text.contains("[routing]") {
        ""
    } else {
        "\n[routing]\npolicy = \"tree\"\n"
    };
    format!("{text}{routing}")
});

pub fn machine(text: &str) -> Machine {
    let plan = hostwire_plan::plan("test.toml", text.as_bytes()).unwrap_or_else(|e| panic!("{e}"));
    Machine::new(plan, &OpteronConfig::shanghai()).unwrap()
}

/// Byte `offset` of a node's memory.
pub fn address(machine: &Machine, node: u16, offset: u64) -> u64 {
    let GlobalAddress(address) = machine.plan().address(NodeId(node), offset).unwrap();
    address
}

/// Socket 0 of node `from` stores `data` to `address` and fences; runs to the end.
pub fn store(
    machine: &mut Machine,
    socket: usize,
    address: u64,
    data: &[u8],
) -> Result<(), String> {
    let ops = vec![
        Op::Store {
            address,
            data: data.to_vec(),
        },
        Op::Fence,
    ];
    machine.start(socket, Script::new(ops)).unwrap();
    machine
        .sim
        .run()
        .map(|_| ())
        .map_err(|error| error.to_string())
}

pub fn load(machine: &Machine, socket: usize, address: u64, bytes: usize) -> Vec<u8> {
    let mut data = vec![0; bytes];
    machine.socket(socket).memory.read(address, &mut data);
    data
}
