// How are numbers written? In English, with units; what is unknown is a dash.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** 1,234,567 */
export const count = (n) => (Number.isFinite(n) ? whole.format(n) : "–");

function scaled(n, unit, base, prefixes) {
  if (!Number.isFinite(n)) return "–";
  let i = 0;
  while (n >= base && i < prefixes.length - 1) {
    n /= base;
    i += 1;
  }
  const digits = i === 0 || n >= 99.95 ? (i === 0 && n > 0 && n < 9.95 && n % 1 !== 0 ? 1 : 0) : 1;
  return `${n.toFixed(digits)} ${prefixes[i]}${unit}`.trim();
}

/** 1.2 M packets a second: "1.2 Mpps". */
export const pps = (n) => scaled(n, "pps", 1000, ["", "k", "M", "G"]);
/** "1.2 Gbit/s" */
export const bps = (n) => scaled(n, "bit/s", 1000, ["", "k", "M", "G", "T"]);
/** "12/s" */
export const perSecond = (n) => scaled(n, "/s", 1000, ["", "k", "M"]).replace(" /s", "/s");
/** "1.2 MB" */
export const bytes = (n) => scaled(n, "B", 1000, ["", "k", "M", "G", "T", "P"]);
/** From nanoseconds: "12 µs". */
export const nanoseconds = (n) => scaled(n, "s", 1000, ["n", "µ", "m", ""]);
/** From kbit/s, as N4 has rates. */
export const kbps = (n) => bps(n * 1000);

/** From milliseconds: "3 d 4 h". */
export function duration(ms) {
  if (!Number.isFinite(ms)) return "–";
  const s = Math.floor(ms / 1000);
  const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
  const first = units.findIndex(([, size]) => s >= size);
  if (first < 0) return "0 s";
  let rest = s;
  const parts = units.slice(first, first + 2).map(([name, size]) => {
    const n = Math.floor(rest / size);
    rest -= n * size;
    return n > 0 ? `${n} ${name}` : "";
  });
  return parts.filter(Boolean).join(" ");
}

/** Time of day of this browser. */
export const clock = (ms) => new Date(ms).toLocaleTimeString("en-GB");

/** A TEID as it is in captures. */
export const teid = (n) => `0x${n.toString(16)}`;

/** "1 session", "2 sessions" */
export const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;
