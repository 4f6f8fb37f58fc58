//! Layers that wrap any store: retry, meter, trace and fault.
