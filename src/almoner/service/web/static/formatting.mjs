// Numbers for people: three significant digits, or whole from 100 on.

const digits = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

export const figure = (value) => (Math.abs(value) >= 100 ? whole : digits).format(value);
