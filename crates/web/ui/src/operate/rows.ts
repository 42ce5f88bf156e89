// A tree as one flat list of rows, of which only those in view are asked for. Each open node knows how many children it
// has, and pages of them as they were needed.

export const PAGE = 100;

export interface Node<Item> {
  key: string;
  /** The element; none of the root. */
  of: Item | undefined;
  total: number;
  pages: Map<number, Item[]>;
  /** Pages that are under way, and whether something has changed since they were asked for. */
  asked: Map<number, boolean>;
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

export const newNode = <Item>(key: string, of?: Item): Node<Item> => ({ key, of, total: 0, pages: new Map(), asked: new Map(), open: new Map() });

/** Rows of all that is open below a node. */
export function size<Item>(node: Node<Item>): number {
  let rows = node.total;
  for (const child of node.open.values()) rows += size(child);
  return rows;
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

/** Which time each child of a multi-instance body is, counted from 1, by its place among all of them: they begin in the
 * order of the loop counter. */
export const iterationOf = (place: number, total: number, order: 'ASC' | 'DESC'): number => (order === 'ASC' ? place + 1 : total - place);
