//! Cluster files for tests.

#![allow(dead_code, clippy::unwrap_used)]

use hostwire_plan::{FabricAddr, NodeId};
use hostwire_sim::devices::opteron::{Op, OpteronConfig, Script};
use hostwire_sim::machine::Machine;

/// The paper's second prototype.
pub const TWO_BOARDS: &str = r#"
[[node]]
name = "left"
memory = "8GiB"
southbridge = "l0"
[[node]]
name = "right"
memory = "8GiB"
southbridge = "l0"
[[cable]]
from = "left.l2"
to = "right.l2"
width = "16bit"
frequency = "800MHz"
medium = "coax"
"#;

/// The paper's first prototype.
pub const ONE_BOARD: &str = r#"
[[node]]
name = "socket0"
memory = "8GiB"
southbridge = "l0"
[[node]]
name = "socket1"
memory = "8GiB"
southbridge = false
[[cable]]
from = "socket0.l1"
to = "socket1.l1"
width = "16bit"
frequency = "2400MHz"
length = "6in"
medium = "board"
[[cable]]
kind = "coherent"
from = "socket0.l2"
to = "socket1.l2"
length = "6in"
medium = "board"
"#;

/// The paper's figure 4.
pub const FOUR_SUPERNODES: &str = r#"
[link]
width = "16bit"
frequency = "2400MHz"
length = "18in"
medium = "backplane"
[[supernode]]
name = "s0"
processors = 4
coherent = "square"
memory = "8GiB"
[[supernode]]
name = "s1"
processors = 4
coherent = "square"
memory = "8GiB"
[[supernode]]
name = "s2"
processors = 4
coherent = "square"
memory = "8GiB"
[[supernode]]
name = "s3"
processors = 4
coherent = "square"
memory = "8GiB"
[[cable]]
from = "s0.p1.l3"
to = "s1.p0.l3"
[[cable]]
from = "s2.p1.l3"
to = "s3.p0.l3"
[[cable]]
from = "s0.p2.l3"
to = "s2.p1.l2"
[[cable]]
from = "s1.p3.l3"
to = "s3.p1.l3"
"#;

pub fn machine(text: &str) -> Machine {
    let plan = hostwire_plan::plan("test.toml", text.as_bytes()).unwrap_or_else(|e| panic!("{e}"));
    Machine::new(plan, &OpteronConfig::shanghai()).unwrap()
}

/// Byte `offset` of a node's memory.
pub fn address(machine: &Machine, node: u16, offset: u64) -> u64 {
    let FabricAddr(address) = machine.plan().address(NodeId(node), offset).unwrap();
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
