//! Derive macros (placeholder while the crate grows).
