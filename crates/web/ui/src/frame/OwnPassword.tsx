import { createSignal, type JSX } from 'solid-js';
import { t } from '../language';
import { changePassword, passwordRule } from '../session';
import { Action, Dialog, Field } from '../ui/parts';
import { say } from '../ui/toast';

/** Who is signed in changes the own password, by the present one. */
export default function OwnPassword(props: { onClose: () => void }): JSX.Element {
  const [before, setBefore] = createSignal('');
  const [after, setAfter] = createSignal('');
  const [again, setAgain] = createSignal('');
  const change = async () => {
    if (after() !== again()) throw new Error(t('password.differ'));
    await changePassword(before(), after());
    props.onClose();
    say(t('password.changed'));
  };
  return (
    <Dialog title={t('password.own')} onClose={props.onClose}>
      <form class="stack" autocomplete="off" onSubmit={(event) => event.preventDefault()}>
        <Field label={t('password.present')}>
          <input type="password" autocomplete="current-password" required onInput={(event) => setBefore(event.currentTarget.value)} />
        </Field>
        <Field label={t('password.new')} hint={passwordRule()}>
          <input type="password" autocomplete="new-password" required onInput={(event) => setAfter(event.currentTarget.value)} />
        </Field>
        <Field label={t('password.again')}>
          <input type="password" autocomplete="new-password" required onInput={(event) => setAgain(event.currentTarget.value)} />
        </Field>
        <p class="muted">{t('password.effect')}</p>
        <div class="actions">
          <Action class="primary" type="submit" disabled={before() === '' || after() === '' || again() === ''} do={change}>
            {t('password.change')}
          </Action>
        </div>
      </form>
    </Dialog>
  );
}
