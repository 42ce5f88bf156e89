import { A, useSearchParams } from '@solidjs/router';
import { createSignal, For, type JSX, Show } from 'solid-js';
import { createAuthorization, deleteAuthorization, searchAuthorizations, updateAuthorization } from '../api/generated/operations';
import type { AuthorizationFilter, AuthorizationRequest, AuthorizationResult, OwnerTypeEnum, PermissionTypeEnum, ResourceTypeEnum } from '../api/generated/types';
import { call } from '../api/http';
import { known, t } from '../language';
import { refresh, useRead } from '../query';
import { need } from '../rights';
import { Filters } from '../ui/Filters';
import { Action, Dialog, Failure, Field, wordOf } from '../ui/parts';
import { Picker } from '../ui/Picker';
import { type Column, Table, usePlace } from '../ui/Table';
import { say } from '../ui/toast';
import { plainWordOf } from '../ui/words';
import { Delete } from './Create';
import { OWNER_FINDERS, resourceFinder } from './finders';
import { PERMISSIONS, PROPERTIES, TYPE_WITH_PROPERTIES } from './permissions';

type Owner = keyof typeof OWNER_FINDERS;
const OWNERS = Object.keys(OWNER_FINDERS) as Owner[];
const TYPES = (Object.keys(PERMISSIONS) as ResourceTypeEnum[]).sort();
const words = (values: readonly string[]) => values.map((one) => [one, wordOf(one)] as const);

/** A property of a task in words. */
const propertyOf = (name: string): string => known(`admin.property.${name}`) ?? wordOf(name);
/** The resource of an authorization in words. */
export const resourceOf = (row: AuthorizationResult): string =>
  row.resourcePropertyName ? t('admin.authorizations.byProperty', { property: propertyOf(row.resourcePropertyName) }) : (row.resourceId ?? '–');

/** Authorizations: owners and their permissions. */
export default function Authorizations(): JSX.Element {
  const [editing, setEditing] = createSignal<AuthorizationResult | 'new'>();
  const [query] = useSearchParams<{ ownerType: string; owner: string; resourceType: string }>();
  const { sort, page } = usePlace(['ownerId', 'resourceType', 'resourceId'] as const, { field: 'ownerId', order: 'ASC' });
  const filter = () => {
    const wanted: AuthorizationFilter = {};
    if (OWNERS.includes(query.ownerType as Owner)) wanted.ownerType = query.ownerType as Owner;
    if (query.owner) wanted.ownerId = query.owner;
    if (TYPES.includes(query.resourceType as ResourceTypeEnum)) wanted.resourceType = query.resourceType as ResourceTypeEnum;
    return wanted;
  };
  const found = useRead(searchAuthorizations, () => ({ body: { filter: filter(), sort: sort(), page: page() }, live: true }));
  const columns = (): Column<AuthorizationResult>[] => [
    {
      head: t('admin.authorizations.owner'),
      cell: (row) => <A href={`/admin/access?kind=${row.ownerType}&id=${encodeURIComponent(row.ownerId)}`}>{`${wordOf(row.ownerType)} ${row.ownerId}`}</A>,
      sort: 'ownerId',
    },
    { head: t('admin.access.resource'), cell: (row) => wordOf(row.resourceType), sort: 'resourceType' },
    { head: t('admin.id'), cell: resourceOf, sort: 'resourceId' },
    { head: t('admin.access.permissions'), cell: (row) => row.permissionTypes.map(plainWordOf).join(', ') },
    {
      head: t('admin.actions'),
      cell: (row) => (
        <>
          <Action class="plain" label={t('admin.authorizations.edit', { owner: row.ownerId })} needs={need('AUTHORIZATION', 'UPDATE', row.authorizationKey)} do={() => setEditing(row)}>
            {t('admin.edit')}
          </Action>
          <Delete
            needs={need('AUTHORIZATION', 'DELETE', row.authorizationKey)}
            what={t('admin.authorizations.what', { owner: row.ownerId })}
            effect={t('admin.effect.authorization')}
            do={() => call(deleteAuthorization, { path: { authorizationKey: row.authorizationKey } })}
          />
        </>
      ),
    },
  ];
  return (
    <main class="page">
      <div class="row">
        <h1>{t('page.Authorizations')}</h1>
        <span class="spacer" />
        <Action class="primary" needs={need('AUTHORIZATION', 'CREATE')} do={() => setEditing('new')}>
          {t('admin.new.authorization')}
        </Action>
      </div>
      <Filters
        of={[
          { name: 'ownerType', label: t('admin.authorizations.ownerKind'), options: words(OWNERS) },
          { name: 'owner', label: t('admin.authorizations.ownerId') },
          { name: 'resourceType', label: t('admin.authorizations.resourceType'), options: words(TYPES) },
        ]}
      />
      <Table label={t('page.Authorizations')} query={found} columns={columns()} usual="ownerId:asc" empty={t('admin.none.authorizations')} />
      <Show when={editing()} keyed>
        {(one) => <Grant of={one === 'new' ? undefined : one} onClose={() => setEditing(undefined)} />}
      </Show>
    </main>
  );
}

/** A new authorization, or one that is changed: then it keeps its owner and type. */
function Grant(props: { of: AuthorizationResult | undefined; onClose: () => void }): JSX.Element {
  const of = props.of;
  const [owner, setOwner] = createSignal<Owner>((of?.ownerType as Owner | undefined) ?? 'USER');
  const [type, setType] = createSignal<ResourceTypeEnum>(of?.resourceType ?? 'PROCESS_DEFINITION');
  const [byProperty, setByProperty] = createSignal(Boolean(of?.resourcePropertyName));
  const [failure, setFailure] = createSignal<unknown>();
  const [busy, setBusy] = createSignal(false);
  const isProperty = () => type() === TYPE_WITH_PROPERTIES && byProperty();
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (busy()) return;
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const text = (name: string) => String(form.get(name) ?? '').trim();
    const permissionTypes = form.getAll('permission') as PermissionTypeEnum[];
    const scope = isProperty() ? { resourcePropertyName: text('property') } : { resourceId: text('resourceId') };
    const body = { ownerType: owner() as OwnerTypeEnum, ownerId: of?.ownerId ?? text('ownerId'), resourceType: type(), ...scope, permissionTypes } as AuthorizationRequest;
    setFailure(undefined);
    setBusy(true);
    try {
      if (permissionTypes.length === 0) throw new Error(t('admin.authorizations.noPermission'));
      if (of) await call(updateAuthorization, { path: { authorizationKey: of.authorizationKey }, body });
      else await call(createAuthorization, { body });
      await refresh();
      props.onClose();
      say(of ? t('admin.saved') : t('admin.created'));
    } catch (error) {
      setFailure(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog title={of ? t('admin.authorizations.of', { owner: of.ownerId }) : t('admin.new.authorization')} onClose={props.onClose}>
      <form class="stack" autocomplete="off" onSubmit={submit}>
        <Show when={!of} fallback={<p>{t('admin.authorizations.scope', { kind: wordOf(owner()), id: of?.ownerId ?? '', type: wordOf(type()) })}</p>}>
          <Field label={t('admin.authorizations.ownerKind')}>
            <select name="ownerType" onChange={(event) => setOwner(event.currentTarget.value as Owner)}>
              <For each={OWNERS}>{(one) => <option value={one}>{wordOf(one)}</option>}</For>
            </select>
          </Field>
          <Show when={owner()} keyed>
            {(kind) => (
              <Field label={t('admin.authorizations.ownerId')}>
                <Picker name="ownerId" label={t('admin.authorizations.ownerId')} required find={OWNER_FINDERS[kind]} />
              </Field>
            )}
          </Show>
          <Field label={t('admin.access.resource')}>
            <select name="resourceType" onChange={(event) => setType(event.currentTarget.value as ResourceTypeEnum)}>
              <For each={TYPES}>
                {(one) => (
                  <option value={one} selected={one === type()}>
                    {wordOf(one)}
                  </option>
                )}
              </For>
            </select>
          </Field>
        </Show>
        <Show when={type() === TYPE_WITH_PROPERTIES}>
          <label class="row">
            <input type="checkbox" checked={byProperty()} onChange={(event) => setByProperty(event.currentTarget.checked)} /> {t('admin.authorizations.useProperty')}
          </label>
        </Show>
        <Show
          when={isProperty()}
          fallback={
            <Show when={type()} keyed>
              {(kind) => (
                <Field label={t('admin.authorizations.resourceId')} hint={t('admin.authorizations.resourceId.hint')}>
                  <Picker name="resourceId" label={t('admin.authorizations.resourceId')} required value={of?.resourceId ?? '*'} find={resourceFinder(kind)} />
                </Field>
              )}
            </Show>
          }
        >
          <Field label={t('admin.authorizations.ownerIs')}>
            <select name="property">
              <For each={PROPERTIES}>
                {(one) => (
                  <option value={one} selected={one === of?.resourcePropertyName}>
                    {propertyOf(one)}
                  </option>
                )}
              </For>
            </select>
          </Field>
        </Show>
        <fieldset>
          <legend>{t('admin.access.permissions')}</legend>
          <For each={PERMISSIONS[type()]}>
            {(one) => (
              <label class="row">
                <input type="checkbox" name="permission" value={one} checked={of?.permissionTypes.includes(one) ?? false} /> {plainWordOf(one)}
              </label>
            )}
          </For>
        </fieldset>
        <Show when={failure()}>{(error) => <Failure of={error()} />}</Show>
        <div class="actions">
          <button class="primary" type="submit" disabled={busy()} aria-busy={busy()}>
            {of ? t('admin.save') : t('admin.create')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
