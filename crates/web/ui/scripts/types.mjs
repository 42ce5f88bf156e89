// Makes TypeScript of the contract that the server validates requests by: a type for each schema, a value for each
// operation with its kind and its topics, and a type of the codes of problems.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';

const UI = new URL('../', import.meta.url);
const CONTRACTS = ['contract', 'baton'].map((name) => new URL(`../../gateway/api/${name}.json`, UI));
const FACTS = new URL('../../gateway/api/operations.json', UI);
const PROBLEMS = new URL('../../../docs/problems.md', UI);
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

/** Kinds and topics, one for each operation. */
function factsOf(operations) {
  const facts = new Map(Object.entries(JSON.parse(readFileSync(FACTS, 'utf8'))));
  const ids = new Set(operations.map(({ id }) => id));
  const wrong = [
    ...[...ids].filter((id) => !facts.has(id)).map((id) => `${id} has no kind`),
    ...[...facts.keys()].filter((id) => !ids.has(id)).map((id) => `${id} is no operation`),
    ...[...facts].filter(([, [kind, topics]]) => !(kind === 'change' ? topics === undefined : ['read', 'search'].includes(kind) && typeof topics === 'string')).map(([id]) => `${id} has neither a kind nor topics that are known`),
  ];
  if (wrong.length > 0) throw new Error(`crates/gateway/api/operations.json: ${wrong.join('; ')}`);
  return facts;
}

/** Codes of problems, as the table of their page has them. */
function codes() {
  const found = [...readFileSync(PROBLEMS, 'utf8').matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, code]) => JSON.stringify(code));
  if (found.length === 0) throw new Error('docs/problems.md has no codes');
  return union(found);
}

function operation({ id, method, path, pathParameters = [], queryParameters = [], body, responses }, [kind, topics]) {
  const record = (parameters, isRequired) =>
    parameters.length === 0
      ? '{}'
      : `{ ${parameters.map((one) => `${JSON.stringify(one.name)}${isRequired(one) ? '' : '?'}: ${type(one.schema)}`).join('; ')} }`;
  const results = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([, schema]) => type(schema));
  const parts = [record(pathParameters, () => true), record(queryParameters, (one) => one.required), body ? type(body.schema) : 'void', union(results)];
  const values = (kind === 'change' ? [method, path] : [method, path, kind, topics]).map((value) => JSON.stringify(value));
  return `export const ${id} = /* @__PURE__ */ ${kind === 'change' ? kind : 'read'}<${parts.join(', ')}>(${values.join(', ')});`;
}

export function writeTypes() {
  const contracts = CONTRACTS.map((file) => JSON.parse(readFileSync(file, 'utf8')));
  const operations = contracts.flatMap((contract) => contract.operations);
  const schemas = Object.assign({}, ...contracts.map((contract) => contract.schemas));
  mkdirSync(TARGET, { recursive: true });
  const head = '// Generated of crates/gateway/api/ by scripts/types.mjs.\n';
  const types = Object.entries(schemas).map(([name, schema]) => `export type ${name} = ${type(schema)};`);
  writeFileSync(new URL('types.ts', TARGET), `${head}import type * as T from './types';\n\n${types.join('\n')}\n`);
  writeFileSync(new URL('problems.ts', TARGET), `// Generated of docs/problems.md by scripts/types.mjs.\nexport type ProblemCode = ${codes()};\n`);
  const facts = factsOf(operations);
  const values = operations.filter((one) => /^\/(v2|baton)\//.test(one.path)).map((one) => operation(one, facts.get(one.id)));
  const imports = "import { change, read } from '../operation';\nimport type * as T from './types';\n\n";
  writeFileSync(new URL('operations.ts', TARGET), `${head}${imports}${values.join('\n')}\n`);
}
