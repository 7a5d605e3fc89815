//! What a setting is, and how tables of them are made.

use core::fmt;

use hostwire_transport::quoted;

use super::in_environment;

/// All that anybody has to know of a setting. Tables of them are made by [`table!`](super::table).
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// The environment variable.
    pub variable: &'static str,
    /// Other variables that count where that one is not set.
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
    /// Behind `--`.
    pub long: &'static str,
    /// What help calls its value. `None`: it has none, and means `1`.
    pub value_name: Option<&'static str>,
    /// What is to be said of the option alone.
    pub detail: fn() -> String,
}

impl Flag {
    /// One that has a value.
    pub const fn of_value(long: &'static str, value_name: &'static str) -> Self {
        Self {
            long,
            value_name: Some(value_name),
            detail: String::new,
        }
    }

    /// One that has none, and means `1`.
    pub const fn switch(long: &'static str) -> Self {
        Self {
            long,
            value_name: None,
            detail: String::new,
        }
    }

    /// With more to say of it.
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

/// What values a setting can have.
pub trait Kind {
    /// What they are read as.
    type Value;

    /// What is expected, in the words that follow that one.
    fn expected() -> String;

    /// Reads one.
    ///
    /// # Errors
    /// What is wrong with `text`, for people.
    fn parse(text: &str) -> core::result::Result<Self::Value, String>;

    /// The same value in the form that PEs are handed.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    fn canonical(text: &str) -> core::result::Result<String, String> {
        Self::parse(text).map(|_| text.to_owned())
    }

    /// All values, where they are few and have names.
    fn choices() -> Vec<Choice> {
        Vec::new()
    }
}

/// What is wrong where a value is none of its kind, and nothing more can be said.
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

    /// What else there is to know. May be empty.
    pub fn detail(&self) -> String {
        (self.detail)()
    }

    /// What holds where it is not set.
    pub fn without(&self) -> String {
        (self.without)()
    }

    /// What values it can have, in words.
    pub fn expected(&self) -> String {
        (self.expected)()
    }

    /// Its values, where they are few and have names.
    pub fn choices(&self) -> Vec<Choice> {
        (self.choices)()
    }

    /// Looks whether `value` is usable, and gives it in the form that PEs are handed.
    ///
    /// # Errors
    /// What is wrong with it, for people.
    pub fn canonical(&self, value: &str) -> core::result::Result<String, String> {
        (self.canonical)(value)
    }

    /// What the environment of this process says, if anything.
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

/// Makes a table of settings, and the struct that holds what they say.
///
/// A row is what the setting means, the field of the struct, the name of the [`Setting`], its
/// variable and [`Kind`], what holds without it, and whatever is not as usual. Without `= DEFAULT`
/// the field is an `Option`. Out of it come a static [`Setting`] per row, `TABLE` of them all, and
/// the struct with `from_lookup`, which reads it.
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
/// A row that does not say what holds without it does not compile:
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
            /// Reads what `lookup` says of each variable.
            ///
            /// # Errors
            /// [`SettingError`]($crate::settings::SettingError) for the first whose value makes no sense.
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
