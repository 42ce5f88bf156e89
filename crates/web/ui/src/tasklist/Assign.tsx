import { createSignal, type JSX, Show } from 'solid-js';
import { findUsers } from '../admin/finders';
import { t } from '../language';
import { user } from '../session';
import { Action, Dialog, Field } from '../ui/parts';
import { Picker } from '../ui/Picker';

/** Asks for the assignee of a task, or of some. A user who may not look for others writes the name. */
export function Assign(props: { title: string; assign: (assignee: string) => Promise<void>; onClose: () => void }): JSX.Element {
  const [name, setName] = createSignal('');
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <div class="stack">
        <Field label={t('login.userName')}>
          <Picker name="assignee" label={t('login.userName')} find={findUsers} onInput={setName} />
        </Field>
        <div class="actions">
          <Show when={user()?.username}>{(me) => <Action do={() => props.assign(me())}>{t('task.assignToMe')}</Action>}</Show>
          <Action class="primary" disabled={name().trim() === ''} do={() => props.assign(name().trim())}>
            {t('task.assign.button')}
          </Action>
        </div>
      </div>
    </Dialog>
  );
}
