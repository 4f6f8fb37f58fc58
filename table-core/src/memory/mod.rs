//! Stores in memory, faithful to the documented service.
