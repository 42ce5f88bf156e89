// Both clients where credentials are asked for: by password and by token.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createCamundaClient } from '@camunda8/orchestration-cluster-api';
import { Camunda8 } from '@camunda8/sdk';
import { environment as e, model } from './server.js';

const options = { timeout: 60_000 };

const byPassword = (password = e('BATON_USER_PASSWORD')) => ({
  CAMUNDA_AUTH_STRATEGY: 'BASIC',
  CAMUNDA_BASIC_AUTH_USERNAME: e('BATON_USER'),
  CAMUNDA_BASIC_AUTH_PASSWORD: password,
});

const byToken = () => ({
  CAMUNDA_AUTH_STRATEGY: 'OAUTH',
  CAMUNDA_OAUTH_URL: e('BATON_TOKEN_URL'),
  CAMUNDA_CLIENT_ID: e('BATON_CLIENT_ID'),
  CAMUNDA_CLIENT_SECRET: e('BATON_CLIENT_SECRET'),
  CAMUNDA_TOKEN_AUDIENCE: e('BATON_AUDIENCE'),
});

const restClient = (kind, credentials) =>
  createCamundaClient({
    config: {
      CAMUNDA_REST_ADDRESS: e(`BATON_${kind}_REST_ADDRESS`),
      CAMUNDA_SDK_LOG_LEVEL: 'silent',
      ...credentials,
    },
  });

for (const [kind, credentials] of [['PASSWORD', byPassword], ['TOKEN', byToken]]) {
  test(`REST, ${kind}: does what is allowed and is told what is not`, options, async () => {
    const c = restClient(kind, credentials());
    const m = model('task');
    await c.deployResourcesFromFiles([m.file]);
    const { processInstanceKey } = await c.createProcessInstance({ processDefinitionId: m.id, variables: { a: 1 } });
    const request = { type: m.id, timeout: 60_000, maxJobsToActivate: 1, requestTimeout: 15_000 };
    const { jobs } = await c.activateJobs(request);
    assert.equal(jobs.length, 1);
    await assert.rejects(c.cancelProcessInstance({ processInstanceKey }), (error) => {
      assert.equal(error.name, 'HttpSdkError', error.stack);
      assert.equal(error.status, 403);
      return true;
    });
    await c.completeJob({ jobKey: jobs[0].jobKey });
    const filter = { processInstanceKey, state: 'COMPLETED' };
    const { items } = await c.searchProcessInstances(
      { filter },
      { consistency: { waitUpToMs: 20_000, predicate: (found) => found.items.length > 0 } },
    );
    assert.equal(items[0].processInstanceKey, processInstanceKey);
  });

  test(`gRPC, ${kind}: does what is allowed and is told what is not`, options, async () => {
    const c = new Camunda8({
      ZEEBE_GRPC_ADDRESS: `grpc://${e(`BATON_${kind}_GRPC_ADDRESS`)}`,
      CAMUNDA_TOKEN_DISK_CACHE_DISABLE: true,
      ZEEBE_CLIENT_ID: e('BATON_CLIENT_ID'),
      ZEEBE_CLIENT_SECRET: e('BATON_CLIENT_SECRET'),
      ZEEBE_TOKEN_AUDIENCE: e('BATON_AUDIENCE'),
      ...credentials(),
      zeebeGrpcSettings: { ZEEBE_CLIENT_LOG_LEVEL: 'NONE', ZEEBE_GRPC_CLIENT_RETRY: false },
    }).getZeebeGrpcApiClient();
    try {
      const m = model('task');
      await c.deployResource({ process: readFileSync(m.file), name: m.resource });
      const { processInstanceKey } = await c.createProcessInstance({ bpmnProcessId: m.id, variables: {} });
      const jobs = await c.activateJobs({
        type: m.id,
        worker: 'tester',
        timeout: 60_000,
        maxJobsToActivate: 1,
        requestTimeout: 15_000,
      });
      await c.completeJob({ jobKey: jobs[0].key, variables: {} });
      const next = await c.createProcessInstance({ bpmnProcessId: m.id, variables: {} });
      assert.notEqual(next.processInstanceKey, processInstanceKey);
      await assert.rejects(c.cancelProcessInstance(next.processInstanceKey), (error) => {
        assert.equal(error.code, 7, error.stack);
        return true;
      });
    } finally {
      await c.close();
    }
  });
}

test('a wrong password is told as such', options, async () => {
  const c = restClient('PASSWORD', byPassword('guess'));
  await assert.rejects(c.getTopology(), (error) => {
    assert.equal(error.status, 401, error.stack);
    return true;
  });
});
