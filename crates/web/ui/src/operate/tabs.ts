// Numbers on the tabs of an instance: each counts the rows that the tab has.
import type { Accessor } from 'solid-js';
import { searchAgentInstances, searchJobs, searchMessageSubscriptions, searchProcessInstanceIncidents, searchProcessInstances } from '../api/generated/operations';
import { useRead } from '../query';

const ONE = { limit: 1 };

export function useTabCounts(key: Accessor<string>, isRunning: Accessor<boolean>) {
  const incidents = useRead(searchProcessInstanceIncidents, () => ({ path: { processInstanceKey: key() }, body: { filter: { state: { $neq: 'RESOLVED' as const } }, page: ONE }, live: isRunning() }));
  const jobs = useRead(searchJobs, () => ({ body: { filter: { processInstanceKey: key() }, page: ONE }, live: isRunning() }));
  const messages = useRead(searchMessageSubscriptions, () => ({ body: { filter: { processInstanceKey: key() }, page: ONE }, live: isRunning() }));
  const called = useRead(searchProcessInstances, () => ({ body: { filter: { parentProcessInstanceKey: key() }, page: ONE }, live: isRunning() }));
  const agents = useRead(searchAgentInstances, () => ({ body: { filter: { processInstanceKey: key() }, page: ONE }, live: isRunning() }));
  return {
    incidents: () => incidents.data?.page.totalItems ?? 0,
    jobs: () => jobs.data?.page.totalItems ?? 0,
    messages: () => messages.data?.page.totalItems ?? 0,
    called: () => called.data?.page.totalItems ?? 0,
    agents: () => agents.data?.page.totalItems ?? 0,
  };
}
