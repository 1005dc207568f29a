//! Dates of reports: local time in the form of `ctime(3)`.
//!
//! Must not know: the use of dates. Start reading at [`LocalTime`].

use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::path::Path;

/// Where systems keep the files of time zones.
const DIRECTORIES: [&str; 4] = ["/usr/share/zoneinfo", "/usr/lib/zoneinfo", "/usr/share/lib/zoneinfo", "/etc/zoneinfo"];

/// The file of the system's zone.
const OF_SYSTEM: &str = "/etc/localtime";

/// The largest files of zones have 4 KiB.
const MAX_FILE_BYTES: u64 = 1 << 20;

#[derive(Debug, Clone)]
pub struct LocalTime(TimeZone);

impl LocalTime {
    /// The zone in `TZ` if that is set, otherwise the system's. UTC if neither can be read, as in the C library. One file is
    /// read for it; no directory of zones is walked.
    pub fn system() -> Self {
        let zone = match std::env::var_os("TZ") {
            None => zone_of_file(OF_SYSTEM.as_ref()),
            Some(name) => name.to_str().and_then(zone_of_name),
        };
        Self(zone.unwrap_or(TimeZone::UTC))
    }

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

    /// `2026-11-20 12:23`, for a time in milliseconds since 1970, within the calendar.
    pub fn minute(&self, timestamp_ms: i64) -> String {
        let end = if timestamp_ms < 0 { Timestamp::MIN } else { Timestamp::MAX };
        let timestamp = Timestamp::from_millisecond(timestamp_ms).unwrap_or(end);
        timestamp.to_zoned(self.0.clone()).strftime("%Y-%m-%d %H:%M").to_string()
    }
}

/// The zone of a value of `TZ`: a file, the name of a zone, or a rule such as `CET-1CEST,M3.5.0,M10.5.0/3`.
fn zone_of_name(name: &str) -> Option<TimeZone> {
    let name = name.strip_prefix(':').unwrap_or(name);
    if name.starts_with('/') {
        return zone_of_file(name.as_ref());
    }
    let given = std::env::var_os("TZDIR").filter(|directory| !directory.is_empty());
    let directories: Vec<&Path> =
        given.as_ref().map_or_else(|| DIRECTORIES.map(Path::new).to_vec(), |directory| vec![directory.as_ref()]);
    let is_name = !name.is_empty() && !name.split('/').any(|part| part == "..");
    let file = || directories.iter().find_map(|directory| zone_of_file(&directory.join(name)));
    is_name.then(file).flatten().or_else(|| TimeZone::posix(name).ok())
}

fn zone_of_file(path: &Path) -> Option<TimeZone> {
    std::fs::metadata(path).ok().filter(|about| about.is_file() && about.len() <= MAX_FILE_BYTES)?;
    TimeZone::tzif(path.to_str().unwrap_or_default(), &std::fs::read(path).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_testing::skip;

    /// Expected: the same time as fio 3.41 prints it with these values of `TZ`.
    #[test]
    fn ctime_of_the_peer() {
        let instant_ms = 1_795_177_401_629;
        assert_eq!(LocalTime::utc().ctime(instant_ms), "Fri Nov 20 12:23:21 2026");
        let posix = LocalTime(TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").expect("a zone"));
        assert_eq!(posix.ctime(instant_ms), "Fri Nov 20 13:23:21 2026");
        assert_eq!((&*posix.minute(1_795_177_401_629), &*posix.minute(0)), ("2026-11-20 13:23", "1970-01-01 01:00"));
    }

    #[test]
    fn days_are_padded_with_a_blank() {
        assert_eq!(LocalTime::utc().ctime(0), "Thu Jan  1 00:00:00 1970");
    }

    #[test]
    fn end_of_the_calendar() {
        assert!(LocalTime::utc().ctime(u64::MAX).ends_with(" 9999"));
        assert_eq!(LocalTime::system().ctime(0).len(), 24);
        assert!(LocalTime::utc().minute(i64::MAX).starts_with("9999-12-"));
        assert!(LocalTime::utc().minute(i64::MIN).starts_with("-9999-01-"));
    }

    #[test]
    fn zones_have_names() {
        if !std::path::Path::new("/usr/share/zoneinfo/Asia/Kolkata").exists() {
            skip!("zones_have_names", "no /usr/share/zoneinfo");
            return;
        }
        for name in ["Asia/Kolkata", ":Asia/Kolkata", "/usr/share/zoneinfo/Asia/Kolkata", "IST-5:30"] {
            let zone = LocalTime(zone_of_name(name).expect("a zone"));
            // Five and a half hours east of Greenwich, all year.
            assert_eq!(zone.ctime(0), "Thu Jan  1 05:30:00 1970", "{name}");
        }
        for name in ["", ":", "No/Such_Zone", "../zoneinfo/Asia/Kolkata", "/dev/null", "/etc/passwd", "/"] {
            assert!(zone_of_name(name).is_none(), "{name:?}");
        }
    }
}
