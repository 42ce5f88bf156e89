import { A, useLocation, useNavigate } from '@solidjs/router';
import { createMemo, createSignal, For, type JSX, Show } from 'solid-js';
import { getProcessDefinitionStatistics, migrateProcessInstance, migrateProcessInstancesBatchOperation, searchProcessDefinitions, searchProcessInstances } from '../../api/generated/operations';
import type { ProcessDefinitionResult } from '../../api/generated/types';
import { plan } from '../../api/http';
import { BpmnDiagram } from '../../diagram/BpmnDiagram';
import { useModel } from '../../diagram/model';
import { refresh, useRead } from '../../query';
import { ofMigration } from '../../rights';
import { number, totalOf } from '../../ui/numbers';
import { Action, Dialog, Failure } from '../../ui/parts';
import { say } from '../../ui/toast';
import { CopyCommands } from '../../views/CopyAs';
import { type Filter, parse, toApi, write } from '../filters';
import { Sample } from '../Sample';
import { newIn, parseChoices, rowsOf, writeChoices } from './mapping';
import { MappingTable } from './MappingTable';
import { count, t } from '../../language';

const VERSIONS_MAX = 1000;
const PICKED = 100;

/** The definition of a process in a version, or its latest. */
function useDefinition(of: () => { process: string | undefined; version: number | undefined; tenant: string | undefined }) {
  const found = useRead(searchProcessDefinitions, () => ({
    body: {
      filter: { processDefinitionId: of().process, ...(of().version ? { version: of().version } : {}), ...(of().tenant ? { tenantId: of().tenant } : {}) },
      sort: [{ field: 'version' as const, order: 'DESC' as const }],
      page: { limit: 1 },
    },
    enabled: of().process !== undefined,
    keep: false,
  }));
  return found;
}

/** Process and version to choose, each searched on the server. */
function Picker(props: { label: string; process: string | undefined; version: number | undefined; onChange: (process: string | undefined, version: number | undefined) => void }): JSX.Element {
  const processes = useRead(searchProcessDefinitions, () => ({ body: { filter: { isLatestVersion: true }, sort: [{ field: 'name' as const, order: 'ASC' as const }], page: { limit: PICKED } } }));
  const versions = useRead(searchProcessDefinitions, () => ({
    body: { filter: { processDefinitionId: props.process }, sort: [{ field: 'version' as const, order: 'DESC' as const }], page: { limit: VERSIONS_MAX } },
    enabled: props.process !== undefined,
    keep: false,
  }));
  return (
    <div class="row">
      <strong>{props.label}</strong>
      <input aria-label={t('change.migrate.processOf', { side: props.label })} list={`${props.label}-processes`} placeholder={t('change.migrate.processId')} value={props.process ?? ''} onChange={(event) => props.onChange(event.currentTarget.value.trim() || undefined, undefined)} />
      <datalist id={`${props.label}-processes`}>
        <For each={processes.data?.items}>{(one) => <option value={one.processDefinitionId}>{one.name ?? ''}</option>}</For>
      </datalist>
      <select aria-label={t('change.migrate.versionOf', { side: props.label })} disabled={props.process === undefined} onChange={(event) => props.onChange(props.process, Number(event.currentTarget.value) || undefined)}>
        <option value="">{t('change.migrate.chooseVersion')}</option>
        <For each={versions.data?.items}>
          {(one) => (
            <option value={one.version} selected={one.version === props.version}>
              {t('change.migrate.version', { version: one.version })}
              {one.versionTag ? ` (${one.versionTag})` : ''}
            </option>
          )}
        </For>
      </select>
    </div>
  );
}

/** Migration: instances of one definition go on in another. The whole plan is in the URL. */
export default function Migrate(): JSX.Element {
  const location = useLocation();
  const navigate = useNavigate();
  const url = () => new URLSearchParams(location.search);
  const filter = createMemo<Filter>(() => {
    const found = parse(url());
    return found.states.size > 0 || found.keys.length > 0 ? found : { ...found, states: new Set(['active', 'incidents']) };
  });
  const choices = createMemo(() => parseChoices(url().getAll('map')));
  const [selected, setSelected] = createSignal<string>();
  const latest = useDefinition(() => ({ process: filter().process, version: undefined, tenant: filter().tenant }));
  const target = () => {
    const process = url().get('target') ?? filter().process;
    const named = Number(url().get('targetVersion')) || undefined;
    const newest = latest.data?.items[0]?.version;
    // Without a choice it is the latest version, unless the instances have that already.
    const usual = process === filter().process && newest !== undefined && newest !== filter().version ? newest : undefined;
    return { process, version: named ?? usual, tenant: filter().tenant };
  };
  const source = useDefinition(() => ({ process: filter().version ? filter().process : undefined, version: filter().version, tenant: filter().tenant }));
  const aim = useDefinition(() => ({ ...target(), process: target().version ? target().process : undefined }));
  const from = (): ProcessDefinitionResult | undefined => (filter().version ? source.data?.items[0] : undefined);
  const to = (): ProcessDefinitionResult | undefined => (target().version ? aim.data?.items[0] : undefined);
  const isSame = () => from() !== undefined && from()?.processDefinitionKey === to()?.processDefinitionKey;
  const [sourceModel, targetModel] = [useModel(from), useModel(to)];
  const rows = createMemo(() => {
    const [one, other] = [sourceModel(), targetModel()];
    return one && other && !isSame() ? rowsOf(one, other, choices()) : [];
  });
  const counts = useRead(getProcessDefinitionStatistics, () => ({
    path: { processDefinitionKey: from()?.processDefinitionKey ?? '' },
    body: { filter: toApi({ ...filter(), element: undefined }, false) as never },
    enabled: from() !== undefined,
    live: true,
  }));
  const byElement = createMemo(() => new Map(counts.data?.items.map((one) => [one.elementId, one])));
  const tokensOn = (id: string) => (byElement().get(id)?.active ?? 0) + (byElement().get(id)?.incidents ?? 0);
  const show = (next: { filter?: Filter; target?: string | undefined; targetVersion?: number | undefined; choices?: ReadonlyMap<string, string> }) => {
    const written = write(next.filter ?? filter());
    const process = 'target' in next ? next.target : (url().get('target') ?? undefined);
    const version = 'targetVersion' in next ? next.targetVersion : url().get('targetVersion');
    if (process) written.set('target', process);
    if (version) written.set('targetVersion', String(version));
    for (const one of writeChoices(next.choices ?? choices())) written.append('map', one);
    navigate(`/operate/migrate?${written}`, { replace: true, scroll: false });
  };
  const map = (id: string, target: string | undefined) => show({ choices: new Map(choices()).set(id, target ?? '') });
  const wrong = () => rows().filter((row) => row.problems.length > 0);
  const stranded = () => rows().filter((row) => row.target === undefined && tokensOn(row.source.id) > 0);
  const isSingle = () => filter().keys.length === 1;
  const blocked = () => {
    if (rows().length === 0) return t('change.migrate.first');
    if (wrong().length > 0) return count(wrong().length, 'change.migrate.impossible.one', 'change.migrate.impossible.other');
    if (isSingle() && stranded().length > 0) return t('change.migrate.stranded', { elements: stranded().map((row) => row.source.name || row.source.id).join(', ') });
    return undefined;
  };
  return (
    <main class="page">
      <h1>{t('change.migrate.title')}</h1>
      <p class="muted">{t('change.migrate.text')}</p>
      <div class="halves even">
        <section class="stack" aria-label={t('change.migrate.source')}>
          <Picker label={t('change.from')} process={filter().process} version={filter().version} onChange={(process, version) => show({ filter: { ...filter(), process, version }, choices: new Map() })} />
          <Show when={from()?.processDefinitionKey} keyed>
            {(key) => (
              <BpmnDiagram
                definitionKey={key}
                counts={byElement()}
                marks={{ mapped: rows().filter((row) => row.target && row.problems.length === 0).map((row) => row.source.id), incident: [...wrong(), ...stranded()].map((row) => row.source.id) }}
                selected={selected()}
                onSelect={setSelected}
              />
            )}
          </Show>
        </section>
        <section class="stack" aria-label={t('change.migrate.target')}>
          <Picker label={t('change.to')} process={target().process} version={target().version} onChange={(process, version) => show({ target: process, targetVersion: version, choices: new Map() })} />
          <Show when={to()?.processDefinitionKey} keyed>
            {(key) => (
              <BpmnDiagram
                definitionKey={key}
                marks={{ mapped: rows().flatMap((row) => (row.target && row.problems.length === 0 ? [row.target] : [])) }}
                selected={rows().find((row) => row.source.id === selected())?.target}
                onSelect={(id) => selected() && id && map(selected()!, id)}
              />
            )}
          </Show>
        </section>
      </div>
      <Show when={isSame()}>
        <p class="failure">{t('change.migrate.same')}</p>
      </Show>
      <Show when={source.error ?? aim.error ?? counts.error}>{(error) => <Failure of={error()} />}</Show>
      <Show when={rows().length > 0}>
        <MappingTable rows={rows()} source={sourceModel()!} target={targetModel()!} tokensOn={tokensOn} selected={selected()} onSelect={setSelected} onMap={map} />
        <Show when={newIn(targetModel()!, rows()).length > 0}>
          <p class="muted">{t('change.migrate.onlyTarget', { elements: newIn(targetModel()!, rows()).map((one) => one.name || one.id).join(', ') })}</p>
        </Show>
        <Show when={stranded().length > 0}>
          <p class="failure">
            {t('change.migrate.unmapped', { elements: stranded().map((row) => `${row.source.name || row.source.id} (${number(tokensOn(row.source.id))})`).join(', ') })}
          </p>
        </Show>
      </Show>
      <Plan filter={filter()} to={to()} rows={rows().filter((row) => row.target !== undefined).map((row) => ({ sourceElementId: row.source.id, targetElementId: row.target! }))} blocked={blocked()} isSingle={isSingle()} />
    </main>
  );
}

/** What will happen, how often, and the command. */
function Plan(props: { filter: Filter; to: ProcessDefinitionResult | undefined; rows: { sourceElementId: string; targetElementId: string }[]; blocked: string | undefined; isSingle: boolean }): JSX.Element {
  const navigate = useNavigate();
  const [asking, setAsking] = createSignal(false);
  const [failure, setFailure] = createSignal<unknown>();
  const api = () => toApi({ ...props.filter, element: undefined });
  const found = useRead(searchProcessInstances, () => ({ body: { filter: api(), page: { limit: 1 } }, enabled: props.filter.version !== undefined, live: true }));
  const migrationPlan = () => ({ targetProcessDefinitionKey: props.to!.processDefinitionKey, mappingInstructions: props.rows });
  const one = () => plan(migrateProcessInstance, { path: { processInstanceKey: props.filter.keys[0]! }, body: migrationPlan() });
  const many = () => plan(migrateProcessInstancesBatchOperation, { body: { filter: api(), migrationPlan: migrationPlan() } });
  const run = async () => {
    setFailure(undefined);
    try {
      if (props.isSingle) {
        const [key] = props.filter.keys;
        await one().send();
        await refresh();
        navigate(`/operate/processes/${key}`);
        say(t('change.migrate.done'));
      } else {
        const { batchOperationKey } = await many().send();
        await refresh();
        navigate(`/operate/batch-operations/${encodeURIComponent(batchOperationKey)}`);
      }
    } catch (error) {
      setAsking(false);
      setFailure(error);
    }
  };
  const list = () => `/operate/processes?${write(props.filter)}`;
  return (
    <>
      <Show when={failure()}>{(error) => <Failure of={error()} />}</Show>
      <div class="row">
        <Show when={props.filter.version !== undefined}>
          <A href={list()}>{totalOf(found.data?.page, 'change.migrate.match.one', 'change.migrate.match.other')}</A>
        </Show>
        <span class="muted" role="status">
          {props.blocked ?? ''}
        </span>
        <span class="spacer" />
        <Action class="primary" disabled={props.blocked !== undefined || (found.data?.page.totalItems ?? 0) === 0} needs={ofMigration(props.isSingle, props.filter.process, props.to?.processDefinitionId)} do={() => setAsking(true)}>
          {t('change.migrate.migrate')}
        </Action>
      </div>
      <Show when={asking()}>
        <Dialog title={t('change.migrate.ask')} onClose={() => setAsking(false)} wide>
          <p>
            {t('change.migrate.ask.before')} <strong>{props.to?.name || props.to?.processDefinitionId}</strong>
            {count(props.rows.length, 'change.migrate.ask.after.one', 'change.migrate.ask.after.other', { version: props.to?.version ?? '' })}
          </p>
          <Sample filter={api()} />
          <div class="actions">
            <CopyCommands of={() => [(props.isSingle ? one() : many()).asked]} />
            <button onClick={() => setAsking(false)}>{t('change.back')}</button>
            <Action class="primary" do={run}>
              {props.isSingle ? t('change.migrate.runOne') : totalOf(found.data?.page, 'change.migrate.runMany.one', 'change.migrate.runMany.other')}
            </Action>
          </div>
        </Dialog>
      </Show>
    </>
  );
}
