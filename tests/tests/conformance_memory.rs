//! The memory store keeps the contract: plain, boxed and shared.

use table_conformance::conformance_tests;
use table_tests::stores::{memory, memory_boxed, memory_shared};

conformance_tests!(plain, memory());
conformance_tests!(boxed, memory_boxed());
conformance_tests!(shared, memory_shared());
