//! The settings of this wire.

use hostwire_bootstrap::settings::{Kind, expected, table};

use crate::Choice;

table! {
    /// The settings of the environment, checked.
    #[derive(Debug, Clone, PartialEq)]
    #[non_exhaustive]
    pub struct Settings;

    /// The provider of libfabric for the wire fabric, as `provider[:domain]`
    pub fabric: Option<Choice> = FABRIC("HOSTWIRE_FABRIC": Choice) {
        without: || "the first one of libfabric that leads to other hosts".into(),
        detail: || "As `fi_info` names it, for example `tcp;ofi_rxm`, and a device or an interface \
                    behind a colon. `hostwire doctor` lists those that there are.".into(),
    }
}

impl Kind for Choice {
    type Value = Self;

    fn expected() -> String {
        "provider[:domain], as fi_info names them".into()
    }

    fn parse(text: &str) -> core::result::Result<Self, String> {
        text.parse().map_err(|()| expected::<Self>())
    }
}
