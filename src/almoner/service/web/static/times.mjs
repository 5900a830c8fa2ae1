// Times in the reader's time zone; the server writes them in UTC.

const formats = {
  clock: new Intl.DateTimeFormat(undefined, { timeStyle: "medium" }),
  day: new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" }),
};

export function localTimes(root) {
  for (const element of root.querySelectorAll("time[data-form]")) {
    const time = new Date(element.dateTime);
    element.textContent = formats[element.dataset.form].format(time);
    element.title = time.toString();
  }
}
