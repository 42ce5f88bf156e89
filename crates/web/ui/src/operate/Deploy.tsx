import { createSignal, For, type JSX, Show } from 'solid-js';
import { at } from '../base';
import { createDeployment } from '../api/generated/operations';
import type { DeploymentMetadataResult } from '../api/generated/types';
import { type Asked, plan } from '../api/http';
import { keepable } from '../api/sent';
import { t } from '../language';
import { refresh } from '../query';
import { need } from '../rights';
import { MayFiles, useMay } from '../ui/May';
import { intoSight } from '../ui/fit';
import { Failure } from '../ui/parts';
import { say } from '../ui/toast';
import { CopyCommands } from '../views/CopyAs';
import { definitionAddress } from './definition/address';
import { dropped } from './dropped';

const ENDINGS = ['.bpmn', '.dmn', '.form', '.xml'];

const describe = (one: DeploymentMetadataResult): { text: string; href?: string } | undefined => {
  const { processDefinition: process, decisionDefinition: decision, form } = one;
  if (process) {
    return {
      text: t('lists.deploy.process', { id: process.processDefinitionId, version: process.processDefinitionVersion }),
      href: definitionAddress({ ...process, version: process.processDefinitionVersion }),
    };
  }
  if (decision) return { text: t('lists.deploy.decision', { id: decision.decisionDefinitionId, version: decision.version }) };
  if (form) return { text: t('lists.deploy.form', { id: form.formId, version: form.version }) };
  if (one.resource) return { text: t('lists.deploy.resource', { id: one.resource.resourceId, version: one.resource.version }) };
  return undefined;
};

const isWanted = (name: string): boolean => ENDINGS.some((ending) => name.toLowerCase().endsWith(ending));

/** Files dropped or chosen, which go to the server as one deployment: all of them, or none. */
export function Deploy(): JSX.Element {
  const missing = useMay(() => need('RESOURCE', 'CREATE'));
  const [over, setOver] = createSignal(false);
  const [busy, setBusy] = createSignal(false);
  const [failure, setFailure] = createSignal<unknown>();
  const [deployed, setDeployed] = createSignal<DeploymentMetadataResult[]>([]);
  const [asked, setAsked] = createSignal<Asked>();
  const deploy = async (files: File[]) => {
    if (files.length === 0 || busy()) return;
    setBusy(true);
    setFailure(undefined);
    setDeployed([]);
    setAsked(undefined);
    try {
      const wrong = files.find(({ name }) => !isWanted(name));
      if (wrong) throw new Error(t('lists.deploy.wrongEnding', { name: wrong.name, endings: ENDINGS.join(', ') }));
      const empty = files.find(({ size }) => size === 0);
      if (empty) throw new Error(t('lists.deploy.empty', { name: empty.name }));
      const body = new FormData();
      for (const file of files) body.append('resources', file, file.name);
      const planned = plan(createDeployment, { body: body as never });
      setAsked(keepable(planned.asked));
      const result = await planned.send();
      setDeployed(result.deployments);
      await refresh();
    } catch (error) {
      setFailure(error);
    } finally {
      setBusy(false);
    }
  };
  const take = async (transfer: DataTransfer) => {
    try {
      const { files, empty } = await dropped(transfer, isWanted);
      if (empty[0] !== undefined) throw new Error(t('lists.deploy.emptyFolder', { name: empty[0] }));
      await deploy(files);
    } catch (error) {
      setFailure(error);
    }
  };
  return (
    <div
      class="panel stack"
      classList={{ drop: over() }}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        const reason = missing();
        if (reason !== undefined) say(reason, true);
        else if (event.dataTransfer) void take(event.dataTransfer);
      }}
    >
      <label class="row">
        <span>{t('lists.deploy.drop')}</span>
        <MayFiles missing={missing} accept={ENDINGS.join(',')} disabled={busy()} onFiles={deploy} />
      </label>
      <Show when={failure()}>
        {(error) => (
          <div ref={intoSight}>
            <Failure of={error()} />
          </div>
        )}
      </Show>
      <Show when={!busy() && asked()} keyed>
        {(one) => (
          <div class="row">
            <CopyCommands of={() => [one]} />
          </div>
        )}
      </Show>
      <Show when={deployed().length > 0}>
        <div ref={intoSight} role="status">
          <strong>{t('lists.deploy.done')}</strong>
          <ul class="plain-list">
            <For each={deployed().flatMap((one) => describe(one) ?? [])}>{(one) => <li>{one.href ? <a href={at(one.href)}>{one.text}</a> : one.text}</li>}</For>
          </ul>
        </div>
      </Show>
    </div>
  );
}
