//! The examples live beside this file, one folder or file each.
