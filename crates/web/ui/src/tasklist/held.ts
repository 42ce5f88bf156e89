// A list that stays in place while it lives: what is shown keeps its order, what is new waits until it is asked for.

export interface Held<Item> {
  /** The rows, in the order that they had. */
  shown: Item[];
  /** New rows before others, in the order of the newest answer. */
  waiting: Item[];
  /** Rows behind all others, which are shown at once: they move nothing. A page is filled up with them, too. */
  added: Item[];
}

/** Rows in their held order, with new ones beside. A row that is gone from the answer is gone. */
export function hold<Item>(order: readonly string[], answer: readonly Item[], keyOf: (item: Item) => string): Held<Item> {
  const byKey = new Map(answer.map((item) => [keyOf(item), item]));
  const known = new Set(order);
  const isKnown = (item: Item) => known.has(keyOf(item));
  const end = answer.findLastIndex(isKnown) + 1;
  const added = answer.slice(end);
  return { shown: [...order.flatMap((key) => byKey.get(key) ?? []), ...added], waiting: answer.slice(0, end).filter((item) => !isKnown(item)), added };
}
