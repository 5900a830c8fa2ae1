// One chart, drawn by uPlot in the colours of the style sheet.
//
// A chart has its data (arrivals first), its lines (kind, color, dash, fill, dot), what is between
// two of them, the unit and the top of its axis, marks across it, and the place of now in the data.

import { figure } from "./figures.js";

const drawn = new Map();

export function draw(place, chart) {
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
  const marking = { line: color("--boundary"), behind: color("--card") };
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
    values: (_, values) => values.map(figure),
  };
  return {
    ...size(place),
    padding: [8, 26, 0, 0],
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
        (plot) => drawMarks(plot, entry.chart.marks, marking, family),
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
    label.textContent = value === null || value === undefined ? "–" : figure(value);
  });
}

function drawMarks(plot, marks, colors, family) {
  const { ctx, bbox } = plot;
  const { pxRatio } = uPlot;
  const shown = marks.filter((mark) => mark <= plot.scales.y.max);
  const right = bbox.left + bbox.width;
  ctx.save();
  ctx.strokeStyle = colors.line;
  ctx.lineWidth = 1.5 * pxRatio;
  ctx.setLineDash([2 * pxRatio, 3 * pxRatio]);
  for (const mark of shown) {
    const y = plot.valToPos(mark, "y", true);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(right, y);
    ctx.stroke();
  }
  Object.assign(ctx, { textAlign: "right", textBaseline: "bottom", fillStyle: colors.line });
  ctx.setLineDash([]);
  ctx.font = `${12 * pxRatio}px ${family}`;
  ctx.strokeStyle = colors.behind;
  ctx.lineWidth = 4 * pxRatio;
  let above = Infinity; // the label written last, below: labels must not cover each other
  for (const mark of shown) {
    const y = plot.valToPos(mark, "y", true) - 2 * pxRatio;
    if (above - y < 14 * pxRatio) continue;
    ctx.strokeText(figure(mark), right - 4 * pxRatio, y);
    ctx.fillText(figure(mark), right - 4 * pxRatio, y);
    above = y;
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
