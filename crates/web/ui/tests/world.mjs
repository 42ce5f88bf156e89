// A server of two tenants with people of each kind, and something of everything in it. What some of them must not see says SECRET.
import { bpmn, search, until } from './server.mjs';

export const PASSWORD = 'a-long-password';
/** An administrator; one who may look at everything; one who looks after one process; one who does tasks; one who may nothing. */
export const PEOPLE = ['root', 'auditor', 'op', 'clerk', 'nobody'];

const user = (name) => `  - { username: ${name}, password: ${PASSWORD}, name: ${name}, email: ${name}@example.com }`;
const may = (owner, type, id, permissions) => `  - { owner_type: USER, owner_id: ${owner}, resource_type: ${type}, resource_id: "${id}", permissions: [${permissions}] }`;

/** Where users are the issuer's, none are made. */
export const identities = (hasUsers) => `${hasUsers ? `users:\n${PEOPLE.map(user).join('\n')}\n` : ''}
groups:
  - { id: clerks, users: [clerk] }
roles:
  - { id: admin, users: [root] }
  - { id: readonly-admin, users: [auditor] }
  - { id: task-worker, users: [clerk] }
tenants:
  - { id: north, users: [root, auditor, op, clerk] }
  - { id: south, users: [root, auditor] }
authorizations:
${may('op', 'COMPONENT', 'operate', 'ACCESS')}
${may('op', 'PROCESS_DEFINITION', 'mine', 'READ_PROCESS_DEFINITION, READ_PROCESS_INSTANCE, UPDATE_PROCESS_INSTANCE, CANCEL_PROCESS_INSTANCE')}
${may('clerk', 'COMPONENT', 'tasklist', 'ACCESS')}
`;

const chore = (name) => bpmn('chore', [['user', 'do', undefined, name]], { name });

/** Puts something of everything into a server, and tells the keys of it. */
export async function fill(server, root) {
  const deploy = async (tenantId, name, text) => {
    const form = new FormData();
    form.append('resources', new Blob([text]), `${name}.bpmn`);
    form.append('tenantId', tenantId);
    const { deployments } = await server.rest('POST', '/v2/deployments', form, root);
    return deployments[0].processDefinition.processDefinitionKey;
  };
  const start = async (processDefinitionId, tenantId, variables, businessId) =>
    (await server.rest('POST', '/v2/process-instances', { processDefinitionId, tenantId, variables, businessId }, root)).processInstanceKey;
  const fail = async (type, tenantId, errorMessage) => {
    const { jobs } = await server.rest('POST', '/v2/jobs/activation', { type, tenantIds: [tenantId], timeout: 60_000, maxJobsToActivate: 1, requestTimeout: 5000 }, root);
    await server.rest('POST', `/v2/jobs/${jobs[0].jobKey}/failure`, { retries: 0, errorMessage }, root);
  };
  const mineDefinition = await deploy('north', 'mine', bpmn('mine', [['job', 'work', 'work', 'Work']], { name: 'Mine' }));
  await deploy('south', 'mine', bpmn('mine', [['job', 'work', 'work', 'SECRET work']], { name: 'SECRET south' }));
  const theirsDefinition = await deploy('north', 'theirs', bpmn('theirs', [['job', 'work', 'SECRET-type', 'SECRET work']], { name: 'SECRET theirs' }));
  await deploy('north', 'chore', chore('Chore'));
  await deploy('north', 'other', bpmn('other', [['user', 'do', undefined, 'SECRET chore']], { name: 'SECRET other' }));
  await deploy('south', 'chore', chore('SECRET chore'));
  const keys = {
    mineDefinition,
    theirsDefinition,
    mine: await start('mine', 'north', { amount: 1 }, 'B-mine'),
    south: await start('mine', 'south', { SECRET_amount: 'SECRET' }, 'B-south'),
    theirs: await start('theirs', 'north', { SECRET_amount: 'SECRET' }, 'B-theirs'),
  };
  await fail('work', 'north', 'out of paper');
  await fail('work', 'south', 'SECRET failure');
  await fail('SECRET-type', 'north', 'SECRET failure');
  for (const [name, process, tenant, candidate] of [['chore', 'chore', 'north', 'clerk'], ['otherTask', 'other', 'north', undefined], ['southTask', 'chore', 'south', 'clerk']]) {
    const processInstanceKey = await start(process, tenant, candidate && tenant === 'north' ? { amount: 1 } : { SECRET_amount: 'SECRET' });
    const task = await until(async () => (await search(server, 'user-tasks', { processInstanceKey }, {}, root)).items[0], 'its task is found');
    keys[name] = task.userTaskKey;
    if (candidate) await server.rest('PATCH', `/v2/user-tasks/${task.userTaskKey}`, { changeset: { candidateUsers: [candidate] } }, root);
  }
  await server.rest('POST', '/v2/cluster-variables/global', { name: 'limit', value: 1 }, root);
  await until(async () => (await search(server, 'incidents', {}, {}, root)).page.totalItems === 3, 'the incidents are found');
  await until(async () => (await search(server, 'user-tasks', { candidateUser: 'clerk' }, {}, root)).page.totalItems === 2, 'the candidates are found');
  return keys;
}

/** What REST tells the administrator of everything that people might have changed. */
export async function picture(server, root) {
  const all = {};
  for (const what of ['process-instances', 'process-definitions', 'user-tasks', 'incidents', 'jobs', 'users', 'groups', 'roles', 'authorizations', 'batch-operations']) {
    all[what] = (await search(server, what, {}, { page: { limit: 100 } }, root)).items.map((one) => JSON.stringify(one)).sort();
  }
  return all;
}
