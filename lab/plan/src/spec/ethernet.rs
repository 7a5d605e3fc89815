//! What a cluster file says of adapters for HyperTransport over Ethernet, and of their network.

use serde::Serialize;

use super::link::parse_link_path;
use super::section::{Section, clip, span_of, wrong_type};
use super::units::{BANDWIDTH, Quantity, SIZE, TIME};
use super::{AdapterPlace, Fabric};
use crate::diagnostic::{Diagnostic, Findings, Located};
use crate::id::LinkIndex;
use toml::Spanned;
use toml::de::DeValue;

/// The Ethernet between adapters: ports, cables and one switch, and what goes wrong there.
///
/// Times are in picoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct EthernetPlan {
    /// Rate of each port, of adapters and of the switch.
    pub port_bytes_per_s: u64,
    /// Cable, switch, cable: from the end of a frame at an adapter to its end at the next one,
    /// where nothing waits. Source: htoe, table I.
    pub switch_ps: u64,
    /// Bytes that wait at a port of the switch. **Assumed**.
    pub switch_buffer_bytes: u64,
    /// Frames lost, in a million.
    pub lost_per_million: u32,
    /// Frames that come twice, in a million.
    pub doubled_per_million: u32,
    /// Frames that are held back and overtaken, in a million.
    pub delayed_per_million: u32,
    /// For how long. **Assumed**.
    pub delay_ps: u64,
    /// Start of all that is random.
    pub seed: u64,
}

/// The network of the paper: 10 Gb/s, and nothing is lost.
impl Default for EthernetPlan {
    fn default() -> Self {
        Self {
            port_bytes_per_s: 1_250_000_000,
            switch_ps: 244_000,
            switch_buffer_bytes: 1 << 20,
            lost_per_million: 0,
            doubled_per_million: 0,
            delayed_per_million: 0,
            delay_ps: 20_000_000,
            seed: 1,
        }
    }
}

/// The adapters, all alike. Times are in picoseconds; those without another source are of table I
/// of the HToE paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct HteaPlan {
    /// Mapping and queuing of an outgoing packet.
    pub mapping_ps: u64,
    /// Credits, retry buffer and encapsulation of a frame with one packet.
    pub encapsulation_ps: u64,
    /// Encapsulation of each further packet. **Assumed**: 18 dwords at 300 MHz.
    pub encapsulation_packet_ps: u64,
    /// Outgoing MAC, for a frame with one packet; longer ones take longer by their time on the
    /// wire.
    pub mac_out_ps: u64,
    /// Incoming MAC.
    pub mac_in_ps: u64,
    /// De-encapsulation of a frame with one packet.
    pub deencapsulation_ps: u64,
    /// De-encapsulation of each further packet. **Fitted** to 6.99 Gb/s.
    pub deencapsulation_packet_ps: u64,
    /// Encapsulation or de-encapsulation of a NOP. **Assumed**: a dword at 300 MHz.
    pub nop_ps: u64,
    /// Queuing of an incoming packet.
    pub queuing_ps: u64,
    /// Outgoing buffers, shared equally by the virtual links. Source: htoe, section V.B.
    pub buffers_out_bytes: u64,
    /// Incoming buffers, shared equally by the virtual links. Source: htoe, section V.B.
    pub buffers_in_bytes: u64,
    /// A buffer: 12 bytes of command and 64 of data.
    pub buffer_bytes: u64,
    /// Frames that an incoming MAC holds, 0 for all that come. **Assumed**.
    pub incoming_frames: u64,
    /// Longest frame, without Ethernet's own bytes.
    pub frame_bytes: u64,
    /// Frames of a virtual link without an ack. **Assumed**.
    pub frames_in_flight: u64,
    /// Credits owed for which a frame is sent. **Assumed**.
    pub credit_batch: u64,
    /// Time that a frame which is not full waits after the one before it. **Assumed**: none, so
    /// that what waits for the encapsulation stage leaves together.
    pub hold_ps: u64,
    /// Credits owed go in a frame of their own after so long. **Assumed**, as the five that follow.
    pub credit_delay_ps: u64,
    /// An ack waits for frames of its direction at most so long.
    pub ack_delay_ps: u64,
    /// Frames that one ack is for at most.
    pub ack_frames: u64,
    /// Between two attempts to open a virtual link.
    pub hello_ps: u64,
    /// A frame is sent again without an ack for so long, before a round trip was measured.
    pub retry_first_ps: u64,
    /// The same at least, from then on.
    pub retry_min_ps: u64,
}

impl Default for HteaPlan {
    fn default() -> Self {
        Self {
            mapping_ps: 192_000,
            encapsulation_ps: 244_000,
            encapsulation_packet_ps: 60_000,
            mac_out_ps: 122_000,
            mac_in_ps: 298_000,
            deencapsulation_ps: 222_000,
            deencapsulation_packet_ps: 65_400,
            nop_ps: 3_333,
            queuing_ps: 156_000,
            buffers_out_bytes: 32 << 20,
            buffers_in_bytes: 32 << 20,
            buffer_bytes: 76,
            incoming_frames: 0,
            frame_bytes: 1_500,
            frames_in_flight: 128,
            credit_batch: 256,
            hold_ps: 0,
            credit_delay_ps: 100_000_000,
            ack_delay_ps: 25_000_000,
            ack_frames: 32,
            hello_ps: 100_000_000,
            retry_first_ps: 1_000_000_000,
            retry_min_ps: 100_000_000,
        }
    }
}

/// Longest time of a part: a second.
const PS_MAX: u64 = 1_000_000_000_000;

/// A quantity that a file may give.
pub(super) struct Key {
    name: &'static str,
    quantity: &'static Quantity,
    /// Of the numbers that it becomes.
    unit: &'static str,
    least: u64,
    most: u64,
}

impl Key {
    pub(super) const fn time(name: &'static str) -> Self {
        Self {
            name,
            quantity: &TIME,
            unit: "ps",
            least: 0,
            most: PS_MAX,
        }
    }

    /// A timer of a link, which counts nanoseconds: from a microsecond to the link's longest timeout.
    const fn timer(name: &'static str) -> Self {
        Self {
            least: 1_000_000,
            most: 200_000_000_000,
            ..Self::time(name)
        }
    }

    pub(super) const fn size(name: &'static str, [least, most]: [u64; 2]) -> Self {
        Self {
            name,
            quantity: &SIZE,
            unit: "bytes",
            least,
            most,
        }
    }

    /// Puts what the file gives in place of the default.
    pub(super) fn read(&self, section: &mut Section<'_>, into: &mut u64, out: &mut Findings) {
        let Some(got) = section.quantity(self.name, self.quantity, out) else {
            return;
        };
        if !(self.least..=self.most).contains(&got.value) {
            let (least, most, unit) = (self.least, self.most, self.unit);
            out.push(
                Diagnostic::error("value", format!("`{}` is out of range", self.name))
                    .label(
                        got.span,
                        format!("expected {least} to {most} {unit}, got {}", got.value),
                    )
                    .help("use a value in this range"),
            );
        }
        *into = got.value;
    }
}

/// Reads `[ethernet]` and `[htea]`.
pub(super) fn read_network(
    file: &mut Section<'_>,
    out: &mut Findings,
) -> (Option<Located<EthernetPlan>>, Option<Located<HteaPlan>>) {
    let ethernet = file.table("ethernet", "[ethernet]", out).map(|section| {
        let span = section.span();
        let value = read_ethernet(section, out);
        Located { value, span }
    });
    let htea = file.table("htea", "[htea]", out).map(|section| {
        let span = section.span();
        let value = read_htea(section, out);
        Located { value, span }
    });
    (ethernet, htea)
}

/// Reads `[ethernet]`.
fn read_ethernet(mut section: Section<'_>, out: &mut Findings) -> EthernetPlan {
    let mut plan = EthernetPlan::default();
    let port = Key {
        name: "port",
        quantity: &BANDWIDTH,
        unit: "bytes per second",
        least: 1_000_000,
        most: 1_000_000_000_000,
    };
    let buffer = Key::size("switch_buffer", [0, 1 << 40]);
    for (key, into) in [
        (port, &mut plan.port_bytes_per_s),
        (Key::time("switch"), &mut plan.switch_ps),
        (Key::time("delay"), &mut plan.delay_ps),
        (buffer, &mut plan.switch_buffer_bytes),
    ] {
        key.read(&mut section, into, out);
    }
    for (key, into) in [
        ("lost_per_million", &mut plan.lost_per_million),
        ("doubled_per_million", &mut plan.doubled_per_million),
        ("delayed_per_million", &mut plan.delayed_per_million),
    ] {
        if let Some(count) = section.count(key, 0, 1_000_000, out) {
            *into = u32::try_from(count.value).unwrap_or(u32::MAX);
        }
    }
    if let Some(seed) = section.count("seed", 0, i64::MAX as u64, out) {
        plan.seed = seed.value;
    }
    section.finish(out);
    plan
}

/// Reads `[htea]`.
fn read_htea(mut section: Section<'_>, out: &mut Findings) -> HteaPlan {
    let mut plan = HteaPlan::default();
    for (key, into) in [
        ("mapping", &mut plan.mapping_ps),
        ("encapsulation", &mut plan.encapsulation_ps),
        ("encapsulation_packet", &mut plan.encapsulation_packet_ps),
        ("mac_out", &mut plan.mac_out_ps),
        ("mac_in", &mut plan.mac_in_ps),
        ("deencapsulation", &mut plan.deencapsulation_ps),
        (
            "deencapsulation_packet",
            &mut plan.deencapsulation_packet_ps,
        ),
        ("nop", &mut plan.nop_ps),
        ("queuing", &mut plan.queuing_ps),
        ("hold", &mut plan.hold_ps),
    ] {
        Key::time(key).read(&mut section, into, out);
    }
    for (key, into) in [
        ("credit_delay", &mut plan.credit_delay_ps),
        ("ack_delay", &mut plan.ack_delay_ps),
        ("hello", &mut plan.hello_ps),
        ("retry_first", &mut plan.retry_first_ps),
        ("retry_min", &mut plan.retry_min_ps),
    ] {
        Key::timer(key).read(&mut section, into, out);
    }
    for (key, bounds, into) in [
        ("buffers_out", [1, 1 << 40], &mut plan.buffers_out_bytes),
        ("buffers_in", [1, 1 << 40], &mut plan.buffers_in_bytes),
        ("buffer", [1, 1 << 20], &mut plan.buffer_bytes),
        ("frame", [128, 9_000], &mut plan.frame_bytes),
    ] {
        Key::size(key, bounds).read(&mut section, into, out);
    }
    for (key, [least, most], into) in [
        ("incoming_frames", [0, 1 << 30], &mut plan.incoming_frames),
        ("frames_in_flight", [1, 8_192], &mut plan.frames_in_flight),
        ("credit_batch", [1, 65_535], &mut plan.credit_batch),
        ("ack_frames", [1, 1_024], &mut plan.ack_frames),
    ] {
        if let Some(count) = section.count(key, least, most, out) {
            *into = count.value;
        }
    }
    section.finish(out);
    plan
}

/// Reads `adapter`, `board` or `chip` of a node: a link, true or false; or a list, for several.
pub(super) fn read_places(
    section: &mut Section<'_>,
    key: &'static str,
    fabric: Fabric,
    out: &mut Findings,
) -> Vec<Located<AdapterPlace>> {
    if fabric != Fabric::TcCluster {
        return Vec::new();
    }
    match section.value(key) {
        None => Vec::new(),
        Some(value) => match value.get_ref() {
            DeValue::Boolean(false) => Vec::new(),
            DeValue::Array(list) => {
                let places = list.iter().map(|value| read_place(value, key, out));
                places.collect::<Option<_>>().unwrap_or_default()
            }
            _ => read_place(value, key, out).into_iter().collect(),
        },
    }
}

/// A link, or true.
fn read_place(
    value: &Spanned<DeValue<'_>>,
    key: &'static str,
    out: &mut Findings,
) -> Option<Located<AdapterPlace>> {
    let span = span_of(value);
    let place = match value.get_ref() {
        DeValue::Boolean(true) => AdapterPlace::Auto,
        DeValue::String(text) => match parse_link_path(text, Fabric::TcCluster) {
            Some((processor, link)) => AdapterPlace::On(processor, link),
            None => {
                out.push(
                    Diagnostic::error("port", format!("`{}` is not a link", clip(text)))
                        .label(span, "expected a link, `l0` to `l7`, or `p1.l0`")
                        .help("name the link as \"l3\", or write true"),
                );
                AdapterPlace::Auto
            }
        },
        _ => {
            let expected = "true, false, a link such as \"l3\" or a list of links";
            wrong_type(key, expected, value, out);
            return None;
        }
    };
    Some(Located { value: place, span })
}

/// A port of a node that an adapter is plugged into.
pub(crate) type AdapterPort = (u8, LinkIndex);
