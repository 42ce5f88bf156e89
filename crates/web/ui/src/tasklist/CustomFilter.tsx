import { createSignal, For, type JSX, Show } from 'solid-js';
import { t } from '../language';
import { Dialog, Failure, Field } from '../ui/parts';
import { type Criteria, CRITERIA, type Criterion, type OwnFilter, wrongLine } from './filters';

const STATES = ['open', 'completed', 'all'] as const;
const TEXTS = [
  ['assignee', 'tasks.filter.assignee'],
  ['candidateUser', 'tasks.filter.user'],
  ['candidateGroup', 'tasks.filter.group'],
  ['process', 'tasks.filter.process'],
  ['businessId', 'tasks.filter.businessId'],
  ['key', 'tasks.filter.key'],
  ['instance', 'tasks.filter.instance'],
] as const;
const MOMENTS = [
  ['dueAfter', 'tasks.filter.dueAfter'],
  ['dueBefore', 'tasks.filter.dueBefore'],
  ['followUpAfter', 'tasks.filter.followUpAfter'],
  ['followUpBefore', 'tasks.filter.followUpBefore'],
] as const;

/** The criteria of an own filter, and a name if it is kept. */
export function CustomFilter(props: {
  criteria: Criteria;
  own: OwnFilter | undefined;
  apply: (criteria: Record<Criterion, string | null>, name: string) => void;
  drop: (name: string) => void;
  onClose: () => void;
}): JSX.Element {
  const [failure, setFailure] = createSignal<Error>();
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const text = (name: string) => String(form.get(name) ?? '').trim();
    const wrong = wrongLine(text('variables'));
    if (wrong) {
      setFailure(new Error(t('tasks.filter.wrongVariable', { line: wrong })));
      return;
    }
    props.apply(Object.fromEntries(CRITERIA.map((name) => [name, text(name) || null])) as Record<Criterion, string | null>, text('name'));
  };
  return (
    <Dialog title={t('tasks.filter.title')} onClose={props.onClose}>
      <form class="stack" onSubmit={submit}>
        <For each={TEXTS}>
          {([name, label]) => (
            <Field label={t(label)}>
              <input name={name} ref={(one) => (one.defaultValue = props.criteria[name] ?? '')} />
            </Field>
          )}
        </For>
        <Field label={t('tasks.filter.state')}>
          <select name="state">
            <For each={STATES}>
              {(one) => (
                <option value={one} selected={one === props.criteria.state}>
                  {t(`tasks.filter.state.${one}`)}
                </option>
              )}
            </For>
          </select>
        </Field>
        <For each={MOMENTS}>
          {([name, label]) => (
            <Field label={t(label)}>
              <input type="datetime-local" name={name} ref={(one) => (one.defaultValue = props.criteria[name] ?? '')} />
            </Field>
          )}
        </For>
        <Field label={t('tasks.filter.variables')} hint={t('tasks.filter.variablesHint')}>
          <textarea name="variables" rows={3} spellcheck={false} ref={(one) => (one.defaultValue = props.criteria.variables ?? '')} />
        </Field>
        <Field label={t('tasks.filter.name')} hint={t('tasks.filter.nameHint')}>
          <input name="name" maxLength={100} ref={(one) => (one.defaultValue = props.own?.name ?? '')} />
        </Field>
        <Show when={failure()}>{(error) => <Failure of={error()} />}</Show>
        <div class="actions">
          <Show when={props.own}>
            {(own) => (
              <button type="button" class="danger" onClick={() => props.drop(own().name)}>
                {t('tasks.filter.delete')}
              </button>
            )}
          </Show>
          <button class="primary" type="submit">
            {t('tasks.filter.apply')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
