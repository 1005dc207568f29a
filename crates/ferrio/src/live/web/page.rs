//! The page that follows a run: one file, which loads nothing but its events.
//!
//! Must not know: what events say. Start reading at [`LivePage::new`].

use axum::body::Bytes;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use sha2::{Digest as _, Sha256};

const FRAME: &str = include_str!("assets/page.html");
const STYLE: &str = include_str!("assets/page.css");
const SCRIPT: &str = include_str!("assets/page.js");

/// The page, and what a browser may do with it.
#[derive(Debug, Clone)]
pub(super) struct LivePage {
    pub(super) html: Bytes,
    /// Value of the header `Content-Security-Policy`.
    pub(super) policy: String,
}

impl LivePage {
    /// Puts its parts together.
    pub(super) fn new() -> Self {
        let hash = |text: &str| format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text)));
        let policy = format!(
            "default-src 'none'; script-src {}; style-src {}; connect-src 'self'; img-src data:; base-uri 'none'; \
             form-action 'none'; frame-ancestors 'none'",
            hash(SCRIPT),
            hash(STYLE)
        );
        Self { html: FRAME.replace("@STYLE@", STYLE).replace("@SCRIPT@", SCRIPT).into(), policy }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_loads_nothing_from_elsewhere() {
        let page = LivePage::new();
        let html = std::str::from_utf8(&page.html).unwrap();
        assert!(html.contains(SCRIPT) && html.contains(STYLE) && !html.contains("@SCRIPT@"));
        let foreign = html.match_indices("//").filter(|(at, _)| html[..*at].ends_with(':'));
        let foreign: Vec<&str> = foreign.map(|(at, _)| &html[at - 5..at + 30]).collect();
        // The name of a language is no address that is loaded.
        assert!(foreign.iter().all(|place| place.contains("//www.w3.org/2000/svg")), "{foreign:?}");
        // The style and the script stand between their tags as they are, or their hashes would be others.
        assert!(
            html.contains(&format!("<style>{STYLE}</style>")) && html.contains(&format!("<script>{SCRIPT}</script>"))
        );
    }
}
