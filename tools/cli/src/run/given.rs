//! The options that stand for settings of the library, made from its table.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser, ValueParser};
use clap::{Arg, ArgAction, ArgMatches, Command};
use hostwire::settings::{Setting, SettingError, Settings, TABLE, WIRE, WireChoice, WireName};

/// The value of a switch that is given.
const ON: &str = "1";

/// Settings that were given as options, by variable.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Given(Vec<(&'static str, String)>);

impl Given {
    /// The same, with a setting more.
    pub fn with(mut self, setting: &Setting, value: impl Into<String>) -> Self {
        self.0.retain(|(variable, _)| *variable != setting.variable);
        self.0.push((setting.variable, value.into()));
        self
    }

    /// The same, with a switch on, or as it was.
    pub fn with_switch(self, setting: &Setting, is_on: bool) -> Self {
        match is_on {
            true => self.with(setting, ON),
            false => self,
        }
    }

    /// Whether this one was given.
    pub fn has(&self, setting: &Setting) -> bool {
        self.of(setting.variable).is_some()
    }

    fn of(&self, variable: &str) -> Option<&str> {
        let given = self.0.iter().find(|(name, _)| *name == variable);
        given.map(|(_, value)| value.as_str())
    }

    /// What errors call a setting: the option that was given, or the variable.
    pub fn name_of(&self, setting: &Setting) -> String {
        match setting.flag {
            Some(flag) if self.has(setting) => format!("--{}", flag.long),
            _ => setting.variable.to_owned(),
        }
    }

    /// The settings of the job: options have precedence over the environment.
    ///
    /// # Errors
    /// [`SettingError`].
    pub fn settings(&self) -> Result<Settings, SettingError> {
        Settings::checked(|variable| self.effective(variable))
    }

    /// The variables that PEs get besides those that they inherit: settings given as options, sizes
    /// in bytes, and always the wire. The settings have to be usable.
    pub fn environment(&self, wire: WireChoice) -> Vec<(&'static str, String)> {
        let set = TABLE.iter().filter_map(|setting| {
            let value = self.effective(setting.variable)?;
            let canonical = setting.canonical(&value).ok()?;
            let is_inherited = !self.has(setting) && canonical == value;
            (!is_inherited).then_some((setting.variable, canonical))
        });
        set.chain([(WIRE.variable, wire.to_string())]).collect()
    }

    fn effective(&self, variable: &str) -> Option<String> {
        let set = || std::env::var_os(variable).filter(|value| !value.is_empty());
        let given = self.of(variable).map(str::to_owned);
        given.or_else(|| Some(set()?.to_string_lossy().into_owned()))
    }
}

impl clap::Args for Given {
    fn augment_args(command: Command) -> Command {
        command.args(TABLE.iter().filter_map(|setting| option(setting)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for Given {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut given = Self::default();
        given.update_from_arg_matches(matches)?;
        Ok(given)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for setting in TABLE.iter() {
            let Some(flag) = setting.flag else {
                continue;
            };
            let value = match flag.value_name {
                Some(_) => matches.get_one::<String>(flag.long).cloned(),
                None => matches.get_flag(flag.long).then(|| ON.to_owned()),
            };
            if let Some(value) = value {
                *self = std::mem::take(self).with(setting, value);
            }
        }
        Ok(())
    }
}

/// The option of a setting, if it has one.
fn option(setting: &'static Setting) -> Option<Arg> {
    let flag = setting.flag?;
    let help = plain(setting.summary());
    let usual = format!(
        "{} by default, or what {setting} says.",
        plain(&setting.without())
    );
    let (action, value) = match (flag.value_name, setting.choices().is_empty()) {
        (None, _) => (ArgAction::SetTrue, String::new()),
        (Some(_), true) => (
            ArgAction::Set,
            format!("{}; {usual}", capitalised(&setting.expected())),
        ),
        (Some(_), false) => (ArgAction::Set, usual),
    };
    let more = [value, plain(&setting.detail()), plain(&(flag.detail)())];
    let more: Vec<String> = more.into_iter().filter(|part| !part.is_empty()).collect();
    let mut arg = Arg::new(flag.long)
        .long(flag.long)
        .action(action)
        .long_help(format!("{help}\n\n{}", more.join(" ")))
        .help(help);
    if let Some(name) = flag.value_name {
        arg = arg
            .value_name(name)
            .allow_negative_numbers(true)
            .value_parser(parser(setting));
    }
    Some(arg)
}

/// Reads values as the library does; keeps them as PEs are handed them.
fn parser(setting: &'static Setting) -> ValueParser {
    let names = names(setting);
    match names.is_empty() {
        true => ValueParser::new(|value: &str| setting.canonical(value)),
        false => PossibleValuesParser::new(names).into(),
    }
}

/// Reads `--wire` for a command that needs the name of one wire and has no other setting.
pub fn wire_parser() -> ValueParser {
    let mut names = names(&WIRE);
    names.retain(|name| name.get_name().parse::<WireName>().is_ok());
    PossibleValuesParser::new(names)
        .try_map(|name| name.parse::<WireName>())
        .into()
}

/// The values of a setting that has names for them, except those for tests.
fn names(setting: &Setting) -> Vec<PossibleValue> {
    let choices = setting.choices().into_iter();
    let for_users = choices.filter(|choice| !choice.is_for_tests);
    for_users
        .map(|choice| PossibleValue::new(choice.name).help(choice.summary))
        .collect()
}

/// As terminals show it.
fn plain(text: &str) -> String {
    text.replace('`', "")
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use clap::{Args, FromArgMatches};
    use hostwire::settings::{HEAP, INSECURE_WIRE};

    use super::*;

    fn given(arguments: &[&str]) -> Result<Given, clap::Error> {
        let command = Given::augment_args(Command::new("test").no_binary_name(true));
        Given::from_arg_matches(&command.try_get_matches_from(arguments)?)
    }

    #[test]
    fn every_setting_with_an_option_has_it() {
        for setting in TABLE.iter() {
            let Some(flag) = setting.flag else {
                continue;
            };
            let long = format!("--{}", flag.long);
            let value = setting.without();
            let arguments = match flag.value_name {
                Some(_) => vec![long.as_str(), value.as_str()],
                None => vec![long.as_str()],
            };
            let seen = given(&arguments).unwrap();
            assert!(seen.has(setting) && seen.name_of(setting) == long, "{long}");
        }
    }

    #[test]
    fn options_come_before_the_environment_and_reach_the_pes_in_bytes() {
        let seen = given(&["--heap", "1M", "--insecure-wire"]).unwrap();
        assert_eq!(seen.settings().unwrap().heap_bytes, Some(1 << 20));
        let environment = seen.environment(WireChoice::Named(WireName::Udp));
        for (setting, value) in [(&HEAP, "1048576"), (&INSECURE_WIRE, "1"), (&WIRE, "udp")] {
            let found = (setting.variable, value.to_owned());
            assert!(environment.contains(&found), "{environment:?}");
        }
        assert!(given(&["--wire", "stores"]).is_err(), "it is for tests");
    }
}
