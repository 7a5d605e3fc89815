//! The description of a setting, and how tables of settings are made.

use core::fmt;

use hostwire_transport::quoted;

use super::in_environment;

/// Everything about a setting. [`table!`](super::table) makes tables of them.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// The environment variable.
    pub variable: &'static str,
    /// Other variables that count if the variable is not set.
    pub aliases: &'static [&'static str],
    /// The option of `hostwire run`, if it has one.
    pub flag: Option<Flag>,
    /// Whether the PEs of a job may have different values.
    pub may_differ: bool,
    #[doc(hidden)]
    pub summary: &'static str,
    #[doc(hidden)]
    pub detail: fn() -> String,
    #[doc(hidden)]
    pub without: fn() -> String,
    #[doc(hidden)]
    pub expected: fn() -> String,
    #[doc(hidden)]
    pub choices: fn() -> Vec<Choice>,
    #[doc(hidden)]
    pub canonical: fn(&str) -> core::result::Result<String, String>,
}

/// An option of the command line that stands for a setting.
#[derive(Debug, Clone, Copy)]
pub struct Flag {
    /// The name after `--`.
    pub long: &'static str,
    /// The name of its value in the help. `None`: it has no value, and means `1`.
    pub value_name: Option<&'static str>,
    /// More text about the option.
    pub detail: fn() -> String,
}

impl Flag {
    /// An option with a value.
    pub const fn of_value(long: &'static str, value_name: &'static str) -> Self {
        Self {
            long,
            value_name: Some(value_name),
            detail: String::new,
        }
    }

    /// An option without a value, which means `1`.
    pub const fn switch(long: &'static str) -> Self {
        Self {
            long,
            value_name: None,
            detail: String::new,
        }
    }

    /// The same, with more text.
    pub const fn with(mut self, detail: fn() -> String) -> Self {
        self.detail = detail;
        self
    }
}

/// One of the few values that a setting can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// The value.
    pub name: &'static str,
    /// What it means.
    pub summary: &'static str,
    /// Whether it is for tests of the library alone.
    pub is_for_tests: bool,
}

/// The kind of values of a setting.
pub trait Kind {
    /// The type of parsed values.
    type Value;

    /// The expected values, as text after the word "expected".
    fn expected() -> String;

    /// Parses a value.
    ///
    /// # Errors
    /// What is wrong with `text`, for people.
    fn parse(text: &str) -> core::result::Result<Self::Value, String>;

    /// The same value in the form that PEs get.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    fn canonical(text: &str) -> core::result::Result<String, String> {
        Self::parse(text).map(|_| text.to_owned())
    }

    /// All values, if they are few and have names.
    fn choices() -> Vec<Choice> {
        Vec::new()
    }
}

/// The error text for a value that is not of its kind, if there is nothing more to say.
pub fn expected<K: Kind>() -> String {
    format!("expected {}", K::expected())
}

impl Setting {
    #[doc(hidden)]
    pub const fn new<K: Kind>(variable: &'static str, summary: &'static str) -> Self {
        Self {
            variable,
            aliases: &[],
            flag: None,
            may_differ: false,
            summary: summary.trim_ascii(),
            detail: String::new,
            without: String::new,
            expected: K::expected,
            choices: K::choices,
            canonical: K::canonical,
        }
    }

    /// What it sets, in a few words.
    pub const fn summary(&self) -> &'static str {
        self.summary
    }

    /// More about it. May be empty.
    pub fn detail(&self) -> String {
        (self.detail)()
    }

    /// The default.
    pub fn without(&self) -> String {
        (self.without)()
    }

    /// The possible values, as text.
    pub fn expected(&self) -> String {
        (self.expected)()
    }

    /// Its values, if they are few and have names.
    pub fn choices(&self) -> Vec<Choice> {
        (self.choices)()
    }

    /// Checks `value`, and returns it in the form that PEs get.
    ///
    /// # Errors
    /// What is wrong with it, for people.
    pub fn canonical(&self, value: &str) -> core::result::Result<String, String> {
        (self.canonical)(value)
    }

    /// The value in the environment of this process, if any.
    pub fn in_environment(&self) -> Option<String> {
        self.names().find_map(in_environment)
    }

    fn names(&self) -> impl Iterator<Item = &'static str> {
        [self.variable]
            .into_iter()
            .chain(self.aliases.iter().copied())
    }

    #[doc(hidden)]
    pub fn read<K: Kind>(
        &self,
        lookup: &impl Fn(&str) -> Option<String>,
    ) -> Result<Option<K::Value>, SettingError> {
        let mut found = self.names().map(|name| (name, lookup(name)));
        let Some((variable, Some(value))) = found.find(|(_, value)| value.is_some()) else {
            return Ok(None);
        };
        let read = K::parse(&value);
        read.map(Some).map_err(|problem| SettingError {
            variable,
            value,
            problem,
        })
    }
}

/// The value of a setting is unusable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{variable}={} is not usable: {problem}", quoted(value))]
pub struct SettingError {
    /// The variable.
    pub variable: &'static str,
    /// Its value.
    pub value: String,
    /// The fault of the value, or the expected value.
    pub problem: String,
}

/// The variable.
impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.variable)
    }
}

/// Makes a table of settings, and the struct that holds their values.
///
/// A row has the meaning of the setting, the field of the struct, the name of the [`Setting`], its
/// variable and [`Kind`], the default, and exceptions from the usual. Without `= DEFAULT` the
/// field is an `Option`. The macro makes a static [`Setting`] per row, `TABLE` with all of them,
/// and the struct with `from_lookup`, which reads it.
///
/// ```
/// use hostwire_bootstrap::settings::table;
/// use hostwire_bootstrap::settings::kinds::Seconds;
///
/// table! {
///     /// What the environment says.
///     struct Settings;
///
///     /// How long this program runs
///     limit_s: u64 = LIMIT("PROGRAM_LIMIT": Seconds = 10) {
///         without: || "10".into(),
///     }
/// }
///
/// let settings = Settings::from_lookup(|name| (name == LIMIT.variable).then(|| "60".into()));
/// assert_eq!(settings?.limit_s, 60);
/// assert_eq!(TABLE.len(), 1);
/// # Ok::<(), hostwire_bootstrap::settings::SettingError>(())
/// ```
///
/// A row without the text of a default does not compile:
///
/// ```compile_fail
/// use hostwire_bootstrap::settings::table;
/// use hostwire_bootstrap::settings::kinds::Seconds;
///
/// table! {
///     /// What the environment says.
///     struct Settings;
///
///     /// How long this program runs
///     limit_s: u64 = LIMIT("PROGRAM_LIMIT": Seconds = 10) {}
/// }
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! settings_table {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident;
        $(
            $(#[doc = $summary:literal])+
            $(#[cfg($cfg:meta)])?
            $field_vis:vis $field:ident: $type:ty =
                $SETTING:ident($variable:literal: $kind:ident $(= $default:expr)?)
                { without: $without:expr $(, $key:ident: $value:expr)* $(,)? }
        )+
    ) => {
        $(
            $(#[doc = $summary])+
            $(#[cfg($cfg)])?
            $vis static $SETTING: $crate::settings::Setting = $crate::settings::Setting {
                without: $without,
                $($key: $value,)*
                ..$crate::settings::Setting::new::<$kind>($variable, concat!($($summary),+))
            };
        )+

        /// All of them.
        $vis static TABLE: &[&$crate::settings::Setting] = &[
            $($(#[cfg($cfg)])? &$SETTING,)+
        ];

        $(#[$meta])*
        $vis struct $name {
            $($(#[doc = $summary])+ $(#[cfg($cfg)])? $field_vis $field: $type,)+
        }

        impl $name {
            /// Reads each variable through `lookup`.
            ///
            /// # Errors
            /// [`SettingError`]($crate::settings::SettingError) for the first variable whose value
            /// makes no sense.
            $vis fn from_lookup(
                lookup: impl Fn(&str) -> Option<String>,
            ) -> ::core::result::Result<Self, $crate::settings::SettingError> {
                Ok(Self {
                    $($(#[cfg($cfg)])? $field: {
                        let given = $SETTING.read::<$kind>(&lookup)?;
                        $crate::settings_table!(@or given $(, $default)?)
                    },)+
                })
            }
        }
    };
    (@or $given:ident) => { $given };
    (@or $given:ident, $default:expr) => { $given.unwrap_or($default) };
}

/// `a, b or c`.
pub fn listed<'a>(words: impl Iterator<Item = &'a str>, conjunction: &str) -> String {
    let words: Vec<&str> = words.collect();
    match words.split_last() {
        Some((last, rest)) if !rest.is_empty() => {
            format!("{} {conjunction} {last}", rest.join(", "))
        }
        Some((only, _)) => (*only).to_owned(),
        None => String::new(),
    }
}
