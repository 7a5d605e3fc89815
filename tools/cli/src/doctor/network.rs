//! The wires between hosts, hosts made of this machine, and what RDMA there is.

use std::fs;
use std::net::IpAddr;
use std::path::Path;

use hostwire::settings::{WIRE, WireName};
use hostwire_frames::settings::IFACE;
use hostwire_frames::{FramePort, Interface, Offload, StreamPort};
use hostwire_transport::TransportError;
use hostwire_transport::os::hosts::Hosts;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

use super::{Finding, Verdict};

const ETHER: WireName = WireName::Ether;
const XDP: WireName = WireName::Xdp;
const UDP: WireName = WireName::Udp;
const TCP: WireName = WireName::Tcp;
const FABRIC: WireName = WireName::Fabric;
const AUTO: &str = "wire auto";
const HOSTS: &str = "hosts of this machine (run --hosts)";
const RDMA: &str = "RDMA";
/// The socket options that the wire udp sets.
const BUFFER_BYTES: u64 = 8 << 20;
/// linux/socket.h, AF_XDP.
const AF_XDP: u16 = 44;

pub fn findings() -> Vec<Finding> {
    let wires = WireName::ALL.into_iter().flat_map(of_wire);
    wires.chain([choice(), hosts(), rdma()]).collect()
}

fn of_wire(wire: WireName) -> Vec<Finding> {
    match wire {
        WireName::Ether => [vec![raw_sockets()], interfaces()].concat(),
        WireName::Xdp => vec![xdp()],
        WireName::Udp => [at_addresses(udp_port), vec![buffers()]].concat(),
        WireName::Tcp => at_addresses(tcp_port),
        WireName::Fabric => providers(),
        // Memory is looked at elsewhere.
        _ => Vec::new(),
    }
}

/// What `auto` takes between hosts, as far as this one can say.
fn choice() -> Finding {
    let has_interface = used().is_ok();
    let mut usable = Vec::new();
    let mut not_taken = Vec::new();
    for wire in WireName::fastest_first() {
        match obstacle(wire, has_interface) {
            None => usable.push(wire),
            Some(why) => not_taken.push(format!("not {wire} ({why})")),
        }
    }
    let name = "between hosts";
    let not_taken = not_taken.join(", ");
    let taken = match usable[..] {
        [] => {
            let advice = "what is said of each wire above";
            return Finding::no(AUTO, name, not_taken, advice);
        }
        [first, ..] => first.to_string(),
    };
    let separator = if not_taken.is_empty() { "" } else { "; " };
    let found = format!("{taken}, if the other hosts can{separator}{not_taken}");
    Finding::ok(AUTO, name, found)
}

/// The interfaces that a job would use here.
fn used() -> Result<Vec<Interface>, TransportError> {
    let named = IFACE.in_environment().unwrap_or_default();
    let names = named.split(',').map(|name| name.trim().to_owned());
    let names: Vec<String> = names.filter(|name| !name.is_empty()).collect();
    Interface::choose_all(&names)
}

/// Why this host cannot use a wire between hosts.
fn obstacle(wire: WireName, has_interface: bool) -> Option<String> {
    if !has_interface {
        return Some("no interface to use".to_owned());
    }
    let findings = match wire {
        WireName::Ether => vec![raw_sockets()],
        WireName::Xdp => vec![raw_sockets(), xdp()],
        WireName::Udp => at_addresses(udp_port),
        WireName::Tcp => at_addresses(tcp_port),
        _ => Vec::new(),
    };
    let mut findings = findings.into_iter();
    let found = findings.find(|finding| finding.state == Verdict::No)?;
    Some(found.found)
}

fn raw_sockets() -> Finding {
    match open(AddressFamily::PACKET, SocketType::DGRAM) {
        Ok(()) => Finding::ok(ETHER, "raw sockets", "allowed"),
        Err(Errno::PERM | Errno::ACCESS) => Finding::no(
            ETHER,
            "raw sockets",
            "not allowed to this user",
            format!(
                "run as root, give the program the capability (setcap cap_net_raw+ep PROGRAM), or \
                 use {WIRE}={UDP}"
            ),
        ),
        Err(error) => Finding::no(
            ETHER,
            "raw sockets",
            format!("not there: {error}"),
            format!("a kernel with packet sockets, or {WIRE}={UDP}"),
        ),
    }
}

/// Opens a socket and closes it again. Nothing is bound or sent.
fn open(family: AddressFamily, kind: SocketType) -> Result<(), Errno> {
    socket_with(family, kind, SocketFlags::CLOEXEC, None).map(drop)
}

/// Those that are up, and those that could be.
fn interfaces() -> Vec<Finding> {
    let up = match Interface::all() {
        Ok(up) => up,
        Err(error) => {
            let advice = "look at the output of: ip link";
            return vec![Finding::no(ETHER, "interfaces", error.to_string(), advice)];
        }
    };
    let mut findings = Vec::new();
    let used = used();
    match &used {
        Ok(used) => findings.extend(used.iter().map(|interface| {
            let found = format!("{} would be used", described(interface));
            Finding::ok(ETHER, "interface", found)
        })),
        Err(error) => findings.push(Finding::no(
            ETHER,
            "interface",
            error.to_string(),
            format!("set {IFACE}, or bring one up: ip link set NAME up"),
        )),
    }
    let used = used.unwrap_or_default();
    for interface in up.iter().filter(|one| !used.contains(one)) {
        findings.push(Finding::ok(ETHER, "interface", described(interface)));
    }
    for name in names() {
        let is_up = up.iter().any(|interface| interface.name == name);
        let is_ethernet = attribute(&name, "type").as_deref() == Some("1");
        if !is_up && is_ethernet {
            findings.push(Finding::note(
                ETHER,
                "interface",
                format!("{name} is down"),
                format!("to use it: ip link set {name} up"),
            ));
        }
    }
    findings
}

fn described(interface: &Interface) -> String {
    let Interface {
        name, mtu_bytes, ..
    } = interface;
    let driver = fs::read_link(format!("/sys/class/net/{name}/device/driver"));
    let driver = driver.ok().and_then(|path| {
        let name = path.file_name()?.to_str()?.to_owned();
        Some(format!(", driver {name}"))
    });
    let speed = attribute(name, "speed").filter(|speed| speed.parse::<u32>().is_ok());
    let speed = speed.map(|speed| format!(", {speed} Mbit/s"));
    let carrier = match attribute(name, "carrier").as_deref() {
        Some("0") => ", no cable",
        _ => "",
    };
    format!(
        "{name}: MTU {mtu_bytes}{}{}{carrier}",
        speed.unwrap_or_default(),
        driver.unwrap_or_default()
    )
}

fn names() -> Vec<String> {
    let entries = fs::read_dir("/sys/class/net").into_iter().flatten();
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names.collect();
    names.sort_unstable();
    names
}

fn attribute(interface: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(format!("/sys/class/net/{interface}/{name}")).ok()?;
    Some(text.trim().to_owned())
}

/// What libfabric offers.
fn providers() -> Vec<Finding> {
    let (version, offers) = match hostwire_fabric::offers() {
        Ok(found) => found,
        Err(error) => {
            let advice = "only for this wire: install the package libfabric1";
            return vec![Finding::note(
                FABRIC,
                "libfabric",
                error.to_string(),
                advice,
            )];
        }
    };
    let (major, minor) = version;
    let mut findings = vec![Finding::ok(FABRIC, "libfabric", format!("{major}.{minor}"))];
    for offer in offers {
        let name = "provider";
        let found = &offer.provider;
        findings.push(match (offer.refused, offer.known_fault) {
            (None, Some(fault)) => {
                let advice = "another provider, or libfabric 2";
                Finding::note(FABRIC, name, format!("{found}: {fault}"), advice)
            }
            (None, None) => {
                let order = match offer.orders_writes {
                    true => "",
                    false => "; long puts wait until they are delivered",
                };
                let domains = offer.domains.join(", ");
                Finding::ok(FABRIC, name, format!("{found} ({domains}){order}"))
            }
            (Some(why), _) => {
                let advice = "nothing: providers above it may use it";
                Finding::note(FABRIC, name, format!("not {found}: {why}"), advice)
            }
        });
    }
    findings
}

fn xdp() -> Finding {
    match open(AddressFamily::from_raw(AF_XDP), SocketType::RAW) {
        Ok(()) => Finding::ok(
            XDP,
            "AF_XDP",
            "there; copy mode works on every interface, zero copy is up to its driver",
        ),
        Err(Errno::PERM | Errno::ACCESS) => Finding::no(
            XDP,
            "AF_XDP",
            "there, but not allowed to this user",
            format!("run as root, or use {WIRE}={ETHER} or {UDP}"),
        ),
        Err(error) => Finding::no(
            XDP,
            "AF_XDP",
            format!("not there: {error}"),
            format!("a kernel with CONFIG_XDP_SOCKETS, or {WIRE}={ETHER} or {UDP}"),
        ),
    }
}

/// What a wire finds at the addresses of the interfaces that a job would use here.
fn at_addresses(port: fn(Result<IpAddr, TransportError>) -> Vec<Finding>) -> Vec<Finding> {
    match used() {
        Ok(used) => used.iter().flat_map(|one| port(one.address())).collect(),
        Err(error) => port(Err(error)),
    }
}

fn no_address(wire: WireName, error: &TransportError) -> Vec<Finding> {
    let advice = format!("an interface with an IPv4 address: ip address add, or {IFACE}");
    vec![Finding::no(wire, "address", error.to_string(), advice)]
}

fn no_port(wire: WireName, error: &TransportError) -> Vec<Finding> {
    let advice = format!("a sandbox that allows {wire} sockets");
    vec![Finding::no(wire, "address", error.to_string(), advice)]
}

/// Where frames would come in, and what the kernel does for many at a time.
fn udp_port(found: Result<IpAddr, TransportError>) -> Vec<Finding> {
    match found.map(|address| (address, FramePort::open(address))) {
        Err(error) => no_address(UDP, &error),
        Ok((_, Err(error))) => no_port(UDP, &error),
        Ok((address, Ok(port))) => vec![
            Finding::ok(UDP, "address", address.to_string()),
            offload(port.offload()),
        ],
    }
}

/// Where peers would call.
fn tcp_port(found: Result<IpAddr, TransportError>) -> Vec<Finding> {
    match found.map(|address| (address, StreamPort::open(address))) {
        Err(error) => no_address(TCP, &error),
        Ok((_, Err(error))) => no_port(TCP, &error),
        Ok((address, Ok(_))) => vec![Finding::ok(TCP, "address", address.to_string())],
    }
}

fn offload(offload: Offload) -> Finding {
    let lacking = match offload {
        Offload {
            sending: true,
            receiving: true,
        } => {
            let found = "many datagrams leave and come as one message";
            return Finding::ok(UDP, "offload", found);
        }
        Offload { sending: true, .. } => "datagrams come one by one: no UDP_GRO",
        Offload {
            receiving: true, ..
        } => "datagrams leave one by one: no UDP_SEGMENT",
        _ => "datagrams leave and come one by one: no UDP_SEGMENT, no UDP_GRO",
    };
    let advice = "Linux 5.0 or newer; the wire works without it, with less bandwidth";
    Finding::note(UDP, "offload", lacking, advice)
}

fn buffers() -> Finding {
    let limit = fs::read_to_string("/proc/sys/net/core/rmem_max");
    let limit = limit.ok().and_then(|text| text.trim().parse::<u64>().ok());
    match limit {
        Some(limit) if limit < BUFFER_BYTES && !rustix::process::geteuid().is_root() => {
            Finding::note(
                UDP,
                "buffers",
                format!("receive buffers are limited to {limit} bytes: fewer frames on their way"),
                format!("as root: sysctl -w net.core.rmem_max={BUFFER_BYTES}"),
            )
        }
        Some(limit) => Finding::ok(UDP, "buffers", format!("rmem_max {limit} bytes")),
        None => Finding::note(
            UDP,
            "buffers",
            "the limit of receive buffers is not known here",
            "look at sysctl net.core.rmem_max on the host",
        ),
    }
}

fn hosts() -> Finding {
    match Hosts::new(2, 1500) {
        Ok(_) => Finding::ok(HOSTS, "namespaces", "can be made and connected"),
        Err(error) => Finding::note(
            HOSTS,
            "namespaces",
            error.to_string(),
            "only for trying out the wires between hosts on one machine",
        ),
    }
}

fn rdma() -> Finding {
    let folder = Path::new("/sys/class/infiniband");
    let entries = fs::read_dir(folder).into_iter().flatten();
    let devices = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let devices: Vec<String> = devices.collect();
    match devices.is_empty() {
        true => Finding::ok(RDMA, "devices", "none, and none is needed"),
        false => Finding::ok(
            RDMA,
            "devices",
            format!("{}; hostwire does not use them yet", devices.join(", ")),
        ),
    }
}
