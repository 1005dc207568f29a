//! Dates of reports: local time in the form of `ctime(3)`.
//!
//! Must not know: the use of dates. Start reading at [`LocalTime`].

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// The time zone of a report.
#[derive(Debug, Clone)]
pub struct LocalTime(TimeZone);

impl LocalTime {
    /// The zone in `TZ` if that is set, otherwise the system's. UTC if neither can be read, as in the C library.
    pub fn system() -> Self {
        Self(TimeZone::try_system().unwrap_or(TimeZone::UTC))
    }

    /// UTC.
    pub fn utc() -> Self {
        Self(TimeZone::UTC)
    }

    /// `Fri Nov 20 12:23:21 2026`, for a time in milliseconds since 1970. A time beyond the year 9999 is shown as the
    /// last day before that.
    pub fn ctime(&self, timestamp_ms: u64) -> String {
        let timestamp_ms = i64::try_from(timestamp_ms).unwrap_or(i64::MAX);
        let timestamp = Timestamp::from_millisecond(timestamp_ms).unwrap_or(Timestamp::MAX);
        timestamp.to_zoned(self.0.clone()).strftime("%a %b %e %H:%M:%S %Y").to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected: the same time as fio 3.41 prints it with these values of `TZ`.
    #[test]
    fn ctime_of_the_peer() {
        let instant_ms = 1_795_177_401_629;
        assert_eq!(LocalTime::utc().ctime(instant_ms), "Fri Nov 20 12:23:21 2026");
        let posix = LocalTime(TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").expect("a zone"));
        assert_eq!(posix.ctime(instant_ms), "Fri Nov 20 13:23:21 2026");
    }

    #[test]
    fn days_are_padded_with_a_blank() {
        assert_eq!(LocalTime::utc().ctime(0), "Thu Jan  1 00:00:00 1970");
    }

    #[test]
    fn end_of_the_calendar() {
        assert!(LocalTime::utc().ctime(u64::MAX).ends_with(" 9999"));
        assert_eq!(LocalTime::system().ctime(0).len(), 24);
    }

    #[test]
    fn zones_have_names() {
        if !std::path::Path::new("/usr/share/zoneinfo/Asia/Kolkata").exists() {
            eprintln!("SKIPPED zones_have_names: no /usr/share/zoneinfo");
            return;
        }
        let zone = LocalTime(TimeZone::get("Asia/Kolkata").expect("a zone"));
        // Five and a half hours east of Greenwich, all year.
        assert_eq!(zone.ctime(0), "Thu Jan  1 05:30:00 1970");
    }
}
