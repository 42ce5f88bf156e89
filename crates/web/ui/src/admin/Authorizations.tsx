import { createSignal, For, type JSX, Show } from 'solid-js';
import { createAuthorization, deleteAuthorization, searchAuthorizations } from '../api/generated/operations';
import type { AuthorizationResult, OwnerTypeEnum, PermissionTypeEnum, ResourceTypeEnum } from '../api/generated/types';
import { call } from '../api/http';
import { refresh, useRead } from '../query';
import { Dialog, Failure, Field, wordOf } from '../ui/parts';
import { type Column, Table, usePlace } from '../ui/Table';
import { say } from '../ui/toast';
import { Delete } from './Create';
import { PERMISSIONS } from './permissions';

const OWNERS: OwnerTypeEnum[] = ['USER', 'GROUP', 'ROLE', 'CLIENT', 'MAPPING_RULE'];
const COLUMNS: Column<AuthorizationResult>[] = [
  { head: 'Owner', cell: (row) => `${wordOf(row.ownerType)} ${row.ownerId}`, sort: 'ownerId' },
  { head: 'Resource', cell: (row) => wordOf(row.resourceType), sort: 'resourceType' },
  { head: 'ID', cell: (row) => row.resourceId || row.resourcePropertyName || '–', sort: 'resourceId' },
  { head: 'Permissions', cell: (row) => row.permissionTypes.map(wordOf).join(', ') },
  {
    head: '',
    cell: (row) => (
      <Delete what={`the authorization of ${row.ownerId}`} effect="The owner may do no more what it permits." do={() => call(deleteAuthorization, { path: { authorizationKey: row.authorizationKey } })} />
    ),
  },
];

/** Authorizations: owners and their permissions. */
export default function Authorizations(): JSX.Element {
  const [creating, setCreating] = createSignal(false);
  const { sort, page } = usePlace(['ownerId', 'resourceType', 'resourceId'] as const, { field: 'ownerId', order: 'ASC' });
  const found = useRead(searchAuthorizations, () => ({ body: { sort: sort(), page: page() }, live: true }));
  return (
    <main class="page">
      <div class="row">
        <h1>Authorizations</h1>
        <span class="spacer" />
        <button class="primary" onClick={() => setCreating(true)}>
          New authorization
        </button>
      </div>
      <Table label="Authorizations" query={found} columns={COLUMNS} usual="ownerId:asc" empty="There are no authorizations, or none that you may see." />
      <Show when={creating()}>
        <New onClose={() => setCreating(false)} />
      </Show>
    </main>
  );
}

function New(props: { onClose: () => void }): JSX.Element {
  const [type, setType] = createSignal<ResourceTypeEnum>('PROCESS_DEFINITION');
  const [failure, setFailure] = createSignal<unknown>();
  const [busy, setBusy] = createSignal(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (busy()) return;
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const permissionTypes = form.getAll('permission') as PermissionTypeEnum[];
    setFailure(undefined);
    setBusy(true);
    try {
      if (permissionTypes.length === 0) throw new Error('Choose at least one permission.');
      await call(createAuthorization, {
        body: {
          ownerType: form.get('ownerType') as OwnerTypeEnum,
          ownerId: String(form.get('ownerId')).trim(),
          resourceType: type(),
          resourceId: String(form.get('resourceId')).trim(),
          permissionTypes,
        },
      });
      await refresh();
      props.onClose();
      say('Created');
    } catch (error) {
      setFailure(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog title="New authorization" onClose={props.onClose}>
      <form class="stack" onSubmit={submit}>
        <Field label="Kind of owner">
          <select name="ownerType">
            <For each={OWNERS}>{(one) => <option value={one}>{wordOf(one)}</option>}</For>
          </select>
        </Field>
        <Field label="ID of the owner">
          <input name="ownerId" required />
        </Field>
        <Field label="Resource">
          <select name="resourceType" onChange={(event) => setType(event.currentTarget.value as ResourceTypeEnum)}>
            <For each={Object.keys(PERMISSIONS)}>
              {(one) => (
                <option value={one} selected={one === type()}>
                  {wordOf(one)}
                </option>
              )}
            </For>
          </select>
        </Field>
        <Field label="ID of the resource" hint="* for all">
          <input name="resourceId" required value="*" ref={(one) => (one.defaultValue = '*')} />
        </Field>
        <fieldset>
          <legend>Permissions</legend>
          <For each={PERMISSIONS[type()]}>
            {(one) => (
              <label class="row">
                <input type="checkbox" name="permission" value={one} /> {wordOf(one)}
              </label>
            )}
          </For>
        </fieldset>
        <Show when={failure()}>{(error) => <Failure of={error()} />}</Show>
        <div class="actions">
          <button class="primary" type="submit" disabled={busy()}>
            Create
          </button>
        </div>
      </form>
    </Dialog>
  );
}
