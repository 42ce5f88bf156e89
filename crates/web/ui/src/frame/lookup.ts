// The owner of a key or an ID: all kinds are asked at once, and each that knows it is a way to go.
import {
  getBatchOperation,
  getDecisionDefinition,
  getIncident,
  getProcessDefinition,
  getProcessInstance,
  getElementInstance,
  searchJobs,
  getUserTask,
  searchDecisionDefinitions,
  searchProcessDefinitions,
  searchProcessInstances,
} from '../api/generated/operations';
import { call } from '../api/http';

export interface Hit {
  label: string;
  detail: string;
  href: string;
}

const LIMIT = 5;
const none = (): Hit[] => [];

function byKey(key: string, signal: AbortSignal): Promise<Hit[]>[] {
  return [
    call(getProcessInstance, { path: { processInstanceKey: key }, signal }).then((one) => [
      { label: `Process instance ${key}`, detail: one.processDefinitionName || one.processDefinitionId, href: `/operate/processes/${key}` },
    ]),
    call(getProcessDefinition, { path: { processDefinitionKey: key }, signal }).then((one) => [
      { label: `Process ${one.name || one.processDefinitionId}, version ${one.version}`, detail: key, href: definitionLink(one) },
    ]),
    call(getIncident, { path: { incidentKey: key }, signal }).then((one) => [
      { label: `Incident ${key}`, detail: one.errorMessage, href: `/operate/processes/${one.processInstanceKey}/incidents` },
    ]),
    call(getElementInstance, { path: { elementInstanceKey: key }, signal }).then((one) => [
      { label: `Element instance ${key}`, detail: one.elementName || one.elementId, href: `/operate/processes/${one.processInstanceKey}?element=${encodeURIComponent(one.elementId)}` },
    ]),
    call(getUserTask, { path: { userTaskKey: key }, signal }).then((one) => [
      { label: `Task ${one.name || one.elementId}`, detail: key, href: `/tasklist/${key}` },
    ]),
    call(searchJobs, { body: { filter: { jobKey: key } }, signal }).then(({ items }) =>
      items.map((one) => ({ label: `Job ${key}`, detail: one.type, href: `/operate/processes/${one.processInstanceKey}/jobs` })),
    ),
    call(getDecisionDefinition, { path: { decisionDefinitionKey: key }, signal }).then((one) => [
      { label: `Decision ${one.name}, version ${one.version}`, detail: key, href: `/operate/decisions?decision=${encodeURIComponent(one.decisionDefinitionId)}&version=${one.version}` },
    ]),
  ];
}

const definitionLink = (one: { processDefinitionId: string; version: number }): string =>
  `/operate/definitions/${encodeURIComponent(one.processDefinitionId)}?version=${one.version}`;

function byText(text: string, signal: AbortSignal): Promise<Hit[]>[] {
  const part = { $like: `*${text.replace(/[\\*?]/g, '\\$&')}*` };
  const page = { limit: LIMIT };
  return [
    call(searchProcessDefinitions, { body: { filter: { isLatestVersion: true, processDefinitionId: part }, page }, signal }).then(({ items }) =>
      items.map((one) => ({ label: `Process ${one.name || one.processDefinitionId}`, detail: one.processDefinitionId, href: definitionLink(one) })),
    ),
    call(searchProcessDefinitions, { body: { filter: { isLatestVersion: true, name: part }, page }, signal }).then(({ items }) =>
      items.map((one) => ({ label: `Process ${one.name || one.processDefinitionId}`, detail: one.processDefinitionId, href: definitionLink(one) })),
    ),
    call(searchDecisionDefinitions, { body: { filter: { decisionDefinitionId: text }, page }, signal }).then(({ items }) =>
      items.map((one) => ({ label: `Decision ${one.name}, version ${one.version}`, detail: one.decisionDefinitionId, href: `/operate/decisions?decision=${encodeURIComponent(one.decisionDefinitionId)}` })),
    ),
    call(searchProcessInstances, { body: { filter: { businessId: text }, page }, signal }).then(({ items }) =>
      items.map((one) => ({ label: `Process instance ${one.processInstanceKey}`, detail: `business ID ${text}`, href: `/operate/processes/${one.processInstanceKey}` })),
    ),
    call(getBatchOperation, { path: { batchOperationKey: text }, signal }).then((one) => [
      { label: `Batch operation ${text}`, detail: one.batchOperationType, href: `/operate/batch-operations/${encodeURIComponent(text)}` },
    ]),
  ];
}

/** Everything that the text names and the user may see; the rest is left out. */
export async function lookUp(text: string, signal: AbortSignal): Promise<Hit[]> {
  const asked = /^\d{4,19}$/.test(text) ? [...byKey(text, signal), ...byText(text, signal)] : byText(text, signal);
  const hits = (await Promise.all(asked.map((one) => one.catch(none)))).flat();
  return [...new Map(hits.map((hit) => [hit.href, hit])).values()];
}
