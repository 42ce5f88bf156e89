// A list that stays in place while it lives: what is shown keeps its order, what is new waits until it is asked for.

export interface Held<Item> {
  /** The rows, in the order that they had. */
  shown: Item[];
  /** New rows, in the order of the newest answer. */
  waiting: Item[];
}

/** Rows in their held order, with new ones beside. A row that is gone from the answer is gone. */
export function hold<Item>(order: readonly string[], answer: readonly Item[], keyOf: (item: Item) => string): Held<Item> {
  const byKey = new Map(answer.map((item) => [keyOf(item), item]));
  const shown = order.flatMap((key) => byKey.get(key) ?? []);
  const known = new Set(order);
  return { shown, waiting: answer.filter((item) => !known.has(keyOf(item))) };
}
