import { createVirtualizer } from '@tanstack/solid-virtual';
import { createEffect, createSignal, For, type JSX, on, onCleanup, Show, untrack } from 'solid-js';
import { searchElementInstances } from '../api/generated/operations';
import type { ElementInstanceResult } from '../api/generated/types';
import { call } from '../api/http';
import { watch } from '../live/poll';
import { Failure, State, wordOf } from '../ui/parts';
import { newNode, type Node, PAGE, type Row, rowAt, size, totalAfter } from './rows';

const ROW_PX = 28;
const OVERSCAN = 10;
const SCOPES = new Set(['PROCESS', 'SUB_PROCESS', 'EVENT_SUB_PROCESS', 'AD_HOC_SUB_PROCESS', 'AD_HOC_SUB_PROCESS_INNER_INSTANCE', 'MULTI_INSTANCE_BODY']);
type Item = ElementInstanceResult;

/** The element instances of a process instance, as deep as they are opened, asked for as they come into view. */
export function Tree(props: {
  instanceKey: string;
  isRunning: boolean;
  nameOf: (item: Item) => string;
  /** How many instances of an element there are, as far as it is known. */
  countOf: (elementId: string) => number | undefined;
  selected: string | undefined;
  onSelect: (item: Item) => void;
  /** Changes when all is to be read again. */
  version: number;
}): JSX.Element {
  let scroll!: HTMLDivElement;
  const [changed, setChanged] = createSignal(0, { equals: false });
  const [failure, setFailure] = createSignal<unknown>();
  const [at, setAt] = createSignal(0);
  const stop = new AbortController();
  onCleanup(() => stop.abort());
  let root: Node<Item> = newNode(props.instanceKey);
  const asked = new Set<string>();

  const load = async (node: Node<Item>, page: number) => {
    const id = `${node.key}/${page}`;
    if (asked.has(id)) return;
    asked.add(id);
    try {
      const found = await call(searchElementInstances, {
        body: {
          filter: { elementInstanceScopeKey: node.key, processInstanceKey: props.instanceKey },
          sort: [{ field: 'startDate', order: 'ASC' }, { field: 'elementInstanceKey', order: 'ASC' }],
          page: { from: page * PAGE, limit: PAGE },
        },
        signal: stop.signal,
      });
      const [first] = found.items;
      // Children of a multi-instance body are all of its element.
      const expected = first && first.elementId === node.elementId ? (untrack(() => props.countOf(first.elementId)) ?? 0) - 1 : 0;
      node.total = totalAfter(node.total, page, found.items.length, found.page, expected);
      node.pages.set(page, found.items);
      setFailure(undefined);
      setChanged(0);
    } catch (error) {
      if (!stop.signal.aborted) setFailure(error);
    } finally {
      asked.delete(id);
    }
  };
  createEffect(
    on([() => props.instanceKey, () => props.version], ([key]) => {
      if (root.key !== key) root = newNode(key);
      const reload = (node: Node<Item>) => {
        for (const page of node.pages.size > 0 ? node.pages.keys() : [0]) void load(node, page);
        for (const child of node.open.values()) reload(child);
      };
      reload(root);
    }),
  );
  const follow = () => {
    const last = Math.max(0, Math.floor((root.total - 1) / PAGE));
    for (const row of rows()) if (row?.item?.state === 'ACTIVE') void load(row.parent, Math.floor(row.index / PAGE));
    void load(root, last);
  };
  createEffect(() => props.isRunning && onCleanup(watch([`process-instance:${props.instanceKey}`], () => untrack(follow))));

  const virtualizer = createVirtualizer({
    get count() {
      changed();
      return size(root);
    },
    getScrollElement: () => scroll,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN,
  });
  const rows = () => virtualizer.getVirtualItems().map(({ index }) => rowAt(root, index));
  // Pages that came into view.
  createEffect(() => {
    changed();
    for (const { index } of virtualizer.getVirtualItems()) {
      const row = rowAt(root, index);
      if (row && !row.item) void load(row.parent, Math.floor(row.index / PAGE));
    }
  });

  const isOpen = (row: Row<Item>) => row.parent.open.has(row.index);
  const isScope = (item: Item) => SCOPES.has(item.type);
  const toggle = (row: Row<Item>, open: boolean) => {
    if (!row.item || !isScope(row.item) || open === isOpen(row)) return;
    if (open) {
      const child = newNode<Item>(row.item.elementInstanceKey, row.item.elementId);
      row.parent.open.set(row.index, child);
      void load(child, 0);
    } else row.parent.open.delete(row.index);
    setChanged(0);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const last = size(root) - 1;
    const row = rowAt(root, at());
    const to = { ArrowDown: Math.min(at() + 1, last), ArrowUp: Math.max(at() - 1, 0), Home: 0, End: last, PageDown: Math.min(at() + 10, last), PageUp: Math.max(at() - 10, 0) }[event.key];
    if (to !== undefined) {
      setAt(to);
      virtualizer.scrollToIndex(to);
    } else if (event.key === 'ArrowRight' && row) toggle(row, true);
    else if (event.key === 'ArrowLeft' && row) toggle(row, false);
    else if (event.key === 'Enter' && row?.item) props.onSelect(row.item);
    else return;
    event.preventDefault();
  };
  return (
    <div>
      <Show when={failure()}>{(error) => <Failure of={error()} />}</Show>
      <div ref={scroll} class="tree" role="treegrid" tabindex="0" aria-label="Element instances" aria-rowcount={(changed(), size(root))} aria-activedescendant={`row-${at()}`} onKeyDown={onKeyDown}>
        <div role="rowgroup" style={{ height: `${virtualizer.getTotalSize()}px`, position: 'relative' }}>
          <For each={virtualizer.getVirtualItems()}>
            {(place) => {
              const row = () => (changed(), rowAt(root, place.index));
              return (
                <Show when={row()}>
                  {(row) => (
                    <div
                      role="row"
                      id={`row-${place.index}`}
                      aria-rowindex={place.index + 1}
                      aria-level={row().level}
                      aria-expanded={row().item && isScope(row().item!) ? isOpen(row()) : undefined}
                      aria-selected={row().item !== undefined && row().item!.elementId === props.selected}
                      style={{ transform: `translateY(${place.start}px)`, 'padding-left': `${row().level * 16 - 8}px`, outline: at() === place.index ? '1px dotted var(--edge)' : 'none' }}
                      onClick={() => {
                        setAt(place.index);
                        const { item } = row();
                        if (item) props.onSelect(item);
                      }}
                    >
                      <span role="gridcell">
                        <Show when={row().item && isScope(row().item!)} fallback={<span style={{ width: '16px' }} />}>
                          <button
                            class="plain"
                            tabindex="-1"
                            style={{ width: '16px', padding: '0' }}
                            aria-label={isOpen(row()) ? 'Close' : 'Open'}
                            onClick={(event) => {
                              event.stopPropagation();
                              toggle(row(), !isOpen(row()));
                            }}
                          >
                            {isOpen(row()) ? '▾' : '▸'}
                          </button>
                        </Show>
                        <Show when={row().item} fallback="…">
                          {(item) => (
                            <>
                              <State of={item().state} incident={item().hasIncident} />
                              <span>{props.nameOf(item())}</span>
                              <span class="muted">{wordOf(item().type)}</span>
                            </>
                          )}
                        </Show>
                      </span>
                    </div>
                  )}
                </Show>
              );
            }}
          </For>
        </div>
      </div>
    </div>
  );
}
