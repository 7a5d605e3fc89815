//! What a board is.

use serde::Serialize;

use crate::diagnostic::{Findings, Located};
use crate::file::Section;

/// What a board is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BoardKind {
    /// The model.
    #[default]
    Model,
    /// The HT-Core as RTL, and the model's logic behind it.
    RtlCore,
    /// A whole design as RTL.
    Rtl,
}

impl BoardKind {
    /// All.
    pub const ALL: [BoardKind; 3] = [BoardKind::Model, BoardKind::RtlCore, BoardKind::Rtl];

    /// Its name in a file.
    pub const fn name(self) -> &'static str {
        match self {
            BoardKind::Model => "model",
            BoardKind::RtlCore => "rtl-core",
            BoardKind::Rtl => "rtl",
        }
    }

    /// Whether it is the model.
    pub fn is_model(&self) -> bool {
        *self == BoardKind::Model
    }

    /// Reads the key `device`.
    pub fn read(section: &mut Section<'_>, out: &mut Findings) -> Option<Located<BoardKind>> {
        let kinds = BoardKind::ALL.map(|kind| (kind.name(), kind));
        section.choice("device", &kinds, out)
    }
}
