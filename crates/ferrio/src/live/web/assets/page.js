
"use strict";
(function () {
  const SVG = "http://www.w3.org/2000/svg";
  const byId = (id) => document.getElementById(id);
  const [IOPS, BANDWIDTH, P50, P99, P999, MAX, DEPTH, SYNC_P99] = [0, 1, 2, 3, 4, 5, 6, 7];
  const NOTHING = [0, 0, null, null, null, null, 0];
  // Attempts to find the run again before it is given up: the browser makes one every few seconds.
  const MOST_ATTEMPTS = 5;

  // Three significant digits below 1000, whole numbers with commas from there on.
  function digits(value) {
    if (value === 0) return "0";
    if (value < 0.0995) return String(Number(value.toPrecision(2)));
    if (value < 9.995) return value.toFixed(2);
    if (value < 99.95) return value.toFixed(1);
    return Math.round(value).toLocaleString("en");
  }
  const rate = (value) => value >= 1e6 ? digits(value / 1e6) + "M" : value >= 1e4 ? digits(value / 1e3) + "k" : digits(value);
  const megabytes = (value) => digits(value / 1e6);
  const whole = (value) => value.toLocaleString("en");
  function duration(ns) {
    if (ns === null) return "-";
    for (const [factor, unit] of [[1, "ns"], [1e3, "us"], [1e6, "ms"]]) {
      if (ns / factor < 999.5) return (factor === 1 ? Math.round(ns) : digits(ns / factor)) + " " + unit;
    }
    return digits(ns / 1e9) + " s";
  }
  function bytes(value) {
    for (const [factor, unit] of [[1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"]]) {
      if (value >= factor) return digits(value / factor) + " " + unit;
    }
    return value + " B";
  }
  function clock(seconds) {
    const two = (number) => String(number).padStart(2, "0");
    const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
    return (hours > 0 ? hours + ":" + two(minutes) : minutes) + ":" + two(Math.floor(seconds) % 60);
  }

  // The text at a mark of an axis, which is a round value.
  const mark_text = (text, value) => text(value).replace(/(\.\d*?)0+(?!\d)/, "$1").replace(/\.(?!\d)/, "");

  function element(name, attributes, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }
  function drawn(name, attributes, text) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  }
  function write(place, text) {
    if (place.textContent !== text) place.textContent = text;
  }

  // What is known: the jobs, their course, and the present.
  let jobs = [];
  let course = { seconds: 1, all: [], jobs: [] };
  let now = null;
  // The job in the charts; -1: all together.
  let shown = -1;

  const TOTALS = [["IOPS", IOPS, rate], ["MB/s", BANDWIDTH, megabytes], ["p50", P50, duration], ["p99", P99, duration],
    ["p99.9", P999, duration], ["max", MAX, duration], ["depth", DEPTH, digits], ["sync p99", SYNC_P99, duration]];
  const totals = TOTALS.map(([name]) => {
    const value = element("dd", {}, "-");
    byId("totals").append(element("div", {}, element("dt", {}, name), value));
    return value;
  });

  const CHARTS = [
    { name: "IOPS", lines: [["IOPS", IOPS]], text: rate },
    { name: "Bandwidth, MB/s", lines: [["MB/s", BANDWIDTH]], text: megabytes, least: 1e6 },
    { name: "Latency", lines: [["p50", P50], ["p99", P99], ["p99.9", P999], ["max", MAX], ["sync p99", SYNC_P99]], text: duration, isLog: true },
    { name: "I/Os in flight", lines: [["depth", DEPTH]], text: digits },
  ].map(makeChart);

  function makeChart(chart) {
    const svg = drawn("svg", { role: "img" });
    const values = chart.lines.map(() => document.createTextNode("-"));
    const entries = chart.lines.map(([name], index) => {
      const sample = drawn("svg", { "aria-hidden": "true", viewBox: "0 0 29 10" });
      sample.append(drawn("line", { class: "s" + index, x1: 0, x2: 29, y1: 5, y2: 5 }));
      return element("li", {}, sample, name + " ", values[index]);
    });
    const moment = element("li", {});
    const figure = element("figure", {}, element("figcaption", {}, chart.name), svg, element("ul", { class: "legend" }, ...entries, moment));
    byId("charts").append(figure);
    const made = { ...chart, svg, values, moment, cursor: null };
    svg.addEventListener("pointermove", (event) => {
      made.cursor = event.clientX - svg.getBoundingClientRect().left;
      draw(made);
    });
    svg.addEventListener("pointerleave", () => {
      made.cursor = null;
      draw(made);
    });
    return made;
  }

  // Round values between two others, at most so many.
  function marks(low, high, most, isLog) {
    const found = [];
    if (isLog) {
      const step = Math.max(1, Math.ceil((Math.log10(high) - Math.log10(low)) / most));
      for (let power = Math.ceil(Math.log10(low) - 1e-9); power <= Math.log10(high) + 1e-9; power += step) found.push(10 ** power);
      if (found.length > 1) return found;
      return [low, high];
    }
    const raw = (high - low) / most;
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= raw);
    for (let value = Math.ceil(low / step) * step; value <= high + step / 1e6; value += step) found.push(value);
    return found;
  }
  function timeMarks(high, most) {
    const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400, 604800];
    const step = steps.find((candidate) => candidate >= high / most) || steps[steps.length - 1];
    const found = [];
    for (let value = 0; value <= high; value += step) found.push(value);
    return found;
  }

  const points = () => shown < 0 ? course.all : course.jobs[shown] || [];

  function draw(chart) {
    const { svg, lines, text, isLog, least } = chart;
    const [width, height] = [svg.clientWidth || 300, svg.clientHeight || 176];
    const [left, right, top, bottom] = [62, 10, 8, 22];
    const known = points();
    const values = known.flatMap((point) => lines.map(([, index]) => point[index])).filter((value) => value !== null && (!isLog || value > 0));
    const most = Math.max(0, ...values);
    const low = isLog ? 10 ** Math.floor(Math.log10(Math.min(most, ...values) || 1000)) : 0;
    const high = isLog ? Math.max(low * 10, most * 1.2) : most * 1.05 || least || 1;
    const span = Math.max(known.length * course.seconds, 10);
    const x = (seconds) => left + (width - left - right) * seconds / span;
    const share = (value) => isLog ? Math.log(Math.max(value, low) / low) / Math.log(high / low) : value / high;
    const y = (value) => height - bottom - (height - bottom - top) * share(value);
    const parts = [];
    for (const mark of marks(low, high, 4, isLog)) {
      parts.push(drawn("line", { class: "grid", x1: left, x2: width - right, y1: y(mark), y2: y(mark) }));
      parts.push(drawn("text", { x: left - 6, y: y(mark) + 4, "text-anchor": "end" }, mark_text(text, mark)));
    }
    for (const mark of timeMarks(span, Math.max(2, Math.floor(width / 110)))) {
      const anchor = mark === 0 ? "start" : x(mark) > width - right - 18 ? "end" : "middle";
      parts.push(drawn("text", { x: x(mark), y: height - 6, "text-anchor": anchor }, clock(mark)));
    }
    lines.forEach(([, index], number) => parts.push(...line(known, index, number, (at) => x(time(at)), y, isLog)));
    const at = picked(chart, known, x);
    if (at !== null) parts.push(drawn("line", { class: "cursor", x1: x(time(at)), x2: x(time(at)), y1: top, y2: height - bottom }));
    svg.setAttribute("viewBox", "0 0 " + width + " " + height);
    svg.replaceChildren(...parts);
    tell(chart, known, at);
  }

  // Where a point lies: in the middle of its time.
  const time = (index) => (index + 0.5) * course.seconds;

  // The point under the pointer.
  function picked(chart, known, x) {
    if (chart.cursor === null || known.length === 0) return null;
    const distance = (index) => Math.abs(x(time(index)) - chart.cursor);
    return known.reduce((best, _, index) => distance(index) < distance(best) ? index : best, 0);
  }

  // A line with gaps where nothing was measured; a value between two gaps is a dot.
  function line(known, index, number, x, y, isLog) {
    const runs = [[]];
    known.forEach((point, at) => {
      const value = point[index];
      if (value === null || (isLog && value <= 0)) runs.push([]);
      else runs[runs.length - 1].push(x(at).toFixed(1) + "," + y(value).toFixed(1));
    });
    return runs.filter((run) => run.length > 0).map((run) => {
      const [cx, cy] = run[0].split(",");
      return run.length > 1 ? drawn("polyline", { class: "s" + number, points: run.join(" ") })
        : drawn("circle", { class: "s" + number, cx, cy, r: 1.5 });
    });
  }

  // The legend has the values under the pointer, or those of the present.
  function tell(chart, known, at) {
    const present = now === null ? NOTHING : shown < 0 ? now.all : now.jobs[shown] ? now.jobs[shown].now : NOTHING;
    const point = at === null ? present : known[at];
    const texts = chart.lines.map(([, index]) => point[index] === null ? "-" : chart.text(point[index]));
    texts.forEach((text, index) => { chart.values[index].data = text; });
    write(chart.moment, at === null ? "" : "at " + clock(time(at)));
    const label = chart.name + " over time, now " + chart.lines.map(([name], index) => (chart.lines.length > 1 ? name + " " : "") + texts[index]).join(", ");
    if (at === null) chart.svg.setAttribute("aria-label", label);
  }

  const COLUMNS = ["job", "state", "IOPS", "MB/s", "p50", "p99", "p99.9", "max", "depth", "sync p99", "I/Os", "data", "errors", "IOPS over time"];
  let rows = [];

  function makeTable() {
    byId("jobs").tHead.replaceChildren(element("tr", {}, ...COLUMNS.map((name) => element("th", { scope: "col" }, name))));
    rows = jobs.map((job, index) => {
      const name = element("button", { type: "button", "aria-pressed": "false", title: job.name }, job.name);
      name.addEventListener("click", () => show(index));
      const clones = job.n_clones > 1 ? " x " + job.n_clones : "";
      const sketch = drawn("svg", { "aria-hidden": "true", viewBox: "0 0 96 22", preserveAspectRatio: "none" });
      const cells = COLUMNS.slice(1).map(() => element("td"));
      cells[cells.length - 1].append(sketch);
      const row = element("tr", {}, element("th", { scope: "row" }, name, clones), ...cells);
      return { row, name, sketch, cells, n_drawn: -1 };
    });
    byId("jobs").tBodies[0].replaceChildren(...rows.map((row) => row.row));
    const options = ["All jobs together", ...jobs.map((job) => job.name)];
    byId("shown").replaceChildren(...options.map((name, index) => element("option", { value: index - 1 }, name)));
    show(Math.min(shown, jobs.length - 1));
  }

  function show(index) {
    shown = index;
    byId("shown").value = String(index);
    rows.forEach((row, number) => row.name.setAttribute("aria-pressed", String(number === index)));
    CHARTS.forEach(draw);
  }

  function fill(row, job, known) {
    const figures = [IOPS, BANDWIDTH, P50, P99, P999, MAX, DEPTH, SYNC_P99].map((index, at) => TOTALS[at][2](job.now[index]));
    const isIdle = job.state !== "runs";
    const texts = [job.state, ...(isIdle ? figures.map(() => "-") : figures), whole(job.n_ios), bytes(job.bytes), whole(job.n_errors)];
    if (row.row.className !== job.state) row.row.className = job.state;
    texts.forEach((text, index) => write(row.cells[index], text));
    if (row.n_drawn === known.length) return;
    row.n_drawn = known.length;
    const newest = known.slice(-96);
    const most = Math.max(1, ...newest.map((point) => point[IOPS]));
    const x = (index) => newest.length > 1 ? 95 * index / (newest.length - 1) : 0;
    row.sketch.replaceChildren(...line(newest, IOPS, 0, x, (value) => 20.5 - 19 * value / most, false));
  }

  function showNow() {
    TOTALS.forEach(([, index, text], at) => write(totals[at], text(now.all[index])));
    const left = now.is_over || now.left_secs === null ? "" : ", " + clock(now.left_secs) + " left";
    const state = now.is_over ? "The run has ended, and its report is made."
      : now.only_ramps ? "The jobs warm up: nothing is counted yet."
      : jobs.length > 0 ? "The run goes on."
      : now.coming !== null && now.coming[0] < now.coming[1] ? now.coming[0] + " of " + now.coming[1] + " hosts have come." : "The run is prepared.";
    write(byId("news"), state);
    write(byId("clock"), clock(now.elapsed_secs) + left + ", " + now.n_running + " running");
    const whole_secs = now.elapsed_secs + (now.left_secs || 0);
    byId("progress").hidden = now.left_secs === null && !now.is_over;
    byId("progress").value = now.is_over ? 1 : now.elapsed_secs / Math.max(1, whole_secs);
    write(byId("busy"), now.busy.length === 0 ? ""
      : "Devices busy: " + now.busy.map(([name, share]) => name + " " + Math.round(100 * share) + " %").join(", "));
    list("findings", grouped(now.findings), ([severity, title, of]) =>
      element("li", { class: severity }, element("span", { class: "severity" }, severity.toUpperCase()), " " + title + of));
    list("messages", now.messages, (text) => element("li", {}, text));
    showHosts();
    now.jobs.forEach((job, index) => rows[index] && fill(rows[index], job, course.jobs[index] || []));
    CHARTS.forEach(draw);
  }

  // The hosts of a fleet: their names and rates over time.
  let hosts = [];
  let hostCourse = { seconds: 1, rows: [] };
  let heatCursor = null;
  const HOST_COLUMNS = ["host", "state", "IOPS", "MB/s", "p99"];
  const URGENCY = ["lost", "silent", "runs", "waits", "ended"];
  // Rows of the table; with more hosts it has those that need a look.
  const MOST_HOST_ROWS = 64;
  // With more hosts the rows are ordered by what they do.
  const MOST_IN_ORDER = 16;
  const named = (names) => names.slice(0, 8).join(", ") + (names.length > 8 ? " and " + (names.length - 8) + " more" : "");

  function showHosts() {
    byId("hosts-section").hidden = hosts.length === 0;
    if (hosts.length === 0 || now === null) return;
    const { each, slowest, lost } = now.hosts;
    const share = slowest === null ? "" : ". The slowest is " + slowest.name + ": " + rate(slowest.iops) + " IOPS, "
      + Math.round(100 * slowest.iops / slowest.median_iops) + " % of the median (" + rate(slowest.median_iops) + ")";
    write(byId("hosts-summary"), hosts.length + " hosts" + share + "." + (lost.length > 0 ? " Lost: " + named(lost) + "." : ""));
    const order = each.map((_, rank) => rank);
    if (hosts.length > MOST_IN_ORDER) {
      order.sort((one, other) => URGENCY.indexOf(each[one][0]) - URGENCY.indexOf(each[other][0]) || each[one][1] - each[other][1] || one - other);
    }
    const rows = order.slice(0, MOST_HOST_ROWS).map((rank) => {
      const [state, iops, bandwidth, p99] = each[rank];
      const figures = state === "runs" ? [rate(iops), megabytes(bandwidth), duration(p99)] : ["-", "-", "-"];
      const cells = [state, ...figures].map((text) => element("td", {}, text));
      return element("tr", { class: state === "lost" ? "lost-host" : state }, element("th", { scope: "row", title: hosts[rank] }, hosts[rank]), ...cells);
    });
    byId("hosts").tHead.replaceChildren(element("tr", {}, ...HOST_COLUMNS.map((name) => element("th", { scope: "col" }, name))));
    byId("hosts").tBodies[0].replaceChildren(...rows);
    const order_text = hosts.length > MOST_IN_ORDER ? "Lost hosts come first, then the slowest. " : "";
    const more = hosts.length > MOST_HOST_ROWS ? hosts.length - MOST_HOST_ROWS + " more hosts are in the map alone. " : "";
    write(byId("hosts-hint"), order_text + more + "Figures of the last second. In the map, a row is a host and the shade is its rate; where nothing was measured, there is none.");
    drawHeat();
  }

  // A row of cells for each host.
  function drawHeat() {
    const canvas = byId("heat");
    if (hosts.length === 0 || canvas.clientWidth === 0) return;
    const width = canvas.clientWidth;
    const rowHeight = Math.max(2, Math.min(18, Math.floor(420 / hosts.length)));
    const [left, bottom] = [92, 20];
    const height = rowHeight * hosts.length + bottom;
    const scale = window.devicePixelRatio || 1;
    canvas.style.height = height + "px";
    [canvas.width, canvas.height] = [Math.round(width * scale), Math.round(height * scale)];
    const context = canvas.getContext("2d");
    const colours = getComputedStyle(document.documentElement);
    context.scale(scale, scale);
    context.font = "12px system-ui, sans-serif";
    const n_points = Math.max(0, ...hostCourse.rows.map((row) => row.length));
    const most = hostCourse.rows.reduce((most, row) => row.reduce((most, value) => Math.max(most, value || 0), most), 1);
    const n_columns = Math.max(n_points, 10);
    const x = (index) => left + (width - left - 4) * index / n_columns;
    hostCourse.rows.forEach((row, rank) => {
      const top = rank * rowHeight;
      row.forEach((value, index) => {
        if (value === null) return;
        context.globalAlpha = 0.06 + 0.94 * value / most;
        context.fillStyle = colours.getPropertyValue("--first");
        context.fillRect(x(index), top, x(index + 1) - x(index) - (n_columns < 200 ? 1 : 0), rowHeight - (rowHeight > 4 ? 1 : 0));
      });
      context.globalAlpha = 1;
      // Names that have room: each, or every so many.
      const step = Math.ceil(13 / rowHeight);
      const isLost = now !== null && now.hosts.each[rank] && now.hosts.each[rank][0] === "lost";
      context.fillStyle = colours.getPropertyValue(isLost ? "--wrong" : "--faint");
      if (rank % step === 0) context.fillText(hosts[rank], 2, top + Math.min(rowHeight, 13) / 2 + 5, left - 8);
    });
    context.fillStyle = colours.getPropertyValue("--faint");
    for (const mark of timeMarks(n_columns * hostCourse.seconds, Math.max(2, Math.floor(width / 110)))) {
      context.fillText(clock(mark), Math.min(x(mark / hostCourse.seconds), width - 30), height - 5);
    }
    canvas.setAttribute("aria-label", "Rate of each host over time, to " + rate(most) + " IOPS; the table has the figures of the present");
    tellCell(x, rowHeight, n_columns, most);
  }

  // The cell under the pointer.
  function tellCell(x, rowHeight, n_columns, most) {
    const scale = "Darkest: " + rate(most) + " IOPS";
    if (heatCursor === null) return write(byId("heat-moment"), scale);
    const rank = Math.floor(heatCursor[1] / rowHeight);
    let index = 0;
    while (index < n_columns && x(index + 1) < heatCursor[0]) index += 1;
    const value = hostCourse.rows[rank] === undefined ? undefined : hostCourse.rows[rank][index];
    const text = value === undefined || value === null ? "nothing measured" : rate(value) + " IOPS";
    write(byId("heat-moment"), scale + (hosts[rank] === undefined ? "" : ". " + hosts[rank] + " at " + clock(index * hostCourse.seconds) + ": " + text));
  }
  byId("heat").addEventListener("pointermove", (event) => {
    const area = byId("heat").getBoundingClientRect();
    heatCursor = [event.clientX - area.left, event.clientY - area.top];
    drawHeat();
  });
  byId("heat").addEventListener("pointerleave", () => {
    heatCursor = null;
    drawHeat();
  });

  // Findings with one title are one entry, which names the first jobs.
  function grouped(findings) {
    const groups = new Map();
    for (const { severity, title, jobs } of findings) {
      const key = severity + title;
      if (!groups.has(key)) groups.set(key, { severity, title, names: new Set() });
      jobs.forEach((job) => groups.get(key).names.add(job));
    }
    return [...groups.values()].map(({ severity, title, names }) => {
      const more = names.size > 5 ? " and " + (names.size - 5) + " more" : "";
      return [severity, title, names.size > 0 ? " (" + [...names].slice(0, 5).join(", ") + more + ")" : ""];
    });
  }

  const listed = {};
  function list(id, values, item) {
    const text = JSON.stringify(values);
    if (listed[id] === text) return;
    listed[id] = text;
    byId(id + "-section").hidden = values.length === 0;
    byId(id).replaceChildren(...values.map(item));
  }

  // The stream of events.
  const query = new URLSearchParams(location.search).get("token");
  const address = "events?page" + (query === null ? "" : "&token=" + encodeURIComponent(query));
  let n_attempts = 0;
  follow();

  function follow() {
    const events = new EventSource(address);
    events.addEventListener("course", (event) => {
      n_attempts = 0;
      document.body.classList.remove("lost");
      const told = JSON.parse(event.data);
      jobs = told.jobs;
      hosts = told.hosts;
      hostCourse = { seconds: told.host_secs || 1, rows: told.host_points };
      if (hosts.length > 0) document.querySelector("h1").textContent = "ferrio fleet";
      course = { seconds: told.point_secs || 1, all: told.points.all, jobs: told.points.jobs };
      write(byId("command"), told.title);
      byId("command").classList.toggle("long", told.title.length > 400);
      document.title = (hosts.length > 0 ? "ferrio fleet " : "ferrio run ") + told.title.slice(0, 80);
      now = null;
      makeTable();
    });
    events.addEventListener("now", (event) => {
      const told = JSON.parse(event.data);
      // The jobs have become known, or points were joined: all of it is fetched again.
      const isOther = told.hosts.each.length !== hosts.length || (told.host_secs || 1) !== hostCourse.seconds;
      if (isOther || told.jobs.length !== jobs.length || (told.point_secs || 1) !== course.seconds || told.first_point > course.all.length) {
        events.close();
        follow();
        return;
      }
      const extend = (known, more) => { known.length = told.first_point; known.push(...more); };
      extend(course.all, told.points.all);
      course.jobs.forEach((known, index) => extend(known, told.points.jobs[index]));
      hostCourse.rows.forEach((row, rank) => {
        row.length = Math.min(row.length, told.first_host_point);
        while (row.length < told.first_host_point) row.push(null);
        row.push(...told.host_points[rank]);
      });
      now = told;
      showNow();
    });
    events.addEventListener("end", (event) => {
      events.close();
      if (JSON.parse(event.data).has_reports) location.reload();
      else write(byId("news"), "The run has ended without a result.");
    });
    events.addEventListener("error", () => {
      n_attempts += 1;
      document.body.classList.add("lost");
      const is_given_up = n_attempts > MOST_ATTEMPTS;
      if (is_given_up) events.close();
      write(byId("news"), is_given_up ? "ferrio is gone: these are the last figures." : "The connection is lost: these are the last figures.");
      if (!is_given_up && events.readyState === EventSource.CLOSED) setTimeout(follow, 3000);
    });
  }

  byId("shown").addEventListener("change", (event) => show(Number(event.target.value)));
  new ResizeObserver(() => { CHARTS.forEach(draw); drawHeat(); }).observe(byId("charts"));
})();
