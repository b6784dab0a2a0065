// Helpers to make elements. Strings of models and users become text, never HTML.

/** The element of the page with this id. */
export const byId = (id) => document.getElementById(id);

/** A new element; of the properties, `class`, `role` and all with a dash become attributes. */
export function make(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key === "class" || key === "role" || key.includes("-")) element.setAttribute(key, value);
    else element[key] = value;
  }
  element.append(...children);
  return element;
}

/** A label as people read it. */
export const nameOf = (label) => (label === "" ? "(empty)" : String(label));

/** A label as a key: 1 and "1" are different labels. */
export const keyOf = (label) => `${typeof label}:${label}`;

/** An element with a label in its own writing direction; if it has a readable name, the name with the label beside it. */
export function named(label, className = "name", name = undefined) {
  if (name === undefined) return make("span", { class: className, dir: "auto", textContent: nameOf(label) });
  const code = make("span", { class: "code", dir: "auto", textContent: nameOf(label) });
  return make("span", { class: className, dir: "auto" }, name, " ", code);
}

const whole = new Intl.NumberFormat("en");

/** 12,345 */
export const count = (number) => whole.format(number);

/** 1 label, 2 labels */
export const counted = (number, what) => `${count(number)} ${what}${number === 1 ? "" : "s"}`;

/** A probability: 83 %, with one more digit near 0 and 1: 0.4 %, 99.7 %, < 0.1 % */
export function percent(probability) {
  const hundredths = probability * 100;
  if (hundredths <= 0 || hundredths >= 100) return `${Math.round(hundredths)} %`;
  if (hundredths < 0.1) return "< 0.1 %";
  if (hundredths > 99.9) return "> 99.9 %";
  return `${hundredths.toFixed(hundredths < 9.95 || hundredths >= 99 ? 1 : 0)} %`;
}

/** An amount with its sign: +0.42, −1.30 */
export const signed = (amount) => `${amount < 0 ? "−" : "+"}${Math.abs(amount).toFixed(2)}`;

/** Debounce: call only after this many milliseconds without another call. */
export function later(milliseconds, call) {
  let timer;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(call, milliseconds);
  };
}
