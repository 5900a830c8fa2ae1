// Three charts over the arrivals, drawn by uPlot; the server has said the same in words and a table.

const plain = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const number = (value) => (Math.abs(value) >= 100 ? whole : plain).format(value);
const drawn = new Map();

export function drawCharts(data) {
  for (const place of document.querySelectorAll("[data-chart]")) {
    draw(place, charts[place.dataset.chart](withHorizon(data)));
  }
}

// Lines to the horizon need a point there; what has not happened yet has none.
function withHorizon(data) {
  const now = data.arrivals.length - 1;
  if (data.horizon <= data.arrivals[now]) return { ...data, now };
  const longer = (values) => [...values, null];
  return {
    ...data,
    now,
    arrivals: [...data.arrivals, data.horizon],
    spent: longer(data.spent),
    committed: longer(data.committed),
    reward: longer(data.reward),
    ratio: longer(data.ratio),
  };
}

const charts = {
  spend(data) {
    const line = data.arrivals.map((arrivals) => data.budget * Math.min(1, arrivals / data.horizon));
    return {
      data: [data.arrivals, data.committed, data.spent, line],
      lines: [
        { kind: "committed", color: "--held" },
        { kind: "spent", color: "--spent", fill: 20, dot: true },
        { kind: "line", color: "--line", dash: [6, 4] },
      ],
      between: { lines: [1, 2], color: "--held", fill: 35 },
      unit: "money",
      top: Math.max(data.budget, ...data.committed) * 1.06 || 1,
      marks: [],
      now: data.now,
    };
  },
  reward(data) {
    const promise = data.arrivals.map((arrivals) => data.promised * Math.min(arrivals, data.horizon));
    return {
      data: [data.arrivals, data.reward, promise],
      lines: [
        { kind: "reward", color: "--reward", fill: 15, dot: true },
        { kind: "promise", color: "--line", dash: [6, 4] },
      ],
      unit: "sum of rewards",
      top: Math.max(...promise, ...data.reward) * 1.06 || 1,
      marks: [],
      now: data.now,
    };
  },
  ratio(data) {
    // Near the horizon few arrivals share what is left: the ratio leaps, and may leave the chart.
    const early = data.ratio.filter((_, place) => data.arrivals[place] <= 0.9 * data.horizon);
    const usual = Math.max(data.start, ...early);
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
      now: data.now,
    };
  },
};

function draw(place, chart) {
  const known = drawn.get(place);
  if (known) {
    known.chart = chart;
    known.plot.setData(chart.data);
    tell(known.plot, place, chart);
    return;
  }
  const entry = { chart, plot: null };
  drawn.set(place, entry);
  const build = () => {
    entry.plot?.destroy();
    entry.plot = new uPlot(options(place, entry), entry.chart.data, place);
    tell(entry.plot, place, entry.chart);
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
  const faint = (part) => `color-mix(in srgb, ${color(part.color)} ${part.fill}%, transparent)`;
  const { between } = entry.chart;
  const axis = {
    stroke: color("--muted"),
    font: `12px ${family}`,
    labelFont: `12px ${family}`,
    labelSize: 18,
    labelGap: 0,
    gap: 4,
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
      { ...axis, label: "arrivals", space: 70, size: 22 },
      { ...axis, label: entry.chart.unit, space: 40, size: widest },
    ],
    series: [
      {},
      ...entry.chart.lines.map((line) => ({
        stroke: color(line.color),
        width: line.dash ? 1.5 : 2.25,
        dash: line.dash,
        fill: line.fill && faint(line),
        points: { show: false },
      })),
    ],
    bands: between ? [{ series: between.lines, fill: faint(between) }] : [],
    hooks: {
      setCursor: [(plot) => tell(plot, place, entry.chart)],
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
function tell(plot, place, chart) {
  const at = plot.cursor.idx ?? chart.now;
  chart.lines.forEach((line, index) => {
    const value = chart.data[index + 1][at];
    const label = place.closest("figure").querySelector(`[data-value="${line.kind}"]`);
    label.textContent = value === null || value === undefined ? "–" : number(value);
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
  ctx.textBaseline = "bottom";
  for (const mark of marks) {
    if (mark > plot.scales.y.max) continue;
    const y = plot.valToPos(mark, "y", true);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    if (lowest - y < 15 * uPlot.pxRatio) continue;
    ctx.fillText(number(mark), bbox.left + bbox.width - 4 * uPlot.pxRatio, y - 2 * uPlot.pxRatio);
    lowest = y;
  }
  ctx.restore();
}

function drawNow(plot, chart, color) {
  const { ctx } = plot;
  chart.lines.forEach((line, index) => {
    const value = chart.data[index + 1][chart.now];
    if (!line.dot || value === null || value > plot.scales.y.max) return;
    const x = plot.valToPos(chart.data[0][chart.now], "x", true);
    ctx.beginPath();
    ctx.arc(x, plot.valToPos(value, "y", true), 4 * uPlot.pxRatio, 0, 2 * Math.PI);
    ctx.fillStyle = color(line.color);
    ctx.fill();
  });
}
