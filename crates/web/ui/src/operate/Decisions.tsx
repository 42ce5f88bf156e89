import { A, useSearchParams } from '@solidjs/router';
import { createUniqueId, For, type JSX, Show } from 'solid-js';
import { searchDecisionDefinitions, searchDecisionInstances } from '../api/generated/operations';
import type { DecisionInstanceResult } from '../api/generated/types';
import { DmnDiagram } from '../diagram/DmnDiagram';
import { t } from '../language';
import { useRead } from '../query';
import { State } from '../ui/parts';
import { type Column, Table, usePlace } from '../ui/Table';
import { Time } from '../ui/time';
import { Views } from '../views/Views';
import { decisionOf, type EvaluationQuery, instanceOf, toApi, versionOf } from './evaluations';

const SORTS = ['evaluationDate', 'decisionDefinitionName', 'decisionDefinitionVersion', 'state', 'processInstanceKey'] as const;
const PICKED = 200;
const CHIPS = ['processInstanceId', 'decisionInstanceIds', 'evaluationDateAfter', 'evaluationDateBefore', 'tenant', 'businessId'] as const satisfies readonly (keyof EvaluationQuery)[];
const columns = (): Column<DecisionInstanceResult>[] => [
  { head: t('lists.state'), cell: (row) => <State of={row.state} />, sort: 'state' },
  { head: t('lists.decision'), cell: (row) => row.decisionDefinitionName || row.decisionDefinitionId, sort: 'decisionDefinitionName' },
  {
    head: t('lists.key'),
    cell: (row) => (
      <A class="key" href={`/operate/decisions/${row.decisionEvaluationInstanceKey}`}>
        {row.decisionEvaluationInstanceKey}
      </A>
    ),
  },
  { head: t('lists.version'), cell: (row) => row.decisionDefinitionVersion, sort: 'decisionDefinitionVersion', class: 'number' },
  { head: t('lists.evaluated'), cell: (row) => <Time of={row.evaluationDate} />, sort: 'evaluationDate' },
  {
    head: t('lists.processInstance'),
    cell: (row) => (
      <Show when={instanceOf(row)} fallback="–">
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
      <div class="row">
        <h1>{t('page.Decisions')}</h1>
        <span class="spacer" />
        <Views page="operate/decisions" />
      </div>
      <div class="chips" role="search" aria-label={t('lists.filter')}>
        <input aria-label={t('lists.decision')} placeholder={t('lists.decisions.all')} list={list} value={decision() ?? ''} onChange={(event) => set({ decision: event.currentTarget.value.trim() || null, name: null, version: null })} />
        <datalist id={list}>
          <For each={decisions.data?.items}>{(one) => <option value={one.decisionDefinitionId}>{one.name}</option>}</For>
        </datalist>
        <Show when={(decisions.data?.page.totalItems ?? 0) > PICKED}>
          <span class="muted">{t('lists.decisions.firstOnly', { count: PICKED })}</span>
        </Show>
        <Show when={decision()}>
          <select aria-label={t('lists.version')} onChange={(event) => set({ version: event.currentTarget.value || null })}>
            <option value="">{t('lists.allVersions')}</option>
            <For each={versions.data?.items}>
              {(one) => (
                <option value={one.version} selected={one.version === version()}>
                  {t('lists.versionOf', { version: one.version })}
                </option>
              )}
            </For>
          </select>
        </Show>
        <button aria-pressed={query.evaluated === 'true'} class={query.evaluated === 'true' ? 'primary' : ''} onClick={() => toggle('evaluated')}>
          {t('lists.evaluated')}
        </button>
        <button aria-pressed={query.failed === 'true'} class={query.failed === 'true' ? 'primary' : ''} onClick={() => toggle('failed')}>
          {t('lists.failed')}
        </button>
        <For each={CHIPS.filter((name) => query[name])}>
          {(name) => (
            <span class="chip">
              <span>
                {t(`lists.decisions.by.${name}`)} {query[name]}
              </span>
              <button class="plain" aria-label={t('lists.filter.remove', { filter: t(`lists.decisions.by.${name}`) })} onClick={() => set({ [name]: null })}>
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
        <p class="failure">{t('lists.decisions.missing', { id: decision()! })}</p>
      </Show>
      <Table label={t('lists.evaluations')} query={found} columns={columns()} usual="evaluationDate:desc" empty={t('lists.decisions.noMatch')} />
    </main>
  );
}
