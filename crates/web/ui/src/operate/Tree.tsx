import { createVirtualizer } from '@tanstack/solid-virtual';
import { createEffect, createSignal, For, type JSX, on, onCleanup, Show, untrack } from 'solid-js';
import { listElementInstanceChildren } from '../api/generated/operations';
import type { BatonChild } from '../api/generated/types';
import { call } from '../api/http';
import { t } from '../language';
import { watch } from '../live/poll';
import { number } from '../ui/numbers';
import { Failure, State, wordOf } from '../ui/parts';
import { iterationOf, newNode, type Node, PAGE, type Row, rowAt, size } from './rows';

const ROW_PX = 28;
const OVERSCAN = 10;
const TYPING_MS = 250;
/** Filters of each level. Scopes of running elements run, too; so it is with incidents. */
const SHOWN = { all: {}, running: { state: 'ACTIVE' }, incidents: { hasIncident: true } } as const;
type Item = BatonChild & { iteration?: number };

/** The element instances of a process instance, as deep as they are opened, asked for as they come into view. */
export function Tree(props: {
  instanceKey: string;
  isRunning: boolean;
  nameOf: (item: Item) => string;
  /** The element that is chosen: all of its rows are, unless it is one of them, the scope. */
  selected: string | undefined;
  scope: string | undefined;
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
  const [shown, setShown] = createSignal<keyof typeof SHOWN>('all');
  const [order, setOrder] = createSignal<'ASC' | 'DESC'>('ASC');
  /** With a text, all elements are looked at, however deep they are. */
  const [text, setText] = createSignal('');
  let typing: ReturnType<typeof setTimeout> | undefined;
  const type = (next: string) => {
    clearTimeout(typing);
    typing = setTimeout(() => setText(next.trim()), TYPING_MS);
  };
  onCleanup(() => clearTimeout(typing));
  let root: Node<Item> = newNode(props.instanceKey);

  /** An element with the number of its iteration, where the place among all tells it. */
  const numbered = (item: Item, { of }: Node<Item>, place: number, total: number): Item =>
    of?.type === 'MULTI_INSTANCE_BODY' && of.elementId === item.elementId ? { ...item, iteration: iterationOf(place, total, order()) } : item;
  const load = async (node: Node<Item>, page: number, hasChanged = false) => {
    if (node.asked.has(page)) {
      if (hasChanged) node.asked.set(page, true);
      return;
    }
    node.asked.set(page, false);
    const isWhole = shown() === 'all' && text() === '';
    try {
      const found = await call(listElementInstanceChildren, {
        path: { elementInstanceKey: node.key },
        query: { ...SHOWN[shown()], ...(text() === '' ? {} : { text: text(), deep: true }), order: order(), from: page * PAGE, limit: PAGE },
        signal: stop.signal,
      });
      node.total = found.totalItems;
      node.pages.set(page, isWhole ? found.items.map((item, at) => numbered(item, node, page * PAGE + at, found.totalItems)) : found.items);
      setFailure(undefined);
      setChanged(0);
    } catch (error) {
      if (!stop.signal.aborted) setFailure(error);
    } finally {
      const isOld = node.asked.get(page);
      node.asked.delete(page);
      if (isOld && !stop.signal.aborted) void load(node, page);
    }
  };
  createEffect(
    on([() => props.instanceKey, () => props.version, shown, order, text], (now, last) => {
      const [key, version] = now;
      // The instance is read again and again; what is open stays open while the questions are the same.
      const isAnother = last !== undefined && now.some((one, place) => place !== 1 && one !== last[place]);
      if (isAnother) root = newNode(key);
      const reload = (node: Node<Item>) => {
        for (const page of node.pages.size > 0 ? node.pages.keys() : [0]) void load(node, page, version !== last?.[1]);
        for (const child of node.open.values()) reload(child);
      };
      reload(root);
    }),
  );
  const follow = () => {
    const last = order() === 'DESC' ? 0 : Math.max(0, Math.floor((root.total - 1) / PAGE));
    for (const row of rows()) if (row?.item?.state === 'ACTIVE') void load(row.parent, Math.floor(row.index / PAGE), true);
    void load(root, last, true);
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
  const isScope = (item: Item) => item.childCount > 0 && text() === '';
  const isSelected = (item: Item) => (props.scope === undefined ? item.elementId === props.selected : item.elementInstanceKey === props.scope);
  const toggle = (row: Row<Item>, open: boolean) => {
    if (!row.item || !isScope(row.item) || open === isOpen(row)) return;
    if (open) {
      const child = newNode(row.item.elementInstanceKey, row.item);
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
  /** Whether the row that is active is there: rows come later than the tree, and are drawn as far as they are in sight. */
  const isDrawn = () => virtualizer.getVirtualItems().some(({ index }) => index === at()) && (changed(), rowAt(root, at())) !== undefined;
  return (
    <div>
      <div class="row">
        <input type="search" aria-label={t('instance.tree.find')} placeholder={t('instance.tree.find')} maxlength="256" onInput={(event) => type(event.currentTarget.value)} />
        <select aria-label={t('instance.tree.shown')} onChange={(event) => setShown(event.currentTarget.value as keyof typeof SHOWN)}>
          <option value="all">{t('instance.tree.all')}</option>
          <option value="running">{t('instance.tree.running')}</option>
          <option value="incidents">{t('instance.tree.incidents')}</option>
        </select>
        <select aria-label={t('instance.tree.order')} onChange={(event) => setOrder(event.currentTarget.value as 'ASC' | 'DESC')}>
          <option value="ASC">{t('instance.tree.earliest')}</option>
          <option value="DESC">{t('instance.tree.latest')}</option>
        </select>
        <span class="muted">{(changed(), number(root.total))}</span>
      </div>
      <Show when={failure()}>{(error) => <Failure of={error()} />}</Show>
      <div ref={scroll} class="tree" role="treegrid" tabindex="0" aria-label={t('instance.tree')} aria-rowcount={(changed(), size(root))} aria-activedescendant={isDrawn() ? `row-${at()}` : undefined} onKeyDown={onKeyDown}>
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
                      aria-selected={row().item !== undefined && isSelected(row().item!)}
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
                            aria-label={t(isOpen(row()) ? 'instance.tree.close' : 'instance.tree.open')}
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
                              <span>
                                {props.nameOf(item())}
                                <Show when={item().iteration}>{(iteration) => ` #${number(iteration())}`}</Show>
                              </span>
                              <span class="muted">
                                {wordOf(item().type)}
                                <Show when={item().childCount > 0}>{` (${number(item().childCount)})`}</Show>
                              </span>
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
