//! What `bake3d` bakes: the names of its parameters and values, as both the checker and the host read them.

use crate::abi::print::VALUES_MAX;

/// Values of a record before those of channels: file, channels, position, normal, radius.
pub const FIXED_VALUES: usize = 5;

/// Channels of one call; behind them may be a value of its parameter `interpolate`.
pub const CHANNELS_MAX: usize = VALUES_MAX - FIXED_VALUES - 1;

/// Its value is described behind those of channels as of the type `flag`, where a call has it.
pub(crate) const INTERPOLATE: &str = "interpolate";

/// Parameters of `bake3d` that are no channels, each with whether it is a text.
pub(crate) const PARAMETERS: [(&str, bool); 4] =
    [("coordsystem", true), ("radius", false), ("radiusscale", false), (INTERPOLATE, false)];

/// Returns whether `bake3d` has a parameter of this name.
pub(crate) fn is_parameter(name: &str) -> bool {
    PARAMETERS.iter().any(|(known, _)| *known == name)
}

/// Returns values with their types as one text: `color Cs,float area`.
pub(crate) fn describe<'a>(values: impl Iterator<Item = (String, &'a str)>) -> String {
    values.map(|(ty, name)| format!("{ty} {name}")).collect::<Vec<_>>().join(",")
}

/// Returns the types and names in a text that says what is baked.
pub fn described(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split(',').filter_map(|value| value.split_once(' '))
}

/// Returns whether behind the values of channels there is one that says whether points between four vertices are baked.
pub fn may_interpolate(text: &str) -> bool {
    described(text).any(|(ty, _)| ty == "flag")
}

/// Returns the names in the list of channels that a shader gives, in order.
pub fn listed(channels: &str) -> impl Iterator<Item = &str> {
    channels.split(',').map(str::trim).filter(|name| !name.is_empty())
}

/// Returns whether a channel may have this name: letters, digits and underscores, at most 255, the first no digit.
pub fn is_channel_name(name: &str) -> bool {
    let rest = name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    rest && name.len() <= 255 && name.chars().next().is_some_and(|first| !first.is_ascii_digit())
}
