//! The system's words for its errors, without the ` (os error N)` that the standard library appends.

use std::io;

/// The system's words for an errno.
pub fn errno_text(errno: i32) -> String {
    error_text(&io::Error::from_raw_os_error(errno))
}

/// The system's words for an error; an error that is not the system's has its own.
pub fn error_text(error: &io::Error) -> String {
    let text = error.to_string();
    match text.rfind(" (os error ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_is_left_out() {
        assert_eq!(errno_text(28), "No space left on device");
        assert_eq!(errno_text(0), "Success");
        assert_eq!(error_text(&io::Error::other("of its own")), "of its own");
    }
}
