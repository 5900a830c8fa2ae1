// Draw or update one chart with uPlot, in the colours of the style sheet.
//
// A chart has its data (arrivals first), its lines (kind, color, dash, fill, dot), an optional fill
// between two of them, the unit and the top of its axis, horizontal marks, the arrivals at which the
// terms were amended, and the index of now in the data.

import { figure } from "./formatting.mjs";

const entries = new Map(); // by element

export function drawChart(element, chart) {
  const existing = entries.get(element);
  if (existing) {
    existing.chart = chart;
    existing.plot.setData(chart.data);
    updateLegend(existing.plot, element, chart);
    return;
  }
  const entry = { chart, plot: null };
  entries.set(element, entry);
  const build = () => {
    entry.plot?.destroy();
    entry.plot = new uPlot(options(element, entry), entry.chart.data, element);
    updateLegend(entry.plot, element, entry.chart);
  };
  build();
  new ResizeObserver(() => entry.plot.setSize(size(element))).observe(element);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", build);
}

function size(element) {
  return { width: Math.max(element.clientWidth, 200), height: Math.max(element.clientHeight, 160) };
}

function options(element, entry) {
  const style = getComputedStyle(document.documentElement);
  const color = (name) => style.getPropertyValue(name).trim();
  const family = getComputedStyle(document.body).fontFamily;
  const translucent = ({ color: name, fill }) => `color-mix(in srgb, ${color(name)} ${fill}%, transparent)`;
  const markColors = { line: color("--boundary"), outline: color("--card") };
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
    ...size(element),
    padding: [8, 26, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 8 } },
    scales: {
      x: { time: false, range: () => [0, entry.chart.data[0].at(-1) || 1] },
      y: { range: () => [entry.chart.bottom ?? 0, entry.chart.top] },
    },
    axes: [
      { ...axis, label: "arrivals", space: 70, size: 22 },
      { ...axis, label: entry.chart.unit, space: 40, size: axisWidth },
    ],
    series: [
      {},
      ...entry.chart.lines.map((line) => ({
        stroke: color(line.color),
        width: line.dash ? 1.5 : 2.25,
        dash: line.dash,
        fill: line.fill && translucent(line),
        points: { show: false },
      })),
    ],
    bands: between ? [{ series: between.lines, fill: translucent(between) }] : [],
    hooks: {
      setCursor: [(plot) => updateLegend(plot, element, entry.chart)],
      draw: [
        (plot) => drawAmendments(plot, entry.chart.amended, color("--ink")),
        (plot) => drawMarks(plot, entry.chart.marks, markColors, family),
        (plot) => drawNow(plot, entry.chart, color),
      ],
    },
  };
}

function axisWidth(plot, values) {
  return 12 + 7 * Math.max(3, ...(values ?? []).map((value) => String(value).length));
}

// Write the values under the cursor into the legend, or those of now.
function updateLegend(plot, element, chart) {
  const point = plot.cursor.idx ?? chart.now;
  chart.lines.forEach((line, index) => {
    const value = chart.data[index + 1][point];
    const label = element.closest("figure").querySelector(`[data-value="${line.kind}"]`);
    label.textContent = value === null || value === undefined ? "–" : figure(value);
  });
}

// A vertical line after the arrivals at which the terms were changed.
function drawAmendments(plot, arrivals, color) {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.strokeStyle = color;
  ctx.lineWidth = uPlot.pxRatio;
  ctx.setLineDash([uPlot.pxRatio, 3 * uPlot.pxRatio]);
  for (const value of arrivals) {
    const x = plot.valToPos(value, "x", true);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
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
  ctx.strokeStyle = colors.outline;
  ctx.lineWidth = 4 * pxRatio;
  let lastLabel = Infinity; // labels are written upwards, and must not overlap
  for (const mark of shown) {
    const y = plot.valToPos(mark, "y", true) - 2 * pxRatio;
    if (lastLabel - y < 14 * pxRatio) continue;
    ctx.strokeText(figure(mark), right - 4 * pxRatio, y);
    ctx.fillText(figure(mark), right - 4 * pxRatio, y);
    lastLabel = y;
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
