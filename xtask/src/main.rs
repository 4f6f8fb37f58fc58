//! One way to run everything.

fn main() {}
