// The owner of a key or an ID, as the server knows it, and processes and decisions whose name has the text in it.
import { searchAnything, searchProcessDefinitions } from '../api/generated/operations';
import type { BatonFound } from '../api/generated/types';
import { call } from '../api/http';
import { t } from '../language';
import { definitionAddress } from '../operate/definition/address';

export interface Hit {
  label: string;
  detail: string;
  href: string;
}

const LIMIT = 5;
const TEXT_MAX = 256;
const none = (): Hit[] => [];
const escaped = encodeURIComponent;

/** A way to what was found. Forms and the like have no page of their own. */
function hitOf({ kind, key, name, processDefinitionId, processInstanceKey, elementId, state, tenantId }: BatonFound, text: string): Hit[] {
  const of = `/operate/processes/${processInstanceKey}`;
  const detail = [name ?? processDefinitionId, state].filter((one) => one !== null).join(', ').slice(0, 300);
  switch (kind) {
    case 'PROCESS_INSTANCE':
      return [{ label: t('frame.hit.instance', { key }), detail: key === text ? detail : t('frame.hit.businessId', { id: text, detail }), href: `/operate/processes/${key}` }];
    case 'ELEMENT_INSTANCE':
      return [{ label: t('frame.hit.elementInstance', { key }), detail, href: `${of}?element=${escaped(elementId ?? '')}` }];
    case 'INCIDENT':
      return [{ label: t('frame.hit.incident', { key }), detail, href: `${of}/incidents` }];
    case 'JOB':
      return [{ label: t('frame.hit.job', { key }), detail, href: `${of}/jobs` }];
    case 'VARIABLE':
      return [{ label: t('frame.hit.variable', { key }), detail, href: `${of}/variables` }];
    case 'USER_TASK':
      return [{ label: t('frame.hit.task', { name: name || elementId || key }), detail: key, href: `/tasklist/${key}` }];
    case 'PROCESS_DEFINITION':
      return [{ label: t('frame.hit.process', { name: name || processDefinitionId || key }), detail: processDefinitionId ?? key, href: definitionAddress({ processDefinitionId: processDefinitionId ?? '', ...(tenantId === null ? {} : { tenantId }) }) }];
    case 'DECISION_DEFINITION':
      return [{ label: t('frame.hit.decision', { name: name || processDefinitionId || key }), detail: key, href: `/operate/decisions?decision=${escaped(processDefinitionId ?? '')}` }];
    case 'DECISION_INSTANCE':
      return [{ label: t('frame.hit.decisionInstance', { key }), detail, href: `/operate/decisions/${escaped(key)}` }];
    case 'BATCH_OPERATION':
      return [{ label: t('frame.hit.batch', { key }), detail, href: `/operate/batch-operations/${escaped(key)}` }];
    case 'FORM':
      return [];
  }
}

/** Processes with the text in their ID or name. */
function byPart(property: 'processDefinitionId' | 'name', text: string, signal: AbortSignal): Promise<Hit[]> {
  const part = { $like: `*${text.replace(/[\\*?]/g, '\\$&')}*` };
  return call(searchProcessDefinitions, { body: { filter: { isLatestVersion: true, [property]: part }, page: { limit: LIMIT } }, signal }).then(({ items }) =>
    items.map((one) => ({ label: t('frame.hit.process', { name: one.name || one.processDefinitionId }), detail: one.processDefinitionId, href: definitionAddress({ processDefinitionId: one.processDefinitionId, tenantId: one.tenantId }) })),
  );
}

/** Everything that the text names and the user may see; the rest is left out. */
export async function lookUp(text: string, signal: AbortSignal): Promise<Hit[]> {
  const wanted = text.slice(0, TEXT_MAX);
  const known = call(searchAnything, { path: { text: wanted }, signal }).then(({ items }) => items.flatMap((one) => hitOf(one, wanted)));
  const hits = (await Promise.all([known, byPart('processDefinitionId', wanted, signal), byPart('name', wanted, signal)].map((one) => one.catch(none)))).flat();
  return [...new Map(hits.map((hit) => [hit.href, hit])).values()];
}
