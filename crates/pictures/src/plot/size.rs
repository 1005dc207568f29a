//! The size of a picture.
//!
//! Must not know: what it shows. Start reading at [`PictureSize`].

use std::str::FromStr;

/// Width and height in pixels, both within limits, so that memory is bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PictureSize {
    width: u32,
    height: u32,
}

impl PictureSize {
    /// The greatest width and height, pixels.
    pub const MOST: u32 = 16_000;
    /// The least width, pixels: words need some room.
    const LEAST_WIDTH: u32 = 400;
    /// The least height, pixels.
    const LEAST_HEIGHT: u32 = 150;
    /// The greatest number of pixels, width times height.
    const MOST_PIXELS: u64 = 24_000_000;

    /// Width, pixels.
    pub fn width(self) -> u32 {
        self.width
    }

    /// Height, pixels.
    pub fn height(self) -> u32 {
        self.height
    }
}

impl FromStr for PictureSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = || format!("{text:?} is no size: give width and height in pixels, such as 1200x600");
        let (width, height) = text.split_once(['x', 'X']).ok_or_else(form)?;
        let number = |text: &str| text.parse::<u32>().map_err(|_| form());
        let size = Self { width: number(width)?, height: number(height)? };
        let is_allowed = (Self::LEAST_WIDTH..=Self::MOST).contains(&size.width)
            && (Self::LEAST_HEIGHT..=Self::MOST).contains(&size.height)
            && u64::from(size.width) * u64::from(size.height) <= Self::MOST_PIXELS;
        let limits = || {
            format!(
                "allowed are {} to {} pixels by {} to {}, and at most {} million pixels",
                Self::LEAST_WIDTH,
                Self::MOST,
                Self::LEAST_HEIGHT,
                Self::MOST,
                Self::MOST_PIXELS / 1_000_000
            )
        };
        if is_allowed { Ok(size) } else { Err(limits()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_two_numbers_within_limits() {
        assert_eq!("1200x600".parse(), Ok(PictureSize { width: 1200, height: 600 }));
        for (text, reason) in [
            ("1200", "such as 1200x600"),
            ("x", "such as"),
            ("-1x600", "such as"),
            ("10x600", "400 to 16000"),
            ("99999999999x600", "such as"),
            ("16000x16000", "24 million"),
        ] {
            let error = text.parse::<PictureSize>().expect_err(text);
            assert!(error.contains(reason), "{error}");
        }
    }
}
