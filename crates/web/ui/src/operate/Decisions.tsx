import { A, useSearchParams } from '@solidjs/router';
import { createUniqueId, For, type JSX, Show } from 'solid-js';
import { searchDecisionDefinitions, searchDecisionInstances } from '../api/generated/operations';
import type { DecisionInstanceResult } from '../api/generated/types';
import { DmnDiagram } from '../diagram/DmnDiagram';
import { useRead } from '../query';
import { State } from '../ui/parts';
import { type Column, Table, usePlace } from '../ui/Table';
import { Time } from '../ui/time';

const SORTS = ['evaluationDate', 'decisionDefinitionName', 'decisionDefinitionVersion', 'state', 'processInstanceKey'] as const;
const PICKED = 200;
const COLUMNS: Column<DecisionInstanceResult>[] = [
  { head: 'State', cell: (row) => <State of={row.state} />, sort: 'state' },
  { head: 'Decision', cell: (row) => row.decisionDefinitionName || row.decisionDefinitionId, sort: 'decisionDefinitionName' },
  {
    head: 'Key',
    cell: (row) => (
      <A class="key" href={`/operate/decisions/${row.decisionEvaluationInstanceKey}`}>
        {row.decisionEvaluationInstanceKey}
      </A>
    ),
  },
  { head: 'Version', cell: (row) => row.decisionDefinitionVersion, sort: 'decisionDefinitionVersion', class: 'number' },
  { head: 'Evaluated', cell: (row) => <Time of={row.evaluationDate} />, sort: 'evaluationDate' },
  {
    head: 'Process instance',
    cell: (row) => (
      <Show when={row.processInstanceKey} fallback="–">
        {(key) => (
          <A class="key" href={`/operate/processes/${key()}`}>
            {key()}
          </A>
        )}
      </Show>
    ),
    sort: 'processInstanceKey',
  },
];

/** Evaluations of decisions, and the decision that is chosen. */
export default function Decisions(): JSX.Element {
  const [query, setQuery] = useSearchParams<{ decision: string; version: string; evaluated: string; failed: string; processInstanceId: string }>();
  const list = createUniqueId();
  const { sort, page } = usePlace(SORTS, { field: 'evaluationDate', order: 'DESC' });
  const version = () => Number(query.version) || undefined;
  const state = () => (query.failed === 'true' && query.evaluated !== 'true' ? 'FAILED' : query.evaluated === 'true' && query.failed !== 'true' ? 'EVALUATED' : undefined);
  const found = useRead(searchDecisionInstances, () => ({
    body: {
      filter: {
        ...(query.decision ? { decisionDefinitionId: query.decision } : {}),
        ...(query.decision && version() ? { decisionDefinitionVersion: version() } : {}),
        ...(state() ? { state: state() as 'FAILED' | 'EVALUATED' } : {}),
        ...(/^\d{1,19}$/.test(query.processInstanceId ?? '') ? { processInstanceKey: query.processInstanceId } : {}),
      },
      sort: sort(),
      page: page(),
    },
    live: true,
  }));
  const decisions = useRead(searchDecisionDefinitions, () => ({ body: { filter: { isLatestVersion: true }, page: { limit: PICKED } } }));
  const versions = useRead(searchDecisionDefinitions, () => ({
    body: { filter: { decisionDefinitionId: query.decision }, sort: [{ field: 'version' as const, order: 'DESC' as const }], page: { limit: 1000 } },
    enabled: Boolean(query.decision),
    keep: false,
  }));
  const chosen = () => (query.decision ? (versions.data?.items.find((one) => one.version === version()) ?? versions.data?.items[0]) : undefined);
  const set = (part: Record<string, string | null>) => setQuery({ ...part, after: null, before: null } as never);
  const toggle = (name: 'evaluated' | 'failed') => set({ [name]: query[name] === 'true' ? null : 'true' });
  return (
    <main class="page">
      <h1>Decisions</h1>
      <div class="chips" role="search" aria-label="Filter">
        <input aria-label="Decision" placeholder="All decisions" list={list} value={query.decision ?? ''} onChange={(event) => set({ decision: event.currentTarget.value.trim() || null, version: null })} />
        <datalist id={list}>
          <For each={decisions.data?.items}>{(one) => <option value={one.decisionDefinitionId}>{one.name}</option>}</For>
        </datalist>
        <Show when={(decisions.data?.page.totalItems ?? 0) > PICKED}>
          <span class="muted">The list has the first {PICKED}; any other ID can be typed.</span>
        </Show>
        <Show when={query.decision}>
          <select aria-label="Version" onChange={(event) => set({ version: event.currentTarget.value || null })}>
            <option value="">All versions</option>
            <For each={versions.data?.items}>
              {(one) => (
                <option value={one.version} selected={one.version === version()}>
                  Version {one.version}
                </option>
              )}
            </For>
          </select>
        </Show>
        <button aria-pressed={query.evaluated === 'true'} class={query.evaluated === 'true' ? 'primary' : ''} onClick={() => toggle('evaluated')}>
          Evaluated
        </button>
        <button aria-pressed={query.failed === 'true'} class={query.failed === 'true' ? 'primary' : ''} onClick={() => toggle('failed')}>
          Failed
        </button>
        <Show when={query.processInstanceId}>
          <span class="chip">
            <span>process instance {query.processInstanceId}</span>
            <button class="plain" aria-label="Remove filter: process instance" onClick={() => set({ processInstanceId: null })}>
              ✕
            </button>
          </span>
        </Show>
      </div>
      <Show when={chosen()} keyed>
        {(one) => <DmnDiagram requirementsKey={one.decisionRequirementsKey} decisionId={one.decisionDefinitionId} matched={[]} />}
      </Show>
      <Show when={query.decision && versions.data?.items.length === 0}>
        <p class="failure">No decision has the ID {query.decision}.</p>
      </Show>
      <Table label="Evaluations" query={found} columns={COLUMNS} usual="evaluationDate:desc" empty="No evaluation matches." />
    </main>
  );
}
