// Numbers as people read them: three digits that matter, or all those before the point.

const digits = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const tenths = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });

export const figure = (value) => (Math.abs(value) >= 100 ? whole : digits).format(value);
export const percent = (share) => `${tenths.format(100 * share)} %`;
