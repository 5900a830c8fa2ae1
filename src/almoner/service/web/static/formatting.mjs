// Numbers and names for people.

const digits = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

// Three significant digits, or whole from 100 on.
export const figure = (value) => (Math.abs(value) >= 100 ? whole : digits).format(value);

// A text with its control characters as escapes: some would change the direction of what follows.
export const visible = (text) =>
  text.replace(
    /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

// A name in a sentence, between characters that keep its text direction to itself.
export const isolated = (name) => `\u2068${visible(name)}\u2069`;
