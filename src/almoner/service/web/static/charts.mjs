// The three charts of a campaign over its arrivals: from the numbers of the page to the series,
// colours and axes that draw_chart.mjs draws.

// Return the chart of a name, up to the horizon or only up to now.
export function chartOf(name, data, { soFar }) {
  const chart = charts[name](soFar ? { ...data, now: data.arrivals.length - 1 } : withHorizon(data));
  return { ...chart, amended: data.amended };
}

// Straight lines to the horizon need a point there; measured series are null at it.
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
        { kind: "committed", color: "--reserved" },
        { kind: "spent", color: "--spent", fill: 20, dot: true },
        { kind: "line", color: "--line", dash: [6, 4] },
      ],
      between: { lines: [1, 2], color: "--reserved", fill: 35 },
      unit: data.currency ?? "money",
      top: Math.max(...line, ...data.committed) * 1.06 || 1,
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
      unit: data.reward_unit ? `sum of rewards, ${data.reward_unit}` : "sum of rewards",
      top: Math.max(0, ...promise, ...data.reward) * 1.06 || 1,
      bottom: Math.min(0, ...promise, ...data.reward) * 1.06,
      marks: [],
      now: data.now,
    };
  },
  ratio(data) {
    // Near the horizon few arrivals are left and the ratio jumps: the axis ignores the last tenth.
    const early = data.ratio.filter((_, index) => data.arrivals[index] <= 0.9 * data.horizon);
    const usual = Math.max(data.start, ...early);
    const near = data.boundaries.filter((boundary) => boundary <= 3 * usual);
    return {
      data: [data.arrivals, data.ratio, data.arrivals.map(() => data.start)],
      lines: [
        { kind: "ratio", color: "--spent", dot: true },
        { kind: "start", color: "--line", dash: [6, 4] },
      ],
      unit: `${data.currency ?? "money"} per arrival`,
      top: Math.max(usual, ...near) * 1.12 || 1,
      marks: near,
      now: data.now,
    };
  },
};
