//! An instant in UTC, counted in the 100 ns ticks of the service and of .NET.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use time::{Date, Month, OffsetDateTime, Time};

use crate::error::{Error, Result};

const TICKS_PER_SECOND: i64 = 10_000_000;
/// Ticks from 0001-01-01 to 1970-01-01.
const UNIX_EPOCH_TICKS: i64 = 621_355_968_000_000_000;

/// An instant in UTC with 100 ns resolution, from 0001-01-01 to 9999-12-31.
///
/// It holds .NET ticks, so it is exactly what the service stores, and it prints as the service
/// prints it.
///
/// ```
/// use table_core::Timestamp;
///
/// let at: Timestamp = "2014-08-22T00:50:32.1234567Z".parse()?;
/// assert_eq!(at.ticks(), 635_442_654_321_234_567);
/// assert_eq!(at.to_string(), "2014-08-22T00:50:32.1234567Z");
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The first instant, 0001-01-01T00:00:00Z.
    pub const MIN: Self = Self(0);
    /// The last instant: .NET's `DateTime.MaxValue`.
    pub const MAX: Self = Self(3_155_378_975_999_999_999);
    /// 1601-01-01, the first instant that a DateTime property can hold.
    pub const MIN_PROPERTY: Self = Self(504_911_232_000_000_000);
    /// 1970-01-01T00:00:00Z.
    pub const UNIX_EPOCH: Self = Self(UNIX_EPOCH_TICKS);

    /// The instant that is this many ticks after 0001-01-01.
    ///
    /// # Errors
    /// [`InvalidValue`](crate::ErrorKind::InvalidValue) outside the years 1 to 9999.
    pub fn from_ticks(ticks: i64) -> Result<Self> {
        if (Self::MIN.0..=Self::MAX.0).contains(&ticks) { Ok(Self(ticks)) } else { Err(out_of_range()) }
    }

    /// .NET ticks: 100 ns units since 0001-01-01.
    #[must_use]
    pub const fn ticks(self) -> i64 {
        self.0
    }

    /// Ticks left until [`Timestamp::MAX`]: the guide's inverted ticks.
    #[must_use]
    pub const fn inverted_ticks(self) -> i64 {
        Self::MAX.0 - self.0
    }

    /// The current time of the machine's clock.
    #[must_use]
    pub fn now() -> Self {
        Self::try_from(OffsetDateTime::now_utc()).unwrap_or(Self::MAX)
    }

    /// This instant and a while more, at most [`Timestamp::MAX`].
    #[must_use]
    pub fn saturating_add(self, duration: Duration) -> Self {
        let ticks = i64::try_from(duration.as_nanos() / 100).unwrap_or(i64::MAX);
        Self(self.0.saturating_add(ticks).min(Self::MAX.0))
    }

    /// This instant and a while less, at least [`Timestamp::MIN`].
    #[must_use]
    pub fn saturating_sub(self, duration: Duration) -> Self {
        let ticks = i64::try_from(duration.as_nanos() / 100).unwrap_or(i64::MAX);
        Self(self.0.saturating_sub(ticks).max(Self::MIN.0))
    }

    /// The time from `earlier` to this instant, or zero when it is later.
    #[must_use]
    pub fn saturating_since(self, earlier: Self) -> Duration {
        let ticks = u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0);
        Duration::new(ticks / 10_000_000, u32::try_from(ticks % 10_000_000).unwrap_or(0) * 100)
    }

    /// The next instant that differs, at most [`Timestamp::MAX`].
    #[must_use]
    pub const fn next_tick(self) -> Self {
        if self.0 < Self::MAX.0 { Self(self.0 + 1) } else { self }
    }

    /// The same instant as a [`time::OffsetDateTime`] in UTC.
    #[must_use]
    pub fn to_offset_date_time(self) -> OffsetDateTime {
        let nanos = i128::from(self.0 - UNIX_EPOCH_TICKS) * 100;
        OffsetDateTime::from_unix_timestamp_nanos(nanos).unwrap_or(OffsetDateTime::UNIX_EPOCH)
    }
}

fn out_of_range() -> Error {
    Error::invalid_value("a time must lie within the years 1 to 9999 in UTC")
}

/// Cuts to 100 ns, towards the past.
impl TryFrom<OffsetDateTime> for Timestamp {
    type Error = Error;

    fn try_from(at: OffsetDateTime) -> Result<Self> {
        let ticks = at.unix_timestamp_nanos().div_euclid(100) + i128::from(UNIX_EPOCH_TICKS);
        i64::try_from(ticks).map_err(|_| out_of_range()).and_then(Self::from_ticks)
    }
}

impl From<Timestamp> for OffsetDateTime {
    fn from(at: Timestamp) -> Self {
        at.to_offset_date_time()
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.to_offset_date_time();
        write!(
            f,
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:07}Z",
            at.year(),
            u8::from(at.month()),
            at.day(),
            at.hour(),
            at.minute(),
            at.second(),
            self.0 % TICKS_PER_SECOND
        )
    }
}

/// Reads the service's form: `2014-08-22T00:50:32Z`, with up to seven digits of a second.
impl FromStr for Timestamp {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        parse(text).ok_or_else(|| {
            Error::invalid_value(
                "a time must look like 2014-08-22T00:50:32.1234567Z, in UTC, with at most seven digits of a second",
            )
        })
    }
}

fn parse(text: &str) -> Option<Timestamp> {
    let text = text.strip_suffix('Z')?;
    let (date, clock) = text.split_once('T')?;
    let (year, rest) = date.split_once('-')?;
    let (month, day) = rest.split_once('-')?;
    let (hour, rest) = clock.split_once(':')?;
    let (minute, second) = rest.split_once(':').unwrap_or((rest, "00"));
    let (second, fraction) = second.split_once('.').unwrap_or((second, "0"));
    let month = Month::try_from(u8::try_from(digits(month, 2)?).ok()?).ok()?;
    let date =
        Date::from_calendar_date(i32::try_from(digits(year, 4)?).ok()?, month, u8::try_from(digits(day, 2)?).ok()?)
            .ok()?;
    let clock = Time::from_hms(
        u8::try_from(digits(hour, 2)?).ok()?,
        u8::try_from(digits(minute, 2)?).ok()?,
        u8::try_from(digits(second, 2)?).ok()?,
    )
    .ok()?;
    if fraction.is_empty() || fraction.len() > 7 {
        return None;
    }
    let scale = 10_i64.pow(u32::try_from(7 - fraction.len()).ok()?);
    let sub_second = digits(fraction, fraction.len())? * scale;
    let seconds = OffsetDateTime::new_utc(date, clock).unix_timestamp();
    Timestamp::from_ticks(seconds * TICKS_PER_SECOND + UNIX_EPOCH_TICKS + sub_second).ok()
}

/// Exactly `width` ASCII digits as a number.
fn digits(text: &str, width: usize) -> Option<i64> {
    if text.len() == width && text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_those_of_dot_net() {
        // new DateTime(2014, 7, 31, 18, 0, 0).Ticks
        let at: Timestamp = "2014-07-31T18:00:00Z".parse().unwrap();
        assert_eq!(at.ticks(), 635_424_264_000_000_000);
        assert_eq!(Timestamp::MAX.to_string(), "9999-12-31T23:59:59.9999999Z");
        assert_eq!(Timestamp::MIN.to_string(), "0001-01-01T00:00:00.0000000Z");
        assert_eq!(Timestamp::MIN_PROPERTY.to_string(), "1601-01-01T00:00:00.0000000Z");
    }

    #[test]
    fn junk_is_refused() {
        for text in [
            "",
            "Z",
            "2014-13-01T00:00:00Z",
            "2014-01-01",
            "2014-01-01T00:00:00",
            "2014-01-01T00:00:00.12345678Z",
            "+014-01-01T00:00:00Z",
        ] {
            assert!(text.parse::<Timestamp>().is_err(), "{text}");
        }
    }

    #[test]
    fn nanoseconds_are_cut_towards_the_past() {
        let at = OffsetDateTime::from_unix_timestamp_nanos(-1).unwrap();
        assert_eq!(Timestamp::try_from(at).unwrap().ticks(), UNIX_EPOCH_TICKS - 1);
    }
}
