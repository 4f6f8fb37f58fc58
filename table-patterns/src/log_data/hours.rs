//! Hours: the folders of segments, and which listings find those of a time range.

use std::ops::Range;
use std::time::Duration;

use object_store::path::Path;
use table_core::Timestamp;

const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// Up to so many hours are listed hour by hour; above that, days.
const MOST_HOURS: u64 = 6;
/// Up to so many days are listed day by day; above that, months.
const MOST_DAYS: u64 = 62;
/// Up to so many days are listed month by month; above that, the whole log.
const MOST_DAYS_BY_MONTH: u64 = 10 * 366;

/// One hour, in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Hour(Timestamp);

impl Hour {
    /// The hour that a time lies in.
    pub(super) fn of(at: Timestamp) -> Self {
        Self(floor(at, HOUR))
    }

    /// Its times: from the first to before the next hour's.
    pub(super) fn times(self) -> Range<Timestamp> {
        self.0..self.0.saturating_add(HOUR)
    }

    /// The folder of its segments.
    pub(super) fn folder(self, log: &Path) -> Path {
        below(log, self.0, "hour")
    }

    /// The hour of a segment's folder, given the parts of its path below the log.
    pub(super) fn parse(parts: &[&str]) -> Option<Self> {
        let [year, month, day, hour] = parts else { return None };
        let hour = hour.strip_suffix("00").filter(|hour| hour.len() == 2)?;
        format!("{year}-{month}-{day}T{hour}:00:00Z").parse().ok().map(Self)
    }
}

/// The prefixes under which all segments of a time range are listed, in the order of time.
pub(super) fn prefixes(log: &Path, range: &Range<Timestamp>) -> Vec<Path> {
    if range.is_empty() {
        return Vec::new();
    }
    let length = range.end.saturating_since(range.start).as_secs();
    let (unit, step) = if length <= MOST_HOURS * HOUR.as_secs() {
        ("hour", HOUR)
    } else if length <= MOST_DAYS * DAY.as_secs() {
        ("day", DAY)
    } else if length <= MOST_DAYS_BY_MONTH * DAY.as_secs() {
        ("month", DAY)
    } else {
        return vec![log.clone()];
    };
    let mut found = Vec::new();
    let mut at = floor(range.start, step);
    while at < range.end {
        found.push(below(log, at, unit));
        at = at.saturating_add(step);
        if at == Timestamp::MAX {
            break;
        }
    }
    found.dedup();
    found
}

fn floor(at: Timestamp, step: Duration) -> Timestamp {
    // The first tick of all is midnight, so whole steps from it are whole hours and days.
    let ticks = i64::try_from(step.as_nanos() / 100).unwrap_or(i64::MAX);
    Timestamp::from_ticks(at.ticks() - at.ticks() % ticks).unwrap_or(at)
}

fn below(log: &Path, at: Timestamp, unit: &str) -> Path {
    let at = at.to_offset_date_time();
    let parts = [
        format!("{:04}", at.year()),
        format!("{:02}", u8::from(at.month())),
        format!("{:02}", at.day()),
        format!("{:02}00", at.hour()),
    ];
    let count = match unit {
        "month" => 2,
        "day" => 3,
        _ => 4,
    };
    parts.into_iter().take(count).fold(log.clone(), Path::join)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn listed(from: &str, to: &str) -> Vec<String> {
        prefixes(&Path::from("q"), &(at(from)..at(to))).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_short_range_is_listed_by_the_hour() {
        assert_eq!(listed("2014-07-31T17:59:00Z", "2014-07-31T18:00:00Z"), ["q/2014/07/31/1700"]);
        assert_eq!(listed("2014-07-31T17:59:00Z", "2014-07-31T18:01:00Z"), ["q/2014/07/31/1700", "q/2014/07/31/1800"]);
        assert!(listed("2014-07-31T17:59:00Z", "2014-07-31T17:59:00Z").is_empty());
    }

    #[test]
    fn longer_ranges_take_few_listings() {
        assert_eq!(listed("2014-07-30T12:00:00Z", "2014-08-01T00:00:00Z"), ["q/2014/07/30", "q/2014/07/31"]);
        assert_eq!(listed("2014-07-30T12:00:00Z", "2014-11-01T00:00:00Z").last().unwrap(), "q/2014/10");
        assert_eq!(listed("1900-07-30T12:00:00Z", "2014-11-01T00:00:00Z"), ["q"]);
    }

    #[test]
    fn a_folder_names_its_hour() {
        let hour = Hour::of(at("2014-07-31T18:59:59.9999999Z"));
        assert_eq!(hour.folder(&Path::from("q")).as_ref(), "q/2014/07/31/1800");
        assert_eq!(Hour::parse(&["2014", "07", "31", "1800"]), Some(hour));
        assert_eq!(Hour::parse(&["2014", "07", "31", "1830"]), None);
        assert_eq!(Hour::parse(&["2014", "07", "31"]), None);
    }
}
