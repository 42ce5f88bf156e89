import { A, useParams, useSearchParams } from '@solidjs/router';
import { createMemo, createSignal, For, type JSX, Show } from 'solid-js';
import { getProcessDefinitionDurations } from '../api/generated/operations';
import type { BatonDuration, BatonDurations } from '../api/generated/types';
import { BpmnDiagram } from '../diagram/BpmnDiagram';
import type { Diagram } from '../diagram/bpmn';
import { t } from '../language';
import { definitionAddress } from '../operate/definition/address';
import { TenantChoice } from '../operate/definition/TenantChoice';
import { useVersions } from '../operate/definition/versions';
import { useRead } from '../query';
import { number } from '../ui/numbers';
import { Failure, Field } from '../ui/parts';
import { exactText, localText, momentOf } from '../ui/times';
import { DurationTable } from './DurationTable';
import { Hours } from './Hours';
import { heats } from './heat';
import { isMeasure, type Measure, MEASURE_NAMES, valueOf } from './measures';

/** Where the figures are from. */
function sourceText(told: BatonDurations): string {
  const count = number(told.sampled);
  if (told.source === 'COUNTERS') {
    const counted = told.countedSince ? t('history.durations.countedSince', { count, moment: exactText(told.countedSince) }) : t('history.durations.counted', { count });
    return [counted, ...(told.isComplete ? [] : [t('history.durations.moreCounters')]), t('history.durations.quarter')].join(' ');
  }
  return t(told.isComplete ? 'history.durations.all' : 'history.durations.latest', { count });
}

/** Where the instances of a process spend their time: a table of its elements, and heat on its diagram. */
export default function Performance(): JSX.Element {
  const params = useParams<{ id: string }>();
  const id = () => decodeURIComponent(params.id);
  const [query, setQuery] = useSearchParams<{ version: string; tenant: string; by: string; from: string; to: string; element: string }>();
  const by = (): Measure => (isMeasure(query.by) ? query.by : 'totalMs');
  const [from, to] = [() => momentOf(query.from), () => momentOf(query.to)];
  const { found: definitions, tenants, tenant, versions, chosen, isMissing } = useVersions(id, query);
  const key = () => chosen()?.processDefinitionKey;
  const found = useRead(getProcessDefinitionDurations, () => ({
    path: { processDefinitionKey: key() ?? '' },
    body: { ...(from() ? { from: from()! } : {}), ...(to() ? { to: to()! } : {}), ...(query.element ? { elementId: query.element } : {}) },
    enabled: key() !== undefined,
    live: true,
  }));
  const [diagram, setDiagram] = createSignal<Diagram>();
  const nameOf = (elementId: string) => diagram()?.nameOf(elementId) ?? elementId;
  const value = (one: BatonDuration) => valueOf(one, by()) ?? 0;
  const rows = createMemo(() => [...(found.data?.items ?? [])].sort((a, b) => value(b) - value(a)));
  const heat = createMemo(() => heats(rows().map((one) => [one.elementId, value(one)] as const)));
  const counts = createMemo(() => new Map(rows().map((one) => [one.elementId, { completed: one.count }])));
  const setMoment = (name: 'from' | 'to', value: string) => setQuery({ [name]: value === '' ? null : new Date(value).toISOString() });
  return (
    <main class="page">
      <Show when={definitions.error}>{(error) => <Failure of={error()} again={() => void definitions.refetch()} />}</Show>
      <Show when={isMissing()}>
        <h1>{t('history.durations.missing')}</h1>
        <p>{t('history.durations.missing.text', { id: id().slice(0, 200) })}</p>
      </Show>
      <Show when={chosen()}>
        {(one) => (
          <>
            <div class="row">
              <h1>{t('history.durations.of', { name: one().name || one().processDefinitionId })}</h1>
              <A href={definitionAddress(one())}>{one().processDefinitionId}</A>
              <TenantChoice tenants={tenants()} chosen={tenant()} choose={(tenant) => setQuery({ tenant, version: null })} />
              <select aria-label={t('history.durations.version')} onChange={(event) => setQuery({ version: event.currentTarget.value })}>
                <For each={versions()}>
                  {(other) => (
                    <option value={other.version} selected={other.version === one().version}>
                      {t('history.durations.versionOne', { version: other.version })}
                    </option>
                  )}
                </For>
              </select>
            </div>
            <div class="row">
              <Field label={t('history.durations.heat')}>
                <select value={by()} onChange={(event) => setQuery({ by: event.currentTarget.value })}>
                  <For each={MEASURE_NAMES}>{(name) => <option value={name}>{t(`history.measure.${name}`)}</option>}</For>
                </select>
              </Field>
              <Field label={t('history.durations.from')}>
                <input type="datetime-local" value={localText(from())} onChange={(event) => setMoment('from', event.currentTarget.value)} />
              </Field>
              <Field label={t('history.durations.before')}>
                <input type="datetime-local" value={localText(to())} onChange={(event) => setMoment('to', event.currentTarget.value)} />
              </Field>
            </div>
            <Show when={key()} keyed>
              {(definitionKey) => (
                <BpmnDiagram definitionKey={definitionKey} counts={counts()} marks={heat()} selected={query.element} onSelect={(element) => setQuery({ element: element ?? null }, { replace: true })} onDrawn={setDiagram} />
              )}
            </Show>
            <Show when={found.error}>{(error) => <Failure of={error()} again={() => void found.refetch()} />}</Show>
            <Show when={found.data} fallback={<Show when={!found.error}><p class="empty">{t('part.loading')}</p></Show>}>
              {(told) => (
                <Show when={rows().length > 0} fallback={<p class="empty">{t(from() || to() ? 'history.durations.noneThen' : 'history.durations.none')}</p>}>
                  <p class="muted" role="status">
                    {sourceText(told())}
                  </p>
                  <DurationTable rows={rows()} measure={by()} chosen={query.element} nameOf={nameOf} />
                  <Hours hours={told().hours} measure={by()} of={query.element ? nameOf(query.element) : one().name || one().processDefinitionId} />
                </Show>
              )}
            </Show>
          </>
        )}
      </Show>
    </main>
  );
}
