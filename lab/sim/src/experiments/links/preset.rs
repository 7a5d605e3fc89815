//! Links that can be bought or are being specified, by public numbers.
//!
//! Each number and its source is in `docs/sim/links-of-today.md`.

use serde::Serialize;

use crate::models::flit::Shape;

use super::host::Cut;

/// A kind of link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// PCI Express generation 3, 16 lanes.
    #[serde(rename = "pcie-3")]
    Pcie3,
    /// Generation 4.
    #[serde(rename = "pcie-4")]
    Pcie4,
    /// Generation 5.
    #[serde(rename = "pcie-5")]
    Pcie5,
    /// Generation 6: flits.
    #[serde(rename = "pcie-6")]
    Pcie6,
    /// CXL with flits of 256 bytes, 16 lanes of 64 GT/s.
    #[serde(rename = "cxl-256")]
    Cxl256,
    /// UALink 1.0 with four lanes.
    #[serde(rename = "ualink-1")]
    UaLink1,
    /// Ethernet with the headers of Ultra Ethernet 1.0.
    UltraEthernet,
    /// The same with its short semantic header.
    UltraEthernetShort,
}

/// Flow control that a workload may choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlowChoice {
    /// Credits.
    Credits,
    /// Pause frames.
    Pause,
    /// None: a switch throws away what finds no room.
    Drop,
}

/// Who repeats what was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RetryChoice {
    /// The two ends of a link.
    Link,
    /// The hosts: Go-Back-N from end to end.
    EndToEnd,
}

impl Preset {
    /// All, by the names of files.
    pub const ALL: [(&'static str, Preset); 8] = [
        ("pcie-3", Preset::Pcie3),
        ("pcie-4", Preset::Pcie4),
        ("pcie-5", Preset::Pcie5),
        ("pcie-6", Preset::Pcie6),
        ("cxl-256", Preset::Cxl256),
        ("ualink-1", Preset::UaLink1),
        ("ultra-ethernet", Preset::UltraEthernet),
        ("ultra-ethernet-short", Preset::UltraEthernetShort),
    ];

    /// Bytes per second of a direction, line coding taken off.
    pub fn bytes_per_s(self) -> u64 {
        const LANES: u64 = 16;
        match self {
            Preset::Pcie3 => 8_000_000_000 * LANES * 128 / 130 / 8,
            Preset::Pcie4 => 16_000_000_000 * LANES * 128 / 130 / 8,
            Preset::Pcie5 => 32_000_000_000 * LANES * 128 / 130 / 8,
            Preset::Pcie6 | Preset::Cxl256 => 64_000_000_000 * LANES / 8,
            Preset::UaLink1 => 4 * 200_000_000_000 / 8,
            Preset::UltraEthernet | Preset::UltraEthernetShort => 200_000_000_000 / 8,
        }
    }

    /// How pieces lie on it.
    pub fn shape(self) -> Shape {
        match self {
            Preset::Pcie3 | Preset::Pcie4 | Preset::Pcie5 => Shape::Frames {
                // Start with number, and LCRC.
                check_bytes: 8,
                least_bytes: 0,
                gap_bytes: 0,
                control_bytes: 8,
            },
            Preset::Pcie6 => Shape::Flits {
                flit_bytes: 256,
                capacity_bytes: 236,
            },
            Preset::Cxl256 => Shape::Flits {
                flit_bytes: 256,
                capacity_bytes: 240,
            },
            Preset::UaLink1 => Shape::Flits {
                flit_bytes: 640,
                capacity_bytes: 628,
            },
            Preset::UltraEthernet | Preset::UltraEthernetShort => Shape::Frames {
                check_bytes: 4,
                least_bytes: 64,
                gap_bytes: 20,
                control_bytes: 8,
            },
        }
    }

    /// Headers and the largest payload of a piece.
    pub fn cut(self) -> Cut {
        /// Ethernet, IP, the entropy word, and the request of the delivery layer.
        const DELIVERY_BYTES: u16 = 14 + 20 + 4 + 12;
        match self {
            Preset::Pcie3 | Preset::Pcie4 | Preset::Pcie5 | Preset::Pcie6 => Cut {
                header_bytes: 16,
                payload_bytes_max: 256,
            },
            // A slot for the header, four for the line.
            Preset::Cxl256 => Cut {
                header_bytes: 16,
                payload_bytes_max: 64,
            },
            // 93 % of the flits' 640 bytes are payload: 64 of 67.5.
            Preset::UaLink1 => Cut {
                header_bytes: 4,
                payload_bytes_max: 64,
            },
            Preset::UltraEthernet => Cut {
                header_bytes: DELIVERY_BYTES + 44,
                payload_bytes_max: 4_096,
            },
            Preset::UltraEthernetShort => Cut {
                header_bytes: DELIVERY_BYTES + 20,
                payload_bytes_max: 4_096,
            },
        }
    }

    /// Length of an acknowledgement from end to end in a frame.
    pub fn ack_bytes(self) -> u16 {
        match self {
            Preset::UltraEthernet | Preset::UltraEthernetShort => 14 + 20 + 4 + 12,
            _ => self.cut().header_bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes on the wires for each put of 64 bytes, in thousandths.
    fn put_bytes(preset: Preset) -> u64 {
        let piece = u32::from(preset.cut().header_bytes) + 64;
        match preset.shape() {
            Shape::Frames { .. } => preset.shape().wire_bytes(piece) * 1_000,
            Shape::Flits {
                flit_bytes,
                capacity_bytes,
            } => u64::from(piece) * u64::from(flit_bytes) * 1_000 / u64::from(capacity_bytes),
        }
    }

    /// The share of the wires that carries data agrees with what others have published.
    #[test]
    fn shares_of_the_wires_are_the_published_ones() {
        let share = |preset| 64.0 * 1e5 / put_bytes(preset) as f64;
        let close = |preset: Preset, percent: f64| {
            let share = share(preset);
            assert!((share - percent).abs() < 1.0, "{preset:?}: {share}");
        };
        close(Preset::UltraEthernet, 35.0);
        close(Preset::UltraEthernetShort, 40.0);
        close(Preset::UaLink1, 93.0);
    }

    #[test]
    fn names_in_files_and_in_results_are_the_same() {
        for (name, preset) in Preset::ALL {
            assert_eq!(
                serde_json::to_string(&preset).unwrap(),
                format!("\"{name}\"")
            );
        }
    }
}
