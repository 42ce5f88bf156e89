// Permissions of actions, as the engine has them.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startSources } from '../sources.mjs';

let vite;
let rights;
before(async () => {
  vite = await startSources();
  rights = await vite.ssrLoadModule('/src/rights.ts');
});
after(() => vite?.close());

const TASK = { userTaskKey: '7', processDefinitionId: 'p', assignee: 'ann', candidateUsers: ['bob'], candidateGroups: ['clerks'] };
const words = (needs) => needs.map((anyOf) => anyOf.map(({ resourceType, permissionType, resourceId }) => [resourceType, permissionType, resourceId ?? '*'].join(' ')));

test('a task names its assignee, its candidates and the members of its groups', () => {
  for (const [who, expected] of [
    [{ username: 'ann', groups: [] }, ['assignee']],
    [{ username: 'bob', groups: ['clerks'] }, ['candidateUsers', 'candidateGroups']],
    [{ username: 'eve', groups: ['others'] }, []],
    [undefined, []],
  ]) {
    assert.deepEqual(rights.propertiesOf(TASK, who), expected);
  }
  assert.deepEqual(rights.propertiesOf({ ...TASK, assignee: null }, undefined), [], 'nobody is not the one who has no name');
});

test('a claim or a completion takes its own permission or that to change the task, of the process or of the task', () => {
  const of = (what) => words(rights.ofTask(what, TASK, { username: 'ann', groups: [] }));
  assert.deepEqual(of('update'), [['PROCESS_DEFINITION UPDATE_USER_TASK p', 'USER_TASK UPDATE 7']]);
  assert.deepEqual(of('claim'), [['PROCESS_DEFINITION CLAIM_USER_TASK p', 'PROCESS_DEFINITION UPDATE_USER_TASK p', 'USER_TASK CLAIM 7', 'USER_TASK UPDATE 7']]);
  assert.deepEqual(of('complete'), [['PROCESS_DEFINITION COMPLETE_USER_TASK p', 'PROCESS_DEFINITION UPDATE_USER_TASK p', 'USER_TASK COMPLETE 7', 'USER_TASK UPDATE 7']]);
});

test('a migration takes the source or a batch operation, and the target; batch operations take theirs or the one for all kinds', () => {
  assert.deepEqual(words(rights.ofMigration(true, 'a', 'b')), [['PROCESS_DEFINITION UPDATE_PROCESS_INSTANCE a'], ['PROCESS_DEFINITION UPDATE_PROCESS_INSTANCE b']]);
  assert.deepEqual(words(rights.ofMigration(false, 'a', 'b')), [['BATCH CREATE_BATCH_OPERATION_MIGRATE_PROCESS_INSTANCE *', 'BATCH CREATE *'], ['PROCESS_DEFINITION UPDATE_PROCESS_INSTANCE b']]);
});

test('of a process that is not known yet, nothing is asked', () => {
  for (const unknown of [undefined, '']) assert.deepEqual(rights.ofProcess('UPDATE_PROCESS_INSTANCE', unknown), []);
  assert.deepEqual(words(rights.ofMigration(true, 'a', undefined)), [['PROCESS_DEFINITION UPDATE_PROCESS_INSTANCE a']]);
});

test('a variable of an element may be that of a task', () => {
  assert.deepEqual(words(rights.ofVariable('p', true)), [['PROCESS_DEFINITION UPDATE_PROCESS_INSTANCE p']]);
  assert.deepEqual(words(rights.ofVariable('p', false)), [['PROCESS_DEFINITION UPDATE_PROCESS_INSTANCE p', 'PROCESS_DEFINITION UPDATE_USER_TASK p']]);
});
