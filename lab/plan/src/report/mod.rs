//! A plan as text, JSON or a Graphviz graph.

mod dot;
mod json;
mod layout;
mod text;

pub use dot::dot;
pub use json::{JsonOptions, json};
pub use text::{TextOptions, text};
