// Groups, roles and tenants: each has an ID, a name, a description, and members behind its ID.
import { A } from '@solidjs/router';
import type { JSX } from 'solid-js';
import type { UseQueryResult } from '@tanstack/solid-query';
import type { ResourceTypeEnum, SearchQueryPageResponse } from '../api/generated/types';
import { t } from '../language';
import { need } from '../rights';
import { type Column, Table } from '../ui/Table';
import { type Answers, Create, Delete, Edit, type Input } from './Create';

/** Something with members, as the API has it. */
export interface Named {
  id: string;
  name: string;
  description: string;
}

const inputs = (of: Named): Input[] => [
  { name: 'name', label: t('admin.name'), required: true, value: of.name },
  { name: 'description', label: t('admin.description'), value: of.description },
];

/** The list of one kind, with the ways to create, change and delete. */
export function NamedPage<Row>(props: {
  resource: ResourceTypeEnum;
  title: string;
  /** The label of the button that creates one. */
  button: string;
  empty: string;
  path: string;
  id: string;
  query: UseQueryResult<{ items: Row[]; page: SearchQueryPageResponse }, Error>;
  of: (row: Row) => Named;
  create: (body: { id: string; name: string; description: string }) => Promise<unknown>;
  update: (id: string, body: { name: string; description: string }) => Promise<unknown>;
  remove: (id: string) => Promise<unknown>;
  effect: string;
}): JSX.Element {
  const body = (answers: Answers) => ({ name: answers('name'), description: answers('description') });
  const columns = (): Column<Row>[] => [
    { head: t('admin.id'), cell: (row) => <A href={`${props.path}/${encodeURIComponent(props.of(row).id)}`}>{props.of(row).id}</A>, sort: props.id },
    { head: t('admin.name'), cell: (row) => props.of(row).name, sort: 'name' },
    { head: t('admin.description'), cell: (row) => props.of(row).description || '–' },
    {
      head: t('admin.actions'),
      cell: (row) => {
        const one = props.of(row);
        return (
          <>
            <Edit needs={need(props.resource, 'UPDATE', one.id)} what={one.id} inputs={() => inputs(one)} save={(answers) => props.update(one.id, body(answers))} />
            <Delete needs={need(props.resource, 'DELETE', one.id)} what={one.id} effect={props.effect} do={() => props.remove(one.id)} />
          </>
        );
      },
    },
  ];
  return (
    <main class="page">
      <div class="row">
        <h1>{props.title}</h1>
        <span class="spacer" />
        <Create
          needs={need(props.resource, 'CREATE')}
          label={props.button}
          inputs={[{ name: 'id', label: t('admin.id'), required: true }, ...inputs({ id: '', name: '', description: '' })]}
          create={(answers) => props.create({ id: answers('id').trim(), ...body(answers) })}
        />
      </div>
      <Table label={props.title} query={props.query} columns={columns()} usual={`${props.id}:asc`} empty={props.empty} />
    </main>
  );
}
