// Figures of measurements, and rows of the table of budgets.

/** The smallest figure that so many percent of all do not exceed. */
export function quantile(figures, percent) {
  if (figures.length === 0) throw new Error('nothing was measured');
  const sorted = [...figures].sort((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)];
}

export const median = (figures) => quantile(figures, 50);

/** A row of the table. `note` says how the figure came about; without a limit, nothing is promised. */
export const row = (budget, figure, limit, unit, note = '') => ({ budget, figure, limit, unit, note, isHeld: limit === undefined || figure <= limit });

/** A number as people read it: no more digits than it is worth. */
export const digits = (value) => (Math.abs(value) >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(Math.abs(value) >= 10 ? 0 : Math.abs(value) >= 1 ? 1 : 2).replace(/\.0+$/, ''));

export const pause = (ms) => new Promise((done) => setTimeout(done, ms));

/** Does `work` for each number below `count`, so many of them at once, and gives what came of each. */
export async function parallel(count, atOnce, work) {
  const results = new Array(count);
  let next = 0;
  const one = async () => {
    for (let at = next++; at < count; at = next++) results[at] = await work(at);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, one));
  return results;
}
