//! The store contract as a suite.
