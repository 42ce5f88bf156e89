// Makes TypeScript of the contract that the server validates requests by: a type for each schema, a value for each
// operation.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';

const UI = new URL('../', import.meta.url);
const CONTRACTS = ['contract', 'baton'].map((name) => new URL(`../../gateway/api/${name}.json`, UI));
const TARGET = new URL('src/api/generated/', UI);

/** A schema as a type. */
function type(schema) {
  if (!schema) return 'void';
  const plain = () => {
    if (schema.$ref) return `T.${schema.$ref}`;
    if (schema.oneOf) return union(schema.oneOf.map(type));
    switch (schema.type) {
      case 'string':
        if (schema.format === 'binary') return 'Blob';
        return schema.enum ? union(schema.enum.filter((value) => value !== null).map((value) => JSON.stringify(value))) : 'string';
      case 'integer':
      case 'number':
        return 'number';
      case 'boolean':
        return 'boolean';
      case 'array':
        return `Array<${type(schema.items)}>`;
      case 'object':
        return object(schema);
      case undefined:
        return 'unknown';
      default:
        throw new Error(`no type is known for ${JSON.stringify(schema)}`);
    }
  };
  return schema.nullable ? `${plain()} | null` : plain();
}

const union = (types) => `(${[...new Set(types)].join(' | ')})`;

function object(schema) {
  const properties = Object.entries(schema.properties ?? {});
  if (properties.length === 0) {
    return `Record<string, ${typeof schema.additionalProperties === 'object' ? type(schema.additionalProperties) : 'unknown'}>`;
  }
  const required = new Set(schema.required ?? []);
  const members = properties.map(([name, of]) => `${JSON.stringify(name)}${required.has(name) ? '' : '?'}: ${type(of)}`);
  return `{ ${members.join('; ')} }`;
}

function operation({ id, method, path, pathParameters = [], queryParameters = [], body, responses }) {
  const record = (parameters, isRequired) =>
    parameters.length === 0
      ? '{}'
      : `{ ${parameters.map((one) => `${JSON.stringify(one.name)}${isRequired(one) ? '' : '?'}: ${type(one.schema)}`).join('; ')} }`;
  const results = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([, schema]) => type(schema));
  const parts = [record(pathParameters, () => true), record(queryParameters, (one) => one.required), body ? type(body.schema) : 'void', union(results)];
  return `export const ${id} = /* @__PURE__ */ operation<${parts.join(', ')}>(${JSON.stringify(method)}, ${JSON.stringify(path)});`;
}

export function writeTypes() {
  const contracts = CONTRACTS.map((file) => JSON.parse(readFileSync(file, 'utf8')));
  const operations = contracts.flatMap((contract) => contract.operations);
  const schemas = Object.assign({}, ...contracts.map((contract) => contract.schemas));
  mkdirSync(TARGET, { recursive: true });
  const head = '// Generated of crates/gateway/api/ by scripts/types.mjs.\n';
  const types = Object.entries(schemas).map(([name, schema]) => `export type ${name} = ${type(schema)};`);
  writeFileSync(new URL('types.ts', TARGET), `${head}import type * as T from './types';\n\n${types.join('\n')}\n`);
  const values = operations.filter((one) => /^\/(v2|baton)\//.test(one.path)).map(operation);
  const imports = "import { operation } from '../operation';\nimport type * as T from './types';\n\n";
  writeFileSync(new URL('operations.ts', TARGET), `${head}${imports}${values.join('\n')}\n`);
}
