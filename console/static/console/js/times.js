// Times are sent in UTC; here they are written in the viewer's zone, with UTC on hover.
const today = { hour: "2-digit", minute: "2-digit" };
const thisYear = { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" };
const older = { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" };

function localText(moment, now) {
  if (moment.toDateString() === now.toDateString()) return `today, ${moment.toLocaleTimeString([], today)}`;
  return moment.toLocaleString([], moment.getFullYear() === now.getFullYear() ? thisYear : older);
}

export function localiseTimes(root) {
  const now = new Date();
  for (const element of root.querySelectorAll("time[datetime]:not([data-local])")) {
    const moment = new Date(element.dateTime);
    if (Number.isNaN(moment.getTime())) continue;
    element.title = `${moment.toISOString().slice(0, 19).replace("T", " ")} UTC`;
    element.textContent = localText(moment, now);
    element.dataset.local = "";
  }
}
