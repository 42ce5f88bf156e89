import { createSignal, type JSX, lazy, Show } from 'solid-js';
import type { IncidentResult } from '../api/generated/types';
import { t } from '../language';
import { ofProcess } from '../rights';
import { Menu } from '../ui/Menu';
import { Action, Copy, Dialog } from '../ui/parts';
import { say } from '../ui/toast';
import { resolvedKey, retryOne } from './act/resolve';

const ResolveDialog = lazy(() => import('./act/ResolveDialog'));

/** Work on one of a list's incidents: menus for its rows, and the dialogs that they open, which outlive rows. */
export function useIncidentWork(again: () => Promise<void>): { menu: (one: IncidentResult) => JSX.Element; dialogs: () => JSX.Element } {
  const [repairing, setRepairing] = createSignal<IncidentResult>();
  const [shown, setShown] = createSignal<IncidentResult>();
  const retry = async (one: IncidentResult) => {
    await retryOne(one);
    await again();
    say(t(resolvedKey(one)));
  };
  const menu = (one: IncidentResult) => {
    const needs = ofProcess('UPDATE_PROCESS_INSTANCE', one.processDefinitionId);
    return (
      <Menu button={t('incident.actions')} label={t('incident.actionsOn', { key: one.incidentKey })}>
        <Action class="plain" needs={needs} do={() => retry(one)}>{t('incident.retry')}</Action>
        <Action class="plain" needs={needs} do={() => setRepairing(one)}>{t('incident.repair')}</Action>
        <Action class="plain" do={() => setShown(one)}>{t('incident.message')}</Action>
      </Menu>
    );
  };
  const dialogs = () => (
    <>
      <Show when={repairing()}>{(one) => <ResolveDialog incident={one()} onClose={() => setRepairing(undefined)} onDone={again} />}</Show>
      <Show when={shown()}>
        {(one) => (
          <Dialog title={t('incident.message.title')} onClose={() => setShown(undefined)} wide>
            <Copy text={one().errorMessage} label={t('incident.message.title')} />
            <pre tabindex="0">{one().errorMessage}</pre>
          </Dialog>
        )}
      </Show>
    </>
  );
  return { menu, dialogs };
}
