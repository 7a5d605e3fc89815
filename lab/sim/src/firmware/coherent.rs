//! Coherent enumeration: the processors of a system are found, numbered and
//! given routes.
//!
//! Source: paper, IV.E: a processor that still has NodeID 7 has not been visited.
//! Row 7 serves as the temporary route to the processor behind a link. The paper
//! walks depth first; this walks breadth first, as coreboot's `amdht` does: then
//! a processor that is met again is never on the way to itself, where its row 7
//! would send the access round in circles. TCCluster links are ignored: at the
//! first pass they are coherent and lead to processors of other systems.

use std::collections::{BTreeSet, VecDeque};

use crate::machine::WireEnd;
use crate::models::ht::opteron::registers::{
    INIT_CONTROL, LINKS, NODE_ID, NODE_ID_RESET, NODES_MAX, REQUEST_DISABLED, ROUTE_TABLE_DISABLED,
    ROUTING,
};
use hostwire_plan::LinkRole;

use super::{Boot, BootFailure, Measure};

/// NodeID that stands for "the processor behind this link" during enumeration.
pub(super) const TEMPORARY: u8 = NODE_ID_RESET as u8;

impl Boot<'_> {
    pub(super) fn enumerate_coherent(&mut self, system: usize) -> Result<(), BootFailure> {
        let bsp = self.bsp(system)?;
        self.check_code(bsp)?;
        self.found[system] = vec![bsp];
        if !self.options.does(Measure::CoherentEnumeration) {
            self.note(system, "coherent enumeration: left out");
            return Ok(());
        }
        self.set(system, 0, (0, INIT_CONTROL), ROUTE_TABLE_DISABLED, 0)?;
        // By NodeID: the way there from the bootstrap processor.
        let mut paths: Vec<Vec<(u8, u8)>> = vec![Vec::new()];
        let mut explored: BTreeSet<(usize, u8)> = BTreeSet::new();
        let mut node = 0;
        while let Some(path) = paths.get(usize::from(node)).cloned() {
            for link in 0..LINKS {
                // The eighth processor takes the temporary number for good.
                if paths.len() == usize::from(NODES_MAX) {
                    break;
                }
                let here = (self.found[system][usize::from(node)], link);
                if explored.contains(&here) || !self.is_open(system, node, link)? {
                    continue;
                }
                explored.insert(here);
                // Its DefLnk names the link on which the request came in.
                if let Some((_, WireEnd::Socket { socket, link })) =
                    self.machine.across(here.0, here.1)
                {
                    explored.insert((socket, link));
                }
                let mut path = path.clone();
                path.push((node, link));
                if self.visit(system, &path)? {
                    paths.push(path);
                }
            }
            node += 1;
        }
        self.write_routes(system)?;
        self.check_topology(system)
    }

    /// The bootstrap processor fetches its code from the southbridge.
    fn check_code(&self, bsp: usize) -> Result<(), BootFailure> {
        let socket = self.machine.sockets()[bsp].name.clone();
        let up = self.machine.wires().iter().enumerate().any(|(wire, w)| {
            w.role == LinkRole::Southbridge
                && matches!(w.ends[0], WireEnd::Socket { socket, .. } if socket == bsp)
                && self.machine.link(wire).mode().is_some()
        });
        if up {
            Ok(())
        } else {
            Err(BootFailure::NoCode { socket })
        }
    }

    /// Whether a link of `node` is up, coherent, and not to be ignored.
    fn is_open(&mut self, system: usize, node: u8, link: u8) -> Result<bool, BootFailure> {
        self.tick(system);
        let socket = self.found[system][usize::from(node)];
        let registers = &self.machine.socket(socket).registers;
        if !registers.link_ready(link) || registers.link_noncoherent(link) {
            return Ok(false);
        }
        if self.options.does(Measure::IgnoreInCoherentEnumeration)
            && self.is_tccluster(socket, link)
        {
            let name = self.machine.sockets()[socket].name.clone();
            self.note(
                system,
                format!("coherent enumeration: {name} link {link} is TCCluster, ignored"),
            );
            return Ok(false);
        }
        Ok(true)
    }

    /// Whether the plan wants a link to be a TCCluster link.
    pub(super) fn is_tccluster(&self, socket: usize, link: u8) -> bool {
        let wire = self.machine.across(socket, link);
        wire.is_some_and(|(wire, _)| self.machine.wires()[wire].role == LinkRole::Fabric)
    }

    /// Looks at the processor at the end of `path`. If it is new, numbers it and
    /// gives it routes; `true` if it was.
    fn visit(&mut self, system: usize, path: &[(u8, u8)]) -> Result<bool, BootFailure> {
        for &(node, link) in path {
            self.set_row(system, node, TEMPORARY, link)?;
        }
        let id = self.read(system, TEMPORARY, 0, NODE_ID)? & 0x7;
        let socket = self.reach(system, TEMPORARY);
        let &(from, link) = path.last().unwrap_or(&(0, 0));
        let behind = self
            .machine
            .across(self.found[system][usize::from(from)], link);
        let Some((
            _,
            WireEnd::Socket {
                socket: there,
                link: back,
            },
        )) = behind
        else {
            return Ok(false);
        };
        if self.found[system].contains(&there) {
            return Ok(false);
        }
        let number = self.found[system].len() as u8;
        let expected = self.expected(system);
        let name = self.machine.sockets()[there].name.clone();
        if id != NODE_ID_RESET || socket != Ok(there) || number >= NODES_MAX {
            return Err(BootFailure::Topology {
                found: usize::from(number) + 1,
                expected,
                extra: format!("{name} already is node {id} of another system"),
            });
        }
        // Every earlier node is back where we came from.
        for node in 0..number {
            self.set_row(system, TEMPORARY, node, back)?;
        }
        self.set(system, TEMPORARY, (0, NODE_ID), 0x7, u32::from(number))?;
        for &(node, link) in path {
            self.set_row(system, node, number, link)?;
        }
        self.machine
            .socket_mut(there)
            .registers
            .write(0, NODE_ID, u32::from(number));
        let found = self.machine.socket_mut(there);
        let control = found.registers.read(0, INIT_CONTROL);
        found.registers.write(
            0,
            INIT_CONTROL,
            control & !(ROUTE_TABLE_DISABLED | REQUEST_DISABLED),
        );
        self.tick(system);
        self.found[system].push(there);
        self.note(
            system,
            format!(
                "coherent enumeration: {name} is node {number}, over link {link} of node {from}"
            ),
        );
        Ok(true)
    }

    fn expected(&self, system: usize) -> usize {
        self.machine
            .sockets()
            .iter()
            .filter(|socket| socket.system == system)
            .count()
    }

    fn check_topology(&mut self, system: usize) -> Result<(), BootFailure> {
        let (found, expected) = (self.found[system].len(), self.expected(system));
        if found == expected {
            self.note(system, format!("coherent enumeration: {found} processors"));
            return Ok(());
        }
        let sockets = self.machine.sockets();
        let foreign = self.found[system]
            .iter()
            .filter(|&&socket| sockets[socket].system != system);
        let names: Vec<_> = foreign
            .map(|&socket| sockets[socket].name.as_str())
            .collect();
        let extra = match names.is_empty() {
            true => "some are not reachable over coherent links".to_string(),
            false => format!("{} belong to other systems", names.join(", ")),
        };
        Err(BootFailure::Topology {
            found,
            expected,
            extra,
        })
    }

    fn set_row(&mut self, system: usize, node: u8, to: u8, link: u8) -> Result<(), BootFailure> {
        let row = 1u32 << (1 + link);
        self.set(
            system,
            node,
            (0, ROUTING + 4 * u16::from(to)),
            0x3_ffff,
            row | row << 9,
        )
    }

    /// Shortest routes between all processors found, and broadcast trees.
    fn write_routes(&mut self, system: usize) -> Result<(), BootFailure> {
        let found = self.found[system].clone();
        for (root, &socket) in found.iter().enumerate() {
            let tree = self.shortest_tree(system, socket);
            // By node: the link towards the root, and the links away from it.
            for (node, &at) in found.iter().enumerate() {
                let mut broadcast = 1u32;
                for entry in tree.iter().filter(|entry| entry.parent == Some(node)) {
                    broadcast |= 1 << (1 + entry.link_from_parent);
                }
                let towards = tree
                    .iter()
                    .find(|entry| entry.node == node && entry.parent.is_some());
                let row = towards.map_or(1, |entry| 1u32 << (1 + entry.link_to_parent));
                let value = row | row << 9 | broadcast << 18;
                let registers = &mut self.machine.socket_mut(at).registers;
                registers.write(0, ROUTING + 4 * root as u16, value);
                self.tick(system);
            }
        }
        Ok(())
    }

    fn shortest_tree(&self, system: usize, root: usize) -> Vec<TreeEntry> {
        let found = &self.found[system];
        let number = |socket: usize| found.iter().position(|&other| other == socket);
        let Some(start) = number(root) else {
            return Vec::new();
        };
        let mut tree = vec![TreeEntry {
            node: start,
            parent: None,
            link_from_parent: 0,
            link_to_parent: 0,
        }];
        let mut queue = VecDeque::from([start]);
        while let Some(at) = queue.pop_front() {
            for link in 0..LINKS {
                let registers = &self.machine.socket(found[at]).registers;
                let usable = registers.link_ready(link) && !registers.link_noncoherent(link);
                let ignored = self.options.does(Measure::IgnoreInCoherentEnumeration)
                    && self.is_tccluster(found[at], link);
                let Some((_, WireEnd::Socket { socket, link: back })) =
                    self.machine.across(found[at], link)
                else {
                    continue;
                };
                let Some(next) = number(socket).filter(|_| usable && !ignored) else {
                    continue;
                };
                if tree.iter().any(|entry| entry.node == next) {
                    continue;
                }
                tree.push(TreeEntry {
                    node: next,
                    parent: Some(at),
                    link_from_parent: link,
                    link_to_parent: back,
                });
                queue.push_back(next);
            }
        }
        tree
    }
}

struct TreeEntry {
    node: usize,
    parent: Option<usize>,
    link_from_parent: u8,
    link_to_parent: u8,
}
