//! Reads files of tables: typed access to keys, quantities with units, unknown keys with the
//! nearest known one, and findings with their place in the file.
//!
//! It reads the cluster file and other files that hold a cluster. It does not stop at the
//! first fault; all faults go to [`Findings`].

use toml::Spanned;
use toml::de::DeTable;

pub use crate::diagnostic::Findings;
pub use crate::spec::section::{Section, as_u64, clip, nearest, span_of, wrong_type};
pub use crate::spec::units::{
    BANDWIDTH, FREQUENCY, LENGTH, Length, Quantity, RATE, SIZE, TIME, UnitError, WIDTH,
    display_bytes, display_count, display_inches,
};

use crate::diagnostic::{Diagnostic, Span};

/// Bytes as text, if there are not too many and they are UTF-8.
///
/// `what` names the kind of file for messages: `a cluster file`.
pub fn decode<'b>(
    bytes: &'b [u8],
    bytes_max: usize,
    what: &str,
    out: &mut Findings,
) -> Option<&'b str> {
    if bytes.len() > bytes_max {
        out.push(
            Diagnostic::error(
                "size",
                format!("the file has at least {} bytes", bytes.len()),
            )
            .note(format!("{what} has at most {bytes_max} bytes"))
            .help(format!(
                "is this {what}? generate regular topologies with [topology]"
            )),
        );
        return None;
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(text),
        Err(error) => {
            let start = error.valid_up_to();
            let byte = bytes.get(start).copied().unwrap_or_default();
            out.push(
                Diagnostic::error("utf-8", "the file is not UTF-8")
                    .label(
                        Span {
                            start,
                            end: start + 1,
                        },
                        format!("byte {byte:#04x} does not begin a character"),
                    )
                    .help(format!("save the file as UTF-8; is it {what}?")),
            );
            None
        }
    }
}

/// Text as a TOML table with the place of every key and value.
pub fn parse<'t>(text: &'t str, out: &mut Findings) -> Option<Spanned<DeTable<'t>>> {
    match DeTable::parse(text) {
        Ok(root) => Some(root),
        Err(error) => {
            let end = text.len();
            let span = error.span().map_or(Span { start: end, end }, Span::from);
            out.push(
                Diagnostic::error("toml", "the file is not valid TOML")
                    .label(
                        span,
                        error.message().lines().next().unwrap_or("syntax error"),
                    )
                    .help("see https://toml.io for the syntax; is the file complete?"),
            );
            None
        }
    }
}
