//! The struct as the macros see it: fields, keys and indexes, with all attributes resolved.

use proc_macro2::Ident;
use syn::{Data, DeriveInput, Fields, LitStr, Meta, Path, Type, parse_quote};

use crate::attr;
use crate::error::Errors;
use crate::field::{Field, Storage};
use crate::names::{self, Case};
use crate::template::{Spec, Template};

/// A struct that derives `Entity`.
pub(crate) struct Entity<'a> {
    pub(crate) input: &'a DeriveInput,
    pub(crate) attrs: Container,
    pub(crate) fields: Vec<Field<'a>>,
    pub(crate) key: Key,
    pub(crate) indexes: Vec<Index>,
}

/// Two templates that make a key together.
pub(crate) struct Key {
    pub(crate) partition: Template,
    pub(crate) row: Template,
}

/// A declared index.
pub(crate) struct Index {
    pub(crate) name: Ident,
    pub(crate) table: Option<LitStr>,
    /// Whether the index has a partition template of its own.
    pub(crate) own_partition: bool,
    pub(crate) key: Key,
    /// The fields that a copy holds for its readers; none for all.
    pub(crate) include: Option<Vec<Ident>>,
    pub(crate) derives: Vec<Path>,
}

/// The attributes of a struct.
#[derive(Default)]
pub(crate) struct Container {
    pub(crate) krate: Option<Path>,
    pub(crate) name: Option<LitStr>,
    pub(crate) version: Option<u32>,
    pub(crate) version_at: Option<Meta>,
    pub(crate) upgrade_from: Option<Type>,
    pub(crate) partition: Option<LitStr>,
    pub(crate) row: Option<LitStr>,
    pub(crate) discriminator: Option<LitStr>,
    pub(crate) case: Option<Case>,
    pub(crate) key_fn: Option<Ident>,
    pub(crate) key_fields_fn: Option<Ident>,
    pub(crate) range_fn: Option<Ident>,
    pub(crate) patch_fn: Option<Ident>,
    pub(crate) blob_above: Option<u32>,
    pub(crate) blob_above_at: Option<Meta>,
}

impl Container {
    const KNOWN: [&'static str; 10] = [
        "name",
        "version",
        "upgrade_from",
        "partition",
        "row",
        "discriminator",
        "rename_all",
        "names",
        "crate",
        "blob_above",
    ];

    /// Reads `#[entity(...)]` of a struct.
    pub(crate) fn parse(input: &DeriveInput, errors: &mut Errors) -> Self {
        let mut out = Self::default();
        for item in attr::items(&input.attrs, "entity", errors) {
            match attr::name(&item).as_str() {
                "name" => attr::put(&mut out.name, &item, attr::text(&item, errors), errors),
                "version" => {
                    attr::put(&mut out.version, &item, attr::number(&item, errors), errors);
                    out.version_at = Some(item);
                }
                "blob_above" => {
                    attr::put(&mut out.blob_above, &item, attr::number(&item, errors), errors);
                    out.blob_above_at = Some(item);
                }
                "upgrade_from" => attr::put(&mut out.upgrade_from, &item, attr::type_in(&item, errors), errors),
                "partition" => attr::put(&mut out.partition, &item, attr::text(&item, errors), errors),
                "row" => attr::put(&mut out.row, &item, attr::text(&item, errors), errors),
                "discriminator" => attr::put(&mut out.discriminator, &item, attr::text(&item, errors), errors),
                "rename_all" => attr::put(&mut out.case, &item, parse_case(&item, errors), errors),
                "names" => out.parse_names(&item, errors),
                "crate" => attr::put(&mut out.krate, &item, attr::path(&item, errors), errors),
                _ => attr::unknown(&item, &Self::KNOWN, errors),
            }
        }
        out
    }

    fn parse_names(&mut self, item: &Meta, errors: &mut Errors) {
        for item in attr::list(item, errors).unwrap_or_default() {
            match attr::name(&item).as_str() {
                "key" => attr::put(&mut self.key_fn, &item, attr::ident(&item, errors), errors),
                "key_fields" => attr::put(&mut self.key_fields_fn, &item, attr::ident(&item, errors), errors),
                "range" => attr::put(&mut self.range_fn, &item, attr::ident(&item, errors), errors),
                "patch" => attr::put(&mut self.patch_fn, &item, attr::ident(&item, errors), errors),
                _ => attr::unknown(&item, &["key", "key_fields", "range", "patch"], errors),
            }
        }
    }

    /// The path to the core crate.
    pub(crate) fn krate(&self) -> Path {
        self.krate.clone().unwrap_or_else(|| parse_quote!(::table_core))
    }
}

/// The attributes of a struct that derives `Flatten`.
#[derive(Default)]
pub(crate) struct FlattenAttributes {
    pub(crate) krate: Option<Path>,
    pub(crate) case: Option<Case>,
}

impl FlattenAttributes {
    pub(crate) fn parse(input: &DeriveInput, errors: &mut Errors) -> Self {
        let mut out = Self::default();
        for item in attr::items(&input.attrs, "entity", errors) {
            match attr::name(&item).as_str() {
                "rename_all" => attr::put(&mut out.case, &item, parse_case(&item, errors), errors),
                "crate" => attr::put(&mut out.krate, &item, attr::path(&item, errors), errors),
                _ => attr::unknown(&item, &["rename_all", "crate"], errors),
            }
        }
        out
    }
}

/// The case that `rename_all = "..."` names.
pub(crate) fn parse_case(item: &Meta, errors: &mut Errors) -> Option<Case> {
    let text = attr::text(item, errors)?;
    let case = Case::parse(&text.value());
    if case.is_none() {
        let hint = names::suggestion(&text.value(), Case::NAMES);
        errors.add(&text, format!("unknown case `{}`{hint}", text.value()));
    }
    case
}

/// The named fields of a struct without lifetimes; reports anything else.
pub(crate) fn named_fields<'a>(
    input: &'a DeriveInput,
    derive: &str,
    case: Case,
    errors: &mut Errors,
) -> Option<Vec<Field<'a>>> {
    refuse_lifetimes(input, errors);
    if let Data::Struct(syn::DataStruct { fields: Fields::Named(named), .. }) = &input.data {
        return Some(named.named.iter().filter_map(|field| Field::parse(field, case, errors)).collect());
    }
    let set = derive == "Entity" && matches!(input.data, Data::Enum(_));
    let hint = if set { "; derive `EntitySet` for an enum of entities" } else { "" };
    errors.add(&input.ident, format!("`{derive}` needs a struct with named fields{hint}"));
    None
}

/// What is read from a store owns its data.
pub(crate) fn refuse_lifetimes(input: &DeriveInput, errors: &mut Errors) {
    for lifetime in input.generics.lifetimes() {
        errors.add(
            &lifetime.lifetime,
            format!(
                "`{}` cannot have the lifetime `{}`, since what is read from a store owns its data; use String in place of &str, and Bytes in place of &[u8]",
                input.ident, lifetime.lifetime
            ),
        );
    }
}

impl<'a> Entity<'a> {
    /// Reads a struct; `None` where it is no struct with named fields.
    pub(crate) fn parse(input: &'a DeriveInput, errors: &mut Errors) -> Option<Self> {
        let attrs = Container::parse(input, errors);
        let fields = named_fields(input, "Entity", attrs.case.unwrap_or_default(), errors)?;
        let mut template = |text: &Option<LitStr>, name: &str| {
            if let Some(text) = text {
                return Template::parse(text, &fields, errors);
            }
            errors.add(&input.ident, format!("the entity needs a {name} key: `#[entity({name} = \"...\")]`"));
            Template::missing()
        };
        let key = Key { partition: template(&attrs.partition, "partition"), row: template(&attrs.row, "row") };
        let indexes = input
            .attrs
            .iter()
            .filter(|attribute| attribute.path().is_ident("index"))
            .filter_map(|attribute| Index::parse(attribute, &attrs, &fields, errors))
            .collect();
        Some(Self { input, attrs, fields, key, indexes })
    }

    /// The type's name as stored.
    pub(crate) fn name(&self) -> String {
        self.attrs.name.as_ref().map_or_else(|| names::plain(&self.input.ident), LitStr::value)
    }

    pub(crate) fn version(&self) -> u32 {
        self.attrs.version.unwrap_or(1)
    }

    /// The fields that the primary row stores as properties.
    pub(crate) fn stored(&self) -> Vec<usize> {
        self.kept().filter(|field| !self.key.holds_exactly(*field)).collect()
    }

    /// The fields that are not skipped.
    fn kept(&self) -> impl Iterator<Item = usize> {
        self.fields
            .iter()
            .enumerate()
            .filter(|(_, field)| !matches!(field.storage, Storage::Skip))
            .map(|(position, _)| position)
    }

    /// Whether a field is or can be kept in a blob.
    pub(crate) fn keeps_blobs(&self) -> bool {
        self.attrs.blob_above.is_some() || self.fields.iter().any(|field| field.blob.is_some())
    }

    /// The fields that the copy of an index gives: its key's, the primary key's and the included. A field in a
    /// blob is none of them, since the blob belongs to the primary row.
    pub(crate) fn copied(&self, index: &Index) -> Vec<usize> {
        self.kept()
            .filter(|field| self.key.holds(*field) || index.key.holds(*field) || self.includes(index, *field))
            .collect()
    }

    /// The fields that the copy of an index stores as properties.
    pub(crate) fn copy_stored(&self, index: &Index) -> Vec<usize> {
        self.copied(index).into_iter().filter(|field| !index.key.holds_exactly(*field)).collect()
    }

    fn includes(&self, index: &Index, field: usize) -> bool {
        let Some(include) = &index.include else {
            return self.fields.get(field).is_some_and(|field| field.blob.is_none());
        };
        self.fields.get(field).is_some_and(|field| include.iter().any(|name| names::plain(name) == field.name))
    }

    /// Whether one key of the index belongs to one entity only: it lacks a part of the primary key.
    pub(crate) fn is_unique(&self, index: &Index) -> bool {
        let parts = || index.key.partition.fields().chain(index.key.row.fields());
        let has = |(field, spec): (usize, &Spec)| {
            parts().any(|(other, form)| other == field && (form.is_exact() || form == spec))
        };
        !self.key.partition.fields().chain(self.key.row.fields()).all(has)
    }
}

impl Key {
    /// The fields, each once: those of the partition, then those of the row.
    pub(crate) fn fields(&self) -> Vec<usize> {
        let mut fields = Vec::new();
        for (field, _) in self.partition.fields().chain(self.row.fields()) {
            if !fields.contains(&field) {
                fields.push(field);
            }
        }
        fields
    }

    /// Whether the key has this field in any form.
    pub(crate) fn holds(&self, field: usize) -> bool {
        self.partition.fields().chain(self.row.fields()).any(|(each, _)| each == field)
    }

    /// Whether the key gives this field back whole.
    pub(crate) fn holds_exactly(&self, field: usize) -> bool {
        self.partition.fields().chain(self.row.fields()).any(|(each, spec)| each == field && spec.is_exact())
    }

    pub(crate) fn is_broken(&self) -> bool {
        self.partition.broken || self.row.broken
    }
}

impl Index {
    const KNOWN: [&'static str; 5] = ["table", "partition", "row", "include", "derive"];

    fn parse(
        attribute: &syn::Attribute,
        container: &Container,
        fields: &[Field<'_>],
        errors: &mut Errors,
    ) -> Option<Self> {
        let mut items = attr::arguments(attribute, errors).into_iter();
        let Some(Meta::Path(name)) = items.next() else {
            errors.add(attribute, "an index begins with its name, as in `#[index(email, row = \"email_{email}\")]`");
            return None;
        };
        let Some(name) = name.get_ident().cloned() else {
            errors.add(&name, "the name of an index is one word, as in `#[index(email, ...)]`");
            return None;
        };
        let (mut table, mut partition, mut row, mut include, mut derives) = (None, None, None, None, None);
        for item in items {
            match attr::name(&item).as_str() {
                "table" => attr::put(&mut table, &item, attr::text(&item, errors), errors),
                "partition" => attr::put(&mut partition, &item, attr::text(&item, errors), errors),
                "row" => attr::put(&mut row, &item, attr::text(&item, errors), errors),
                "include" => attr::put(&mut include, &item, attr::idents(&item, errors), errors),
                "derive" => attr::put(&mut derives, &item, attr::paths(&item, errors), errors),
                _ => attr::unknown(&item, &Self::KNOWN, errors),
            }
        }
        if row.is_none() {
            errors.add(&name, format!("the index `{name}` needs a row key: `row = \"...\"`"));
        }
        // A template of the entity's own has its mistakes reported once, with the entity's key.
        let own_partition = partition.is_some();
        let partition = match (&partition, &container.partition) {
            (Some(text), _) => Template::parse(text, fields, errors),
            (None, Some(text)) => Template::parse(text, fields, &mut Errors::default()),
            (None, None) => Template::missing(),
        };
        let row = row.map_or_else(Template::missing, |text| Template::parse(&text, fields, errors));
        let derives = derives.unwrap_or_default();
        Some(Self { name, table, own_partition, key: Key { partition, row }, include, derives })
    }
}
