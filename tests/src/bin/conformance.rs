//! Runs the store contract on every store.

fn main() {}
