"use strict";
const SHOWN = 20; // rows of a list before "show all"

function valueOf(row, place) {
  const cell = row.cells[place], value = cell.dataset.value;
  return value === undefined ? cell.textContent.trim() : Number(value);
}

function compare(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), undefined, { numeric: true });
}

function look(table) {
  const wanted = (table.search || "").toLowerCase();
  let found = 0;
  for (const row of table.tBodies[0].rows) {
    row.text = row.text || row.textContent.toLowerCase();
    const fits = row.text.includes(wanted);
    found += fits;
    row.hidden = !fits || (table.limit && !wanted && found > SHOWN);
  }
  return found;
}

for (const table of document.querySelectorAll("table.sortable")) {
  table.classList.add("sorts");
  [...table.tHead.rows[0].cells].forEach((head, place, heads) => {
    if ("fixed" in head.dataset) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const rows = [...table.tBodies[0].rows];
      const numeric = rows.some((row) => row.cells[place].dataset.value !== undefined);
      const now = head.getAttribute("aria-sort");
      const down = now ? now === "ascending" : numeric;
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      rows.sort((a, b) => compare(valueOf(a, place), valueOf(b, place)) * (down ? -1 : 1));
      table.tBodies[0].append(...rows);
      look(table);
    });
  });
}

for (const input of document.querySelectorAll("input[data-for]")) {
  const table = document.getElementById(input.dataset.for);
  const output = document.querySelector(`output[data-for="${table.id}"]`);
  const button = document.querySelector(`button[data-for="${table.id}"]`);
  table.limit = table.tBodies[0].rows.length > SHOWN;
  button.parentNode.hidden = !table.limit;
  input.closest("[hidden]").hidden = false;
  input.addEventListener("input", () => {
    table.search = input.value.trim();
    const found = look(table);
    output.textContent = table.search ? `${found} found` : "";
    button.parentNode.hidden = !table.limit || Boolean(table.search);
  });
  button.addEventListener("click", () => {
    table.limit = false;
    button.parentNode.hidden = true;
    look(table);
  });
  look(table);
}

addEventListener("beforeprint", () => {
  for (const each of document.querySelectorAll("details")) each.open = true;
});
