// The server under test, named by the environment, and the models it is given.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const environment = (name) => {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set; run tests/clients/run.py`);
  return value;
};

export const restAddress = () => environment('BATON_REST_ADDRESS');
export const grpcAddress = () => environment('BATON_GRPC_ADDRESS');

/** A model under an ID of its own, so that no test meets another one's jobs or messages. */
export function model(name) {
  const id = `node-${name}-${randomUUID()}`;
  const folder = mkdtempSync(join(tmpdir(), 'baton-clients-'));
  const text = (resource) =>
    readFileSync(join(environment('BATON_CLIENT_MODELS'), resource), 'utf8').replaceAll('@ID@', id);
  /** Another file that belongs to the model, under the same ID. */
  const fileOf = (resource) => {
    const file = join(folder, resource);
    writeFileSync(file, text(resource));
    return file;
  };
  const resource = `${name}.bpmn`;
  return { id, resource, xml: text(resource), file: fileOf(resource), fileOf };
}
