//! What a reader does with a page: zooms, switches lines off, chooses other jobs, by mouse and by keyboard.
//!
//! Start reading at [`zoom_and_toggles_work`].

use super::{Browser, full_page};
use crate::support::Scratch;

/// Helpers of the scripts.
const TOOLS: &str = "
    const press = (place, key) => place.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
    const span = (plot) => plot.scales.x.max - plot.scales.x.min;
    const turn = () => new Promise((done) => setTimeout(done, 50));
    const figure = (id) => document.getElementById('chart-' + id);
    const plotOf = (id) => ferrioPage.plots.find((plot) => figure(id).contains(plot.root));";

#[test]
fn a_page_has_no_complaint_of_the_browser() {
    let Some(browser) = Browser::new("page-console") else { return };
    full_page(&browser);
    let shown = browser.show("page.html");
    assert_eq!(shown.console, Vec::<String>::new());
    for chart in ["iops", "bandwidth", "latency", "heat", "distribution", "cumulative"] {
        assert!(shown.page.contains(&format!("id=\"chart-{chart}\"")), "{chart}");
    }
    assert!(shown.page.contains("<canvas"), "charts are drawn");
}

#[test]
fn zoom_and_toggles_work() {
    let Some(browser) = Browser::new("page-zoom") else { return };
    full_page(&browser);
    let script = format!(
        "{TOOLS}
        async function outcome() {{
            const plot = plotOf('iops'), place = figure('iops').querySelector('.plot');
            const all = span(plot);
            press(place, 'ArrowRight');
            const said = figure('iops').querySelector('.readout').textContent;
            press(place, '+'); await turn();
            const near = span(plot);
            press(place, '0'); await turn();
            const again = span(plot);
            // By mouse: from a quarter to the middle.
            const box = plot.over.getBoundingClientRect();
            const mouse = (type, share, target) => target.dispatchEvent(new MouseEvent(type, {{ bubbles: true, button: 0, movementX: 3,
                clientX: box.left + box.width * share, clientY: box.top + box.height / 2 }}));
            mouse('mousemove', 0.25, plot.over); mouse('mousedown', 0.25, plot.over);
            mouse('mousemove', 0.5, plot.over); await turn(); mouse('mouseup', 0.5, plot.over); await turn();
            const dragged = span(plot);
            const button = figure('latency').querySelector('.legend button'), lines = plotOf('latency').series;
            const before = lines[1].show; button.click(); const after = lines[1].show;
            return {{ said, near: near / all, again: again / all, dragged: dragged / all, before, after,
                pressed: button.getAttribute('aria-pressed') }};
        }}"
    );
    let found = browser.outcome("page.html", "1200,900", &script);
    let share = |name: &str| found[name].as_f64().unwrap_or_default();
    assert!((share("near") - 0.5).abs() < 0.01 && (share("again") - 1.0).abs() < 0.001, "{found}");
    assert!((share("dragged") - 0.25).abs() < 0.03, "{found}");
    assert_eq!((&found["before"], &found["after"]), (&true.into(), &false.into()), "{found}");
    assert_eq!(found["pressed"], "false");
    assert!(found["said"].as_str().is_some_and(|text| text.contains("read 10")), "{found}");
}

/// The log has 10,000 rows, of which one is slow, and the picture has fewer points.
#[test]
fn a_single_slow_io_is_drawn() {
    let Some(browser) = Browser::new("page-peak") else { return };
    full_page(&browser);
    let script = format!(
        "{TOOLS}
        function outcome() {{
            const plot = plotOf('latency');
            const highest = plot.data.slice(1).flat().reduce((most, value) => value > most ? value : most, 0);
            return {{ highest, points: plot.data[0].length, top: plot.scales.y.max }};
        }}"
    );
    let found = browser.outcome("page.html", "1200,900", &script);
    assert_eq!(found["highest"], 50_000_000, "{found}");
    assert!(found["points"].as_u64().is_some_and(|n| n <= 2000), "{found}");
    assert!(found["top"].as_f64().is_some_and(|top| top >= 5e7), "{found}");
}

/// Reads paused from 0.3 to 0.7 s while writes went on: no line of reads leads into the pause, though there are points of writes.
#[test]
fn a_gap_of_one_line_is_one_beside_another_line() {
    let Some(browser) = Browser::new("page-gap") else { return };
    let row = |at: u32, direction: u32| format!("{}, 1000, {direction}, 0, 0\n", at * 100);
    let reads = [1, 2, 3, 8, 9, 10].map(|at| row(at, 0)).concat();
    std::fs::write(browser.path("x_iops.1.log"), reads + &(1..=10).map(|at| row(at, 1)).collect::<String>())
        .expect("a log");
    browser.ferrio("report x_iops.1.log -o page.html");
    let script = format!(
        "{TOOLS}
        function outcome() {{
            const plot = plotOf('iops');
            const between = (from, to) => plot.data[0].map((x, at) => [x, at]).filter(([x]) => from < x && x < to);
            const number = (label) => plot.series.findIndex((one) => one.label === label);
            // Nothing that was measured is null; nothing is drawn across it. Undefined would be.
            const pause = between(0.3, 0.7).map(([, at]) => plot.data[number('read')][at] === null);
            const writes = between(0.3, 0.7).filter(([, at]) => plot.data[number('write')][at] > 0).length;
            return {{ pause, writes }};
        }}"
    );
    let found = browser.outcome("page.html", "1200,900", &script);
    let pause = found["pause"].as_array().expect("a list");
    assert!(pause.len() >= 4 && pause.iter().all(|is_null| *is_null == true), "{found}");
    assert_eq!(found["writes"], 4, "{found}");
}

/// Ten hours: the label of each line of the grid is its time, with nothing left out.
#[test]
fn times_of_long_runs_are_marked_at_whole_minutes() {
    let Some(browser) = Browser::new("page-long") else { return };
    let rows = (1..=600).map(|at| format!("{}, 1000, 0, 0, 0\n", at * 60_000));
    std::fs::write(browser.path("x_iops.1.log"), rows.collect::<String>()).expect("a log");
    browser.ferrio("report x_iops.1.log -o page.html");
    let script = format!(
        "{TOOLS}
        function outcome() {{
            const axis = plotOf('iops').axes[0];
            const seconds = (label) => label.split(':').reduce((sum, part) => sum * 60 + Number(part), 0) * 60;
            return axis._splits.map((split, at) => [split, seconds(axis._values[at])]);
        }}"
    );
    let found = browser.outcome("page.html", "1200,900", &script);
    let marks = found.as_array().expect("a list");
    assert!(marks.len() > 2 && marks.iter().all(|mark| mark[0].as_f64() == mark[1].as_f64()), "{found}");
}

#[test]
fn jobs_can_be_chosen_and_the_light_changed() {
    let Some(browser) = Browser::new("page-views") else { return };
    let job = "--ioengine=null --size=16m --rw=read";
    browser.ferrio(&format!("--name=a {job} --name=b {job} --output-format=json+ --output=run.json"));
    browser.ferrio("report run.json -o page.html");
    let script = format!(
        "{TOOLS}
        function outcome() {{
            const select = document.getElementById('view');
            const names = Array.from(select.options, (option) => option.textContent);
            const columns = () => figure('depth').querySelectorAll('thead th').length;
            const together = columns();
            select.value = '2'; select.dispatchEvent(new Event('change'));
            const dark = () => document.documentElement.classList.contains('dark');
            const first = dark(); document.getElementById('theme').click();
            return {{ names, together, alone: columns(), changed: first !== dark(), charts: ferrioPage.plots.length }};
        }}"
    );
    let found = browser.outcome("page.html", "1200,900", &script);
    assert_eq!(found["names"], serde_json::json!(["all 2 jobs together", "a", "b"]), "{found}");
    assert_eq!((&found["together"], &found["alone"]), (&3.into(), &2.into()), "{found}");
    assert_eq!((&found["changed"], &found["charts"]), (&true.into(), &2.into()), "{found}");
}

#[test]
fn clones_open_when_their_button_is_pressed() {
    let Some(browser) = Browser::new("page-clones") else { return };
    let job = "--ioengine=null --size=1m --rw=read --numjobs=5 --thread";
    browser.ferrio(&format!("--name=a {job} --output-format=json+ --output=run.json"));
    browser.ferrio("report run.json -o page.html");
    let script = "function outcome() {
        const button = document.querySelector('button.opens'), clones = document.getElementById('clones-0-0');
        const states = [];
        const look = () => states.push([clones.offsetHeight > 0, button.getAttribute('aria-expanded')]);
        look(); button.click(); look(); button.click(); look();
        return { states, rows: clones.rows.length, text: button.textContent }; }";
    let found = browser.outcome("page.html", "1200,900", script);
    let expected = serde_json::json!([[false, "false"], [true, "true"], [false, "false"]]);
    assert_eq!(
        (&found["states"], &found["rows"], &found["text"]),
        (&expected, &5.into(), &"5 clones".into()),
        "{found}"
    );
}

/// A page of two results begins with both on one chart; a zoom and the pointer are those of all charts over time.
#[test]
fn results_are_overlaid_with_one_zoom_and_one_pointer() {
    let Some(browser) = Browser::new("page-overlay") else { return };
    for number in 1..=2 {
        std::fs::create_dir(browser.path(&format!("run{number}"))).expect("a folder");
        let row = |rate: u32, at: u32| format!("{}, {rate}, 0, 0, 0\n", at * 100);
        let log = |rate: u32| (1..=20).map(|at| row(rate, at)).collect::<Vec<_>>().concat();
        browser.scratch.write(&format!("run{number}/x_iops.1.log"), log(1000 * number));
        browser.scratch.write(&format!("run{number}/x_bw.1.log"), log(4000 * number));
    }
    browser.ferrio("report run1/x_iops.1.log run1/x_bw.1.log run2/x_iops.1.log run2/x_bw.1.log -o page.html");
    let script = format!(
        "{TOOLS}
        async function outcome() {{
            const view = document.getElementById('view').selectedOptions[0].textContent;
            const names = Array.from(figure('iops').querySelectorAll('.legend button'), (button) => button.textContent);
            const place = figure('iops').querySelector('.plot');
            press(place, 'ArrowRight'); press(place, '+'); await turn();
            const [iops, bandwidth] = [plotOf('iops'), plotOf('bandwidth')];
            return {{ view, names, same: span(iops) === span(bandwidth), zoomed: span(iops) < 1.5,
                pointers: Math.abs(iops.cursor.left - bandwidth.cursor.left) < 2,
                fits: ferrioPage.plots.every((plot) => plot.width <= plot.root.parentElement.clientWidth),
                highest: iops.data.slice(1).map((line) => Math.max(...line.filter((value) => value != null))) }};
        }}"
    );
    let found = browser.outcome("page.html", "1200,900", &script);
    assert_eq!(found["view"], "all 2 results overlaid", "{found}");
    assert_eq!(found["names"], serde_json::json!(["run1: read", "run2: read"]), "{found}");
    assert_eq!(found["highest"], serde_json::json!([1000, 2000]), "nothing is added: {found}");
    for is_so in ["same", "zoomed", "pointers", "fits"] {
        assert_eq!(found[is_so], true, "{is_so}: {found}");
    }
}

#[test]
fn no_script_of_a_result_runs() {
    let Some(browser) = Browser::new("page-hostile") else { return };
    let hostile = "<img src=x onerror=document.title=1></script><script>document.title='hacked'</script>";
    let report = std::fs::read_to_string({
        browser.ferrio("--name=a --ioengine=null --size=1m --rw=read --output-format=json+ --output=run.json");
        browser.path("run.json")
    });
    let mut report: serde_json::Value = serde_json::from_str(&report.expect("a report")).expect("JSON");
    report["jobs"][0]["jobname"] = hostile.into();
    report["jobs"][0]["job options"]["description"] = hostile.into();
    report["disk_util"] = serde_json::json!([{ "name": hostile }]);
    let two = serde_json::json!([report["jobs"][0].clone(), report["jobs"][0].clone()]);
    report["jobs"] = two;
    std::fs::write(browser.path("hostile.json"), report.to_string()).expect("a report");
    browser.ferrio("report hostile.json -o page.html");
    assert_eq!(browser.show("page.html").console, Vec::<String>::new());
    let script = "function outcome() { return { title: document.title, images: document.images.length,
        scripts: document.scripts.length }; }";
    let found = browser.outcome("page.html", "1200,900", script);
    // The data, the two scripts of the page, and that of this test.
    assert_eq!(found, serde_json::json!({ "title": "Results of hostile.json", "images": 0, "scripts": 4 }));
}

#[test]
fn the_page_of_a_thousand_jobs_opens() {
    let Some(browser) = Browser::new("page-thousand") else { return };
    let job = |number: u32| {
        serde_json::json!({ "jobname": format!("job{number}"), "groupid": number / 100, "read": {
            "total_ios": 100, "io_bytes": 409_600, "iops": number, "runtime": 1000,
            "clat_ns": { "min": 1, "max": 9000, "mean": 500, "N": 100, "bins": { "500": 99, "9000": 1 } } } })
    };
    let jobs: Vec<serde_json::Value> = (0..1000).map(job).collect();
    let report = serde_json::json!({ "fio version": "fio-3.33", "jobs": jobs });
    std::fs::write(browser.path("many.json"), report.to_string()).expect("a report");
    browser.ferrio("report many.json -o page.html");
    let script = "function outcome() { const select = document.getElementById('view');
        return { views: select.options.length, rows: document.querySelectorAll('tbody tr').length,
            charts: ferrioPage.plots.length, group: select.options[1].textContent }; }";
    let found = browser.outcome("page.html", "1200,900", script);
    // All together, ten groups, and each job.
    assert_eq!(found["views"], 1011, "{found}");
    assert_eq!((&found["charts"], &found["group"]), (&2.into(), &"group 0: 100 jobs together".into()), "{found}");
    assert!(found["rows"].as_u64().is_some_and(|rows| rows >= 1000), "{found}");
}

/// A result of fio itself.
#[test]
fn the_page_of_a_run_of_fio_has_its_figures() {
    let test = "the_page_of_a_run_of_fio_has_its_figures";
    let Some(browser) = Browser::new(test).filter(|_| crate::support::has_old_peer(test)) else { return };
    let job =
        "--name=a --filename=f --size=16m --rw=randrw --runtime=1s --time_based --write_bw_log=x --write_lat_log=x";
    let fio = crate::support::Run::new(
        crate::support::Program::OldPeer,
        Scratch::path(&browser.scratch),
        &format!("{job} --log_avg_msec=100 --output-format=json+ --output=run.json"),
    );
    fio.finish().succeeded();
    browser.ferrio("report run.json x_bw.1.log x_clat.1.log -o page.html");
    assert_eq!(browser.show("page.html").console, Vec::<String>::new());
    let report = std::fs::read_to_string(browser.path("run.json")).expect("a report");
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    let found = browser.outcome(
        "page.html",
        "1200,900",
        "function outcome() { return Array.from(document.querySelectorAll('td[data-value]'), (cell) => Number(cell.dataset.value)); }",
    );
    for (index, direction) in ["read", "write"].into_iter().enumerate() {
        let told = &report["jobs"][0][direction];
        assert_eq!(found[2 * index].as_f64(), told["iops"].as_f64(), "{found}");
        assert_eq!(found[2 * index + 1].as_f64(), told["bw_bytes"].as_f64(), "{found}");
    }
}
