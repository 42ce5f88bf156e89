// The server under test, named by the environment, and the models it is given.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const environment = (name) => {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set; run tests/clients/run.py`);
  return value;
};

export const restAddress = () => environment('BATON_REST_ADDRESS');
export const grpcAddress = () => environment('BATON_GRPC_ADDRESS');

/** A model under an ID of its own, so that no test meets another one's jobs or messages. */
export function model(name) {
  const id = `node-${name}-${randomUUID()}`;
  const resource = `${name}.bpmn`;
  const xml = readFileSync(join(environment('BATON_CLIENT_MODELS'), resource), 'utf8').replaceAll('@ID@', id);
  const file = join(mkdtempSync(join(tmpdir(), 'baton-clients-')), resource);
  writeFileSync(file, xml);
  return { id, resource, xml, file };
}
