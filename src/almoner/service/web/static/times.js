// Times are written by the server in UTC; people read them by their own clock.

const forms = {
  clock: new Intl.DateTimeFormat(undefined, { timeStyle: "medium" }),
  day: new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" }),
};

export function localTimes(root) {
  for (const time of root.querySelectorAll("time[data-form]")) {
    const moment = new Date(time.dateTime);
    time.textContent = forms[time.dataset.form].format(moment);
    time.title = moment.toString();
  }
}
