//! Where things are on a page: on a narrow screen, on paper.
//!
//! Start reading at [`a_narrow_page_does_not_scroll_sideways`].

use super::{Browser, full_page};

#[test]
fn a_narrow_page_does_not_scroll_sideways() {
    let Some(browser) = Browser::new("page-narrow") else { return };
    full_page(&browser);
    // The smallest window of the browser is wider than a telephone, a frame is not.
    let frame = "<!DOCTYPE html><html lang=en><title>n</title><body style='margin:0'>\
        <meta http-equiv=\"Content-Security-Policy\" content=\"\">\
        <iframe src=page.html style='width:400px;height:800px;border:0'></iframe></body></html>";
    std::fs::write(browser.path("frame.html"), frame).expect("a page");
    let script = "async function outcome() {
        await new Promise((done) => setTimeout(done, 1000));
        const page = document.querySelector('iframe').contentDocument.documentElement;
        const wide = Array.from(page.querySelectorAll('figure, .plot, h1, p, select')).filter((one) =>
            one.getBoundingClientRect().right > 401).map((one) => one.tagName + '.' + one.className);
        return { width: page.clientWidth, scrolls: page.scrollWidth, wide }; }";
    let found = browser.run_with_files("frame.html", script);
    // A scroll bar takes some of the width.
    assert!(found["width"].as_u64().is_some_and(|width| (380..=400).contains(&width)), "{found}");
    assert_eq!(found["width"], found["scrolls"], "{found}");
    assert_eq!(found["wide"], serde_json::json!([]), "{found}");
}

/// A table that is wider than the screen scrolls by itself; its caption stays readable as a whole.
#[test]
fn captions_of_wide_tables_are_not_cut() {
    let Some(browser) = Browser::new("page-caption") else { return };
    browser.ferrio("run --html=page.html --name=a --ioengine=null --size=64m --rw=randrw");
    let frame = "<!DOCTYPE html><html lang=en><title>n</title><body style='margin:0'>\
        <meta http-equiv=\"Content-Security-Policy\" content=\"\">\
        <iframe src=page.html style='width:400px;height:800px;border:0'></iframe></body></html>";
    std::fs::write(browser.path("frame.html"), frame).expect("a page");
    let script = "async function outcome() {
        await new Promise((done) => setTimeout(done, 500));
        const page = document.querySelector('iframe').contentDocument;
        const reach = (one) => { const range = page.createRange(); range.selectNodeContents(one); return range.getBoundingClientRect().right; };
        return { n_tables: page.querySelectorAll('.scrolls table').length,
            cut: Array.from(page.querySelectorAll('caption')).filter((one) => reach(one) > 400).map((one) => one.textContent) }; }";
    let found = browser.run_with_files("frame.html", script);
    assert!(found["n_tables"].as_u64().is_some_and(|n_tables| n_tables > 0), "{found}");
    assert_eq!(found["cut"], serde_json::json!([]), "{found}");
}

#[test]
fn a_page_on_paper_has_all_charts_in_light_colours() {
    let Some(browser) = Browser::new("page-print") else { return };
    full_page(&browser);
    let script = "function outcome() {
        document.documentElement.classList.contains('dark') || document.getElementById('theme').click();
        dispatchEvent(new Event('beforeprint'));
        const printed = { dark: document.documentElement.classList.contains('dark'), charts: ferrioPage.plots.length };
        dispatchEvent(new Event('afterprint'));
        return { ...printed, after: document.documentElement.classList.contains('dark') }; }";
    let found = browser.outcome("page.html", "1200,900", script);
    assert_eq!(found, serde_json::json!({ "dark": false, "charts": 7, "after": true }));
}
