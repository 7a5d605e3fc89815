//! `--color`.

use clap::ValueEnum;

/// When output has colours.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Colors {
    /// On a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Colors {
    /// Sets the choice for all output.
    pub fn choose(self) {
        let choice = match self {
            Colors::Auto => anstream::ColorChoice::Auto,
            Colors::Always => anstream::ColorChoice::AlwaysAnsi,
            Colors::Never => anstream::ColorChoice::Never,
        };
        choice.write_global();
    }

    /// The choice of a command line that is wrong or asks for help.
    pub fn of_arguments() -> Self {
        let arguments: Vec<String> = std::env::args_os()
            .map(|argument| argument.to_string_lossy().into_owned())
            .collect();
        let behind = arguments
            .iter()
            .zip(arguments.iter().skip(1))
            .find_map(|(name, value)| (name == "--color").then_some(value.as_str()));
        let joined = || {
            arguments
                .iter()
                .find_map(|all| all.strip_prefix("--color="))
        };
        let named = behind.or_else(joined);
        named
            .and_then(|name| Colors::from_str(name, false).ok())
            .unwrap_or(Colors::Auto)
    }
}
