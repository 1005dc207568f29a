"use strict";
(function () {
  const views = JSON.parse(document.getElementById("data").textContent);
  const place = document.getElementById("charts");
  const select = document.getElementById("view");

  // Blue, vermilion, green and grey, that nearly everybody can tell apart: read, write, trim and sync, in four shades each.
  const LIGHT = ["#0072b2", "#3d96cb", "#7a5195", "#003f5c", "#c44e00", "#e08a3c", "#a3123a", "#6b2b00",
    "#00785a", "#2ea583", "#5a7d00", "#00402f", "#5f6368", "#8a8f94", "#8a6400", "#2b2d30"];
  const DARK = ["#6cb8ea", "#3d96cb", "#c79be8", "#c8e6fa", "#ff9a57", "#d97f35", "#ff86a4", "#ffd9bd",
    "#4fd0a8", "#2ea583", "#b3d651", "#c2f5e3", "#c4c9ce", "#9aa0a6", "#f0c060", "#ffffff"];
  const DASHES = [[], [6, 3], [2, 3], [1, 5]];
  const root = document.documentElement;
  let dark = matchMedia("(prefers-color-scheme: dark)").matches;
  let printing = false;
  let shown = [];

  const isDark = () => dark && !printing;
  const colour = (number) => (isDark() ? DARK : LIGHT)[number % LIGHT.length];
  const faint = (text, alpha) => text + Math.round(alpha * 255).toString(16).padStart(2, "0");
  const style = (name) => getComputedStyle(root).getPropertyValue(name).trim();

  // Significant digits without an exponent.
  function digits(value, n_digits) {
    if (value === 0) return "0";
    const wanted = n_digits || 3;
    const n_decimals = Math.max(0, wanted - 1 - Math.floor(Math.log10(Math.abs(value))));
    if (Math.abs(value) >= 1000) return value.toLocaleString("en", { maximumFractionDigits: wanted > 3 ? n_decimals : 0 });
    return String(Number(value.toPrecision(wanted)));
  }
  function scaled(value, steps, unit, n_digits) {
    const size = Math.abs(value);
    for (const [factor, name] of steps) if (size >= factor) return digits(value / factor, n_digits) + " " + name + unit;
    return digits(value, n_digits) + (unit ? " " + unit : "");
  }
  const TEXT = {
    seconds: (value, n) => digits(value, n) + " s",
    ios_per_second: (value, n) => scaled(value, [[1e6, "M"], [1e3, "k"]], "", n).trim(),
    bytes_per_second: (value, n) => scaled(value, [[1e9, "G"], [1e6, "M"], [1e3, "k"]], "B/s", n),
    nanoseconds: (value, n) => value >= 1e9 ? digits(value / 1e9, n) + " s" : value >= 1e6 ? digits(value / 1e6, n) + " ms"
      : value >= 1e3 ? digits(value / 1e3, n) + " us" : digits(value, n) + " ns",
    percent: (value, n) => digits(value, n) + " %",
    count: digits,
  };
  // A time as it is read out: to the millisecond, or as a clock's.
  const moment = (seconds) => seconds >= 600 ? clock(seconds, 1) : digits(seconds, seconds >= 100 ? 6 : 4) + " s";
  const place_text = (unit, value) => unit === "seconds" ? moment(value) : TEXT[unit](value);

  function element(name, attributes, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
    for (const child of children) made.append(child);
    return made;
  }

  // Times of long runs are hours and minutes.
  function clock(seconds, step) {
    const whole = Math.round(seconds);
    const two = (number) => String(number).padStart(2, "0");
    const text = Math.floor(whole / 3600) + ":" + two(Math.floor(whole / 60) % 60);
    return step < 60 ? text + ":" + two(whole % 60) : text;
  }
  // The labels of an axis: so many digits that each differs from its neighbour.
  function labels(unit, splits) {
    const known = splits.filter((split) => split != null);
    const most = Math.max(...known.map(Math.abs));
    const step = known.length > 1 ? known[1] - known[0] : most;
    if (unit === "seconds" && most >= 600 && step >= 1) return splits.map((split) => split == null ? "" : clock(split, step));
    for (let n_digits = 3; n_digits < 12; n_digits++) {
      const texts = splits.map((split) => split == null ? "" : TEXT[unit](split, n_digits));
      const told = texts.filter((text) => text !== "");
      if (new Set(told).size === told.length) return texts;
    }
    return splits.map((split) => split == null ? "" : TEXT[unit](split, 12));
  }

  function axes(chart) {
    const common = { stroke: style("--text"), grid: { stroke: style("--line"), width: 1 }, ticks: { stroke: style("--line") } };
    // Times are marked at whole seconds, minutes and hours: a label that leaves the seconds out is exact.
    const small = [-6, -5, -4, -3, -2, -1].flatMap((power) => [1, 2, 5].map((step) => Number(step + "e" + power)));
    const days = [1, 2, 5, 10, 20, 50, 100, 200, 500].map((number) => 86400 * number);
    const incrs = [...small, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, ...days];
    const axis = (of, extra) => Object.assign({ values: (_, splits) => labels(of.unit, splits) }, of.unit === "seconds" ? { incrs } : {}, common, extra);
    return [axis(chart.x, { space: 70 }), axis(chart.y, { size: 76, space: 28 })];
  }

  // Dark is much, but on dark paper light is.
  const ramp = () => isDark() ? ["#243b53", "#ffe08a"] : ["#d6e6f4", "#08306b"];
  function mix(share) {
    const [low, high] = ramp();
    const part = (text, index) => parseInt(text.slice(1 + 2 * index, 3 + 2 * index), 16);
    const channel = (index) => Math.round(part(low, index) + (part(high, index) - part(low, index)) * share);
    return "rgb(" + [0, 1, 2].map(channel).join(",") + ")";
  }

  function options(chart, width, more) {
    const scale = (axis) => axis.is_log ? { time: false, distr: 3 } : { time: false };
    return Object.assign({
      width, height: 280, legend: { show: false }, axes: axes(chart),
      scales: { x: scale(chart.x), y: scale(chart.y) },
      cursor: { drag: { x: true, y: false }, points: { size: 6 }, sync: { key: chart.x.unit, scales: ["x", null] } },
    }, more);
  }

  // Shares near 100 % have room: 90, 99 and 99.9 % have equal distances.
  const MOST_NINES = 7;
  const nines = (percent) => Math.min(MOST_NINES, -Math.log10(Math.max(1e-9, 1 - percent / 100)));
  const of_nines = (height) => 100 * (1 - 10 ** -height);

  // The values of a line with a hole at each break, which is no value at all.
  function with_holes(line) {
    const tables = line.low.length ? [line.x, line.y, line.low, line.high] : [line.x, line.y];
    if (!line.breaks.length) return tables;
    const holes = new Set(line.breaks);
    return tables.map((values, column) => values.flatMap((value, index) => {
      if (!holes.has(index)) return [value];
      return [column === 0 ? (values[index - 1] + value) / 2 : null, value];
    }));
  }

  // What a line has at a place: of the interval around it, or of the step that holds there; nothing elsewhere.
  function measured(line, x, slack) {
    const after = line.x.findIndex((value) => value > x);
    const end = after < 0 ? line.x.length : after;
    if (line.is_stepped) return end > 0 && after >= 0 || x === line.x[line.x.length - 1] ? line.y[end - 1] : null;
    let best = null;
    for (const index of [end - 1, end]) {
      if (index < 0 || index >= line.x.length) continue;
      const width = line.widths.length ? line.widths[Math.min(index, line.widths.length - 1)] : 0;
      const distance = Math.abs(line.x[index] - x);
      if (distance <= Math.max(width / 2 * 1.01, slack) && (best == null || distance < best.distance)) {
        best = { distance, value: line.y[index] };
      }
    }
    return best && best.value;
  }

  // Start and end of the times of all charts, so that all show the same.
  function reach() {
    const ends = [Infinity, -Infinity];
    for (const chart of views[Number(select && select.value) || 0] || []) {
      if (chart.x.unit !== "seconds") continue;
      const take = (value) => { ends[0] = Math.min(ends[0], value); ends[1] = Math.max(ends[1], value); };
      for (const line of chart.content.lines || []) {
        line.x.forEach((value, index) => {
          const half = (line.widths.length ? line.widths[Math.min(index, line.widths.length - 1)] : 0) / 2;
          take(value - half); take(value + half);
        });
      }
      for (const [left, right] of (chart.content.heat || { columns: [] }).columns) { take(left); take(right); }
    }
    return ends[0] < ends[1] ? ends : null;
  }

  // Lines on one list of x values; a band is two further series.
  function lines(chart, figure) {
    const all = chart.content.lines;
    const tables = all.map(with_holes);
    const ends = chart.x.unit === "seconds" ? reach() : null;
    if (ends) tables.push([ends, [null, null]]);
    // 2: a hole reaches over the x values of other lines, so that nothing is drawn from either side into it.
    const data = uPlot.join(tables, tables.map((table) => table.map(() => 2)));
    if (ends) data.pop();
    const series = [{ label: chart.x.label }];
    const bands = [];
    const members = [];
    const is_tail = chart.id === "cumulative";
    const positive = (value) => chart.y.is_log && value <= 0 ? null : is_tail ? nines(value) : value;
    for (const line of all) {
      const first = series.length;
      const path = line.is_stepped ? uPlot.paths.stepped({ align: 1 }) : undefined;
      const common = { paths: path, spanGaps: false };
      const few = line.x.length < 30 || line.breaks.length * 4 > line.x.length;
      series.push({ ...common, label: line.name, stroke: colour(line.colour), width: 1.5, dash: DASHES[line.colour % 4], points: { show: few } });
      if (line.low.length) {
        const edge = { ...common, points: { show: false } };
        // A single high value is as wide as a pixel: the edge shows it, where the pale band would hide it.
        series.push({ ...edge, label: line.name + " lowest", stroke: "transparent", width: 0 },
          { ...edge, label: line.name + " highest", stroke: faint(colour(line.colour), 0.6), width: 0.75 });
        bands.push({ series: [first + 2, first + 1], fill: faint(colour(line.colour), 0.25) });
      }
      members.push([first, series.length]);
    }
    const cells = data.map((column, index) => index === 0 ? column : column.map((value) => value == null ? value : positive(value)));
    const made = options(chart, 1);
    if (!chart.y.is_log) made.scales.y.range = (_, low, high) => [0, high > 0 ? high * 1.05 : 1];
    if (is_tail) {
      const top = Math.min(MOST_NINES, Math.max(2, ...all.flatMap((line) => line.y).filter((share) => share < 100).map(nines)) + 0.5);
      made.scales.y.range = () => [0, top];
      made.axes[1].splits = () => [0, nines(50), 1, 2, 3, 4, 5, 6].filter((height) => height <= top);
      made.axes[1].values = (_, splits) => splits.map((split) => Number(of_nines(split).toPrecision(8)) + " %");
    }
    const plot = new uPlot(options(chart, figure.width(), { series, bands, scales: made.scales, axes: made.axes,
      hooks: { setCursor: [(plot) => read(plot)], setScale: [follow] } }), cells, figure.plot);
    function read(plot) {
      const { left } = plot.cursor;
      if (left == null || left < 0) return figure.say("");
      const x = plot.posToVal(left, "x"), slack = Math.abs(plot.posToVal(left + 2, "x") - x);
      const texts = all.map((line, number) => [line, members[number][0]]).filter(([, first]) => plot.series[first].show)
        .map(([line]) => [line.name, measured(line, x, slack)]).filter(([, value]) => value != null)
        .map(([name, value]) => name + " " + TEXT[chart.y.unit](value, is_tail ? 6 : 3));
      figure.say(place_text(chart.x.unit, x) + ": " + (texts.length ? texts.join(", ") : "nothing was measured"));
    }
    all.forEach((line, number) => {
      const swatch = element("span", { class: "swatch", style: "background:" + colour(line.colour) });
      const button = element("button", { type: "button", "aria-pressed": "true" }, swatch, line.name);
      button.addEventListener("click", () => {
        const show = button.getAttribute("aria-pressed") !== "true";
        button.setAttribute("aria-pressed", String(show));
        const [first, end] = members[number];
        for (let index = first; index < end; index++) plot.setSeries(index, { show });
      });
      figure.legend.append(button);
    });
    // All points: those of a line with a band have its edges too.
    figure.table(() => {
      const columns = all.flatMap((line, number) => {
        const first = members[number][0];
        return line.low.length ? [[line.name, first], [line.name + " lowest", first + 1], [line.name + " highest", first + 2]] : [[line.name, first]];
      });
      const rows = [[chart.x.label, ...columns.map(([name]) => name)]];
      for (let index = 0; index < data[0].length; index++) {
        if (columns.every(([, column]) => data[column][index] == null)) continue;
        rows.push([place_text(chart.x.unit, data[0][index]), ...columns.map(([, column]) => {
          const value = data[column][index];
          return value == null ? "-" : TEXT[chart.y.unit](value, 5);
        })]);
      }
      return { rows, note: "" };
    });
    return plot;
  }

  // A zoom of one chart is that of all charts with the same axis.
  let following = false;
  function follow(plot, key) {
    if (key !== "x" || following) return;
    const self = shown.find((one) => one.plot === plot);
    if (!self) return;
    following = true;
    const { min, max } = plot.scales.x;
    for (const other of shown) {
      if (other === self || other.unit !== self.unit) continue;
      const scale = other.plot.scales.x;
      if (scale.min !== min || scale.max !== max) other.plot.setScale("x", { min, max });
    }
    following = false;
  }

  const MOST_CELLS = 5000;
  const MOST_NAMES = 64, MOST_LETTERS = 24;
  // Columns whose highest value is this much above the lowest (as a logarithm) have all shades.
  const PALE = Math.log(1.5);
  // Room for each row, and for its name where all have one.
  const rows_height = (n_rows) => Math.max(120, 60 + n_rows * (n_rows <= MOST_NAMES ? 16 : 4));
  function heat(chart, figure) {
    const map = chart.content.heat;
    const named = map.rows.length > 0;
    figure.note("The " + (isDark() ? "lighter" : "darker") + " a cell, the " + map.meaning + ".");
    const most = map.cells.reduce((most, cell) => Math.max(most, cell[2]), 1);
    const at = new Map(map.cells.map(([column, row, count]) => [column * 4096 + row, count]));
    const low = map.edges[0], high = map.edges[map.edges.length - 1];
    const share = (value) => map.is_log ? Math.log(value + 1) / Math.log(most + 1) : value / most;
    const row_text = (row) => named ? map.rows[row] : TEXT.nanoseconds(map.edges[row]) + " to " + TEXT.nanoseconds(map.edges[row + 1]);
    function draw(plot) {
      const { ctx, bbox } = plot;
      ctx.save();
      ctx.beginPath();
      ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
      ctx.clip();
      for (const [column, row, count] of map.cells) {
        const left = plot.valToPos(map.columns[column][0], "x", true), right = plot.valToPos(map.columns[column][1], "x", true);
        const top = plot.valToPos(map.edges[row + 1], "y", true), bottom = plot.valToPos(map.edges[row], "y", true);
        ctx.fillStyle = mix(share(count));
        // Rows with names stay apart.
        const height = Math.max(bottom - top, 1);
        ctx.fillRect(left, top, Math.max(right - left, 1) + 0.5, named && height > 4 ? height - 1 : height + 0.5);
      }
      ctx.restore();
    }
    const scales = { x: { time: false }, y: { time: false, distr: named ? 1 : 3, range: () => [low, high] } };
    const hooks = { draw: [draw], setScale: [follow], setCursor: [(plot) => {
      const { left, top } = plot.cursor;
      if (left == null || left < 0 || top < 0) return figure.say("");
      const x = plot.posToVal(left, "x"), y = plot.posToVal(top, "y");
      const column = map.columns.findIndex(([from, to]) => from <= x && x < to), row = map.edges.findIndex((edge) => edge > y) - 1;
      if (column < 0) return figure.say(moment(x) + ": nothing was measured");
      if (row < 0) return figure.say("");
      const count = at.get(column * 4096 + row);
      const when = moment(map.columns[column][0]) + " to " + moment(map.columns[column][1]) + ": ";
      if (named) figure.say(when + row_text(row) + ": " + (count == null ? "nothing was measured" : digits(count) + " " + map.counted));
      else figure.say(when + digits(count || 0) + " " + map.counted + " of " + row_text(row));
    }] };
    const ends = reach() || [0, 1];
    const xs = Array.from(new Set([...ends, ...map.columns.flat()])).sort((one, other) => one - other);
    const series = [{}, { show: true, stroke: "transparent", points: { show: false } }];
    // Round latencies: 1, 2 and 5 of each power of ten, or the powers alone.
    const splits = (_, __, from, to) => {
      const all = [];
      const steps = to / from > 1e3 ? [1] : [1, 2, 5];
      for (let power = 10 ** Math.floor(Math.log10(from)); power <= to; power *= 10) {
        for (const step of steps) if (step * power >= from && step * power <= to) all.push(step * power);
      }
      return all;
    };
    const made = options(chart, figure.width(), Object.assign({ series, scales, hooks }, named ? { height: rows_height(map.rows.length) } : {}));
    made.axes[1].splits = splits;
    if (named) {
      // A name in the middle of its row, where there is room for all of them.
      const every = Math.ceil(map.rows.length / MOST_NAMES);
      const short = (name) => name.length > MOST_LETTERS ? name.slice(0, MOST_LETTERS / 2) + "\u2026" + name.slice(-MOST_LETTERS / 2) : name;
      const last = map.rows.length - 1;
      const places = map.rows.map((_, row) => row + 0.5).filter((_, row) => (last - row) % every === 0);
      const letters = map.rows.reduce((most, name) => Math.max(most, short(name).length), 0);
      Object.assign(made.axes[1], { splits: () => places, filter: (_, all) => all, space: 1, size: Math.max(50, 8 * letters + 20),
        grid: { show: false }, ticks: { show: false }, values: (_, all) => all.map((place) => short(map.rows[Math.floor(place)])) });
    }
    const plot = new uPlot(made, [xs, xs.map(() => null)], figure.plot);
    figure.legend.append(element("span", { class: "chart-note" }, map.is_log ? "1 " : "0 "),
      element("span", { class: "swatch", style: "width:8rem;height:.8rem;background:linear-gradient(to right," + ramp().join(",") + ")" }),
      element("span", { class: "chart-note" }, digits(most) + " " + map.counted + (map.is_log ? " (logarithmic)" : "")));
    figure.table(() => {
      const rows = [["from", "to", ...(named ? [chart.y.label] : ["latency from", "latency to"]), map.counted]];
      for (const [column, row, count] of map.cells.slice(0, MOST_CELLS)) {
        const place = named ? [map.rows[row]] : [TEXT.nanoseconds(map.edges[row]), TEXT.nanoseconds(map.edges[row + 1])];
        rows.push([moment(map.columns[column][0]), moment(map.columns[column][1]), ...place, digits(count, 15)]);
      }
      const left = map.cells.length - MOST_CELLS;
      return { rows, note: left > 0 ? "The first " + digits(MOST_CELLS) + " of " + digits(map.cells.length) + " cells, in the order of time." : "" };
    });
    return plot;
  }

  // Bars are a table: everybody can read them, and they print.
  function bars(chart, figure) {
    const { classes, groups } = chart.content.bars;
    const head = element("tr", {}, element("th", { scope: "col" }, chart.x.label));
    for (const [name] of groups) head.append(element("th", { scope: "col" }, name));
    const body = element("tbody");
    classes.forEach((name, index) => {
      const row = element("tr", {}, element("th", { scope: "row" }, name));
      groups.forEach(([, values], group) => {
        const bar = element("span", { class: "bar", style: "width:" + Math.max(0, values[index]) / 100 * 8 + "rem;background:" + colour(group * 4) });
        row.append(element("td", { style: "text-align:left" }, bar, TEXT[chart.y.unit](values[index])));
      });
      body.append(row);
    });
    figure.plot.append(element("div", { class: "scrolls", tabindex: "0", role: "region", "aria-label": chart.title },
      element("table", {}, element("thead", {}, head), body)));
    return null;
  }

  // Figures of hosts side by side: a table, shaded within each column.
  function shades(chart, figure) {
    const { columns, rows } = chart.content.shades;
    const head = element("tr", {}, element("th", { scope: "col" }, chart.x.label), ...columns.map((name) => element("th", { scope: "col" }, name)));
    const body = element("tbody");
    // The first row is of all; a small difference stays pale.
    const reach = columns.map((_, column) => {
      const known = rows.slice(1).map(([, values]) => values[column]).filter((value) => value != null);
      const low = Math.min(...known), high = Math.max(...known);
      return [low, Math.log(Math.max(high / Math.max(low, 1), 1))];
    });
    rows.forEach(([name, values], index) => {
      const row = element("tr", index === 0 ? { class: "total" } : {}, element("th", { scope: "row" }, name));
      values.forEach((value, column) => {
        const cell = element("td", {}, value == null ? "-" : TEXT[chart.y.unit](value));
        if (index > 0 && value != null) {
          const [low, span] = reach[column];
          const share = Math.log(Math.max(value / Math.max(low, 1), 1)) / Math.max(span, PALE);
          cell.style.background = mix(share);
          cell.style.color = (share > 0.5) === isDark() ? "#000" : "#fff";
        }
        row.append(cell);
      });
      body.append(row);
    });
    figure.plot.append(element("div", { class: "scrolls shades", tabindex: "0", role: "region", "aria-label": chart.title },
      element("table", {}, element("thead", {}, head), body)));
    return null;
  }

  // A chart by keyboard: arrows move the cursor, + and - zoom around it, 0 shows all.
  function keys(figure, plot) {
    figure.plot.tabIndex = 0;
    figure.plot.setAttribute("role", "application");
    figure.plot.setAttribute("aria-roledescription", "chart");
    figure.plot.setAttribute("aria-label", figure.title + ". Arrows move along the chart, plus and minus zoom, 0 shows all.");
    const full = [plot.data[0][0], plot.data[0][plot.data[0].length - 1]];
    let x = null;
    figure.plot.addEventListener("keydown", (event) => {
      const { min, max } = plot.scales.x;
      const width = plot.over.clientWidth;
      let left = plot.cursor.left >= 0 && plot.cursor.left != null ? plot.cursor.left : width / 2;
      const zoom = (factor) => {
        const middle = x == null ? plot.posToVal(left, "x") : x;
        const span = (max - min) * factor;
        const from = Math.max(full[0], middle - span / 2);
        plot.setScale("x", { min: from, max: Math.min(full[1], from + span) });
      };
      if (event.key === "ArrowLeft") left = Math.max(0, left - width / 50);
      else if (event.key === "ArrowRight") left = Math.min(width - 1, left + width / 50);
      else if (event.key === "Home") left = 0;
      else if (event.key === "End") left = width - 1;
      else if (event.key === "+" || event.key === "=") zoom(0.5);
      else if (event.key === "-") zoom(2);
      else if (event.key === "0" || event.key === "Escape") plot.setScale("x", { min: full[0], max: full[1] });
      else return;
      event.preventDefault();
      x = plot.posToVal(left, "x");
      // The pointers of the other charts follow.
      plot.setCursor({ left, top: plot.over.clientHeight / 2 }, true, true);
    });
  }

  function show(chart) {
    const legend = element("div", { class: "legend" });
    const plotPlace = element("div", { class: "plot" });
    const readout = element("p", { class: "readout", "aria-live": "polite" });
    const values = element("details", { class: "chart-values" }, element("summary", {}, "Values of " + chart.title));
    const made = element("figure", { id: "chart-" + chart.id }, element("figcaption", {}, chart.title));
    const note = element("p", { class: "chart-note" }, chart.note);
    made.append(note, legend, plotPlace, readout);
    // Hosts side by side have the whole width.
    made.classList.toggle("wide", Boolean(chart.content.shades || chart.content.heat && chart.content.heat.rows.length));
    place.append(made);
    const figure = {
      title: chart.title, legend, plot: plotPlace,
      width: () => Math.max(240, plotPlace.clientWidth),
      say: (text) => { readout.textContent = text; },
      note: (text) => { note.textContent = text; },
      table: (rows) => {
        made.append(values);
        values.addEventListener("toggle", () => {
          if (!values.open || values.querySelector("table")) return;
          const { rows: [head, ...body], note } = rows();
          if (note) values.append(element("p", { class: "chart-note" }, note));
          const table = element("table", { tabindex: "0" }, element("thead", {}, element("tr", {}, ...head.map((text) => element("th", { scope: "col" }, text)))));
          const filled = element("tbody");
          for (const row of body) filled.append(element("tr", {}, ...row.map((text) => element("td", {}, text))));
          table.append(filled);
          values.append(table);
        });
      },
    };
    const kind = Object.keys(chart.content)[0];
    const plot = { lines, heat, bars, shades }[kind](chart, figure);
    if (plot) {
      keys(figure, plot);
      shown.push({ plot, figure, unit: chart.x.unit });
    }
  }

  function draw() {
    root.classList.toggle("dark", isDark());
    if (!place) return;
    for (const { plot } of shown) plot.destroy();
    shown = [];
    place.textContent = "";
    for (const chart of views[Number(select.value) || 0] || []) show(chart);
    fit();
  }
  // A chart that was drawn alone in its row becomes narrower with the next one.
  function fit() {
    for (const { plot, figure } of shown) if (plot.width !== figure.width()) plot.setSize({ width: figure.width(), height: plot.height });
  }
  // Clones are one row that opens. Without this script they are all there.
  for (const button of document.querySelectorAll("button.opens")) {
    const rows = document.getElementById(button.getAttribute("aria-controls"));
    const open = (isOpen) => { rows.hidden = !isOpen; button.setAttribute("aria-expanded", String(isOpen)); };
    open(false);
    button.addEventListener("click", () => open(rows.hidden));
  }
  if (select) select.addEventListener("change", draw);
  document.getElementById("theme").addEventListener("click", () => { dark = !dark; draw(); });
  addEventListener("beforeprint", () => { printing = true; draw(); });
  addEventListener("afterprint", () => { printing = false; draw(); });
  let waiting = 0;
  addEventListener("resize", () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(fit);
  });
  window.ferrioPage = { get plots() { return shown.map(({ plot }) => plot); } };
  draw();
})();
