import { A } from '@solidjs/router';
import type { JSX } from 'solid-js';
import { createMappingRule, deleteMappingRule, searchMappingRule, updateMappingRule } from '../api/generated/operations';
import type { MappingRuleResult } from '../api/generated/types';
import { call } from '../api/http';
import { t } from '../language';
import { useRead } from '../query';
import { need } from '../rights';
import { type Column, Table, usePlace } from '../ui/Table';
import { type Answers, Create, Delete, Edit, type Input } from './Create';

const inputs = (of?: MappingRuleResult): Input[] => [
  { name: 'name', label: t('admin.name'), required: true, value: of?.name ?? '' },
  { name: 'claimName', label: t('admin.rules.claim'), required: true, value: of?.claimName ?? '', hint: t('admin.rules.claim.hint') },
  { name: 'claimValue', label: t('admin.rules.claimValue'), required: true, value: of?.claimValue ?? '' },
];
const body = (text: Answers) => ({ name: text('name'), claimName: text('claimName'), claimValue: text('claimValue') });

const columns = (): Column<MappingRuleResult>[] => [
  { head: t('admin.id'), cell: (row) => <A href={`/admin/access?kind=MAPPING_RULE&id=${encodeURIComponent(row.mappingRuleId)}`}>{row.mappingRuleId}</A>, sort: 'mappingRuleId' },
  { head: t('admin.name'), cell: (row) => row.name, sort: 'name' },
  { head: t('admin.rules.claim'), cell: (row) => row.claimName, sort: 'claimName' },
  { head: t('admin.value'), cell: (row) => row.claimValue, sort: 'claimValue' },
  {
    head: t('admin.actions'),
    cell: (row) => (
      <>
        <Edit needs={need('MAPPING_RULE', 'UPDATE', row.mappingRuleId)} what={row.mappingRuleId} inputs={() => inputs(row)} save={(text) => call(updateMappingRule, { path: { mappingRuleId: row.mappingRuleId }, body: body(text) })} />
        <Delete needs={need('MAPPING_RULE', 'DELETE', row.mappingRuleId)} what={row.mappingRuleId} effect={t('admin.effect.mappingRule')} do={() => call(deleteMappingRule, { path: { mappingRuleId: row.mappingRuleId } })} />
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
        <h1>{t('page.Mapping rules')}</h1>
        <span class="spacer" />
        <Create
          needs={need('MAPPING_RULE', 'CREATE')}
          label={t('admin.new.mappingRule')}
          inputs={[{ name: 'id', label: t('admin.id'), required: true }, ...inputs()]}
          create={(text) => call(createMappingRule, { body: { mappingRuleId: text('id').trim(), ...body(text) } })}
        />
      </div>
      <Table label={t('page.Mapping rules')} query={found} columns={columns()} usual="mappingRuleId:asc" empty={t('admin.none.mappingRules')} />
    </main>
  );
}
