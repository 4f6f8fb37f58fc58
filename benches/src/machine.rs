//! The machine of a run, as far as a reader of its figures wants to know it.

use std::fs;

use serde::{Deserialize, Serialize};

/// What the figures were measured on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Machine {
    pub(crate) system: String,
    pub(crate) cores: usize,
    /// None where the system does not say it in Linux's way.
    pub(crate) processor: Option<String>,
    pub(crate) memory_gib: Option<u64>,
}

impl Machine {
    /// The one that this program runs on.
    pub(crate) fn here() -> Self {
        let read = |path| fs::read_to_string(path).unwrap_or_default();
        Self {
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            processor: processor(&read("/proc/cpuinfo")),
            memory_gib: memory_gib(&read("/proc/meminfo")),
        }
    }

    /// One sentence's part, such as `2 cores (AMD EPYC), 24 GiB, linux x86_64`.
    pub(crate) fn shown(&self) -> String {
        let processor = self.processor.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
        let memory = self.memory_gib.map(|gib| format!(", {gib} GiB")).unwrap_or_default();
        format!("{} cores{processor}{memory}, {}", self.cores, self.system)
    }
}

fn field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    line.split_once(':').map(|(_, value)| value.trim())
}

fn processor(cpuinfo: &str) -> Option<String> {
    field(cpuinfo, "model name").map(ToOwned::to_owned)
}

/// The kernel keeps some for itself, so the number is rounded.
fn memory_gib(meminfo: &str) -> Option<u64> {
    const KIB_PER_GIB: u64 = 1024 * 1024;
    let kib: u64 = field(meminfo, "MemTotal")?.strip_suffix(" kB")?.parse().ok()?;
    Some((kib + KIB_PER_GIB / 2) / KIB_PER_GIB)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linux_is_understood_and_others_are_left_open() {
        assert_eq!(processor("processor\t: 0\nmodel name\t: AMD EPYC\n").as_deref(), Some("AMD EPYC"));
        assert_eq!(memory_gib("MemTotal:       24673288 kB\nMemFree: 1 kB\n"), Some(24));
        assert_eq!((processor(""), memory_gib("")), (None, None));
    }
}
