import { A, useSearchParams } from '@solidjs/router';
import { createUniqueId, For, type JSX, Show } from 'solid-js';
import { searchDecisionDefinitions, searchDecisionInstances } from '../api/generated/operations';
import type { DecisionInstanceResult } from '../api/generated/types';
import { DmnDiagram } from '../diagram/DmnDiagram';
import { useRead } from '../query';
import { State } from '../ui/parts';
import { type Column, Table, usePlace } from '../ui/Table';
import { Time } from '../ui/time';
import { decisionOf, type EvaluationQuery, toApi, versionOf } from './evaluations';

const SORTS = ['evaluationDate', 'decisionDefinitionName', 'decisionDefinitionVersion', 'state', 'processInstanceKey'] as const;
const PICKED = 200;
const CHIPS: [keyof EvaluationQuery, string][] = [
  ['processInstanceId', 'process instance'],
  ['decisionInstanceIds', 'evaluations'],
  ['evaluationDateAfter', 'evaluated after'],
  ['evaluationDateBefore', 'evaluated before'],
  ['tenant', 'tenant'],
  ['businessId', 'business ID'],
];
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
  const [query, setQuery] = useSearchParams<EvaluationQuery & Record<string, string>>();
  const list = createUniqueId();
  const { sort, page } = usePlace(SORTS, { field: 'evaluationDate', order: 'DESC' });
  const version = () => versionOf(query);
  const decision = () => decisionOf(query);
  const found = useRead(searchDecisionInstances, () => ({ body: { filter: toApi(query), sort: sort(), page: page() }, live: true }));
  const decisions = useRead(searchDecisionDefinitions, () => ({ body: { filter: { isLatestVersion: true }, page: { limit: PICKED } } }));
  const versions = useRead(searchDecisionDefinitions, () => ({
    body: { filter: { decisionDefinitionId: decision() }, sort: [{ field: 'version' as const, order: 'DESC' as const }], page: { limit: 1000 } },
    enabled: decision() !== undefined,
    keep: false,
  }));
  const chosen = () => (decision() ? (versions.data?.items.find((one) => one.version === version()) ?? versions.data?.items[0]) : undefined);
  const set = (part: Record<string, string | null>) => setQuery({ ...part, after: null, before: null } as never);
  const toggle = (name: 'evaluated' | 'failed') => set({ [name]: query[name] === 'true' ? null : 'true' });
  return (
    <main class="page">
      <h1>Decisions</h1>
      <div class="chips" role="search" aria-label="Filter">
        <input aria-label="Decision" placeholder="All decisions" list={list} value={decision() ?? ''} onChange={(event) => set({ decision: event.currentTarget.value.trim() || null, name: null, version: null })} />
        <datalist id={list}>
          <For each={decisions.data?.items}>{(one) => <option value={one.decisionDefinitionId}>{one.name}</option>}</For>
        </datalist>
        <Show when={(decisions.data?.page.totalItems ?? 0) > PICKED}>
          <span class="muted">The list has the first {PICKED}; any other ID can be typed.</span>
        </Show>
        <Show when={decision()}>
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
        <For each={CHIPS.filter(([name]) => query[name])}>
          {([name, word]) => (
            <span class="chip">
              <span>
                {word} {query[name]}
              </span>
              <button class="plain" aria-label={`Remove filter: ${word}`} onClick={() => set({ [name]: null })}>
                ✕
              </button>
            </span>
          )}
        </For>
      </div>
      <Show when={chosen()} keyed>
        {(one) => <DmnDiagram requirementsKey={one.decisionRequirementsKey} decisionId={one.decisionDefinitionId} matched={[]} />}
      </Show>
      <Show when={decision() && versions.data?.items.length === 0}>
        <p class="failure">No decision has the ID {decision()}.</p>
      </Show>
      <Table label="Evaluations" query={found} columns={COLUMNS} usual="evaluationDate:desc" empty="No evaluation matches." />
    </main>
  );
}
