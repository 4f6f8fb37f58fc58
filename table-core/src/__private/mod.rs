//! What generated code needs and users do not. No part of the public interface.

mod keys;
mod names;
mod rows;
mod source;

pub use std::ops::RangeBounds;

pub use crate::keys::straight::{KeyPiece, KeyReader};
pub use keys::{bound, entity_key, format, index, index_partition, part, partition_key, text, text_bound};
pub use names::{
    assert_distinct, count, join, name, prefixed_bytes, prefixed_len, prefixed_names, slice, slice_mut, take,
};
pub use rows::{
    Flat, check_version, common_prefix, corrupted_variant, is_primary, json_value, no_copy, read, read_entity,
    read_json, read_json_or, read_or, read_row, recognizes_copy, selection, unknown_member, write, write_json,
};
pub use source::{JsonColumn, Source, absent};

use crate::entity::{BlobSchema, Discriminator, Schema};
use crate::keys::KeyTemplate;

/// The schema of an entity whose attributes have mistakes, so that only these are reported.
pub const BROKEN_SCHEMA: &Schema = &Schema {
    name: "",
    version: 1,
    upgrades: false,
    discriminator: Discriminator::Property,
    partition: KeyTemplate::new(&[]),
    row: KeyTemplate::new(&[]),
    properties: &[],
    indexes: &[],
    blobs: BlobSchema::NONE,
};
