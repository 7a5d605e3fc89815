//! Which devices a PE has for [`tca`](crate::tca).

use core::fmt;

use hostwire_bootstrap::settings::{Kind, expected};

/// The devices of a PE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Devices {
    /// Those of CUDA if there are any, else one modelled device.
    Auto,
    /// None: host memory alone.
    None,
    /// So many modelled devices: each is a process.
    Modelled(u32),
    /// The GPUs that `libcuda.so.1` shows.
    Cuda,
}

/// Most modelled devices of a PE.
const MODELLED_MAX: u32 = 8;

impl Kind for Devices {
    type Value = Self;

    fn expected() -> String {
        format!("auto, none, cuda, modelled, or modelled:N with at most {MODELLED_MAX}")
    }

    fn parse(text: &str) -> core::result::Result<Self, String> {
        match text {
            "auto" => return Ok(Self::Auto),
            "none" => return Ok(Self::None),
            "cuda" => return Ok(Self::Cuda),
            "modelled" => return Ok(Self::Modelled(1)),
            _ => {}
        }
        let count = text
            .strip_prefix("modelled:")
            .and_then(|count| count.parse().ok());
        let count = count.filter(|count| (1..=MODELLED_MAX).contains(count));
        count.map(Self::Modelled).ok_or_else(expected::<Self>)
    }
}

impl fmt::Display for Devices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::None => f.write_str("none"),
            Self::Cuda => f.write_str("cuda"),
            Self::Modelled(count) => write!(f, "modelled:{count}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_named() {
        for (text, devices) in [
            ("auto", Devices::Auto),
            ("none", Devices::None),
            ("cuda", Devices::Cuda),
            ("modelled", Devices::Modelled(1)),
            ("modelled:8", Devices::Modelled(8)),
        ] {
            assert_eq!(Devices::parse(text), Ok(devices));
            assert_eq!(Devices::parse(&devices.to_string()), Ok(devices));
        }
        for bad in ["", "modelled:", "modelled:0", "modelled:9", "gpu", "cuda:1"] {
            assert!(Devices::parse(bad).is_err(), "{bad}");
        }
    }
}
