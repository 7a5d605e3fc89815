//! The settings for reaching stations of other hosts.

use hostwire_bootstrap::settings::SettingError;
use hostwire_frames::{FrameWire, settings};
use hostwire_transport::{EnvironmentFault, TransportError};

use super::NetworkWire;

/// The settings of the wires between hosts that stations use.
#[derive(Debug, Clone)]
pub struct Environment {
    /// The names of the interfaces; empty: the default one.
    pub interfaces: Vec<String>,
    ether_type: u16,
}

impl Environment {
    /// Reads the environment of this process.
    ///
    /// # Errors
    /// [`SettingError`] for the first variable whose value makes no sense.
    pub fn read() -> Result<Self, SettingError> {
        let settings = settings::Settings::from_env()?;
        Ok(Self {
            interfaces: settings.interfaces.unwrap_or_default(),
            ether_type: settings.ether_type,
        })
    }

    /// The wire to stations of other hosts, if the settings name this wire or none.
    ///
    /// # Errors
    /// [`TransportError::Environment`] if stations cannot use that wire between hosts.
    pub fn wire(&self, named: Option<&str>) -> Result<NetworkWire, TransportError> {
        match named.map(str::parse) {
            None | Some(Ok(FrameWire::Udp)) => Ok(NetworkWire::Udp),
            Some(Ok(FrameWire::Tcp)) => Ok(NetworkWire::Tcp),
            Some(Ok(FrameWire::Ether)) => Ok(NetworkWire::Ether(self.ether_type)),
            Some(_) => {
                let missing = "processes without a launcher of hostwire reach other hosts by udp, tcp and ether alone, \
                               and HOSTWIRE_WIRE names another wire; it has to be auto or one of these";
                let fault = EnvironmentFault::Unsupported { missing };
                let what = "reaching a station of another host";
                Err(TransportError::environment(what, fault))
            }
        }
    }
}
