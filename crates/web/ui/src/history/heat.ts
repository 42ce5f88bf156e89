export const LEVELS = 4;

/** Elements by how hot they are: `heat-1` to `heat-4`, each a quarter of the highest value. What is nothing has none. */
export function heats(values: readonly (readonly [string, number])[]): Record<string, string[]> {
  const most = Math.max(0, ...values.map(([, value]) => value));
  const found: Record<string, string[]> = {};
  for (let level = 1; level <= LEVELS; level += 1) found[`heat-${level}`] = [];
  for (const [id, value] of values) {
    if (value > 0) found[`heat-${Math.min(LEVELS, Math.floor((LEVELS * value) / most) + 1)}`]!.push(id);
  }
  return found;
}
