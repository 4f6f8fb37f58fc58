//! A small employee directory.

fn main() {}
