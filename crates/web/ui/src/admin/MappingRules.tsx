import { A } from '@solidjs/router';
import type { JSX } from 'solid-js';
import { createMappingRule, deleteMappingRule, searchMappingRule, updateMappingRule } from '../api/generated/operations';
import type { MappingRuleResult } from '../api/generated/types';
import { call } from '../api/http';
import { useRead } from '../query';
import { type Column, Table, usePlace } from '../ui/Table';
import { type Answers, Create, Delete, Edit, type Input } from './Create';

const inputs = (of?: MappingRuleResult): Input[] => [
  { name: 'name', label: 'Name', required: true, value: of?.name ?? '' },
  { name: 'claimName', label: 'Claim', required: true, value: of?.claimName ?? '', hint: 'Name or path of a claim of the token.' },
  { name: 'claimValue', label: 'Value of the claim', required: true, value: of?.claimValue ?? '' },
];
const body = (text: Answers) => ({ name: text('name'), claimName: text('claimName'), claimValue: text('claimValue') });

const COLUMNS: Column<MappingRuleResult>[] = [
  { head: 'ID', cell: (row) => <A href={`/admin/access?kind=MAPPING_RULE&id=${encodeURIComponent(row.mappingRuleId)}`}>{row.mappingRuleId}</A>, sort: 'mappingRuleId' },
  { head: 'Name', cell: (row) => row.name, sort: 'name' },
  { head: 'Claim', cell: (row) => row.claimName, sort: 'claimName' },
  { head: 'Value', cell: (row) => row.claimValue, sort: 'claimValue' },
  {
    head: 'Actions',
    cell: (row) => (
      <>
        <Edit what={row.mappingRuleId} inputs={() => inputs(row)} save={(text) => call(updateMappingRule, { path: { mappingRuleId: row.mappingRuleId }, body: body(text) })} />
        <Delete what={row.mappingRuleId} effect="Tokens with this claim lose what the rule gives them." do={() => call(deleteMappingRule, { path: { mappingRuleId: row.mappingRuleId } })} />
      </>
    ),
  },
];

/** Mapping rules: a claim of a token, and what it makes of its holder. */
export default function MappingRules(): JSX.Element {
  const { sort, page } = usePlace(['mappingRuleId', 'name', 'claimName', 'claimValue'] as const, { field: 'mappingRuleId', order: 'ASC' });
  const found = useRead(searchMappingRule, () => ({ body: { sort: sort(), page: page() }, live: true }));
  return (
    <main class="page">
      <div class="row">
        <h1>Mapping rules</h1>
        <span class="spacer" />
        <Create
          what="mapping rule"
          inputs={[{ name: 'id', label: 'ID', required: true }, ...inputs()]}
          create={(text) => call(createMappingRule, { body: { mappingRuleId: text('id').trim(), ...body(text) } })}
        />
      </div>
      <Table label="Mapping rules" query={found} columns={COLUMNS} usual="mappingRuleId:asc" empty="There are no mapping rules, or none that you may see." />
    </main>
  );
}
