//! Hours, days and months, and the digits by which a table names one.

use table_core::{Error, Result, Timestamp};

/// How long one table takes writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Period {
    /// A table an hour: `Logins2014073118`.
    Hour,
    /// A table a day: `Logins20140731`.
    Day,
    /// A table a month: `Logins201407`.
    Month,
}

impl Period {
    /// The digits that stand for the period of a time.
    pub(super) fn digits(self, at: Timestamp) -> String {
        let at = at.to_offset_date_time();
        let (year, month) = (at.year(), u8::from(at.month()));
        match self {
            Self::Hour => format!("{year:04}{month:02}{:02}{:02}", at.day(), at.hour()),
            Self::Day => format!("{year:04}{month:02}{:02}", at.day()),
            Self::Month => format!("{year:04}{month:02}"),
        }
    }

    /// When the period that digits stand for begins; `None` for other digits.
    pub(super) fn parse(self, digits: &str) -> Option<Timestamp> {
        let width = match self {
            Self::Hour => 10,
            Self::Day => 8,
            Self::Month => 6,
        };
        if digits.len() != width || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        let (year, month) = (digits.get(..4)?, digits.get(4..6)?);
        let (day, hour) = (digits.get(6..8).unwrap_or("01"), digits.get(8..10).unwrap_or("00"));
        format!("{year}-{month}-{day}T{hour}:00:00Z").parse().ok()
    }

    /// When the period of a time begins.
    pub(super) fn start(self, at: Timestamp) -> Result<Timestamp> {
        self.parse(&self.digits(at)).ok_or_else(|| Error::invalid_value("a time of the years 1 to 9999 is needed"))
    }

    /// When the period some periods later or earlier than that of a time begins; the first or the last
    /// there is where the years end.
    pub(super) fn shift(self, at: Timestamp, periods: i64) -> Result<Timestamp> {
        let start = self.start(at)?;
        let ticks = match self {
            Self::Hour => TICKS_PER_HOUR,
            Self::Day => 24 * TICKS_PER_HOUR,
            Self::Month => return shift_months(start, periods),
        };
        let shifted = start.ticks().saturating_add(ticks.saturating_mul(periods));
        self.start(Timestamp::from_ticks(shifted.clamp(Timestamp::MIN.ticks(), Timestamp::MAX.ticks()))?)
    }
}

const TICKS_PER_HOUR: i64 = 60 * 60 * 10_000_000;

fn shift_months(start: Timestamp, periods: i64) -> Result<Timestamp> {
    let at = start.to_offset_date_time();
    let months = i64::from(at.year()) * 12 + i64::from(u8::from(at.month())) - 1;
    let months = months.saturating_add(periods).clamp(12, 9999 * 12 + 11);
    format!("{:04}-{:02}-01T00:00:00Z", months / 12, months % 12 + 1).parse()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn digits_name_a_period_and_give_it_back() {
        let at = time("2014-07-31T18:45:10Z");
        for (period, digits, start) in [
            (Period::Hour, "2014073118", "2014-07-31T18:00:00Z"),
            (Period::Day, "20140731", "2014-07-31T00:00:00Z"),
            (Period::Month, "201407", "2014-07-01T00:00:00Z"),
        ] {
            assert_eq!(period.digits(at), digits);
            assert_eq!(period.parse(digits), Some(time(start)));
            assert_eq!(period.start(at).unwrap(), time(start));
        }
        for junk in ["", "2014", "20141301", "20140230", "2014073a", "201407311"] {
            assert_eq!(Period::Day.parse(junk), None, "{junk}");
        }
    }

    #[test]
    fn periods_follow_each_other_over_the_ends_of_months_and_years() {
        for (period, from, by, to) in [
            (Period::Hour, "2014-12-31T23:30:00Z", 1, "2015-01-01T00:00:00Z"),
            (Period::Day, "2016-02-28T12:00:00Z", 1, "2016-02-29T00:00:00Z"),
            (Period::Day, "2014-01-01T12:00:00Z", -1, "2013-12-31T00:00:00Z"),
            (Period::Month, "2014-01-31T00:00:00Z", -2, "2013-11-01T00:00:00Z"),
            (Period::Month, "2014-11-30T00:00:00Z", 14, "2016-01-01T00:00:00Z"),
            (Period::Month, "9999-12-01T00:00:00Z", 5, "9999-12-01T00:00:00Z"),
            (Period::Day, "0001-01-01T00:00:00Z", -5, "0001-01-01T00:00:00Z"),
        ] {
            assert_eq!(period.shift(time(from), by).unwrap(), time(to), "{from} and {by}");
        }
    }
}
