import { A, useLocation } from '@solidjs/router';
import { createSignal, For, type JSX, Show } from 'solid-js';
import { createView, deleteView, listViews, updateView } from '../api/generated/operations';
import type { BatonView } from '../api/generated/types';
import { call } from '../api/http';
import { t } from '../language';
import { refresh, useRead } from '../query';
import { Action, Dialog, Failure, Field } from '../ui/parts';
import { say } from '../ui/toast';
import { queryOf } from './query';

const NAME_MAX = 100;
const QUERY_MAX = 4000;

/** Lists with their filters, kept on the server: opened, saved, shared, deleted. `page` is the path without the first slash. */
export function Views(props: { page: string }): JSX.Element {
  const [open, setOpen] = createSignal(false);
  return (
    <>
      <button onClick={() => setOpen(true)}>{t('lists.views')}</button>
      <Show when={open()}>
        <ViewsDialog page={props.page} onClose={() => setOpen(false)} />
      </Show>
    </>
  );
}

function ViewsDialog(props: { page: string; onClose: () => void }): JSX.Element {
  const location = useLocation();
  const query = () => queryOf(location.search);
  const found = useRead(listViews, () => ({ query: { page: props.page } }));
  const [name, setName] = createSignal('');
  const [isShared, setShared] = createSignal(false);
  let field!: HTMLInputElement;
  const own = () => (found.data?.items ?? []).filter(({ isOwn }) => isOwn);
  const others = () => (found.data?.items ?? []).filter(({ isOwn }) => !isOwn);
  const same = () => own().find((one) => one.name === name().trim());
  const save = async () => {
    const body = { name: name().trim(), page: props.page, query: query(), isShared: isShared() };
    const known = same();
    if (known) await call(updateView, { path: { viewKey: known.viewKey }, body });
    else await call(createView, { body });
    await refresh();
    field.value = '';
    setName('');
    say(t('task.saved'));
  };
  const share = async (one: BatonView) => {
    await call(updateView, { path: { viewKey: one.viewKey }, body: { name: one.name, page: one.page, query: one.query, isShared: !one.isShared } });
    await refresh();
  };
  const remove = async (one: BatonView) => {
    await call(deleteView, { path: { viewKey: one.viewKey } });
    await refresh();
    say(t('lists.deleted'));
  };
  return (
    <Dialog title={t('lists.views.title')} onClose={props.onClose} wide>
      <div class="stack">
        <Show when={found.error}>{(error) => <Failure of={error()} again={() => void found.refetch()} />}</Show>
        <Show when={found.data}>
          <ViewTable label={t('lists.views.mine')} views={own()} page={props.page} onOpen={props.onClose} empty={t('lists.views.noneMine')} share={share} remove={remove} />
          <ViewTable label={t('lists.views.shared')} views={others()} page={props.page} onOpen={props.onClose} empty={t('lists.views.noneShared')} />
        </Show>
        <section class="stack" aria-label={t('lists.views.saveThis')}>
          <h3>{t('lists.views.saveShown')}</h3>
          <div class="row">
            <Field label={t('variables.name')}>
              <input ref={field} maxLength={NAME_MAX} onInput={(event) => setName(event.currentTarget.value)} />
            </Field>
            <label>
              <input type="checkbox" checked={isShared()} onChange={(event) => setShared(event.currentTarget.checked)} /> {t('lists.views.forEverybody')}
            </label>
            <Action class="primary" do={save} disabled={name().trim() === '' || query().length > QUERY_MAX}>
              {same() ? t('lists.views.replace') : t('task.change.save')}
            </Action>
          </div>
          <Show when={query().length > QUERY_MAX}>
            <p class="failure">{t('lists.views.tooLong', { length: query().length, most: QUERY_MAX })}</p>
          </Show>
        </section>
      </div>
    </Dialog>
  );
}

function ViewTable(props: {
  label: string;
  views: BatonView[];
  page: string;
  onOpen: () => void;
  empty: string;
  share?: (one: BatonView) => Promise<void>;
  remove?: (one: BatonView) => Promise<void>;
}): JSX.Element {
  return (
    <section aria-label={props.label}>
      <h3>{props.label}</h3>
      <Show when={props.views.length > 0} fallback={<p class="muted">{props.empty}</p>}>
        <table aria-label={props.label}>
          <tbody>
            <For each={props.views}>
              {(one) => (
                <tr>
                  <td>
                    <A href={`/${props.page}?${queryOf(one.query)}`} onClick={() => props.onOpen()}>
                      {one.name}
                    </A>
                  </td>
                  <td class="muted">{one.isOwn ? (one.isShared ? t('lists.views.forEverybody') : t('lists.views.forMe')) : t('lists.views.by', { owner: one.owner ?? t('lists.views.somebody') })}</td>
                  <td>
                    <div class="row">
                      <Show when={props.share}>{(share) => <Action do={() => share()(one)}>{one.isShared ? t('lists.views.keep') : t('lists.views.share')}</Action>}</Show>
                      <Show when={props.remove}>
                        {(remove) => (
                          <Action class="danger" do={() => remove()(one)}>
                            {t('lists.delete')}
                          </Action>
                        )}
                      </Show>
                    </div>
                  </td>
                </tr>
              )}
            </For>
          </tbody>
        </table>
      </Show>
    </section>
  );
}
