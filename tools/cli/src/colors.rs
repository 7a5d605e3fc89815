//! `--color`.

use clap::ValueEnum;

/// The option, of every program with this face.
#[derive(Debug, clap::Args)]
pub struct ColorOption {
    /// When to use colours: auto, always, never
    ///
    /// With auto, on a terminal, unless NO_COLOR is set, CLICOLOR is 0 or TERM is dumb; and
    /// elsewhere, if CLICOLOR_FORCE is 1.
    #[arg(
        long,
        value_name = "WHEN",
        value_enum,
        default_value = "auto",
        global = true
    )]
    #[arg(hide_default_value = true, hide_possible_values = true)]
    pub color: Colors,
}

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
