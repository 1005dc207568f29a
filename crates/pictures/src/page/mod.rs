//! The page: one HTML file that shows results, without any network.
//!
//! All texts of results are escaped by the way in which the page is made: markup comes from templates, and the data of
//! the charts are JSON without a `<`.
//! Must not know: how results are read, how charts are computed. Start reading at [`page`].

mod accounts;
mod data;
mod findings;
mod headline;
mod hosts;
mod precision;
mod sources;
mod summary;

pub(crate) use findings::{one as one_finding, rules};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use data::View;
use ferrio_formats::RunResult;
use ferrio_units::terminal_text::escape_page;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest as _, Sha256};

/// The drawing of charts in a browser: uPlot 1.6.32, MIT licence, see `assets/uplot.LICENSE`.
const UPLOT: &str = include_str!("assets/uplot.js");
const UPLOT_STYLE: &str = include_str!("assets/uplot.css");
const SCRIPT: &str = include_str!("assets/page.js");
const STYLE: &str = include_str!("assets/page.css");
/// What pages without scripts have beside it: a dark form by the wish of the reader's system, and charts as markup.
const STATIC_STYLE: &str = include_str!("assets/static.css");

pub fn page(results: &[RunResult]) -> String {
    let title = title(results);
    let views = data::views(results);
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy());
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(UPLOT_STYLE)) (PreEscaped(STYLE)) }
            }
            body {
                header {
                    h1 { (title) }
                    button id="theme" type="button" { "Light or dark" }
                }
                main {
                    @for result in results {
                        (self::result(result, results.len() > 1))
                    }
                    (charts(&views))
                    @for result in results {
                        (sources::sources(result, results.len() > 1))
                    }
                    (rules(results.iter().flat_map(RunResult::findings)))
                }
                script type="application/json" id="data" { (PreEscaped(data::json(&views))) }
                script { (PreEscaped(UPLOT)) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    escape_page(&markup.into_string()).into_owned()
}

/// A page without scripts, which loads nothing. `own_style` follows the style of all pages.
pub(crate) fn static_page(title: &str, own_style: &str, content: &Markup) -> String {
    const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(STYLE)) (PreEscaped(STATIC_STYLE)) (PreEscaped(own_style)) }
            }
            body {
                header { h1 { (title) } }
                main { (content) }
            }
        }
    };
    escape_page(&markup.into_string()).into_owned()
}

/// What a browser may do with the page: run the two scripts of this program, and load nothing.
fn policy() -> String {
    let hash = |script: &str| format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(script)));
    let scripts = [UPLOT, SCRIPT].map(hash).join(" ");
    format!("default-src 'none'; style-src 'unsafe-inline'; script-src {scripts}; base-uri 'none'; form-action 'none'")
}

fn title(results: &[RunResult]) -> String {
    let names: Vec<&str> = results.iter().map(|result| result.name.as_str()).collect();
    match names[..] {
        [] => "No results".to_owned(),
        [name] => format!("Results of {name}"),
        [first, .., last] => format!("Results of {first} to {last}"),
    }
}

/// Findings and figures of a result.
fn result(result: &RunResult, is_one_of_several: bool) -> Markup {
    html! {
        section {
            h2 { @if is_one_of_several { (result.name) } @else { "Findings and figures" } }
            p class="summary" { (summary::sentence(result)) }
            p class="source" { (sources::source(result)) }
            @for remark in &result.remarks { p class="remark" { (remark) } }
            (accounts::accounts(result))
            (findings::findings(result))
            (headline::headline(result))
            (precision::precision(result))
            (summary::steady(result))
            (hosts::hosts(result))
        }
    }
}

/// The place of the charts, which the script fills.
fn charts(views: &[View]) -> Markup {
    html! {
        section aria-labelledby="charts-heading" {
            h2 id="charts-heading" { "Charts" }
            @if views.is_empty() {
                p { "There are no figures over time and no distributions: fio writes distributions with --output-format=json+, and figures over time to the logs of write_bw_log, write_iops_log and write_lat_log." }
            } @else {
                p {
                    label for="view" { "Jobs shown: " }
                    select id="view" {
                        @for (index, view) in views.iter().enumerate() { option value=(index) { (view.name) } }
                    }
                }
                p class="hint" id="charts-help" {
                    "Drag over a chart to zoom, double-click to see all again. By keyboard: Tab to a chart, arrows move along it, + and - zoom, 0 shows all."
                }
                div id="charts" {}
                noscript { p { "The charts are drawn by a script in this page, and scripts are switched off." } }
            }
        }
    }
}

#[cfg(test)]
mod tests;
