import { createMemo, createSignal, For, type JSX, Show } from 'solid-js';
import { searchAuditLogs, searchElementInstances } from '../api/generated/operations';
import type { AuditLogResult, ElementInstanceResult } from '../api/generated/types';
import { count, t } from '../language';
import { useRead } from '../query';
import { Failure, State, wordOf } from '../ui/parts';
import { durationText, exactText } from '../ui/times';

const PAGE = 200;
const CHANGES = 100;
/** Operations that change where an instance stands or whether it goes on. */
const TOLD = ['CANCEL', 'MIGRATE', 'MODIFY', 'RESUME', 'SUSPEND'] as const;
/** The least width of a bar, in percent, so that what took no time is seen. */
const LEAST = 0.4;

type Row = { at: number; end: number | undefined } & ({ item: ElementInstanceResult } | { change: AuditLogResult });

/** Elements of an instance as bars over time, with the operations that changed it in between. */
export function Timeline(props: {
  instanceKey: string;
  start: string;
  end: string | null;
  elementId: string | undefined;
  scopeKey: string | undefined;
  nameOf: (item: ElementInstanceResult) => string;
  onSelect: (item: ElementInstanceResult) => void;
}): JSX.Element {
  let list!: HTMLOListElement;
  const [limit, setLimit] = createSignal(PAGE);
  const isRunning = () => props.end === null;
  const found = useRead(searchElementInstances, () => ({
    body: {
      filter: { processInstanceKey: props.instanceKey },
      sort: [{ field: 'startDate' as const, order: 'ASC' as const }, { field: 'elementInstanceKey' as const, order: 'ASC' as const }],
      page: { limit: limit() },
    },
    live: isRunning(),
  }));
  const changes = useRead(searchAuditLogs, () => ({
    body: { filter: { processInstanceKey: props.instanceKey, entityType: 'PROCESS_INSTANCE' as const, operationType: { $in: [...TOLD] } }, page: { limit: CHANGES } },
    live: isRunning(),
  }));
  const first = () => Date.parse(props.start);
  const last = createMemo(() => {
    const ends = (found.data?.items ?? []).map((one) => Date.parse(one.endDate ?? one.startDate));
    return Math.max(props.end ? Date.parse(props.end) : found.dataUpdatedAt, first() + 1, ...ends);
  });
  const rows = createMemo((): Row[] => {
    const items = (found.data?.items ?? []).filter((one) => one.type !== 'PROCESS');
    const all: Row[] = items.map((item) => ({ at: Date.parse(item.startDate), end: item.endDate ? Date.parse(item.endDate) : undefined, item }));
    const until = items.length < (found.data?.page.totalItems ?? 0) - 1 && items.length > 0 ? Date.parse(items.at(-1)!.startDate) : Number.POSITIVE_INFINITY;
    for (const change of changes.data?.items ?? []) {
      const at = Date.parse(change.timestamp);
      if (at <= until) all.push({ at, end: at, change });
    }
    // The order of the server holds among elements that began in the same millisecond.
    return all.map((row, place) => [row, place] as const).sort(([a, i], [b, j]) => a.at - b.at || i - j).map(([row]) => row);
  });
  const share = (from: number, to: number) => (100 * (to - from)) / (last() - first());
  const left = (row: Row) => Math.min(Math.max(share(first(), row.at), 0), 100 - LEAST);
  const width = (row: Row) => Math.max(Math.min(share(row.at, row.end ?? last()), 100 - left(row)), LEAST);
  const length = (row: Row) => {
    const text = durationText((row.end ?? last()) - row.at);
    return row.end === undefined ? t('instance.timeline.soFar', { length: text }) : text;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const buttons = [...list.querySelectorAll<HTMLElement>('button')];
    const at = buttons.indexOf(document.activeElement as HTMLElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    buttons[Math.min(Math.max(to, 0), buttons.length - 1)]?.focus();
  };
  const isChosen = (item: ElementInstanceResult) => (props.scopeKey === undefined ? item.elementId === props.elementId : item.elementInstanceKey === props.scopeKey);
  const hidden = () => (found.data?.page.totalItems ?? 0) - (found.data?.items.length ?? 0);
  return (
    <div class="stack">
      <Show when={found.error ?? changes.error}>{(error) => <Failure of={error()} />}</Show>
      <div class="row muted">
        <span>{exactText(props.start)}</span>
        <span class="spacer" />
        <span>{durationText(last() - first())}</span>
        <span class="spacer" />
        <span>{isRunning() ? t('instance.timeline.now') : exactText(props.end!)}</span>
      </div>
      <ol ref={list} class="timeline plain-list" aria-label={t('instance.tab.timeline')} onKeyDown={onKeyDown}>
        <For each={rows()}>
          {(row, index) => (
            <li>
              <Show when={'item' in row && row.item} fallback={<ChangeRow change={(row as { change: AuditLogResult }).change} left={left(row)} />}>
                {(item) => (
                  <button class="plain" tabindex={index() === 0 ? 0 : -1} aria-pressed={isChosen(item())} onClick={() => props.onSelect(item())}>
                    <span class="what">
                      <State of={item().state} incident={item().hasIncident} /> {props.nameOf(item())}
                    </span>
                    <span class="length">{length(row)}</span>
                    <span class="track" title={`${exactText(item().startDate)} – ${item().endDate ? exactText(item().endDate!) : t('instance.timeline.now')}`}>
                      <span classList={{ span: true, running: row.end === undefined, incident: item().hasIncident }} style={{ left: `${left(row)}%`, width: `${width(row)}%` }} />
                    </span>
                  </button>
                )}
              </Show>
            </li>
          )}
        </For>
      </ol>
      <Show when={hidden() > 0}>
        <div>
          <button onClick={() => setLimit(limit() + PAGE)}>{count(hidden(), 'instance.timeline.more.one', 'instance.timeline.more.other')}</button>
        </div>
      </Show>
    </div>
  );
}

function ChangeRow(props: { change: AuditLogResult; left: number }): JSX.Element {
  const text = () => {
    const change = wordOf(props.change.operationType);
    const name = props.change.actorId;
    const isRefused = props.change.result === 'FAIL';
    if (name) return isRefused ? t('instance.timeline.changeByRefused', { change, name }) : t('instance.timeline.changeBy', { change, name });
    return isRefused ? t('instance.timeline.changeRefused', { change }) : change;
  };
  return (
    <div class="change">
      <span class="what">{text()}</span>
      <span class="length">{exactText(props.change.timestamp)}</span>
      <span class="track">
        <span class="mark" style={{ left: `${props.left}%` }} />
      </span>
    </div>
  );
}
