// A tree as one flat list of rows, of which only those in view are asked for. Each open node knows how many children it
// has, and pages of them as they were needed.

export const PAGE = 100;

export interface Node<Item> {
  key: string;
  /** The element that it is an instance of; the root needs none. */
  elementId: string | undefined;
  total: number;
  pages: Map<number, Item[]>;
  /** Open children by their place among all. */
  open: Map<number, Node<Item>>;
}

export interface Row<Item> {
  parent: Node<Item>;
  index: number;
  level: number;
  /** Absent until its page is there. */
  item: Item | undefined;
}

export const newNode = <Item>(key: string, elementId?: string): Node<Item> => ({ key, elementId, total: 0, pages: new Map(), open: new Map() });

/** Rows of all that is open below a node. */
export function size<Item>(node: Node<Item>): number {
  let rows = node.total;
  for (const child of node.open.values()) rows += size(child);
  return rows;
}

/** Children of a node after an answer about one of its pages. Where the server has stopped counting, `expected` may know
 * more, and each full page lets one more be scrolled to; a page that is not full is the last one. */
export function totalAfter(before: number, page: number, items: number, told: { totalItems: number; hasMoreTotalItems: boolean }, expected: number): number {
  const known = page * PAGE + items;
  if (!told.hasMoreTotalItems) return Math.max(told.totalItems, known);
  if (items === 0) return Math.min(before, known);
  if (items < PAGE) return known;
  return Math.max(before, told.totalItems, known + PAGE, expected);
}

/** The row at a place of the flat list. */
export function rowAt<Item>(root: Node<Item>, place: number): Row<Item> | undefined {
  let node = root;
  let level = 1;
  let left = place;
  for (;;) {
    // `left` counts rows below `node`; open children before the wanted one take their own rows of it.
    let next: Node<Item> | undefined;
    let index = left;
    for (const [at, child] of [...node.open].sort(([a], [b]) => a - b)) {
      if (at >= index) break;
      const below = size(child);
      if (index - at <= below) {
        left = index - at - 1;
        next = child;
        break;
      }
      index -= below;
    }
    if (!next) {
      if (index >= node.total) return undefined;
      return { parent: node, index, level, item: node.pages.get(Math.floor(index / PAGE))?.[index % PAGE] };
    }
    node = next;
    level += 1;
  }
}
