//! What boards that are hardware of `lab/rtl` cannot do.

use super::net::Net;
use super::read::{HostSpec, Spec};
use super::{BoardKind, Cable, Device, Host, PortKind};
use crate::diagnostic::{Diagnostic, Findings, Span};

/// Destinations in the window of the HT-Core as RTL: 1 MiB of 4 KiB each.
const CORE_HOSTS_MAX: usize = 256;
/// Numbers that the design for messages has.
const MESSAGE_HOSTS_MAX: usize = 128;

/// Refuses boards as RTL that nobody has built.
pub(super) fn check(spec: &Spec, net: &Net, out: &mut Findings) {
    let hosts = spec.hosts.iter().zip(&net.hosts).enumerate();
    for (number, (spec, host)) in hosts.filter(|(_, (_, host))| !host.device.is_model()) {
        check_clock(spec, host, out);
        check_number(spec, host, number, out);
        let used = net.regions.iter();
        if used
            .clone()
            .any(|region| [region.of, region.at].contains(&number))
        {
            let text = format!("`{}` has no regions: its board is RTL", host.name);
            let help = "leave out its [[region]], or let its `device` be \"model\"";
            refuse(spec, &text, "regions need the model's board", help, out);
        }
        if host.device == BoardKind::Rtl {
            check_ports(spec, host, number, net, out);
        }
    }
}

fn check_clock(spec: &HostSpec, host: &Host, out: &mut Findings) {
    let half = host.link_mhz / 2;
    if host.user_mhz != half {
        let text = format!(
            "the clocks of `{}` do not fit its board, which is RTL",
            host.name
        );
        let expected = format!(
            "expected half of its link's, {half}MHz, got {}MHz",
            host.user_mhz
        );
        let help = format!("set `user_frequency = \"{half}MHz\"`");
        refuse(spec, &text, &expected, &help, out);
    }
}

fn check_number(spec: &HostSpec, host: &Host, number: usize, out: &mut Findings) {
    let most = match host.device {
        BoardKind::Rtl => MESSAGE_HOSTS_MAX,
        _ => CORE_HOSTS_MAX,
    };
    if number >= most {
        let text = format!("the cluster is too large for the board of `{}`", host.name);
        let expected = format!("as RTL it reaches {most} hosts");
        refuse(spec, &text, &expected, "use fewer hosts, or the model", out);
    }
}

/// The whole design has one port, for the parallel cable, whose other end is a board of its kind.
fn check_ports(spec: &HostSpec, host: &Host, number: usize, net: &Net, out: &mut Findings) {
    if host.port == PortKind::Sfp {
        let text = format!("the board of `{}` has no SFPs as RTL", host.name);
        refuse(
            spec,
            &text,
            "expected `port = \"atoll\"`",
            "leave `port` out",
            out,
        );
    }
    let own = Device::Host(number);
    let fits = |cable: &Cable| {
        cable.ends.iter().all(|end| match end.device {
            Device::Host(host) => net.hosts[host].device == BoardKind::Rtl && end.port == 0,
            Device::Switch(_) => false,
        })
    };
    let mut cables = net.cables.iter().zip(&net.cable_spans);
    let wrong =
        cables.find(|(cable, _)| cable.ends.iter().any(|end| end.device == own) && !fits(cable));
    if let Some((_, span)) = wrong {
        let text = format!(
            "this cable does not fit the board of `{}`, which is RTL",
            host.name
        );
        out.push(
            Diagnostic::error("board-device", text)
                .label(*span, "expected port p0 of two boards with `device = \"rtl\"`")
                .label(place(spec), "the board")
                .note("the design has one port; its frames are its own, so no model can be at the other end")
                .help("cable it to a board that is \"rtl\" too, or use \"rtl-core\", whose ports are modelled"),
        );
    }
}

fn refuse(spec: &HostSpec, text: &str, expected: &str, help: &str, out: &mut Findings) {
    out.push(
        Diagnostic::error("board-device", text)
            .label(place(spec), expected)
            .help(help),
    );
}

/// Where the file says that it is RTL.
fn place(spec: &HostSpec) -> Span {
    spec.board.device.span
}
