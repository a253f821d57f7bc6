// Times that are chosen by the viewer's own clock: how far it is from UTC on that day goes with the form, and UTC is shown beside it.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

function shown(moment) {
  return `${moment.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

for (const input of document.querySelectorAll("input[data-moment]")) {
  const note = document.querySelector(`[data-moment-note="${input.name}"]`);
  const offset = input.form.querySelector(`[data-offset-of="${input.name}"]`);
  const tell = () => {
    const moment = new Date(input.value);
    const isTime = input.value !== "" && !Number.isNaN(moment.getTime());
    offset.value = isTime ? String(-moment.getTimezoneOffset()) : "";
    note.textContent = isTime ? `${zone}; that is ${shown(moment)}` : `In ${zone}`;
  };
  input.addEventListener("input", tell);
  tell();
}
