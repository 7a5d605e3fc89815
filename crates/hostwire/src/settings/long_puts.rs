//! The setting that says what carries long puts and gets between hosts.

use super::setting::{Choice, Kind, expected, listed};
use super::wire::Wire;

/// What carries long puts and gets between hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LongPuts {
    /// The wire that carries all else.
    #[default]
    Same,
    /// libfabric beside that wire.
    Fabric,
}

impl LongPuts {
    const ALL: [Self; 2] = [Self::Same, Self::Fabric];

    /// Its name, as in [`LONG_PUTS`](super::LONG_PUTS).
    pub const fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Fabric => Wire::Fabric.name(),
        }
    }

    const fn summary(self) -> &'static str {
        match self {
            Self::Same => "The wire of short ones",
            Self::Fabric => "libfabric, beside Ethernet frames or UDP for short ones",
        }
    }
}

impl Kind for LongPuts {
    type Value = Self;

    fn expected() -> String {
        listed(Self::ALL.into_iter().map(Self::name), "or")
    }

    fn parse(text: &str) -> Result<Self, String> {
        let mut all = Self::ALL.into_iter();
        all.find(|it| it.name() == text)
            .ok_or_else(expected::<Self>)
    }

    fn choices() -> Vec<Choice> {
        let all = Self::ALL.into_iter();
        all.map(|it| Choice {
            name: it.name(),
            summary: it.summary(),
            is_for_tests: false,
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_a_name() {
        for it in LongPuts::ALL {
            assert_eq!(LongPuts::parse(it.name()), Ok(it));
        }
        let refused = LongPuts::parse("pigeon").unwrap_err();
        assert_eq!(refused, "expected same or fabric");
    }
}
