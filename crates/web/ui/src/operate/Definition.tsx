import { A, useNavigate, useParams, useSearchParams } from '@solidjs/router';
import { createMemo, createSignal, For, type JSX, lazy, Show } from 'solid-js';
import { deleteResource, getProcessDefinitionStatistics, searchProcessInstances } from '../api/generated/operations';
import { call } from '../api/http';
import { BpmnDiagram } from '../diagram/BpmnDiagram';
import { useModel } from '../diagram/model';
import { t } from '../language';
import { useTitle } from '../frame/title';
import { refresh, useRead } from '../query';
import { need, ofBatch, ofProcess } from '../rights';
import { MayLink } from '../ui/May';
import { total, totalOf } from '../ui/numbers';
import { Action, Copy, Dialog, Failure } from '../ui/parts';
import { say } from '../ui/toast';
import { definitionAddress, instancesAddress } from './definition/address';
import { heatMarks, HEATS, HeatTable, useHeat } from './definition/Heat';
import { TenantChoice } from './definition/TenantChoice';
import { useVersions, VERSIONS_MAX } from './definition/versions';
import { RUNNING, RUNNING_QUERY } from './filters';

const Differences = lazy(() => import('./definition/Differences'));
const StartDialog = lazy(() => import('./definition/StartDialog'));

/** A process with its versions: diagram, running instances, start and deletion. */
export default function Definition(): JSX.Element {
  const params = useParams<{ id: string }>();
  const id = () => decodeURIComponent(params.id);
  const navigate = useNavigate();
  const [query, setQuery] = useSearchParams<{ version: string; compare: string; heat: string; tenant: string }>();
  const [deleting, setDeleting] = createSignal(false);
  const [starting, setStarting] = createSignal(false);
  const [withHistory, setWithHistory] = createSignal(false);
  const { found, tenants, tenant, versions, chosen, isCut, isMissing } = useVersions(id, query);
  const key = () => chosen()?.processDefinitionKey;
  const counts = useRead(getProcessDefinitionStatistics, () => ({
    path: { processDefinitionKey: key() ?? '' },
    body: { filter: query.heat === 'passed' ? {} : RUNNING },
    enabled: key() !== undefined,
    live: true,
  }));
  const running = useRead(searchProcessInstances, () => ({
    body: { filter: { processDefinitionKey: key(), ...RUNNING }, page: { limit: 1 } },
    enabled: key() !== undefined,
    live: true,
  }));
  const byElement = createMemo(() => new Map(counts.data?.items.map((one) => [one.elementId, one])));
  const model = useModel(chosen);
  useTitle(() => chosen()?.name || id());
  const compared = () => (query.compare && query.compare !== String(chosen()?.version) ? versions().find((one) => String(one.version) === query.compare) : undefined);
  const heatKind = () => HEATS.find((one) => one === query.heat);
  const heat = useHeat(heatKind, key, () => counts.data?.items ?? []);
  const shown = () => ({ processDefinitionId: id(), version: chosen()?.version ?? '', tenantId: tenant() ?? '' });
  const list = (more: string) => instancesAddress('/operate/processes', shown(), more);
  const remove = async () => {
    await call(deleteResource, { path: { resourceKey: key()! }, body: withHistory() ? { deleteHistory: true } : {} });
    setDeleting(false);
    await refresh();
    say(t('lists.deleted'));
    if (versions().length === 0) navigate('/operate/definitions');
    else setQuery({ version: null });
  };
  return (
    <main class="page">
      <Show when={found.error}>{(error) => <Failure of={error()} again={() => void found.refetch()} />}</Show>
      <Show when={isMissing()}>
        <h1>{t('start.missing')}</h1>
        <p>{t('start.missing.text', { id: id().slice(0, 200) })}</p>
      </Show>
      <Show when={chosen()}>
        {(one) => (
          <>
            <div class="row">
              <h1>{one().name || one().processDefinitionId}</h1>
              <span class="muted">{one().processDefinitionId}</span>
              <TenantChoice tenants={tenants()} chosen={tenant()} choose={(tenant) => setQuery({ tenant, version: null, compare: null })} />
              <select aria-label={t('lists.version')} onChange={(event) => setQuery({ version: event.currentTarget.value })}>
                <For each={versions()}>
                  {(other) => (
                    <option value={other.version} selected={other.version === one().version}>
                      {t('lists.versionOf', { version: other.version })}
                      {other.versionTag ? ` (${other.versionTag})` : ''}
                    </option>
                  )}
                </For>
              </select>
              <Show when={isCut()}>
                <span class="muted">{t('lists.definition.latestOnly', { count: VERSIONS_MAX })}</span>
              </Show>
              <span class="key">
                {one().processDefinitionKey}
                <Copy text={one().processDefinitionKey} />
              </span>
              <span class="spacer" />
              <A href={list(RUNNING_QUERY)}>{t('lists.definition.running', { count: total(running.data?.page) })}</A>
              <A href={definitionAddress(one(), '/durations')}>{t('lists.definition.durations')}</A>
              <Action disabled={!model()} needs={ofProcess('CREATE_PROCESS_INSTANCE', id())} do={() => setStarting(true)}>
                {t('start.start')}
              </Action>
              <MayLink class="button" needs={ofProcess('UPDATE_PROCESS_INSTANCE', id())} href={instancesAddress('/operate/migrate', shown(), RUNNING_QUERY)}>
                {t('lists.definition.migrate')}
              </MayLink>
              <Action class="danger" needs={need('RESOURCE', 'DELETE_PROCESS', id())} do={() => setDeleting(true)}>
                {t('lists.delete')}
              </Action>
            </div>
            <div class="row">
              <label class="row">
                {t('lists.definition.colour')}
                <select onChange={(event) => setQuery({ heat: event.currentTarget.value || null })}>
                  <option value="">{t('lists.nothing')}</option>
                  <For each={HEATS}>
                    {(kind) => (
                      <option value={kind} selected={heatKind() === kind}>
                        {t(`lists.heat.${kind}`)}
                      </option>
                    )}
                  </For>
                </select>
              </label>
              <Show when={versions().length > 1}>
                <label class="row">
                  {t('lists.definition.compare')}
                  <select onChange={(event) => setQuery({ compare: event.currentTarget.value || null })}>
                    <option value="">{t('lists.nothing')}</option>
                    <For each={versions().filter((other) => other.version !== one().version)}>
                      {(other) => (
                        <option value={other.version} selected={other.version === compared()?.version}>
                          {other.version}
                        </option>
                      )}
                    </For>
                  </select>
                </label>
              </Show>
            </div>
            <Show when={compared()}>
              {(other) => <Differences before={other().version < one().version ? other() : one()} after={other().version < one().version ? one() : other()} />}
            </Show>
            <Show when={compared() ? undefined : key()} keyed>
              {(definitionKey) => (
                <BpmnDiagram
                  definitionKey={definitionKey}
                  counts={byElement()}
                  marks={heatMarks(heat.values())}
                  onSelect={(element) => element && navigate(list(`${RUNNING_QUERY}&elementId=${encodeURIComponent(element)}`))}
                />
              )}
            </Show>
            <Show when={compared() ? undefined : heatKind()} keyed>
              {(kind) => <HeatTable kind={kind} values={heat.values()} nameOf={(element) => model()?.nameOf(element) ?? element} isCut={heat.isCut()} error={heat.error()} />}
            </Show>
            <Show when={starting() && model()}>{(model) => <StartDialog definition={one()} model={model()} onClose={() => setStarting(false)} />}</Show>
            <Show when={deleting()}>
              <Dialog title={t('lists.definition.deleteTitle', { version: one().version })} onClose={() => setDeleting(false)}>
                <p>{totalOf(running.data?.page, 'lists.definition.deleteText.one', 'lists.definition.deleteText.other', { process: one().name || one().processDefinitionId, version: one().version })}</p>
                <label class="row">
                  <input type="checkbox" onChange={(event) => setWithHistory(event.currentTarget.checked)} /> {t('lists.definition.withHistory')}
                </label>
                <div class="actions">
                  <button onClick={() => setDeleting(false)}>{t('lists.definition.keep')}</button>
                  <Action class="danger" needs={withHistory() ? ofBatch('DELETE_PROCESS_DEFINITION') : []} do={remove}>
                    {t('lists.definition.delete', { version: one().version })}
                  </Action>
                </div>
              </Dialog>
            </Show>
          </>
        )}
      </Show>
    </main>
  );
}
