//! Pages before axe-core, a checker of accessibility. Its script is not part of ferrio: the variable `FERRIO_AXE` names its file.
//!
//! Start reading at [`a_checker_of_accessibility_finds_nothing_serious`].

use super::{Browser, full_page, skip};
use crate::fits::{BROKEN_LIMIT, recipe};
use crate::support::{Program, Run};

/// The browser prefers dark pages.
const DARK: &str = "--blink-settings=preferredColorScheme=0";

#[test]
fn a_checker_of_accessibility_finds_nothing_serious() {
    let test = "a_checker_of_accessibility_finds_nothing_serious";
    let Some(axe) = std::env::var_os("FERRIO_AXE") else { return skip(test, "FERRIO_AXE does not name axe-core") };
    let Some(browser) = Browser::new("page-axe") else { return };
    full_page(&browser);
    let axe = std::fs::read_to_string(axe).expect("axe-core");
    let run = "
        async function outcome() {
            const serious = [];
            const look = async (place) => {
                const { violations, passes } = await axe.run(document, { resultTypes: ['violations', 'passes'] });
                for (const found of violations) {
                    serious.push(place + ': ' + found.impact + ' ' + found.id + ': ' + found.nodes.map((node) => node.html.slice(0, 80)).join(' | '));
                }
                return passes.length;
            };
            document.documentElement.classList.contains('dark') && document.getElementById('theme').click();
            for (const values of document.querySelectorAll('details')) values.open = true;
            await new Promise((done) => setTimeout(done, 50));
            const passed = await look('light');
            document.getElementById('theme').click();
            await look('dark');
            return { serious, passed };
        }";
    let found = browser.outcome("page.html", "1200,900", &format!("{axe}\n{run}"));
    assert!(found["passed"].as_u64().is_some_and(|n| n > 10), "{found}");
    assert_eq!(found["serious"], serde_json::json!([]), "{found:#}");
}

/// Pages without scripts: of a sweep, a profile and a fit, in light and dark. On a small screen, tables scroll, and the page does not.
#[test]
fn pages_of_sweeps_profiles_and_fits_hinder_no_reader() {
    let test = "pages_of_sweeps_profiles_and_fits_hinder_no_reader";
    let Some(axe) = std::env::var_os("FERRIO_AXE") else { return skip(test, "FERRIO_AXE does not name axe-core") };
    let Some(browser) = Browser::new("page-static") else { return };
    let axe = std::fs::read_to_string(axe).expect("axe-core");
    let job = "--name=a --ioengine=null --size=1m --rw=randrw";
    browser.ferrio(&format!("sweep {job} --over bs=4k,16k --over iodepth=1,2,4 --folder=f"));
    browser.ferrio("profile . --time=5s --size=64m -o profile.html");
    let recipe = recipe("figure = \"read.iops\"\nleast = \"50\"") + BROKEN_LIMIT;
    std::fs::write(browser.path("own.toml"), recipe).expect("a recipe");
    let judged = Run::new(Program::Ferrio, browser.scratch.path(), "fit ./own.toml . -o fit.html").finish();
    assert_eq!(judged.code, Some(1), "{}", judged.all());
    std::fs::copy(browser.path("f/index.html"), browser.path("sweep.html")).expect("a page");
    let run = "
        async function outcome() {
            const { violations, passes } = await axe.run(document, { resultTypes: ['violations', 'passes'] });
            const serious = violations.map((found) => found.id + ': ' + found.nodes.map((node) => node.html.slice(0, 80)).join(' | '));
            return { serious, passed: passes.length, wide: document.documentElement.scrollWidth - window.innerWidth,
                dark: matchMedia('(prefers-color-scheme: dark)').matches };
        }";
    let shown = ["sweep.html", "profile.html", "fit.html"].into_iter().flat_map(|name| [(name, false), (name, true)]);
    for (name, is_dark) in shown {
        let more: &[&str] = if is_dark { &[DARK] } else { &[] };
        let found = browser.outcome_with(name, "500,900", &format!("{axe}\n{run}"), more);
        assert_eq!(found["dark"], is_dark, "{name}: {found}");
        assert!(found["passed"].as_u64().is_some_and(|n| n > 10), "{name}: {found}");
        assert_eq!(found["serious"], serde_json::json!([]), "{name}: {found:#}");
        assert!(found["wide"].as_i64().is_some_and(|wide| wide <= 0), "{name}: {found}");
    }
}
