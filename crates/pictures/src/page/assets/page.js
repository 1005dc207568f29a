"use strict";
(function () {
  const views = JSON.parse(document.getElementById("data").textContent);
  const place = document.getElementById("charts");
  const select = document.getElementById("view");

  // Blue, vermilion and green, that nearly everybody can tell apart: read, write and trim, in four shades each.
  const LIGHT = ["#0072b2", "#3d96cb", "#7a5195", "#003f5c", "#c44e00", "#e08a3c", "#a3123a", "#6b2b00",
    "#00785a", "#2ea583", "#5a7d00", "#00402f"];
  const DARK = ["#6cb8ea", "#3d96cb", "#c79be8", "#c8e6fa", "#ff9a57", "#d97f35", "#ff86a4", "#ffd9bd",
    "#4fd0a8", "#2ea583", "#b3d651", "#c2f5e3"];
  const DASHES = [[], [6, 3], [2, 3], [1, 5]];
  const root = document.documentElement;
  let dark = matchMedia("(prefers-color-scheme: dark)").matches;
  let printing = false;
  let shown = [];

  const isDark = () => dark && !printing;
  const colour = (number) => (isDark() ? DARK : LIGHT)[number % LIGHT.length];
  const faint = (text, alpha) => text + Math.round(alpha * 255).toString(16).padStart(2, "0");
  const style = (name) => getComputedStyle(root).getPropertyValue(name).trim();

  // Three significant digits without an exponent.
  function digits(value) {
    if (value === 0) return "0";
    const text = Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3)));
    return text;
  }
  function scaled(value, steps, unit) {
    const size = Math.abs(value);
    for (const [factor, name] of steps) if (size >= factor) return digits(value / factor) + " " + name + unit;
    return digits(value) + (unit ? " " + unit : "");
  }
  const TEXT = {
    seconds: (value) => digits(value) + " s",
    ios_per_second: (value) => scaled(value, [[1e6, "M"], [1e3, "k"]], "").trim(),
    bytes_per_second: (value) => scaled(value, [[1e9, "G"], [1e6, "M"], [1e3, "k"]], "B/s"),
    nanoseconds: (value) => value >= 1e9 ? digits(value / 1e9) + " s" : value >= 1e6 ? digits(value / 1e6) + " ms"
      : value >= 1e3 ? digits(value / 1e3) + " us" : digits(value) + " ns",
    percent: (value) => digits(value) + " %",
    count: digits,
  };

  function element(name, attributes, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
    for (const child of children) made.append(child);
    return made;
  }

  function axes(chart) {
    const common = { stroke: style("--text"), grid: { stroke: style("--line"), width: 1 }, ticks: { stroke: style("--line") } };
    const axis = (of, extra) => Object.assign({ values: (_, splits) => splits.map((split) => split == null ? "" : TEXT[of.unit](split)) },
      common, extra);
    return [axis(chart.x, { space: 70 }), axis(chart.y, { size: 76, space: 28 })];
  }

  function options(chart, width, more) {
    const scale = (axis) => axis.is_log ? { time: false, distr: 3 } : { time: false };
    return Object.assign({
      width, height: 280, legend: { show: false }, axes: axes(chart),
      scales: { x: scale(chart.x), y: scale(chart.y) },
      cursor: { drag: { x: true, y: false }, points: { size: 6 } },
    }, more);
  }

  // Lines on one list of x values; a band is two further series.
  function lines(chart, figure) {
    const all = chart.content.lines;
    const tables = all.map((line) => line.low.length ? [line.x, line.y, line.low, line.high] : [line.x, line.y]);
    const data = uPlot.join(tables);
    const series = [{ label: chart.x.label }];
    const bands = [];
    const members = [];
    const positive = (value) => chart.y.is_log && value <= 0 ? null : value;
    for (const line of all) {
      const first = series.length;
      const path = line.is_stepped ? uPlot.paths.stepped({ align: 1 }) : undefined;
      const common = { paths: path, spanGaps: true };
      const few = line.x.length < 30;
      series.push({ ...common, label: line.name, stroke: colour(line.colour), width: 1.5, dash: DASHES[line.colour % 4], points: { show: few } });
      if (line.low.length) {
        const edge = { ...common, stroke: "transparent", width: 0, points: { show: false } };
        series.push({ ...edge, label: line.name + " lowest" }, { ...edge, label: line.name + " highest" });
        bands.push({ series: [first + 2, first + 1], fill: faint(colour(line.colour), 0.25) });
      }
      members.push([first, series.length]);
    }
    const cells = data.map((column, index) => index === 0 ? column : column.map((value) => value == null ? value : positive(value)));
    const scales = options(chart, 1).scales;
    if (!chart.y.is_log) scales.y.range = (_, low, high) => [0, high > 0 ? high * 1.05 : 1];
    if (chart.y.unit === "percent" && chart.id === "cumulative") scales.y.range = () => [0, 100];
    const plot = new uPlot(options(chart, figure.width(), { series, bands, scales, hooks: { setCursor: [(plot) => read(plot)] } }), cells, figure.plot);
    function read(plot) {
      const index = plot.cursor.idx;
      if (index == null) return figure.say("");
      const near = (number) => {
        const column = plot.data[number];
        for (let distance = 0; distance < 200; distance++) {
          if (column[index - distance] != null) return column[index - distance];
          if (column[index + distance] != null) return column[index + distance];
        }
        return null;
      };
      const texts = members.filter(([first]) => plot.series[first].show).map(([first]) => {
        const value = near(first);
        return plot.series[first].label + " " + (value == null ? "-" : TEXT[chart.y.unit](value));
      });
      figure.say(TEXT[chart.x.unit](plot.data[0][index]) + ": " + texts.join(", "));
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
    figure.table(() => {
      const rows = [[chart.x.label, ...all.map((line) => line.name)]];
      const step = Math.max(1, Math.ceil(data[0].length / 200));
      for (let index = 0; index < data[0].length; index += step) {
        rows.push([TEXT[chart.x.unit](data[0][index]), ...members.map(([first]) => {
          const value = data[first][index];
          return value == null ? "-" : TEXT[chart.y.unit](value);
        })]);
      }
      return rows;
    });
    return plot;
  }

  function heat(chart, figure) {
    const map = chart.content.heat;
    const most = map.cells.reduce((most, cell) => Math.max(most, cell[2]), 1);
    const at = new Map(map.cells.map(([column, row, count]) => [column * 4096 + row, count]));
    const end = map.start + map.width * map.n_columns;
    const low = map.edges[0], high = map.edges[map.edges.length - 1];
    const ramp = isDark() ? ["#243b53", "#ffe08a"] : ["#d6e6f4", "#08306b"];
    const mix = (share) => {
      const part = (text, index) => parseInt(text.slice(1 + 2 * index, 3 + 2 * index), 16);
      const channel = (index) => Math.round(part(ramp[0], index) + (part(ramp[1], index) - part(ramp[0], index)) * share);
      return "rgb(" + [0, 1, 2].map(channel).join(",") + ")";
    };
    function draw(plot) {
      const { ctx, bbox } = plot;
      ctx.save();
      ctx.beginPath();
      ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
      ctx.clip();
      for (const [column, row, count] of map.cells) {
        const left = plot.valToPos(map.start + column * map.width, "x", true);
        const right = plot.valToPos(map.start + (column + 1) * map.width, "x", true);
        const top = plot.valToPos(map.edges[row + 1], "y", true), bottom = plot.valToPos(map.edges[row], "y", true);
        ctx.fillStyle = mix(Math.log(count + 1) / Math.log(most + 1));
        ctx.fillRect(left, top, Math.max(right - left, 1) + 0.5, Math.max(bottom - top, 1) + 0.5);
      }
      ctx.restore();
    }
    const scales = { x: { time: false }, y: { time: false, distr: 3, range: () => [low, high] } };
    const hooks = { draw: [draw], setCursor: [(plot) => {
      const { left, top } = plot.cursor;
      if (left == null || left < 0 || top < 0) return figure.say("");
      const x = plot.posToVal(left, "x"), y = plot.posToVal(top, "y");
      const column = Math.floor((x - map.start) / map.width), row = map.edges.findIndex((edge) => edge > y) - 1;
      if (row < 0 || column < 0) return figure.say("");
      const count = at.get(column * 4096 + row) || 0;
      figure.say(TEXT.seconds(map.start + column * map.width) + ": " + digits(count) + " " + map.counted + " of "
        + TEXT.nanoseconds(map.edges[row]) + " to " + TEXT.nanoseconds(map.edges[row + 1]));
    }] };
    const xs = Array.from({ length: map.n_columns + 1 }, (_, index) => map.start + index * map.width);
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
    const made = options(chart, figure.width(), { series, scales, hooks });
    made.axes[1].splits = splits;
    const plot = new uPlot(made, [xs, xs.map(() => null)], figure.plot);
    figure.legend.append(element("span", { class: "chart-note" }, "1 "),
      element("span", { class: "swatch", style: "width:8rem;height:.8rem;background:linear-gradient(to right," + ramp.join(",") + ")" }),
      element("span", { class: "chart-note" }, digits(most) + " " + map.counted + " (logarithmic)"));
    figure.table(() => {
      const rows = [["time", "latency from", "latency to", map.counted]];
      for (const [column, row, count] of map.cells.slice(0, 500)) {
        rows.push([TEXT.seconds(map.start + column * map.width), TEXT.nanoseconds(map.edges[row]), TEXT.nanoseconds(map.edges[row + 1]), digits(count)]);
      }
      return rows;
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
      plot.setCursor({ left, top: plot.over.clientHeight / 2 });
    });
  }

  function show(chart) {
    const legend = element("div", { class: "legend" });
    const plotPlace = element("div", { class: "plot" });
    const readout = element("p", { class: "readout", "aria-live": "polite" });
    const values = element("details", { class: "chart-values" }, element("summary", {}, "Values of " + chart.title));
    const made = element("figure", { id: "chart-" + chart.id }, element("figcaption", {}, chart.title));
    if (chart.note) made.append(element("p", { class: "chart-note" }, chart.note));
    made.append(legend, plotPlace, readout);
    place.append(made);
    const figure = {
      title: chart.title, legend, plot: plotPlace,
      width: () => Math.max(240, plotPlace.clientWidth),
      say: (text) => { readout.textContent = text; },
      table: (rows) => {
        made.append(values);
        values.addEventListener("toggle", () => {
          if (!values.open || values.querySelector("table")) return;
          const [head, ...body] = rows();
          const table = element("table", { tabindex: "0" }, element("thead", {}, element("tr", {}, ...head.map((text) => element("th", { scope: "col" }, text)))));
          const filled = element("tbody");
          for (const row of body) filled.append(element("tr", {}, ...row.map((text) => element("td", {}, text))));
          table.append(filled);
          values.append(table);
        });
      },
    };
    const kind = Object.keys(chart.content)[0];
    const plot = { lines, heat, bars }[kind](chart, figure);
    if (plot) {
      keys(figure, plot);
      shown.push({ plot, figure });
    }
  }

  function draw() {
    root.classList.toggle("dark", isDark());
    if (!place) return;
    for (const { plot } of shown) plot.destroy();
    shown = [];
    place.textContent = "";
    for (const chart of views[Number(select.value) || 0] || []) show(chart);
  }
  if (select) select.addEventListener("change", draw);
  document.getElementById("theme").addEventListener("click", () => { dark = !dark; draw(); });
  addEventListener("beforeprint", () => { printing = true; draw(); });
  addEventListener("afterprint", () => { printing = false; draw(); });
  let waiting = 0;
  addEventListener("resize", () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(() => { for (const { plot, figure } of shown) plot.setSize({ width: figure.width(), height: 280 }); });
  });
  window.ferrioPage = { get plots() { return shown.map(({ plot }) => plot); } };
  draw();
})();
