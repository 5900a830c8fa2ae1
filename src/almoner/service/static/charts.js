// Three charts over the arrivals, drawn by uPlot; the server has said the same in words and a table.

const plain = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const number = (value) => (Math.abs(value) >= 1000 ? whole : plain).format(value);
const drawn = new Map();

export function drawCharts(data) {
  for (const place of document.querySelectorAll("[data-chart]")) {
    draw(place, charts[place.dataset.chart](withHorizon(data)));
  }
}

// Lines to the horizon need a point there; what has not happened yet has none.
function withHorizon(data) {
  const end = data.arrivals.at(-1);
  if (data.total <= end) return data;
  const longer = (values) => [...values, null];
  return {
    ...data,
    arrivals: [...data.arrivals, data.total],
    spent: longer(data.spent),
    committed: longer(data.committed),
    reward: longer(data.reward),
    ratio: longer(data.ratio),
  };
}

const charts = {
  spend(data) {
    const line = data.arrivals.map((arrivals) => (data.budget * arrivals) / (data.total || 1));
    return {
      data: [data.arrivals, data.committed, data.spent, line],
      lines: [
        { kind: "committed", color: "--held", fill: 0.28 },
        { kind: "spent", color: "--spent", fill: 0.22, dot: true },
        { kind: "line", color: "--line", dash: [6, 4] },
      ],
      unit: "money",
      top: Math.max(data.budget, ...data.committed) * 1.06 || 1,
      marks: [],
    };
  },
  reward(data) {
    const promise = data.arrivals.map((arrivals) => data.promised * arrivals);
    return {
      data: [data.arrivals, data.reward, promise],
      lines: [
        { kind: "reward", color: "--reward", fill: 0.15, dot: true },
        { kind: "promise", color: "--line", dash: [6, 4] },
      ],
      unit: "sum of rewards",
      top: Math.max(...promise, ...data.reward) * 1.06 || 1,
      marks: [],
    };
  },
  ratio(data) {
    // Near the horizon few arrivals share what is left: the ratio leaps, and may leave the chart.
    const usual = Math.max(data.start, ...data.ratio.filter((_, place) => data.arrivals[place] <= 0.9 * data.total));
    const highest = Math.max(0, ...data.boundaries.filter((boundary) => boundary <= 3 * usual));
    return {
      data: [data.arrivals, data.ratio, data.arrivals.map(() => data.start)],
      lines: [
        { kind: "ratio", color: "--spent", dot: true },
        { kind: "start", color: "--line", dash: [6, 4] },
      ],
      unit: "money per arrival",
      top: Math.max(usual, highest) * 1.12 || 1,
      marks: data.boundaries,
    };
  },
};

function draw(place, chart) {
  const known = drawn.get(place);
  if (known) {
    known.chart = chart;
    known.plot.setData(chart.data);
    rest(known.plot, place, chart);
    return;
  }
  const entry = { chart, plot: null };
  drawn.set(place, entry);
  const build = () => {
    entry.plot?.destroy();
    entry.plot = new uPlot(options(place, entry), entry.chart.data, place);
    rest(entry.plot, place, entry.chart);
  };
  build();
  new ResizeObserver(() => entry.plot.setSize(size(place))).observe(place);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", build);
}

function size(place) {
  return { width: Math.max(place.clientWidth, 200), height: Math.max(place.clientHeight, 160) };
}

function options(place, entry) {
  const style = getComputedStyle(document.documentElement);
  const color = (name) => style.getPropertyValue(name).trim();
  const family = getComputedStyle(document.body).fontFamily;
  const axis = {
    stroke: color("--muted"),
    font: `12px ${family}`,
    labelFont: `12px ${family}`,
    labelSize: 20,
    labelGap: 2,
    grid: { stroke: color("--rule"), width: 1 },
    ticks: { show: false },
    values: (_, values) => values.map(number),
  };
  return {
    ...size(place),
    padding: [8, 14, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 8 } },
    scales: {
      x: { time: false, range: () => [0, entry.chart.data[0].at(-1) || 1] },
      y: { range: () => [0, entry.chart.top] },
    },
    axes: [
      { ...axis, label: "arrivals", space: 70, size: 30 },
      { ...axis, label: entry.chart.unit, space: 40, size: widest },
    ],
    series: [
      {},
      ...entry.chart.lines.map((line) => ({
        stroke: color(line.color),
        width: line.dash ? 1.5 : 2.25,
        dash: line.dash,
        fill: line.fill && `color-mix(in srgb, ${color(line.color)} ${line.fill * 100}%, transparent)`,
        points: { show: false },
      })),
    ],
    hooks: {
      setCursor: [(plot) => rest(plot, place, entry.chart)],
      draw: [
        (plot) => drawMarks(plot, entry.chart.marks, color("--boundary"), family),
        (plot) => drawNow(plot, entry.chart, color),
      ],
    },
  };
}

function widest(plot, values) {
  return 12 + 7 * Math.max(3, ...(values ?? []).map((value) => String(value).length));
}

// The legend tells the values under the cursor, or those of now.
function rest(plot, place, chart) {
  const under = plot.cursor.idx;
  chart.lines.forEach((line, index) => {
    const values = chart.data[index + 1];
    const known = values.findLastIndex((value) => value !== null);
    const at = line.dash ? Math.max(0, chart.data[1].findLastIndex((value) => value !== null)) : known;
    const value = values[under ?? at];
    const label = place.closest("figure").querySelector(`[data-value="${line.kind}"]`);
    if (label) label.textContent = value === null || value === undefined ? "–" : number(value);
  });
}

function drawMarks(plot, marks, color, family) {
  const { ctx, bbox } = plot;
  let lowest = Infinity;
  ctx.save();
  ctx.strokeStyle = ctx.fillStyle = color;
  ctx.lineWidth = 1.5 * uPlot.pxRatio;
  ctx.setLineDash([2 * uPlot.pxRatio, 3 * uPlot.pxRatio]);
  ctx.font = `${12 * uPlot.pxRatio}px ${family}`;
  ctx.textAlign = "right";
  for (const mark of marks) {
    if (mark > plot.scales.y.max) continue;
    const y = plot.valToPos(mark, "y", true);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    if (lowest - y < 15 * uPlot.pxRatio) continue;
    ctx.fillText(number(mark), bbox.left + bbox.width - 4 * uPlot.pxRatio, y - 4 * uPlot.pxRatio);
    lowest = y;
  }
  ctx.restore();
}

function drawNow(plot, chart, color) {
  const { ctx } = plot;
  chart.lines.forEach((line, index) => {
    const values = chart.data[index + 1];
    const at = values.findLastIndex((value) => value !== null);
    if (!line.dot || at < 0 || values[at] > plot.scales.y.max) return;
    ctx.beginPath();
    ctx.arc(plot.valToPos(chart.data[0][at], "x", true), plot.valToPos(values[at], "y", true), 4 * uPlot.pxRatio, 0, 7);
    ctx.fillStyle = color(line.color);
    ctx.fill();
  });
}
