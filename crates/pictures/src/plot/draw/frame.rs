//! Rectangles of a sheet.
//!
//! Must not know: what is drawn in them. Start reading at [`Frame`].

/// A rectangle, pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Frame {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

impl Frame {
    pub(super) fn width(&self) -> f64 {
        self.right - self.left
    }

    pub(super) fn height(&self) -> f64 {
        self.bottom - self.top
    }

    /// The place of a share of the width.
    pub(super) fn x(&self, share: f64) -> f64 {
        self.left + share * self.width()
    }

    /// The place of a share of the height, from below.
    pub(super) fn y(&self, share: f64) -> f64 {
        self.bottom - share * self.height()
    }
}
