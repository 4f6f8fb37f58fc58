//! Names: of properties and columns, their rules, and suggestions for near misses.

use proc_macro2::Ident;
use syn::ext::IdentExt;

/// How property names are made of field names.
#[derive(Clone, Copy, Default)]
pub(crate) enum Case {
    #[default]
    Pascal,
    Camel,
    Snake,
    ScreamingSnake,
    Lower,
    Upper,
}

impl Case {
    /// The names under which `rename_all` knows the cases.
    pub(crate) const NAMES: [&'static str; 6] =
        ["PascalCase", "camelCase", "snake_case", "SCREAMING_SNAKE_CASE", "lowercase", "UPPERCASE"];

    pub(crate) fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "PascalCase" => Self::Pascal,
            "camelCase" => Self::Camel,
            "snake_case" => Self::Snake,
            "SCREAMING_SNAKE_CASE" => Self::ScreamingSnake,
            "lowercase" => Self::Lower,
            "UPPERCASE" => Self::Upper,
            _ => return None,
        })
    }

    /// The name in this case.
    pub(crate) fn apply(self, name: &str) -> String {
        let words = words(name);
        let capitalised = |word: &String| -> String {
            let mut chars = word.chars();
            chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
        };
        match self {
            Self::Pascal => words.iter().map(capitalised).collect(),
            Self::Camel => words
                .iter()
                .enumerate()
                .map(|(at, word)| if at == 0 { word.clone() } else { capitalised(word) })
                .collect(),
            Self::Snake => words.join("_"),
            Self::ScreamingSnake => words.join("_").to_uppercase(),
            Self::Lower => words.concat(),
            Self::Upper => words.concat().to_uppercase(),
        }
    }
}

/// The words of a name in lower case, whichever case it is written in.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut begins = true;
    let mut last_was_lower = false;
    for each in name.chars() {
        if each == '_' {
            begins = true;
            continue;
        }
        if begins || (each.is_uppercase() && last_was_lower) {
            words.push(String::new());
        }
        begins = false;
        last_was_lower = !each.is_uppercase();
        if let Some(word) = words.last_mut() {
            word.extend(each.to_lowercase());
        }
    }
    words
}

/// The name without `r#`.
pub(crate) fn plain(ident: &Ident) -> String {
    ident.unraw().to_string()
}

/// The constant's name of a field's column.
pub(crate) fn column(field: &str) -> String {
    field.to_uppercase()
}

/// The names that the toolkit and the service keep for themselves.
const RESERVED: [&str; 9] = [
    "EntityType",
    "EntityVersion",
    "RowKind",
    "RowToken",
    "RowOwner",
    "RowBlobs",
    "PartitionKey",
    "RowKey",
    "Timestamp",
];

/// Why a property cannot have this name, if it cannot.
pub(crate) fn property_problem(name: &str) -> Option<String> {
    let first = |each: char| each == '_' || each.is_alphabetic();
    if RESERVED.contains(&name) {
        Some(format!("the property name `{name}` is reserved; choose another with `rename = \"...\"`"))
    } else if !name.starts_with(first) || !name.chars().all(|each| each == '_' || each.is_alphanumeric()) {
        Some(format!(
            "`{name}` is no property name: it must hold only letters, digits and `_`, and not begin with a digit"
        ))
    } else if name.chars().count() > 255 {
        Some("a property name has at most 255 characters".to_owned())
    } else {
        None
    }
}

/// Why a table cannot have this name, if it cannot.
pub(crate) fn table_problem(name: &str) -> Option<&'static str> {
    if !(3..=63).contains(&name.len()) {
        Some("must have 3 to 63 characters")
    } else if !name.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        Some("must hold only the letters a to z and digits")
    } else if name.starts_with(|first: char| first.is_ascii_digit()) {
        Some("must begin with a letter")
    } else if name.eq_ignore_ascii_case("tables") {
        Some("must not be the reserved word `tables`")
    } else {
        None
    }
}

/// `; did you mean ...?`, or the choices where nothing is near.
pub(crate) fn suggestion<'a>(name: &str, choices: impl IntoIterator<Item = &'a str>) -> String {
    /// How alike two names must be, from 0 to 1.
    const NEAR: f64 = 0.75;
    let choices: Vec<&str> = choices.into_iter().collect();
    let nearest = choices
        .iter()
        .map(|choice| (strsim::jaro_winkler(name, choice), *choice))
        .filter(|(likeness, _)| *likeness >= NEAR)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    match nearest {
        Some((_, choice)) => format!("; did you mean `{choice}`?"),
        None if choices.len() < 2 => {
            choices.first().map(|only| format!("; the only one is `{only}`")).unwrap_or_default()
        }
        None => format!("; there are {}", list(&choices)),
    }
}

/// The names in backticks, with commas.
pub(crate) fn list<S: AsRef<str>>(names: &[S]) -> String {
    names.iter().map(|name| format!("`{}`", name.as_ref())).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_comes_from_every_case() {
        for name in ["first_name", "firstName", "FirstName", "_first__name"] {
            assert_eq!(Case::Pascal.apply(name), "FirstName");
            assert_eq!(Case::Camel.apply(name), "firstName");
            assert_eq!(Case::Snake.apply(name), "first_name");
            assert_eq!(Case::ScreamingSnake.apply(name), "FIRST_NAME");
            assert_eq!(Case::Lower.apply(name), "firstname");
            assert_eq!(Case::Upper.apply(name), "FIRSTNAME");
        }
        assert_eq!(Case::Pascal.apply("line2"), "Line2");
    }

    #[test]
    fn every_named_case_is_known() {
        assert!(Case::NAMES.iter().all(|name| Case::parse(name).is_some()));
        assert!(Case::parse("kebab-case").is_none());
    }

    #[test]
    fn a_near_miss_is_suggested_and_a_far_one_gets_the_choices() {
        assert_eq!(suggestion("departmnt", ["department", "id"]), "; did you mean `department`?");
        assert_eq!(suggestion("zzz", ["department", "id"]), "; there are `department`, `id`");
        assert_eq!(suggestion("zzz", ["id"]), "; the only one is `id`");
    }
}
